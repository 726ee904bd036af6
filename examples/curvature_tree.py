"""One curvature tree of depth 3 beside gradient boosting: error, size and speed.

The truth is a sum of five ReLU ridge functions of ten features, which a boosted ensemble
approximates by steps and an oblique tree with ridge leaves by planes. Prints a table and
saves a picture of the tree.

    python examples/curvature_tree.py [--output curvature_tree.png]
"""

import argparse
import time

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from fctree import CurvatureTreeRegressor, FCODTRegressor, plot_tree
from fctree.datasets import make_ridge_relu

N_REPEATS = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="curvature_tree.png", help="where the picture goes")
    output = parser.parse_args().output
    X, y = make_ridge_relu(n_samples=2000, random_state=0)
    X_test, _, truth = make_ridge_relu(n_samples=20_000, random_state=1, return_truth=True)
    models = {
        "curvature tree, depth 3": CurvatureTreeRegressor(),
        "FC-ODT as published, depth 3": FCODTRegressor(max_depth=3, min_samples_leaf=20),
        "HistGradientBoosting": HistGradientBoostingRegressor(random_state=0),
        "Ridge": Ridge(),
    }
    print(f"{'model':<30}{'error against f':>17}{'parameters':>11}{'fit [ms]':>10}{'predict [ns/row]':>18}")
    with threadpool_limits(limits=1):
        for name, model in models.items():
            fit = seconds(lambda: model.fit(X, y))
            predict = seconds(lambda: model.predict(X_test)) / len(X_test)
            error = np.mean((model.predict(X_test) - truth) ** 2)
            print(f"{name:<30}{error:>17.4f}{size_of(model):>11}{1e3 * fit:>10.1f}{1e9 * predict:>18.0f}")
    tree = models["curvature tree, depth 3"]
    ax = plot_tree(tree)
    ax.figure.savefig(output, dpi=110)
    print(f"\nThe tree's picture is in {output}")


def seconds(call):
    """The median time of a call."""
    times = []
    for _ in range(N_REPEATS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return np.median(times)


def size_of(model):
    """Number of fitted parameters that a prediction can use."""
    if hasattr(model, "tree_"):
        # A direction and a threshold, or a linear model: n_features + 1 parameters a node.
        return model.tree_.node_count * (model.n_features_in_ + 1)
    if isinstance(model, Ridge):
        return model.coef_.size + 1
    n_leaves = model.max_leaf_nodes  # a value each, and a feature and a threshold a split
    return model.n_iter_ * (n_leaves + 2 * (n_leaves - 1))


if __name__ == "__main__":
    main()
