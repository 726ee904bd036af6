"""How fast and how accurate is FC-ODT beside other oblique and linear trees?

Three parts, chosen by `--only`:

targets  fit time in units of one `X.T @ X`, prediction per row, speed and
         error against treeple's oblique tree and linear-tree, peak memory of the fit.
grid     both simulations of the paper over n, d and depth, with and without concatenation,
         both leaf models, against the peers: error against the noiseless f, fit, predict.
context  ensembles and Ridge on the same data, for scale.

All programs of a row take turns in one process; ratios of medians are what to read.
Missing libraries are named and left out.
"""

import argparse

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from measure import interleave, time_gram, time_once
from oblique_methods import (
    CONTEXT, FCODT_TREES, LITERAL_TREES, PEER_TREES, fcodt, missing, print_missing)
from peak_memory import measure_in_child
from report import (
    add_arguments, number_text, print_table, seconds_text, warn_if_busy, write_json)
from simulated_data import SIMULATIONS, simulate

N_TEST = 10_000
NAME = "bench_oblique"
FC, LITERAL = "FC-ODT", "literal NumPy FC-ODT"
TREEPLE, LINEAR = "treeple oblique tree", "linear-tree + Ridge"

# (n, d): depths. From small to large, so that a peer's next fit can be predicted.
GRID = {
    (2_000, 10): (1, 2, 3, 4, 6, 8),
    (20_000, 10): (1, 2, 3, 4, 6, 8),
    (20_000, 50): (2, 4, 6, 8),
    (100_000, 50): (2, 4, 6, 8),
    (100_000, 100): (4, 6, 8),
}
QUICK_GRID = {(2_000, 10): (2, 4, 6), (20_000, 50): (6,)}


class FitBudget:
    """Skips a peer whose fit is expected to take longer than the limit.

    The expectation is its last fit on a smaller case times the growth of n d depth. FC-ODT and
    its literal version always run.
    """

    def __init__(self, limit_seconds):
        self.limit_seconds = limit_seconds
        self.last = {}

    def expected(self, name, size):
        seconds, last_size = self.last.get(name, (0.0, 1))
        return seconds * max(1.0, size / last_size)

    def record(self, name, size, seconds):
        if name in PEER_TREES and seconds == seconds:
            self.last[name] = (seconds, size)


def compare(simulation, n, d, depth, methods, repeats, budget=None, n_test=N_TEST):
    """Fit and predict all methods on one case in turns, predictions for `n_test` new rows.

    Returns
    -------
    (list of dict, one per method; float: median seconds of one `X.T @ X`)
    """
    X, y, _ = simulate(simulation, n, d, seed=0)
    X_test, _, f_test = simulate(simulation, n_test, d, seed=1)
    gram, _ = time_gram(X, repeats=repeats)
    size = n * d * max(1, depth)
    calls, skipped, rows = {}, {}, []
    for name, factory in methods.items():
        expected = budget.expected(name, size) if budget else 0.0
        if budget and expected > budget.limit_seconds:
            skipped[name] = f"skipped: about {expected:.0f} s"
            continue
        calls[name] = lambda factory=factory: factory(depth).fit(X, y)
    fits, models = interleave(calls, repeats=repeats)
    predictions, outputs = interleave(
        {name: lambda m=model: m.predict(X_test) for name, model in models.items()},
        repeats=repeats, batch=True)
    for name in methods:
        if name in skipped:
            rows.append({"method": name, "skipped": skipped[name]})
            continue
        row = {"method": name, "fit": fits[name].as_dict()}
        if name in models:
            row.update(
                fit_over_gram=fits[name].median / gram.median,
                predict=predictions[name].as_dict(),
                predict_ns_per_row=predictions[name].median / n_test * 1e9,
                error=float(np.mean((np.ravel(outputs[name]) - f_test) ** 2)))
        if budget:
            budget.record(name, size, fits[name].median)
        rows.append({"simulation": simulation, "n": n, "d": d, "depth": depth, **row})
    return rows, gram.median


def print_case(title, rows, gram_seconds, reference=FC):
    """The table of one case, with fit times as multiples of FC-ODT's."""
    medians = {r["method"]: r.get("fit", {}).get("median_s") for r in rows}
    base = medians.get(reference) or medians.get(LITERAL)
    base_name = reference if medians.get(reference) else LITERAL
    table = []
    for row in rows:
        if "error" not in row:
            reason = row.get("skipped") or row["fit"].get("error", "failed")
            table.append([row["method"], reason, "-", "-", "-", "-"])
            continue
        seconds = row["fit"]["median_s"]
        table.append([row["method"], seconds_text(seconds), number_text(seconds / gram_seconds, 3),
                      number_text(seconds / base, 3) if base else "-",
                      number_text(row["predict_ns_per_row"], 3), number_text(row["error"], 3)])
    print_table(f"{title}   (X.T @ X: {seconds_text(gram_seconds)})",
                ["method", "fit", "fit / X.T@X", f"fit / {base_name}", "predict ns/row",
                 "MSE against f"], table)


