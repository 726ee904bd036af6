"""Training time by depth, smooth step and logistic function: figure 3 of the tree ensemble layer's paper.

    python benchmarks/reproduce/tree_layer_training_time.py --data FOLDER/classification

Hazimeh et al. (2020): 10 trees, gamma 1, batches of 256, Adam with learning rate .1, 50 epochs, depths 2 to 10; on one of
its sets, spambase (70 % of 4,601 rows, 57 features), without a prior on the leaves. Processor seconds on one thread, of all
epochs and of the fastest and slowest epoch; the last loss; the leaves that a sample reaches in a tree.

2 to 3 minutes.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from fctree import SoftTreeClassifier
from report import RESULTS, print_table, write_json
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits
from tree_ensemble_layer import read_set

NAME = "tree_layer_training_time"
DEPTHS = (2, 4, 6, 8, 10)
ROUTINGS = ("smooth_step", "logistic")


def train(X, y, depth, routing, n_epochs, learning_rate):
    """Processor seconds of each epoch, the last loss, and the mean of reached leaves at the end."""
    model = SoftTreeClassifier(n_trees=10, depth=depth, routing=routing, gamma=1.0, batch_size=256, l2_leaf_reg=0.0,
                               learning_rate=learning_rate, random_state=0, n_jobs=1)
    seconds = []
    for _ in range(n_epochs):
        start = time.process_time()
        model.partial_fit(X, y, classes=[0, 1])
        seconds.append(time.process_time() - start)
    return {"seconds": float(np.sum(seconds)), "fastest": min(seconds), "slowest": max(seconds),
            "loss": model.loss_curve_[-1], "reached": model.reachable_leaves_curve_[-1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with pmlb_spambase.csv.gz")
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--json", type=Path, default=RESULTS / f"{NAME}.json")
    arguments = parser.parse_args()
    threadpool_limits(1)
    X, y = read_set(arguments.data, "spambase")
    X, _, y, _ = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    results = {"epochs": arguments.epochs, "learning rate": arguments.learning_rate}
    for depth in DEPTHS:
        found = {routing: train(X, y, depth, routing, arguments.epochs, arguments.learning_rate) for routing in ROUTINGS}
        results[f"depth={depth}"] = found
        print_table(f"depth {depth}", ("", *found["logistic"]), [(name, *entry.values()) for name, entry in found.items()])
        write_json(arguments.json, NAME, results)


if __name__ == "__main__":
    main()
