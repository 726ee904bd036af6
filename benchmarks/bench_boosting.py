"""How fast does fctree train and evaluate symmetric trees beside the known boosting programs?

Parts, chosen by `--only`:

train    three sizes, 2 threads, depth 6 (63 leaves), 128 bins, learning rate 0.1: seconds, test
         RMSE, ratios to CatBoost; input as float64 and float32, and on one thread.
floor    the rate at which this machine fills histograms, and what share of it training reaches.
predict  many rows: ns a row and tree.
latency  one row through the full Python call, in microseconds.
memory   the fit's peak beyond its input, each program in a process of its own.

All programs of a table take turns in one process; read the ratios and the minima. On one thread
the processor's seconds are a measure that other programs on the machine hardly change; on two they
count what threads spend waiting for each other. A library that is missing is named and left out.
`--ydf` adds YDF, which takes ten times as long as the others.
"""

import argparse
import time
from functools import partial

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from boosting_data import NOISE, simulate_boosting
from boosting_floor import floor_seconds, measure_floor
from boosting_peers import (
    CATBOOST, FCTREE, PROGRAMS, SLOW_PROGRAMS, VARIANTS, Settings, installed)
from measure import interleave
from peak_memory import measure_in_child
from report import add_arguments, number_text, print_markdown, warn_if_busy, write_json

NAME = "bench_boosting"
PARTS = ("train", "floor", "predict", "latency", "memory")
# (n, d): rounds
SIZES = {(20_000, 20): 200, (100_000, 50): 200, (1_000_000, 28): 50}
QUICK_SIZES = {(20_000, 20): 100, (100_000, 50): 20}
N_TEST = 100_000
ALWAYS = float("inf")  # no call is too slow to be repeated


def rmse(prediction, y):
    return float(np.sqrt(np.mean((np.ravel(prediction) - y) ** 2)))


def size_text(n, d, rounds):
    return f"{n:,} x {d}, {rounds} rounds"


def train_rows(programs, size, settings, dtype, repeats):
    """Time the fits of all programs in turns; one dict a program, and the fitted models."""
    n, d = size
    X, y = simulate_boosting(n, d, seed=0, dtype=dtype)
    X_test, y_test = simulate_boosting(N_TEST, d, seed=1, dtype=dtype)
    cpu = {name: [] for name in programs}

    def fit(name):
        start = time.process_time()
        model = programs[name].build(settings).fit(X, y)
        cpu[name].append(time.process_time() - start)
        return model

    calls = {name: partial(fit, name) for name in programs}
    slow = {name: calls.pop(name) for name in SLOW_PROGRAMS if name in calls}
    timings, models = interleave(calls, repeats=repeats, slow_seconds=ALWAYS)
    for part, found in zip((timings, models), interleave(slow, slow_seconds=0.0), strict=True):
        part.update(found)
    rows = []
    for name, timing in timings.items():
        row = {"program": name, **timing.as_dict()}
        if name in models:
            predicted = programs[name].predict(models[name], X_test, settings.threads)
            row["rmse"] = rmse(predicted, y_test)
            row["cpu_best_s"] = min(cpu[name])
            row["updates_per_s"] = n * d * settings.depth * settings.rounds / timing.best
        rows.append(row)
    return rows, models


def print_train(title, rows):
    """Seconds, RMSE and both as ratios to CatBoost."""
    of = {row["program"]: row for row in rows if "rmse" in row}
    reference = of.get(CATBOOST) or next(iter(of.values()))
    table = []
    for row in rows:
        if "rmse" not in row:
            table.append([row["program"], row["error"], *["-"] * 8])
            continue
        table.append([
            row["program"], f"{row['best_s']:.3f}", f"{row['median_s']:.3f}",
            f"{reference['best_s'] / row['best_s']:.2f}",
            f"{reference['median_s'] / row['median_s']:.2f}", f"{row['cpu_best_s']:.3f}",
            f"{reference['cpu_best_s'] / row['cpu_best_s']:.2f}", f"{row['rmse']:.4f}",
            f"{row['rmse'] / reference['rmse']:.4f}", f"{row['updates_per_s'] / 1e9:.2f}"])
    print_markdown(title, [
        "program", "best s", "median s", f"{reference['program']} / it, best", "median",
        "CPU s", f"{reference['program']} / it, CPU", "test RMSE", "/ reference",
        "G updates/s"], table)


