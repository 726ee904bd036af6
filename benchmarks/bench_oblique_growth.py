"""How does the time to fit FC-ODT grow with n, d and depth, and does its cost formula hold?

The stated cost of a fit, with D the depth reached and N the nodes of the tree:

    a  n d^2 / 2 (1 + D / 2)    moments: the root's, then of the smaller child of each split
  + b  n d D                    scores of the samples at each level
  + c  N d^3 / 3                one factorisation a node
  + e  D n log2 n               sorting and scanning the scores at each level
  + g                           one call

One of n, d and depth varies at a time; the constants a .. g are fitted to all cases at once by
least squares of the relative error, none below zero. The table prints measured / formula; the
picture shows both on log axes.
"""

import argparse
from functools import partial
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from cost_formula import add_formula, measure_sweeps, plot_sweeps
from measure import interleave, time_gram
from oblique_methods import fcodt, literal
from report import (
    add_arguments, number_text, print_table, seconds_text, warn_if_busy, write_json)
from simulated_data import simulate

NAME = "bench_oblique_growth"
TERMS = ("moments", "scores", "factorisations", "sort and scan", "call")
WORDS = {"n": "n = {n:,}", "d": "d = {d}", "depth": "depth {depth}"}

# What varies: the cases (n, d, depth).
SWEEPS = {
    "n": [(n, 20, 6) for n in (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)],
    "d": [(20_000, d, 4) for d in (10, 20, 40, 80, 160, 320)],
    "depth": [(100_000, 20, depth) for depth in (1, 2, 3, 4, 6, 8, 10)],
}
QUICK_SWEEPS = {
    "n": [(n, 20, 6) for n in (1_000, 10_000, 100_000)],
    "d": [(20_000, d, 4) for d in (10, 40, 160)],
    "depth": [(20_000, 20, depth) for depth in (1, 3, 6)],
}


def count_nodes(estimator):
    """(nodes, depth reached) of a fitted tree of either implementation."""
    if hasattr(estimator, "tree_"):
        return int(estimator.tree_.node_count), int(estimator.get_depth())

    def below(node):
        if "threshold" not in node:
            return 1, 0
        left, right = below(node["left"]), below(node["right"])
        return 1 + left[0] + right[0], 1 + max(left[1], right[1])

    return below(estimator.root_)


def cost_terms(n, d, nodes, depth):
    """The terms of the formula, each without its constant: (5,)."""
    return np.array([n * d * d / 2 * (1 + depth / 2), n * d * depth, nodes * d**3 / 3,
                     depth * n * np.log2(n), 1.0])


def measure_case(factory, n, d, depth, repeats):
    """Times and sizes of one fit."""
    X, y, _ = simulate("sim1", n, d, seed=0)
    timings, models = interleave({"fit": lambda: factory(depth).fit(X, y)}, repeats=repeats)
    if timings["fit"].error is not None:
        raise RuntimeError(f"fit failed at n = {n}, d = {d}, depth {depth}: {timings['fit'].error}")
    gram, _ = time_gram(X, repeats=3)
    nodes, reached = count_nodes(models["fit"])
    return {"n": n, "d": d, "depth": depth, "nodes": nodes, "depth_reached": reached,
            "seconds": timings["fit"].median, "gram_seconds": gram.median}


def print_sweeps(sweeps, constants):
    """The tables: one for each sweep, and the constants in words."""
    for sweep, cases in sweeps.items():
        print_table(
            f"growth with {sweep}",
            ["n", "d", "depth", "nodes", "fit", "fit / X.T@X", "measured / formula", "mostly"],
            [[str(c["n"]), c["d"], c["depth"], c["nodes"], seconds_text(c["seconds"]),
              number_text(c["seconds"] / c["gram_seconds"], 3), f"{c['ratio']:.2f}",
              max(c["shares"], key=c["shares"].get)] for c in cases])
    print("\nconstants")
    for term, unit in (("moments", "G multiply-adds/s"), ("scores", "G multiply-adds/s"),
                       ("factorisations", "G multiply-adds/s")):
        rate = f"{1e-9 / constants[term]:.2f} {unit}" if constants[term] > 0 else "not visible"
        print(f"  {term}: {rate}")
    print(f"  sort and scan: {constants['sort and scan'] * 1e9:.3g} ns a sample, level and log2 n")
    print(f"  call: {seconds_text(constants['call'])}")
    ratios = [c["ratio"] for cases in sweeps.values() for c in cases]
    print(f"  measured / formula lies between {min(ratios):.2f} and {max(ratios):.2f}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--plot", type=Path, default=None, metavar="FILE", help="PNG of the growth")
    parser.add_argument("--estimator", choices=("fctree", "literal"), default="fctree")
    parser.add_argument("--n-jobs", type=int, default=-1, help="threads of fctree")
    parser.add_argument("--repeats", type=int, default=None, help="timed rounds (5; quick: 3)")
    arguments = parser.parse_args()
    if arguments.estimator == "literal":
        factory, label = literal, "literal NumPy FC-ODT"
    else:
        try:
            fcodt(1)
        except ImportError as error:
            parser.exit(1, f"fctree is not installed ({error}): try --estimator literal\n")
        factory, label = partial(fcodt, n_jobs=arguments.n_jobs), "FCODTRegressor.fit"
    warn_if_busy()
    chosen = QUICK_SWEEPS if arguments.quick else SWEEPS
    repeats = arguments.repeats or (3 if arguments.quick else 5)
    sweeps, measured = measure_sweeps(chosen, lambda case: measure_case(factory, *case, repeats))
    terms = np.array([cost_terms(c["n"], c["d"], c["nodes"], c["depth_reached"]) for c in measured.values()])
    constants = add_formula(list(measured.values()), terms, TERMS)
    print_sweeps(sweeps, constants)
    if arguments.plot is not None:
        measured = {"seconds": label, "gram_seconds": "one X.T @ X"}
        plot_sweeps(sweeps, WORDS, "formula_seconds", measured, arguments.plot)
    write_json(arguments.json, NAME, {"estimator": arguments.estimator, "n_jobs": arguments.n_jobs,
                                      "constants": constants, "sweeps": sweeps}, arguments.quick)
    print(f"results written to {arguments.json}")


if __name__ == "__main__":
    main()
