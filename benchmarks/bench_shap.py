"""How fast are attributions, beside shap's TreeExplainer?

Parts, chosen by `--only`:

peers     interventional Shapley values of 100 trees of depth 6 with 100 background rows: fctree's
          on its own symmetric trees and on CatBoost's (read from its JSON dump), TreeExplainer on
          CatBoost's and LightGBM's. TreeExplainer explains fewer rows (`peer_rows`); seconds a row are
          what compares. The difference of the two on CatBoost's trees is reported.
oblique   seconds a row for 100 rounds of curvature boosting, exact Shapley values of sparse
          trees and path attributions.

A library that is missing is named and left out.
"""

import argparse
import json
import tempfile
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from boosting_data import draw
from measure import interleave
from peers import peer
from report import add_arguments, print_markdown, seconds_text, warn_if_busy, write_json

from fctree import CurvatureBoostingRegressor, SymmetricBoostingRegressor
from fctree._native import inspection as native
from fctree.inspection import shap_values
from fctree.symmetric.trees import SymmetricTrees

try:
    import catboost  # noqa: F401  (by peers.py)
    import lightgbm  # noqa: F401
    import shap
except ImportError as error:
    print(f"{error.name} is missing: peers are left out")
    shap = None

NAME = "bench_shap"
PARTS = ("peers", "oblique")
TREES, DEPTH, BACKGROUND = 100, 6, 100


def trees_of_catboost(model):
    """CatBoost's symmetric trees as `SymmetricTrees`; its first split is a leaf's lowest bit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save_model(str(path), format="json")
        document = json.loads(path.read_text())
    scale = document["scale_and_bias"][0]
    trees = document["oblivious_trees"]
    shape = (len(trees), DEPTH)
    feature, threshold = np.full(shape, -1, dtype=np.int32), np.zeros(shape)
    values = np.zeros((len(trees), 2**DEPTH, 1))
    for t, tree in enumerate(trees):
        splits = tree["splits"][::-1]
        feature[t, : len(splits)] = [split["float_feature_index"] for split in splits]
        threshold[t, : len(splits)] = [split["border"] for split in splits]
        values[t, :: 2 ** (DEPTH - len(splits)), 0] = scale * np.array(tree["leaf_values"])
    return SymmetricTrees(feature, threshold, np.zeros(shape, bool), np.zeros(shape), values)


def attributed(trees, X, background, n_threads):
    d = X.shape[1]
    return native.attribute_symmetric(
        trees, X, background, np.arange(d), d, path_dependent=False, n_threads=n_threads
    )[:, :, 0]


def run_peers(args):
    n, peer_rows = (2_000, 20) if args.quick else (10_000, 200)
    X, y = draw(n, args.features)
    background = X[:: n // BACKGROUND][:BACKGROUND]
    ours = SymmetricBoostingRegressor(max_iter=TREES, max_depth=DEPTH, random_state=0).fit(X, y)
    calls, rows = {}, {}
    for n_jobs in (1, 2):
        name = f"fctree, {n_jobs} thread" + "s" * (n_jobs > 1)
        calls[name] = lambda n_jobs=n_jobs: shap_values(ours, X, background, n_jobs=n_jobs).values
        rows[name] = n
    if shap is not None:
        theirs = peer("CatBoost", rounds=TREES, depth=DEPTH, threads=None).fit(X, y)
        trees = trees_of_catboost(theirs)
        light = peer("LightGBM", rounds=TREES, threads=None, max_depth=DEPTH, num_leaves=2**DEPTH).fit(X, y)
        calls["fctree on CatBoost's trees"] = lambda: attributed(trees, X, background, 1)
        rows["fctree on CatBoost's trees"] = n
        for name, model in (("TreeExplainer, CatBoost", theirs), ("TreeExplainer, LightGBM", light)):
            explainer = shap.TreeExplainer(
                model, background, feature_perturbation="interventional"
            )
            calls[name] = lambda e=explainer: e.shap_values(X[:peer_rows], check_additivity=False)
            rows[name] = peer_rows
    timings, results = interleave(calls, repeats=args.repeats, slow_seconds=30.0)
    out = [
        {"program": name, "rows": rows[name], "us_per_row": 1e6 * timing.median / rows[name],
         **timing.as_dict()}
        for name, timing in timings.items()
    ]
    print_markdown(
        f"{TREES} trees of depth {DEPTH}, {BACKGROUND} background rows, {args.features} features",
        ["program", "rows", "median", "a row"],
        [[r["program"], r["rows"], seconds_text(r["median_s"]),
          seconds_text(r["us_per_row"] / 1e6)] for r in out],
    )
    if shap is not None:
        difference = results["fctree on CatBoost's trees"][:peer_rows]
        difference = np.abs(difference - results["TreeExplainer, CatBoost"]).max()
        print(f"largest difference on CatBoost's trees: {difference:.1e}")
        out.append({"program": "difference on CatBoost's trees", "largest": float(difference)})
    return out


def run_oblique(args):
    n = 10 if args.quick else 40
    out = []
    cases = [("max_coef=2", 10, {"max_coef": 2}), ("max_coef=2, no bounds", 30, {
        "max_coef": 2, "extrapolation": None}), ("dense", 10, {}), ("dense", 30, {})]
    for name, d, parameters in cases:
        X, y = draw(2_000, d)
        model = CurvatureBoostingRegressor(max_iter=TREES, random_state=0, **parameters).fit(X, y)
        methods = ["interventional", "aumann_shapley"][name == "dense" and d > 10 :]
        calls = {m: lambda m=m: shap_values(model, X[:n], X[-BACKGROUND:], method=m) for m in methods}
        timings, results = interleave(calls, repeats=args.repeats, slow_seconds=5.0)
        for method, timing in timings.items():
            found = results[method]
            sums = found.base_values + found.values.sum(axis=1)
            out.append({
                "trees": f"{name}, {d} features", "method": method, "rows": n,
                "ms_per_row": 1e3 * timing.median / n,
                "error_of_sums": float(np.abs(sums - model.predict(X[:n])).max()),
                **timing.as_dict(),
            })  # fmt: skip
    print_markdown(
        f"{TREES} rounds of curvature boosting, {BACKGROUND} background rows, one thread",
        ["trees", "method", "a row", "error of sums"],
        [[r["trees"], r["method"], seconds_text(r["ms_per_row"] / 1e3), f"{r['error_of_sums']:.0e}"]
         for r in out],
    )
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_arguments(parser, NAME)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    warn_if_busy()
    runs = {"peers": run_peers, "oblique": run_oblique}
    results = {part: runs[part](args) for part in args.only}
    write_json(args.json, NAME, results, args.quick)


if __name__ == "__main__":
    main()
