"""Is the tree kernel's Gram matrix as fast as the matrix product it starts with?

  grid      tree_ntk (perfect trees, depth 3, scale 2) against NumPy, numba, torch, jax and
            scikit-learn's kernels, and against the product of the samples alone
  depth     time by depth of tree_ntk, relu_ntk and neural-tangents (figure 7 of Kanoh and
            Sugiyama 2022, on the right)

Times are the best of the rounds: other programs only ever add to them. ``--clock cpu`` measures
processor time with everything on one thread, which other programs disturb least (without jax, whose
threads cannot be limited afterwards).
"""

import argparse
import time
from functools import partial

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from fctree.kernels import relu_ntk, tree_ntk
from gram_methods import all_methods, installed, neural_tangents_relu
from measure import interleave
from report import add_arguments, print_table, seconds_text, warn_if_busy, write_json
from threadpoolctl import threadpool_limits

NAME = "bench_gram"


def best_cpu_seconds(calls, repeats):
    """Processor seconds of each call in turns, the best of the rounds, and the last results."""
    best, results = {}, {}
    for round_number in range(repeats + 1):
        for name, call in calls.items():
            start = time.process_time()
            results[name] = call()
            seconds = time.process_time() - start
            if round_number > 0:
                best[name] = min(seconds, best.get(name, np.inf))
    return best, results


def best_seconds(calls, repeats, clock):
    """Best seconds of each call by the wanted clock, and the last results."""
    if clock == "cpu":
        return best_cpu_seconds(calls, repeats)
    timings, results = interleave(calls, repeats=repeats, slow_seconds=3.0)
    return {k: t.best for k, t in timings.items()}, results


def use_one_thread():
    """Everything on one thread, from here on."""
    threadpool_limits(1)
    if installed("torch"):
        import torch

        torch.set_num_threads(1)
    if installed("numba"):
        import numba

        numba.set_num_threads(1)


def compare_grid(sizes, widths, repeats, clock):
    """One row a size, width and type: best seconds of each method, and fctree's error."""
    rows = []
    for dtype in (np.float64, np.float32):
        for n in sizes:
            for d in widths:
                X = np.random.default_rng(0).standard_normal((n, d)).astype(dtype)
                one = clock == "cpu"
                calls = all_methods(X, 3, n_jobs=1 if one else -1, with_slow=n <= 2000)
                if one:
                    calls.pop("jax", None)
                seconds, results = best_seconds(calls, repeats, clock)
                reference = results["numpy, tuned"]
                row = {"n": n, "d": d, "dtype": np.dtype(dtype).name,
                       "seconds": seconds,
                       "difference": float(np.abs(results["fctree"] - reference).max()
                                           / reference.max())}
                rows.append(add_ratios(row))
                print_grid([row])
    return rows


def add_ratios(row):
    """fctree against the floor and the fastest peer."""
    seconds = row["seconds"]
    floor = min(seconds["product X @ X.T"], seconds["product X @ Z.T"])
    peers = {k: v for k, v in seconds.items()
             if k != "fctree" and not k.startswith(("product", "scikit")) and np.isfinite(v)}
    row["over_floor"] = seconds["fctree"] / floor
    row["fastest_peer"] = min(peers, key=peers.get)
    row["peer_over_fctree"] = min(peers.values()) / seconds["fctree"]
    row["plain_numpy_over_fctree"] = seconds["numpy, plain"] / seconds["fctree"]
    return row


def print_grid(rows):
    for row in rows:
        print_table(f"{row['n']} x {row['d']} {row['dtype']}: {row['over_floor']:.2f} of the floor,"
                    f" {row['peer_over_fctree']:.1f} times faster than {row['fastest_peer']}",
                    ("method", "seconds"),
                    [(k, seconds_text(v)) for k, v in row["seconds"].items()])


def compare_depths(sizes, depths, repeats, clock):
    """Nanoseconds an entry at each depth."""
    rows = []
    for n in sizes:
        X = np.random.default_rng(0).standard_normal((n, 10))
        out = np.empty((n, n))
        for depth in depths:
            threads = {"out": out, "n_jobs": 1 if clock == "cpu" else -1}
            calls = {"tree_ntk": partial(tree_ntk, X, depth=depth, **threads),
                     "relu_ntk": partial(relu_ntk, X, depth=depth, **threads)}
            if installed("neural_tangents"):
                calls["neural-tangents"] = neural_tangents_relu(X, depth)
            seconds, _ = best_seconds(calls, repeats, clock)
            rows.append({"n": n, "depth": depth,
                         **{k: v / n**2 * 1e9 for k, v in seconds.items()}})
    names = [k for k in rows[0] if k not in ("n", "depth")]
    print_table("ns an entry by depth (10 features, float64)", ("n", "depth", *names),
                [(str(r["n"]), r["depth"], *(r[k] for k in names)) for r in rows])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_arguments(parser, NAME)
    parser.add_argument("--only", nargs="+", choices=("grid", "depth"),
                        default=["grid", "depth"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[2000, 5000, 8000])
    parser.add_argument("--widths", nargs="+", type=int, default=[10, 20, 50, 100])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    arguments = parser.parse_args()
    if arguments.clock == "cpu":
        use_one_thread()
    warn_if_busy()
    quick = arguments.quick
    results = {"clock": arguments.clock}
    if "grid" in arguments.only:
        results["grid"] = compare_grid([2000] if quick else arguments.sizes,
                                       [20] if quick else arguments.widths,
                                       3 if quick else arguments.repeats, arguments.clock)
    if "depth" in arguments.only:
        results["depth"] = compare_depths([300] if quick else [300, 2000],
                                          [1, 2, 8, 29], 3 if quick else 10, arguments.clock)
    write_json(arguments.json, NAME, results, quick)


if __name__ == "__main__":
    main()