def run_train(programs, variants, sizes, repeats, quick):
    """Yield the tables of training one by one: {"n", "d", "rounds", "threads", "dtype", "rows"}."""
    for size, rounds in sizes.items():
        for dtype, threads in ((np.float64, 2), (np.float32, 2), (np.float64, 1)):
            plain = dtype == np.float64 and threads == 2
            if quick and not plain:
                continue
            chosen = {**programs, **variants} if plain else programs
            settings = Settings(rounds=rounds, threads=threads)
            rows, _ = train_rows(chosen, size, settings, dtype, repeats if plain else 2)
            name = np.dtype(dtype).name
            print_train(f"train, {size_text(*size, rounds)}, {name}, threads: {threads} "
                        f"(noise {NOISE})", rows)
            yield {"n": size[0], "d": size[1], "rounds": rounds, "threads": threads,
                   "dtype": name, "rows": rows}


def run_floor(sizes, trained, settings):
    """The machine's rate, the floor under each size, and what share fctree's fit reaches."""
    results = []
    for (n, d), rounds in sizes.items():
        rates = measure_floor(n, d, settings.bins, settings.depth, settings.threads)
        if rates is None:
            print("floor: no C++ compiler found")
            return results
        full, halves = floor_seconds(rates, n, d, rounds)
        fits = {row["program"]: row["best_s"] for case in trained
                if (case["n"], case["d"], case["threads"], case["dtype"]) == (
                    n, d, settings.threads, "float64")
                for row in case["rows"] if "rmse" in row}
        results.append({"n": n, "d": d, "rounds": rounds, "rates": rates, "full_passes_s": full,
                        "sibling_subtraction_s": halves, "fctree_s": fits.get(FCTREE)})
    print_markdown("floor: histograms alone (bytes of state: n d of bins, 8 n of gradients)", [
        "size", "state MiB", "G updates/s by level", "full passes s", "by subtraction s",
        "fctree s", "fctree / subtraction"],
        [[size_text(r["n"], r["d"], r["rounds"]), f"{r['n'] * (r['d'] + 8) / 2**20:.1f}",
          " ".join(f"{rate / 1e9:.1f}" for rate in r["rates"]["packed"]),
          r["full_passes_s"], r["sibling_subtraction_s"], r["fctree_s"],
          r["fctree_s"] and r["fctree_s"] / r["sibling_subtraction_s"]] for r in results])
    return results


def fit_models(programs, size, rounds):
    """One fitted model a program, for the parts that evaluate."""
    X, y = simulate_boosting(*size, seed=0)
    settings = Settings(rounds=rounds)
    return {name: program.build(settings).fit(X, y) for name, program in programs.items()}


def run_predict(programs, models, d, rounds, repeats):
    """ns a row and tree of many rows on 2 threads and on 1, for both types of input."""
    results = []
    for dtype, threads in ((np.float64, 2), (np.float32, 2), (np.float64, 1)):
        X, _ = simulate_boosting(N_TEST, d, seed=2, dtype=dtype)
        calls = {name: partial(programs[name].predict, model, X, threads)
                 for name, model in models.items()}
        timings, _ = interleave(calls, repeats=repeats, slow_seconds=ALWAYS, batch=True)
        per_tree = 1e9 / (len(X) * rounds)
        rows = [{"program": name, **timing.as_dict(), "best_ns": timing.best * per_tree,
                 "median_ns": timing.median * per_tree} for name, timing in timings.items()]
        name = np.dtype(dtype).name
        print_markdown(
            f"predict, {N_TEST:,} rows x {d}, {rounds} trees of depth 6, {name}, "
            f"threads: {threads}",
            ["program", "best ns / row and tree", "median", "ms a call"],
            [[r["program"], r.get("error") or number_text(r["best_ns"], 3),
              number_text(r["median_ns"], 3),
              number_text(1e3 * r.get("best_s", np.nan), 3)] for r in rows])
        results.append({"n": len(X), "d": d, "trees": rounds, "threads": threads,
                        "dtype": name, "rows": rows})
    return results


