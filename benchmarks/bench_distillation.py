"""Does one curvature tree learn more from a model's predictions than from the targets?

Real tables, two of five folds: R² of the teacher (boosting), of the tree distilled from it, of the tree on
the targets, and of the tree on the targets with as many leaves as the distilled one has.

python benchmarks/bench_distillation.py --data FOLDER
"""

import argparse

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from fctree import CurvatureBoostingRegressor, CurvatureTreeRegressor
from fctree.inspection import compare_distilled, distill
from real_data import REGRESSION_SETS, load_table, short_name
from report import add_arguments, print_markdown, write_json
from sklearn.model_selection import KFold

NAME = "bench_distillation"
DEPTHS = (4, 8)
MODELS = ("teacher", "distilled", "plain", "control")


def measure_table(X, y, depth, n_folds):
    """{model: {"score", "fidelity", "n_leaves"}}, means over the folds."""
    found = {name: [] for name in MODELS}
    for train, test in list(KFold(5, shuffle=True, random_state=0).split(X))[:n_folds]:
        teacher = CurvatureBoostingRegressor(
            max_iter=100, learning_rate=0.1, n_jobs=2, random_state=0).fit(X[train], y[train])
        tree = distill(teacher, X[train], CurvatureTreeRegressor(max_depth=depth, n_jobs=2),
                       random_state=0)
        table = compare_distilled(tree, teacher, X[train], y[train], (X[test], y[test]))
        for row, name in enumerate(table["model"]):
            found[name].append([table["score"][row], table["fidelity"][row],
                                table["n_leaves"][row] or np.nan])
    return {name: dict(zip(("score", "fidelity", "n_leaves"), np.mean(rows, axis=0).tolist(),
                           strict=True)) for name, rows in found.items()}


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--data", required=True, help="folder of the real tables (real_data.py)")
    parser.add_argument("--rows", type=int, default=1_000, help="most of a table")
    args = parser.parse_args()
    results = {}
    for depth in DEPTHS:
        by_table = {}
        for name in REGRESSION_SETS[:4] if args.quick else REGRESSION_SETS:
            X, y = load_table(args.data, name, max_rows=args.rows)
            by_table[short_name(name)] = measure_table(X, y.astype(float), depth, 2)
        mean = {model: {key: float(np.mean([of[model][key] for of in by_table.values()]))
                        for key in ("score", "fidelity", "n_leaves")} for model in MODELS}
        scores = {model: np.array([of[model]["score"] for of in by_table.values()])
                  for model in MODELS}
        gain = scores["distilled"] - scores["plain"]
        over_control = scores["distilled"] - scores["control"]
        results[f"depth {depth}"] = {
            "mean": mean, "tables": by_table,
            "better than plain": int(np.sum(gain > 0.001)),
            "worse than plain": int(np.sum(gain < -0.001)),
            "better than control": int(np.sum(over_control > 0.001)),
            "worse than control": int(np.sum(over_control < -0.001)),
        }
        print_markdown(f"depth {depth}, mean of {len(by_table)} tables", ["model", "R²", "fidelity", "leaves"],
                       [[m, f"{of['score']:.4f}", f"{of['fidelity']:.4f}", f"{of['n_leaves']:.1f}"]
                        for m, of in mean.items()])
        print({k: v for k, v in results[f"depth {depth}"].items() if "than" in k}, flush=True)
    write_json(args.json, NAME, results, quick=args.quick)


if __name__ == "__main__":
    main()