def run_grid(methods, grid, repeats, peer_limit):
    """All cases of the grid; returns the rows of all of them."""
    results = []
    for simulation in SIMULATIONS:
        budget = FitBudget(peer_limit)
        for (n, d), depths in grid.items():
            for depth in depths:
                rows, gram = compare(simulation, n, d, depth, methods, repeats, budget)
                print_case(f"{simulation}, n = {n}, d = {d}, depth {depth}", rows, gram)
                results.append({"simulation": simulation, "n": n, "d": d, "depth": depth,
                                "gram_s": gram, "rows": rows})
    return results


def run_context(quick, repeats):
    """Ensembles and the linear model on the small case of both simulations."""
    methods, reasons = missing(CONTEXT)
    print_missing(reasons)
    results = []
    cases = [(name, 2_000, 10) for name in SIMULATIONS]
    if quick:
        # YDF's ensembles take a quarter of a minute in all.
        methods = {k: v for k, v in methods.items() if not k.startswith("YDF")}
    else:
        cases.append(("sim1", 20_000, 50))
    for simulation, n, d in cases:
        # The forests of 100 unpruned oblique trees take half a minute and minutes there.
        chosen = {k: v for k, v in methods.items() if n <= 2_000 or "oblique" not in k}
        rows, gram = compare(simulation, n, d, 6, chosen, min(repeats, 3))
        print_case(f"{simulation}, n = {n}, d = {d}: context", rows, gram, reference="Ridge")
        results.append({"simulation": simulation, "n": n, "d": d, "gram_s": gram, "rows": rows})
    return results


def _by_name(rows):
    return {row["method"]: row for row in rows if "error" in row}


def _target(text, measured, limit, at_least=False, note=""):
    """One row of the table of targets; `measured` None means it could not be measured."""
    met = None if measured is None else bool(measured >= limit if at_least else measured <= limit)
    return {"target": text, "measured": measured, "limit": limit, "at_least": at_least,
            "met": met, "note": note}


def large_fit_targets(quick, repeats):
    """Fit in units of X.T @ X and prediction per row at n = 100,000, d = 50, depth 6."""
    n, d, depth = (20_000 if quick else 100_000), 50, 6
    methods, _ = missing({
        FC: FCODT_TREES[FC],
        "FC-ODT, 1 thread": lambda depth: fcodt(depth, n_jobs=1),
        "FC-ODT, no concatenation": FCODT_TREES["FC-ODT, no concatenation"],
        "FC-ODT, constant leaves": FCODT_TREES["FC-ODT, constant leaves"],
        LITERAL: LITERAL_TREES[LITERAL],
    })
    rows, gram = compare("sim1", n, d, depth, methods, repeats, n_test=100_000)
    X, _, _ = simulate("sim1", n, d, seed=0)
    _, twin = time_gram(X, repeats=repeats)
    print_case(f"sim1, n = {n}, d = {d}, depth {depth}", rows, gram)
    print(f"X.T @ (copy of X), gemm instead of syrk: {seconds_text(twin.median)}")
    named = _by_name(rows)
    fit = named.get(FC, {}).get("fit_over_gram")
    literal_ratio = named[LITERAL]["fit_over_gram"]
    single = named.get("FC-ODT, 1 thread", {})
    targets = [
        _target(f"fit / X.T@X, n = {n}, d = {d}, depth {depth}", fit, 15,
                note=f"towards 8; literal NumPy {literal_ratio:.0f}"
                     f"; 1 thread {number_text(single.get('fit_over_gram'), 3)}"),
        _target("predict, ns a row, depth 6", named.get(FC, {}).get("predict_ns_per_row"), 100,
                note=f"1 thread {number_text(single.get('predict_ns_per_row'), 3)}"),
    ]
    if FC in named:
        gap = abs(named[FC]["error"] - named[LITERAL]["error"])
        targets.append(_target("|error - error of literal FC-ODT|", gap, 1e-6,
                               note="same algorithm, another order of sums"))
    return targets, rows, gram


def peer_target(peer, simulation, n, d, depth, factor, repeats):
    """Speed over one peer at one case, and both errors."""
    methods, reasons = missing({FC: FCODT_TREES[FC], LITERAL: LITERAL_TREES[LITERAL],
                                peer: PEER_TREES[peer]})
    rows, gram = compare(simulation, n, d, depth, methods, repeats)
    print_case(f"{simulation}, n = {n}, d = {d}, depth {depth}", rows, gram)
    named = _by_name(rows)
    text = f"times faster than {peer}, {simulation} {n} x {d} depth {depth}"
    if FC not in named or peer not in named:
        note = "; ".join(f"{k}: {v}" for k, v in reasons.items())
        if peer in named:
            note += f"; the peer: {seconds_text(named[peer]['fit']['median_s'])}"
        return _target(text, None, factor, at_least=True, note=note), rows
    speed = named[peer]["fit"]["median_s"] / named[FC]["fit"]["median_s"]
    note = (f"{seconds_text(named[FC]['fit']['median_s'])} against "
            f"{seconds_text(named[peer]['fit']['median_s'])}; MSE {named[FC]['error']:.3g} "
            f"against {named[peer]['error']:.3g}")
    return _target(text, speed, factor, at_least=True, note=note), rows