def run_latency(programs, models, d, rounds, repeats):
    """Microseconds of one row through each program's calls."""
    rows_in, _ = simulate_boosting(1, d, seed=3)
    calls = {}
    for name, model in models.items():
        for words, make in programs[name].one_row.items():
            calls[f"{name}: {words}"] = partial(make(model), rows_in)
    timings, _ = interleave(calls, repeats=max(repeats, 9), slow_seconds=ALWAYS, batch=True)
    rows = [{"call": call, **timing.as_dict()} for call, timing in timings.items()]
    print_markdown(
        f"one row of {d} float64 features, {rounds} trees of depth 6",
        ["call", "best us", "median us"],
        [[r["call"], r.get("error") or number_text(1e6 * r["best_s"], 3),
          number_text(1e6 * r.get("median_s", np.nan), 3)] for r in rows])
    return {"d": d, "trees": rounds, "rows": rows}


def run_memory(programs, sizes):
    """Peak of the fit beyond float64 input, MiB and multiples of n d bytes."""
    results = []
    for n, d in sizes:
        rows = [measure_in_child(name, n, d, 6, family="boosting") for name in programs]
        print_markdown(
            f"peak memory of fit beyond the input, {n:,} x {d} (n d bytes: "
            f"{n * d / 2**20:.1f} MiB, input {8 * n * d / 2**20:.1f} MiB)",
            ["program", "MiB", "/ (n d bytes)", "/ input"],
            [[r["method"], r["error"], "-", "-"] if "error" in r else
             [r["method"], f"{r['extra_bytes'] / 2**20:.1f}", f"{r['extra_bytes'] / (n * d):.2f}",
              f"{r['extra_over_input']:.2f}"] for r in rows])
        results.append({"n": n, "d": d, "rows": rows})
    return results


def run(parts, quick, repeats, programs, variants):
    """Yield (part, results of the part), training's after each of its tables."""
    sizes = QUICK_SIZES if quick else SIZES
    trained = []
    if "train" in parts:
        for table in run_train(programs, variants, sizes, repeats, quick):
            trained.append(table)
            yield "train", trained
    if "floor" in parts:
        yield "floor", run_floor(sizes, trained, Settings())
    if "predict" in parts or "latency" in parts:
        d, rounds = 50, 200
        models = fit_models(programs, (20_000, d), rounds)
        if "predict" in parts:
            yield "predict", run_predict(programs, models, d, rounds, repeats)
        if "latency" in parts:
            yield "latency", run_latency(programs, models, d, rounds, repeats)
    if "memory" in parts:
        yield "memory", run_memory(programs, list(sizes)[-2:])


def chosen(programs, texts):
    """The programs whose name contains one of the texts and whose library is installed."""
    wanted = {name: program for name, program in programs.items()
              if texts is None or any(text in name for text in texts)}
    found, reasons = installed(wanted)
    for name, reason in reasons.items():
        print(f"left out: {name}: {reason}")
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--programs", nargs="+", default=None, metavar="TEXT",
                        help="only programs whose name contains one of these texts")
    parser.add_argument("--repeats", type=int, default=None, help="timed rounds (5; quick: 2)")
    parser.add_argument("--ydf", action="store_true", help="add YDF")
    arguments = parser.parse_args()
    programs, variants = (chosen(wanted, arguments.programs) for wanted in (
        {**PROGRAMS, **(SLOW_PROGRAMS if arguments.ydf else {})}, VARIANTS))
    warn_if_busy()
    repeats = arguments.repeats or (2 if arguments.quick else 5)
    results = {}
    start = time.perf_counter()
    for part, found in run(arguments.only, arguments.quick, repeats, programs, variants):
        results[part] = found
        write_json(arguments.json, NAME, results, arguments.quick)
    print(f"\n{time.perf_counter() - start:.0f} s; results written to {arguments.json}")


if __name__ == "__main__":
    main()
