"""Do prediction intervals hold what their level says, how wide are they, and what do they cost?

regression      coverage and mean width on real tables and simulated designs, five folds, beside ten-fold
                conformal prediction (MAPIE's CrossConformalRegressor, method="plus") of the same model.
cost            what `fit` spends on what intervals need.
classification  expected calibration error of predict_proba beside CatBoost and logistic regression.

python benchmarks/bench_intervals.py --data FOLDER
"""

import argparse
import json
import time
import warnings

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    TreeNTKRegressor,
)
from interval_designs import DESIGNS
from measure import time_once
from peers import peer
from real_data import REGRESSION_SETS, classification_sets, load_table, short_name
from report import add_arguments, print_markdown, warn_if_busy, write_json
from simulated_data import simulate
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

NAME = "bench_intervals"
PARTS = ("cost", "trees", "ensembles", "classification")
PEER_ROWS = 2_500
MOST_FEATURES = 60  # of a table of classes
LEVELS = (0.5, 0.8, 0.9, 0.95)
TREES = {
    "curvature tree, depth 3": CurvatureTreeRegressor(max_depth=3, n_jobs=2),
    "curvature tree, depth 6": CurvatureTreeRegressor(max_depth=6, n_jobs=2),
    "FC-ODT, depth 3": FCODTRegressor(max_depth=3, min_samples_leaf=20, n_jobs=2),
}
ENSEMBLES = {
    "forest": CurvatureForestRegressor(n_estimators=25, n_jobs=2, random_state=0),
    "tree kernel": TreeNTKRegressor(alpha=0.1, n_jobs=2),
    "symmetric boosting": SymmetricBoostingRegressor(
        calibration_fraction=0.2, n_jobs=2, random_state=0),
    "curvature boosting": CurvatureBoostingRegressor(
        max_iter=50, learning_rate=0.2, calibration_fraction=0.2, n_jobs=2, random_state=0),
}


def by_level(values):
    """{"50%": value, ..}"""
    return {f"{level:.0%}": value for level, value in zip(LEVELS, values, strict=True)}


def tables(folder, max_rows):
    """(name, X, y) of the real tables, features standardised, and of the simulated designs."""
    for name in REGRESSION_SETS:
        X, y = load_table(folder, name, max_rows=max_rows)
        yield short_name(name), StandardScaler().fit_transform(X), y.astype(float)
    for name, design in DESIGNS.items():
        yield name, *design(min(max_rows, 5000), np.random.default_rng(0))


def coverage_and_width(interval, y):
    """Share of the targets inside and mean width."""
    inside = (interval[:, 0] <= y) & (y <= interval[:, 1])
    return [float(np.mean(inside)), float(np.mean(interval[:, 1] - interval[:, 0]))]


def own_fold(model, X, y, X_test, y_test):
    """{"coverage", "width": one a level, "seconds": of fit and one prediction of intervals}."""
    model = clone(model)
    seconds, _ = time_once(
        lambda: model.fit(X, y).predict_interval(X_test, LEVELS[-1]), settle=0.0)
    found = [coverage_and_width(model.predict_interval(X_test, level), y_test) for level in LEVELS]
    coverage, width = zip(*found, strict=True)
    return {"coverage": coverage, "width": width, "seconds": seconds}


def peer_fold(model, X, y, X_test, y_test):
    """Results as those of `own_fold`, of ten-fold conformal prediction."""
    from mapie.regression import CrossConformalRegressor

    model = clone(model)
    if "calibration_fraction" in model.get_params():
        model.set_params(calibration_fraction=None)
    peer = CrossConformalRegressor(model, confidence_level=list(LEVELS), cv=10, random_state=0)
    # Of the peer only the fits are timed: its predictions for several levels are one call.
    seconds, _ = time_once(lambda: peer.fit_conformalize(X, y), settle=0.0)
    intervals = peer.predict_interval(X_test)[1]
    found = [coverage_and_width(intervals[:, :, k], y_test) for k in range(len(LEVELS))]
    coverage, width = zip(*found, strict=True)
    return {"coverage": coverage, "width": width, "seconds": seconds}