def memory_targets(quick):
    """Peak memory of the fit over its input, each method in a process of its own."""
    n, d, depth = (20_000 if quick else 100_000), 50, 6
    names = [FC, "FC-ODT, constant leaves", LITERAL, "CART (scikit-learn)", TREEPLE]
    usable, _ = missing({k: {**FCODT_TREES, **LITERAL_TREES, **PEER_TREES}[k] for k in names})
    measured = [measure_in_child(name, n, d, depth) for name in usable]
    print_table(f"peak memory of fit beyond the input, n = {n}, d = {d}, depth {depth}",
                ["method", "MiB", "of the input"],
                [[m["method"], m.get("error") or f"{m['extra_bytes'] / 2**20:.1f}",
                  "-" if "error" in m else f"{m['extra_over_input']:.2f}"] for m in measured])
    ours = {m["method"]: m.get("extra_over_input") for m in measured}.get(FC)
    # O(n + nodes d^2 on the active path): a dozen n-vectors, and a path of d x d moments.
    vectors = 12 * 8 * n + 2 * (depth + 2) * 8 * d * d
    limit = (vectors + 4 * 2**20) / (8 * n * (d + 1))
    return _target("peak memory of fit beyond the input, of the input", ours, round(limit, 2),
                   note="12 vectors of n, 2 matrices of d x d a level, 4 MiB"), measured


def run_targets(quick, repeats):
    """The table of targets and the measurements behind it."""
    targets, rows, gram = large_fit_targets(quick, repeats)
    details = {"large_fit": {"gram_s": gram, "rows": rows}}
    cases = [(TREEPLE, "sim1", 20_000, 50, 6, 10), (TREEPLE, "sim2", 20_000, 50, 6, 10),
             (LINEAR, "sim1", 2_000, 10, 4, 100), (LINEAR, "sim2", 2_000, 10, 4, 100)]
    if not quick:
        cases.append((LINEAR, "sim1", 20_000, 50, 2, 100))
    for peer, simulation, n, d, depth, factor in cases:
        target, rows = peer_target(peer, simulation, n, d, depth, factor, repeats)
        targets.append(target)
        details[f"{peer} {simulation} {n} x {d}"] = rows
    target, details["memory"] = memory_targets(quick)
    targets.append(target)
    print_table("targets", ["target", "measured", "limit", "met", "note"],
                [[t["target"], number_text(t["measured"], 3),
                  (">= " if t["at_least"] else "<= ") + number_text(t["limit"], 3),
                  {True: "yes", False: "no", None: "?"}[t["met"]], t["note"]] for t in targets])
    return {"targets": targets, **details}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--only", nargs="+", choices=("targets", "grid", "context"),
                        default=("targets", "grid", "context"))
    parser.add_argument("--repeats", type=int, default=None, help="timed rounds (5; quick: 3)")
    parser.add_argument("--peer-limit", type=float, default=None, metavar="SECONDS",
                        help="skip a fit of the grid expected to take longer (20; quick: 2)")
    arguments = parser.parse_args()
    quick = arguments.quick
    repeats = arguments.repeats or (3 if quick else 5)
    limit = arguments.peer_limit or (2.0 if quick else 20.0)
    results = {}
    warn_if_busy()
    elapsed, _ = time_once(lambda: _run(arguments.only, quick, repeats, limit, results), settle=0.0)
    write_json(arguments.json, NAME, results, quick)
    print(f"\n{elapsed:.0f} s; results written to {arguments.json}")


def _run(parts, quick, repeats, limit, results):
    """Run the chosen parts into `results`."""
    methods, reasons = missing({**FCODT_TREES, **LITERAL_TREES, **PEER_TREES})
    print_missing(reasons)
    if any(name in methods for name in FCODT_TREES):
        # One literal version is enough as a peer where the real ones are there.
        methods = {k: v for k, v in methods.items() if k not in LITERAL_TREES or k == LITERAL}
    if "targets" in parts:
        results["targets"] = run_targets(quick, repeats)
    if "grid" in parts:
        results["grid"] = run_grid(methods, QUICK_GRID if quick else GRID, repeats, limit)
    if "context" in parts:
        results["context"] = run_context(quick, repeats)


if __name__ == "__main__":
    main()
