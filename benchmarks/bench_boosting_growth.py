"""How does the time to train grow with n, d, depth, bins, trees and threads?

The stated cost of a fit with T trees of depth D over B bins:

    a  n d                        the binned matrix
  + b  T n d (1 + (D - 1) / 2)    histograms: all rows at the root, below it the smaller siblings
  + c  T n D                      rows to leaves, new residuals
  + e  T d B 2^D                  prefix sums and scores: 2^l histograms at level l
  + g  T D                        one level: its parallel loops
  + h                             one call

One of them varies at a time; the constants a .. h are fitted to all cases at once by least
squares of the relative error, none below zero. The table prints measured / formula, the picture
shows both on log axes; threads have a table of their own. `--program` measures a peer instead.
"""

import argparse
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from boosting_data import simulate_boosting
from boosting_peers import FCTREE, PROGRAMS, Settings
from cost_formula import add_formula, measure_sweeps, plot_sweeps
from measure import interleave
from report import (
    add_arguments, number_text, print_markdown, seconds_text, warn_if_busy, write_json)

NAME = "bench_boosting_growth"
TERMS = ("binning", "histograms", "rows", "scores", "levels", "call")
QUANTITIES = ("n", "d", "depth", "bins", "trees")
WORDS = {"n": "n = {n:,}", "d": "d = {d}", "depth": "depth {depth}", "bins": "{bins} bins", "trees": "{trees} trees"}

# What varies: the cases (n, d, depth, bins, trees).
SWEEPS = {
    "n": [(n, 20, 6, 128, 50) for n in (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)],
    "d": [(20_000, d, 6, 128, 50) for d in (10, 20, 40, 80, 160, 320)],
    "depth": [(100_000, 20, depth, 128, 50) for depth in (1, 2, 3, 4, 6, 8, 10)],
    "bins": [(100_000, 20, 6, bins, 50) for bins in (4, 8, 16, 32, 64, 128, 254)],
    "trees": [(100_000, 20, 6, 128, trees) for trees in (5, 20, 50, 200)],
}
QUICK_SWEEPS = {
    "n": [(n, 20, 6, 128, 20) for n in (1_000, 10_000, 100_000)],
    "d": [(20_000, d, 6, 128, 20) for d in (10, 40, 160)],
    "depth": [(20_000, 20, depth, 128, 20) for depth in (1, 3, 6)],
    "bins": [(20_000, 20, 6, bins, 20) for bins in (8, 128)],
    "trees": [(20_000, 20, 6, 128, trees) for trees in (5, 50)],
}
THREAD_CASES = ((20_000, 20, 6, 128, 50), (100_000, 50, 6, 128, 50), (1_000_000, 28, 6, 128, 10))


def cost_terms(n, d, depth, bins, trees):
    """The terms of the formula, each without its constant: (6,)."""
    return np.array([n * d, trees * n * d * (1 + (depth - 1) / 2), trees * n * depth,
                     trees * d * bins * 2.0**depth, trees * depth, 1.0])


def fit_call(program, case, threads, X, y):
    n, d, depth, bins, trees = case
    settings = Settings(rounds=trees, depth=depth, bins=bins, threads=threads)
    return lambda: program.build(settings).fit(X, y)


def measure_case(program, case, threads, repeats):
    """Times of one case on each number of threads, in turns: {threads: Timing}."""
    X, y = simulate_boosting(case[0], case[1], seed=0)
    calls = {str(t): fit_call(program, case, t, X, y) for t in threads}
    timings, _ = interleave(calls, repeats=repeats, slow_seconds=float("inf"))
    for timing in timings.values():
        if timing.error is not None:
            raise RuntimeError(f"fit failed at (n, d, depth, bins, trees) = {case}: {timing.error}")
    return {t: timings[str(t)] for t in threads}


def measure_once(program, case, threads, repeats):
    """The quantities of a case and its times on a number of threads."""
    timing = measure_case(program, case, (threads,), repeats)[threads]
    return {**dict(zip(QUANTITIES, case, strict=True)), **timing.as_dict()}


def print_sweeps(sweeps, constants):
    """The tables: one for each sweep, and the constants in words."""
    for sweep, cases in sweeps.items():
        print_markdown(
            f"growth with {sweep}",
            [*QUANTITIES, "fit", "a tree", "measured / formula", "mostly"],
            [[*(f"{case[q]:,}" for q in QUANTITIES), seconds_text(case["best_s"]),
              seconds_text(case["best_s"] / case["trees"]), f"{case['ratio']:.2f}",
              max(case["shares"], key=case["shares"].get)] for case in cases])
    print("\nconstants")
    units = {"binning": "G values/s", "histograms": "G updates/s", "rows": "G rows/s",
             "scores": "G cells/s"}
    for term, unit in units.items():
        rate = f"{1e-9 / constants[term]:.2f} {unit}" if constants[term] > 0 else "not visible"
        print(f"  {term}: {rate}")
    for term in ("levels", "call"):
        print(f"  {term}: {seconds_text(constants[term])} each")
    ratios = [case["ratio"] for cases in sweeps.values() for case in cases]
    print(f"  measured / formula lies between {min(ratios):.2f} and {max(ratios):.2f}")


def run_threads(program, most, repeats, quick):
    """Best seconds on 1, 2, 4, .. threads and the speed-up over one."""
    counts = [t for t in (1, 2, 4, 8, 16, 32, 64) if t <= most]
    rows = []
    for case in THREAD_CASES[: 1 if quick else None]:
        timings = measure_case(program, case, counts, repeats)
        rows.append({**dict(zip(QUANTITIES, case, strict=True)),
                     "best_s": {t: timing.best for t, timing in timings.items()}})
    print_markdown("growth with threads: seconds (speed-up)",
                   [*QUANTITIES, *(f"{t} threads" for t in counts)],
                   [[*(f"{row[q]:,}" for q in QUANTITIES),
                     *(f"{number_text(s, 3)} ({row['best_s'][1] / s:.2f})"
                       for s in row["best_s"].values())] for row in rows])
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--plot", type=Path, default=None, metavar="FILE", help="PNG of the growth")
    parser.add_argument("--program", choices=tuple(PROGRAMS), default=FCTREE)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=None, help="timed rounds (5; quick: 2)")
    arguments = parser.parse_args()
    program = PROGRAMS[arguments.program]
    program.build(Settings())  # a missing library is said before anything is measured
    warn_if_busy()
    repeats = arguments.repeats or (2 if arguments.quick else 5)
    chosen = QUICK_SWEEPS if arguments.quick else SWEEPS
    sweeps, measured = measure_sweeps(
        chosen, lambda case: measure_once(program, case, arguments.threads, repeats))
    terms = np.array([cost_terms(*case) for case in measured])
    constants = add_formula(list(measured.values()), terms, TERMS, "best_s", "formula_s")
    print_sweeps(sweeps, constants)
    threads = run_threads(program, arguments.threads, repeats, arguments.quick)
    if arguments.plot is not None:
        label = f"{arguments.program}, {arguments.threads} threads"
        plot_sweeps(sweeps, WORDS, "formula_s", {"best_s": label}, arguments.plot)
    write_json(arguments.json, NAME, {
        "program": arguments.program, "threads": arguments.threads, "constants": constants,
        "sweeps": sweeps, "thread_sweep": threads}, arguments.quick)
    print(f"results written to {arguments.json}")


if __name__ == "__main__":
    main()
