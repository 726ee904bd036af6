"""Kernel ridge regression with and without features that it learns.

Real tables, standardised, two of five folds: R² of

  plain        `TreeNTKRegressorCV`
  learned      the same with `feature_learning=3`
  small        the same with 16 settings to choose from, as many as the peer has, in place of 100
  exponential  as learned, with the exponential kernel in place of the trees'
  xrfm         the peer: xRFM, its bandwidth and penalty chosen on a fifth of the training rows

python benchmarks/bench_feature_learning.py --data FOLDER --methods plain learned

With OMP_NUM_THREADS=1 processor seconds can be compared: torch's threads use the processor while they wait.
"""

import argparse
import itertools
import time

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from fctree import TreeNTKRegressorCV
from real_data import REGRESSION_SETS, load_table, short_name
from report import add_arguments, print_markdown, write_json
from sklearn.model_selection import KFold, train_test_split
from sklearn.preprocessing import StandardScaler

NAME = "bench_feature_learning"
ROUNDS = 3
# Bandwidths and penalties of the peer, around those of its documentation.
BANDWIDTHS = (1.0, 3.0, 10.0, 30.0)
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)


def ours(**parameters):
    """A function that fits and predicts; and whether a metric was kept."""

    def fit_predict(X, y, X_test):
        model = TreeNTKRegressorCV(**parameters).fit(X, y)
        return model.predict(X_test), model.feature_matrix_ is not None

    return fit_predict


def xrfm(X, y, X_test):
    """xRFM with the settings that predict a fifth of the rows best, fitted with that fifth for validation."""
    import torch
    from xrfm import xRFM

    X, X_test = X.astype(np.float32), X_test.astype(np.float32)
    scale = y.std()
    y = (y / scale).astype(np.float32)[:, np.newaxis]
    X_fit, X_held, y_fit, y_held = train_test_split(X, y, test_size=0.2, random_state=0)
    best = np.inf, None
    for bandwidth, penalty in itertools.product(BANDWIDTHS, PENALTIES):
        kernel = {"kernel": "l2", "bandwidth": bandwidth, "exponent": 1.0, "diag": False,
                  "bandwidth_mode": "constant"}
        loop = {"reg": penalty, "iters": ROUNDS, "verbose": False, "early_stop_rfm": True}
        model = xRFM(rfm_params={"model": kernel, "fit": loop}, device=torch.device("cpu"),
                     tuning_metric="mse", verbose=False)
        model.fit(X_fit, y_fit, X_held, y_held)
        error = np.mean((np.asarray(model.predict(X_held)).ravel() - y_held.ravel()) ** 2)
        if error < best[0]:
            best = error, model
    return np.asarray(best[1].predict(X_test)).ravel().astype(float) * scale, True


def methods():
    """Functions of training rows, targets and test rows, by name."""
    return {"plain": ours(), "learned": ours(feature_learning=ROUNDS),
            "small": ours(feature_learning=ROUNDS, depths=(3,), scales=(0.5, 1.0, 2.0, 4.0)),
            "exponential": ours(feature_learning=ROUNDS, architecture="exponential"), "xrfm": xrfm}


def measure(fit_predict, X, y, n_folds=2):
    """Mean R² over the folds, the share of them in which a metric was kept, and seconds."""
    found = []
    for train, test in list(KFold(5, shuffle=True, random_state=0).split(X))[:n_folds]:
        scaler = StandardScaler().fit(X[train])
        mean = y[train].mean()
        clocks = time.perf_counter(), time.process_time()
        answers, kept = fit_predict(scaler.transform(X[train]), y[train] - mean, scaler.transform(X[test]))
        seconds = time.perf_counter() - clocks[0], time.process_time() - clocks[1]
        score = 1.0 - np.mean((y[test] - mean - answers) ** 2) / y[test].var()
        found.append([score, kept, *seconds])
    names = ("r2", "kept", "seconds", "processor seconds")
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--data", required=True, help="folder of the real tables (real_data.py)")
    parser.add_argument("--rows", type=int, default=1_000, help="most of a table")
    parser.add_argument("--methods", nargs="+", choices=tuple(methods()), default=["plain", "learned"])
    args = parser.parse_args()
    by_table = {}
    rng = np.random.default_rng(0)
    for method in args.methods:  # the first call loads its libraries
        measure(methods()[method], rng.normal(size=(50, 3)), rng.normal(size=50), n_folds=1)
    for name in REGRESSION_SETS[:4] if args.quick else REGRESSION_SETS:
        X, y = load_table(args.data, name, max_rows=args.rows)
        found = {method: measure(methods()[method], X, y.astype(float)) for method in args.methods}
        row = by_table[short_name(name)] = {
            **{method: of["r2"] for method, of in found.items()},
            **{f"{key}, {method}": of[key] for method, of in found.items()
               for key in ("seconds", "processor seconds", "kept")},
        }
        if {"plain", "learned"} <= set(found):
            row["gain"] = row["learned"] - row["plain"]
        print(short_name(name), row, flush=True)
    keys = list(row)
    results = {"tables": by_table,
               "mean": {key: float(np.mean([of[key] for of in by_table.values()])) for key in keys}}
    if "gain" in keys:
        gains = np.array([of["gain"] for of in by_table.values()])
        results |= {"smallest gain": float(gains.min()), "better": int(np.sum(gains > 0.001)),
                    "worse": int(np.sum(gains < -0.001))}
    print_markdown("mean", keys, [[f"{results['mean'][key]:.4f}" for key in keys]])
    write_json(args.json, NAME, results, quick=args.quick)


if __name__ == "__main__":
    main()
