"""Kernel ridge regression with landmarks: its error against the exact solution's, and its time.

  landmarks  pivoted and uniform landmarks, the same number, where the exact solution can be computed
  large      fits of 200,000 samples

python benchmarks/bench_nystrom.py
"""

import argparse
import resource
import time

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)
import numpy as np
from report import add_arguments, print_markdown, warn_if_busy, write_json
from scipy.linalg import solve

from fctree import TreeNTKRegressor
from fctree.kernels import tree_ntk

NAME = "bench_nystrom"
KERNEL = {"depth": 3, "scale": 0.1}
ALPHA = 1.0
N_FEATURES = 20


def simulate(n, seed, clumped=False):
    """Bends and a product of 20 features, noise 0.5; clumped: most samples within a tenth of the others' range."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, N_FEATURES))
    if clumped:
        X[rng.random(n) < 0.9] *= 0.1
    f = np.abs(X[:, :5]).sum(axis=1) + X[:, 5] * X[:, 6]
    return X, f + 0.5 * rng.standard_normal(n), f


def fit(X, y, solver, n_components):
    """A fitted model, seconds and processor seconds."""
    model = TreeNTKRegressor(alpha=ALPHA, **KERNEL, solver=solver, n_components=n_components,
                             n_jobs=-1, random_state=0)
    clocks = time.perf_counter(), time.process_time()
    model.fit(X, y)
    return model, time.perf_counter() - clocks[0], time.process_time() - clocks[1]


def with_uniform_landmarks(X, y, X_test, n_components):
    """Predictions of the normal equations of landmarks drawn alike, by SciPy's dense solver."""
    Z = X[np.random.default_rng(0).choice(len(X), n_components, replace=False)]
    K_zz, left, right = tree_ntk(Z, **KERNEL, n_jobs=-1), 0.0, 0.0
    for begin in range(0, len(X), 4096):
        K = tree_ntk(X[begin : begin + 4096], Z, **KERNEL, n_jobs=-1)
        left, right = left + K.T @ K, right + K.T @ y[begin : begin + 4096]
    left += ALPHA * K_zz
    left[np.diag_indices(n_components)] += 1e-12 * left.trace() / n_components  # else singular where clumped
    c = solve(left, right, assume_a="pos", overwrite_a=True)
    return tree_ntk(X_test, Z, **KERNEL, n_jobs=-1) @ c


def compare_landmarks(n, sizes):
    """Mean squared errors against the truth, of the exact solution and with landmarks."""
    rows = []
    for clumped in (False, True):
        X, y, _ = simulate(n, 1, clumped)
        X_test, _, f = simulate(2000, 99, clumped)
        exact, seconds, processor = fit(X, y, "cholesky", 1)
        mse = float(np.mean((exact.predict(X_test) - f) ** 2))
        base = {"data": "clumped" if clumped else "normal", "n": n}
        rows.append({**base, "landmarks": 0, "mse": mse, "error ratio": 1.0, "seconds": seconds,
                     "processor seconds": processor})
        for m in sizes:
            model, seconds, processor = fit(X, y, "nystrom", m)
            found = np.mean((model.predict(X_test) - f) ** 2)
            uniform = np.mean((with_uniform_landmarks(X, y, X_test, m) - f) ** 2)
            rows.append({**base, "landmarks": m, "mse": float(found), "error ratio": float(found / mse),
                         "uniform error ratio": float(uniform / mse), "seconds": seconds,
                         "processor seconds": processor, "iterations": model.n_iter_})
            print(rows[-1], flush=True)
    return rows


def fit_large(n, m):
    """Time, memory and error of one large fit."""
    X, y, _ = simulate(n, 1)
    X_test, _, f = simulate(2000, 99)
    model, seconds, processor = fit(X, y, "nystrom", m)
    found = {"n": n, "landmarks": m, "seconds": seconds, "processor seconds": processor,
            "iterations": model.n_iter_, "mse": float(np.mean((model.predict(X_test) - f) ** 2)),
            "peak GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}
    print(found, flush=True)
    return found


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--rows", type=int, default=10_000, help="samples where the exact solution is computed")
    parser.add_argument("--landmarks", type=int, nargs="+", default=[1000, 5000])
    parser.add_argument("--large", type=int, default=200_000, help="samples of the large fits")
    args = parser.parse_args()
    warn_if_busy()
    rows, sizes, large = (2000, [200, 500], 20_000) if args.quick else (
        args.rows, args.landmarks, args.large)
    results = {"large": [fit_large(large, m) for m in sizes], "landmarks": compare_landmarks(rows, sizes)}
    columns = ["landmarks", "error ratio", "uniform error ratio", "seconds", "processor seconds", "iterations"]
    print_markdown("errors", ["data", *columns],
                   [[r["data"], *(r.get(c) for c in columns)] for r in results["landmarks"]])
    print_markdown("large", list(results["large"][0]), [list(r.values()) for r in results["large"]])
    write_json(args.json, NAME, results, quick=args.quick)


if __name__ == "__main__":
    main()