def measure_table(model, X, y, peer_folds):
    """Means over five folds; beside the peer over the first of them, of PEER_ROWS samples."""
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    own = [own_fold(model, X[a], y[a], X[b], y[b]) for a, b in folds]
    sizes = [len(b) for _, b in folds]
    result = {"coverage": np.average([f["coverage"] for f in own], axis=0, weights=sizes).tolist()}
    if peer_folds:
        rows = np.random.default_rng(0).permutation(len(X))[:PEER_ROWS]
        X, y = X[rows], y[rows]
        folds = list(KFold(5, shuffle=True, random_state=0).split(X))[:peer_folds]
        beside = [own_fold(model, X[a], y[a], X[b], y[b]) for a, b in folds]
        peers = [peer_fold(model, X[a], y[a], X[b], y[b]) for a, b in folds]
        for key in ("coverage", "width", "seconds"):
            result[f"peer_{key}"] = np.mean([f[key] for f in peers], axis=0).tolist()
        widths, peer_widths = ([f["width"] for f in of] for of in (beside, peers))
        result["width_ratio"] = np.mean(np.divide(widths, peer_widths), axis=0).tolist()
        result["seconds"] = float(np.mean([f["seconds"] for f in beside]))
        result["time_ratio"] = result["seconds"] / result["peer_seconds"]
    return result


def _labelled(result):
    return {k: by_level(v) if isinstance(v, list) else v for k, v in result.items()}


def summary(by_table):
    """Statistics of one model over all tables, one number a level."""
    gaps = np.array([of["coverage"] for of in by_table.values()]) - LEVELS
    ratios = np.array([of["width_ratio"] for of in by_table.values() if "width_ratio" in of])
    times = [of["time_ratio"] for of in by_table.values() if "time_ratio" in of]
    worst = gaps.argmin(axis=0)
    return {
        "levels": by_level(LEVELS), "mean_gap": by_level(gaps.mean(axis=0)), "least_gap": by_level(gaps.min(axis=0)),
        "worst_table": by_level([list(by_table)[k] for k in worst]),
        "n_short": by_level(np.count_nonzero(gaps < -0.01 - 1e-9, axis=0)),
        "width_ratio": by_level(ratios.mean(axis=0)) if len(ratios) else None,
        "time_ratio": float(np.median(times)) if times else None,
    }


def measure_regression(folder, models, max_rows, peer_folds):
    """{model: {"tables": {table: numbers}, "real", "simulated": summaries}}"""
    results = {name: {} for name in models}
    for table, X, y in tables(folder, max_rows):
        print(f"{table} ({len(X)} x {X.shape[1]})", flush=True)
        for name, model in models.items():
            results[name][table] = measure_table(model, X, y, peer_folds)
    results = {
        name: {"tables": {k: _labelled(v) for k, v in of.items()}, "real": summary({k: v for k, v in of.items() if k not in DESIGNS}),
               "simulated": summary({k: v for k, v in of.items() if k in DESIGNS})}
        for name, of in results.items()
    }
    for part in ("real", "simulated"):
        rows = [
            [name, level, f"{of[part]['mean_gap'][level]:+.3f}",
             f"{of[part]['least_gap'][level]:+.3f} ({of[part]['worst_table'][level]})",
             int(of[part]["n_short"][level]),
             f"{of[part]['width_ratio'][level]:.3f}" if peer_folds else "-",
             f"{of[part]['time_ratio']:.3f}" if peer_folds else "-"]
            for name, of in results.items() for level in by_level(LEVELS)
        ]
        header = ["model", "level", "coverage less level", "smallest", "tables below -.01",
                  "width / ten-fold", "time / ten-fold"]
        print_markdown(f"{part} tables, at most {max_rows} rows", header, rows)
    return results


class _Without:
    """Mixin: a fit that spends nothing on intervals."""

    def _keep_intervals(self, *_):
        pass

    def _use_out_of_bag(self, *_):
        pass

    def _grow(self, *args, left_out=None, **settings):
        return super()._grow(*args, **settings)


def processor_seconds(model, X, y):
    """Processor seconds of one fit."""
    start = time.process_time()
    model.fit(X, y)
    return time.process_time() - start


