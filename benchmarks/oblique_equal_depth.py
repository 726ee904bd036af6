"""Oblique trees and CART at equal depth, on the scores that two other benchmarks have stored.

    python benchmarks/oblique_equal_depth.py

Mean R² over the sets of `oblique_real_data.py` and mean score (AUC for two classes, accuracy for more) over those
of `oblique_classification.py`, mean ranks among the trees, on how many sets each is the best, and Wilcoxon's signed rank
test of each against FC-ODT. A comparison of our own: the sets, depths and settings of the paper's section on real
data are not known to us. Seconds; nothing is fitted.
"""

import argparse
import json
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from report import RESULTS, print_table, write_json
from scipy.stats import rankdata, wilcoxon

NAME = "oblique_equal_depth"
REGRESSION_TREES = ("curvature tree", "FC-ODT", "FC-ODT, constant leaves", "linear-tree + Ridge",
                    "YDF sparse oblique tree", "obliquetree", "HHCART", "treeple oblique tree", "CART",
                    "HRT", "HRT, as in its script")
CLASSIFICATION_TREES = ("curvature tree", "FC-ODT as published", "YDF sparse oblique tree", "obliquetree",
                        "treeple oblique tree", "CART")
DEPTHS = {"regression": (2, 4, 6), "classification": (3, 5)}
AGAINST = {"regression": "FC-ODT", "classification": "FC-ODT as published"}
DIGITS = 6  # scores closer than that are ties


def stored(name):
    return json.loads((RESULTS / f"{name}.json").read_text())["results"]


def regression_scores(depth):
    """R² by set and tree: means over the folds, at least -1."""
    sets = stored("oblique_real_data")["sets"]
    return {name: [max(np.mean(entry["scores"][tree][str(depth)]["r2"]), -1.0)
                   for tree in REGRESSION_TREES]
            for name, entry in sets.items()}


def classification_scores(depth):
    sets = dict(stored("oblique_classification"))
    sets.pop("breast_cancer")  # the same as PMLB's breast_cancer_wisconsin
    return {name: [entry["scores"][f"{tree} {depth}"]["score"] for tree in CLASSIFICATION_TREES]
            for name, entry in sets.items()}


def summary(trees, scores, against):
    """Statistics of each tree over the sets."""
    table = np.array(list(scores.values())).round(DIGITS)
    ranks = rankdata(-table, axis=1)
    best = table == table.max(axis=1, keepdims=True)
    base = table[:, trees.index(against)]
    return {tree: {
        "mean": float(table[:, at].mean()), "rank": float(ranks[:, at].mean()),
        "best": int(best[:, at].sum()), "sets": len(table),
        "p": None if tree == against else float(wilcoxon(table[:, at], base).pvalue),
    } for at, tree in enumerate(trees)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", type=Path, default=RESULTS / f"{NAME}.json", metavar="FILE")
    arguments = parser.parse_args()
    results = {}
    for task, trees, scores_at in (("regression", REGRESSION_TREES, regression_scores),
                                   ("classification", CLASSIFICATION_TREES, classification_scores)):
        for depth in DEPTHS[task]:
            found = summary(trees, scores_at(depth), AGAINST[task])
            results[f"{task}, depth {depth}"] = found
            print_table(f"{task}, depth {depth}", ("tree", "mean", "rank", "best", "sets", "p"),
                        [(tree, *entry.values()) for tree, entry in found.items()])
    write_json(arguments.json, NAME, results)


if __name__ == "__main__":
    main()
