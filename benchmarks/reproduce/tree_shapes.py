"""Training of soft trees of several shapes beside the flow of their kernels: figures 4 and A.4 of the paper on tree
architectures.

    python benchmarks/reproduce/tree_shapes.py

Kanoh and Sugiyama (2023): 10 training and 10 test points of 5 features, standard normal and scaled to length 1, standard
normal targets, full-batch gradient descent with a learning rate of 0.1, an error function of scale 2, outputs shifted to 0
at the start. Two trees that are not isomorphic have two leaves at depth 2 and four at depth 3 (figure 3), and so one
kernel; a perfect tree and a decision list of depth 3 are put beside them. Recorded are, for each number of trees, the
root mean square distances of test outputs over the training time from the kernel's flow and between the two trees, relative
to the root mean square of the flow. A minute and a half on one core.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from fctree import SoftTreeRegressor
from fctree.kernels import gradient_flow, leaf_counts, tree_ntk
from report import RESULTS, print_table, write_json
from tqdm import tqdm

NAME = "tree_shapes"
LEFT = ((0, 0), ((0, 0), (0, 0)))
RIGHT = ((0, (0, 0)), (0, (0, 0)))
SHAPES = {"left": LEFT, "right": RIGHT, "perfect": "perfect", "decision_list": "decision_list"}
DEPTH = 3
SCALE = 2.0
RATE = 0.1
SIZES = (16, 64, 256, 1024, 4096)
TIMES = tuple(range(0, 201, 20))


def points(rng, n):
    X = rng.standard_normal((n, 5))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def trajectory(shape, n_trees, seed, data):
    """Test outputs at TIMES, less those at the start."""
    X, y, X_test = data
    model = SoftTreeRegressor(
        n_trees=n_trees, depth=DEPTH, architecture=shape, routing="erf", scale=SCALE, initialization="ntk",
        optimizer="gradient_descent", batch_norm=False, fit_intercept=False, l2_leaf_reg=0.0,
        learning_rate=1e-300, max_epochs=1, warm_start=True, random_state=seed, n_jobs=1)
    model.fit(X, y)  # no step of any length
    start, start_test = model.predict(X), model.predict(X_test)
    outputs = [np.zeros(len(X_test))]
    # The loss is the mean of the samples', the paper's their sum.
    model.set_params(learning_rate=RATE * len(X))
    for time in TIMES[1:]:
        model.set_params(max_epochs=1 + time).fit(X, y + start)
        outputs.append(model.predict(X_test) - start_test)
    return np.array(outputs)


def flow(shape, data):
    X, y, X_test = data
    architecture = shape if isinstance(shape, str) else leaf_counts(shape)
    kernel = {"depth": DEPTH, "scale": SCALE, "architecture": architecture}
    return gradient_flow(tree_ntk(X, **kernel), tree_ntk(X_test, X, **kernel), y, learning_rate=RATE, times=TIMES)


def run(seed):
    """Relative distances, {(n_trees, what): distance}, of one draw."""
    rng = np.random.default_rng(seed)
    data = points(rng, 10), rng.standard_normal(10), points(rng, 10)
    flows = {name: flow(shape, data) for name, shape in SHAPES.items()}
    found = {}
    for n_trees in SIZES:
        paths = {name: trajectory(shape, n_trees, seed, data) for name, shape in SHAPES.items()}
        for name, path in paths.items():
            found[n_trees, name] = np.sqrt(np.mean((path - flows[name]) ** 2) / np.mean(flows[name] ** 2))
        apart = np.mean((paths["left"] - paths["right"]) ** 2)
        found[n_trees, "left - right"] = np.sqrt(apart / np.mean(flows["left"] ** 2))
    for name in ("perfect", "decision_list"):
        found["kernels", name] = np.sqrt(np.mean((flows[name] - flows["left"]) ** 2) / np.mean(flows["left"] ** 2))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=3, help="draws of data and weights")
    parser.add_argument("--json", type=Path, default=RESULTS / f"{NAME}.json")
    arguments = parser.parse_args()
    draws = [run(seed) for seed in tqdm(range(arguments.draws))]
    means = {key: float(np.mean([draw[key] for draw in draws])) for key in draws[0]}
    columns = (*SHAPES, "left - right")
    distances = {f"M={m}": {name: means[m, name] for name in columns} for m in SIZES}
    slopes = {name: float(np.polyfit(np.log(SIZES), np.log([means[m, name] for m in SIZES]), 1)[0])
              for name in columns}
    kernels = {name: means["kernels", name] for name in ("perfect", "decision_list")}
    print_table("mean relative distance from the kernel's flow", ("", *columns),
                [(size, *entry.values()) for size, entry in distances.items()])
    print_table("exponents of M", columns, [tuple(slopes.values())])
    print_table("flows of other kernels, from that of the two trees", tuple(kernels), [tuple(kernels.values())])
    write_json(arguments.json, NAME, {"draws": arguments.draws, "distances": distances, "slopes": slopes,
                                      "flows_of_other_kernels": kernels})


if __name__ == "__main__":
    main()