def measure_cost(repeats):
    """Seconds of fits with and without what intervals need."""
    results, rows = [], []
    for n, d in ((1_000, 10), (10_000, 10), (20_000, 50)):
        X, y, _ = simulate("sim1", n, d, seed=0)
        models = TREES if n > 10_000 else {
            **TREES, "forest": clone(ENSEMBLES["forest"]).set_params(n_estimators=10)}
        for name, model in models.items():
            plain_class = type("Plain", (_Without, type(model)), {"__init__": type(model).__init__})
            plain = plain_class(**model.get_params(deep=False))
            own, plain = clone(model).set_params(n_jobs=1), plain.set_params(n_jobs=1)
            # Of processor time the best: the difference is small beside what other programs do.
            times = np.array([[processor_seconds(own, X, y), processor_seconds(plain, X, y)]
                              for _ in range(repeats)])
            best, plain_best = times.min(axis=0)
            results.append({"model": name, "n": n, "d": d, "with": best, "without": plain_best,
                            "more": best / plain_best - 1.0})
            rows.append([name, f"{n:,} x {d}", f"{1e3 * plain_best:.1f}", f"{1e3 * best:.1f}",
                         f"{100 * (best / plain_best - 1.0):.1f} %"])
    print_markdown("Cost in fit", ["model", "samples", "without, ms", "with, ms", "more"], rows)
    return results


def calibration_error(probabilities, labels, n_bins=15):
    """Expected calibration error of the predicted class, bins of equal width (Guo et al. 2017)."""
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == labels
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    sums = np.bincount(bins, right - confidence, minlength=n_bins)
    return float(np.abs(sums).sum() / len(labels))


def classifiers():
    """Default settings unless noted."""
    return {
        "curvature tree": CurvatureTreeClassifier(n_jobs=2),
        "forest, 25 trees": CurvatureForestClassifier(n_estimators=25, n_jobs=2, random_state=0),
        "symmetric boosting": SymmetricBoostingClassifier(n_jobs=2, random_state=0),
        "curvature boosting, 50 rounds": CurvatureBoostingClassifier(
            max_iter=50, learning_rate=0.2, n_jobs=2, random_state=0),
        "CatBoost, 200 trees": peer("CatBoost", True, rounds=200, threads=2),
        "logistic regression": LogisticRegression(max_iter=1000),
    }


def measure_classification(folder, max_rows, max_classes=4):
    """{classifier: {"error", "accuracy": mean over tables, "tables": {table: [error, accuracy]}}}"""
    results = {}
    for table in classification_sets(folder, "pmlb_"):
        X, y = load_table(folder, table, max_rows=max_rows)
        labels = np.unique(y, return_inverse=True)[1]
        if X.shape[1] > MOST_FEATURES or labels.max() >= max_classes or np.bincount(labels).min() < 10 or len(y) < 500:
            continue
        X = StandardScaler().fit_transform(X)
        folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, labels))
        for name, model in classifiers().items():
            found = []
            for train, test in folds:
                model.fit(X[train], labels[train])
                probabilities = model.predict_proba(X[test])
                found.append([calibration_error(probabilities, labels[test]),
                              float(np.mean(probabilities.argmax(axis=1) == labels[test]))])
            of = results.setdefault(name, {"tables": {}})
            of["tables"][short_name(table)] = np.mean(found, axis=0).tolist()
    for of in results.values():
        of["error"], of["accuracy"] = np.mean(list(of["tables"].values()), axis=0).tolist()
    n_tables = len(next(iter(results.values()))["tables"])
    print_markdown(f"Expected calibration error, {n_tables} tables",
                   ["classifier", "calibration error", "accuracy"],
                   [[n, f"{of['error']:.4f}", f"{of['accuracy']:.4f}"] for n, of in results.items()])
    return results


def main():
    """Measure all parts, or the quick ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--data", required=True, help="folder of the real tables (real_data.py)")
    parser.add_argument("--rows", type=int, default=10_000, help="most of a table, for trees")
    parser.add_argument("--ensemble-rows", type=int, default=800, help="the same for ensembles")
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS,
                        help="the others keep their numbers in the JSON file")
    args = parser.parse_args()
    warn_if_busy()
    rows, ensemble_rows = (500, 300) if args.quick else (args.rows, args.ensemble_rows)
    peer_folds = 0 if args.quick else 1
    parts = {
        "cost": lambda: measure_cost(3 if args.quick else 9),
        "trees": lambda: measure_regression(args.data, TREES, rows, peer_folds),
        "ensembles": lambda: measure_regression(args.data, ENSEMBLES, ensemble_rows, peer_folds),
        "classification": lambda: measure_classification(
            args.data, 300 if args.quick else 1_500),
    }
    results = json.loads(args.json.read_text())["results"] if args.json.is_file() else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in args.parts:
            results[part] = parts[part]()
            write_json(args.json, NAME, results, quick=args.quick)


if __name__ == "__main__":
    main()
