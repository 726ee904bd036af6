"""Does depth hurt a classification tree, and how does one tree compare with an ensemble?

    python oblique_classification.py --data DIR

DIR holds classification/*.csv.gz. On its `pmlb_*` sets and scikit-learn's own: 5-fold AUC (two
classes) or accuracy of curvature trees by depth, beside the published rule, CART, the oblique trees of treeple, YDF and
obliquetree, logistic regression and HistGradientBoosting; the depth that each tree reached and
its leaves; mean ranks. Features are scaled to [0, 1] on the training part, trees have 20 samples a leaf.
"""

import argparse
import warnings
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from oblique_methods import missing, print_missing
from real_data import classification_sets, load_table, short_name
from report import add_arguments, print_table, write_json
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, MinMaxScaler
from threadpoolctl import threadpool_limits

NAME = "oblique_classification"
DEPTHS = (0, 1, 2, 3, 5)
OWN_SETS = {"breast_cancer": load_breast_cancer, "digits": load_digits, "wine": load_wine}


def curvature(depth, **parameters):
    from fctree import CurvatureTreeClassifier

    return CurvatureTreeClassifier(max_depth=depth, **parameters)


def published(depth):
    from fctree import FCODTClassifier

    return FCODTClassifier(max_depth=depth, min_samples_leaf=20)


def cart(depth):
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=max(depth, 1), min_samples_leaf=20, random_state=0)


def treeple(depth):
    from treeple.tree import ObliqueDecisionTreeClassifier

    return ObliqueDecisionTreeClassifier(max_depth=max(depth, 1), min_samples_leaf=20,
                                         random_state=0)


class Probabilities(ClassifierMixin, BaseEstimator):
    """A program of another interface: `make()` has `fit` and the probabilities (n, K) of classes 0 .. K - 1."""

    def __init__(self, make):
        self.make = make

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.model_ = self.make()
        self.model_.fit(X, y)
        return self

    def predict_proba(self, X):
        return np.asarray(self.model_.predict_proba(X))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class YDF:
    def __init__(self, depth):
        self.depth = depth

    def fit(self, X, y):
        import ydf

        # The root counts as a level; pruning would spend a tenth of the samples.
        learner = ydf.CartLearner(label="y", task=ydf.Task.CLASSIFICATION, split_axis="SPARSE_OBLIQUE",
                                  max_depth=self.depth + 1, min_examples=20, validation_ratio=0.0)
        self.model_ = learner.train({"x": X, "y": y}, verbose=0)

    def predict_proba(self, X):
        of = self.model_.predict({"x": X})
        of = np.column_stack([1 - of, of]) if of.ndim == 1 else of
        return of[:, np.argsort([int(name) for name in self.model_.label_classes()])]


def ydf_tree(depth):
    import ydf  # noqa: F401  (a program that is not installed is left out)

    return Probabilities(lambda: YDF(depth))


def obliquetree_tree(depth):
    from obliquetree import Classifier

    return Probabilities(lambda: Classifier(max_depth=depth, min_samples_leaf=20, random_state=0))


def logistic(_depth):
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def boosting(_depth):
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


TREES = {"curvature tree": curvature, "FC-ODT as published": published, "CART": cart,
         "treeple oblique tree": treeple, "YDF sparse oblique tree": ydf_tree, "obliquetree": obliquetree_tree}
FLAT = {"logistic regression": logistic, "HistGradientBoosting": boosting}


def tables(folder, max_rows):
    """Yield (name, X, y) of all sets with at least five samples in each class."""
    for name, load in OWN_SETS.items():
        data = load()
        yield name, data.data, data.target
    for name in classification_sets(folder, "pmlb_"):
        X, y = load_table(folder, name, max_rows=max_rows)
        y = LabelEncoder().fit_transform(y)
        frequent = np.bincount(y)[y] >= 5
        yield short_name(name), X[frequent], LabelEncoder().fit_transform(y[frequent])


def score(factory, depth, X, y):
    """Mean score over five folds, mean depth and mean leaves of the trees."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scoring = "roc_auc" if y.max() == 1 else "accuracy"
    model = make_pipeline(MinMaxScaler(), factory(depth))
    result = cross_validate(model, X, y, cv=folds, scoring=scoring, return_estimator=True,
                            error_score="raise")
    trees = [estimator[-1] for estimator in result["estimator"]]
    sizes = [(tree.get_depth(), tree.get_n_leaves()) for tree in trees
             if hasattr(tree, "get_n_leaves")]
    depth, leaves = np.mean(sizes, axis=0) if sizes else (np.nan, np.nan)
    return {"score": float(np.mean(result["test_score"])), "depth": float(depth),
            "leaves": float(leaves)}


def evaluate(name, X, y, trees, flat):
    """{method at depth: {"score", "depth", "leaves"}} of one set."""
    cells = {f"{method} {depth}": (factory, depth)
             for method, factory in trees.items()
             for depth in (DEPTHS if "tree" in method and "oblique" not in method else (3, 5))}
    cells |= {method: (factory, 0) for method, factory in flat.items()}
    scores = {}
    for method, (factory, depth) in cells.items():
        try:
            scores[method] = score(factory, depth, X, y)
        except Exception as error:  # a peer that fails on one set costs one cell
            print(f"{name}: {method}: {type(error).__name__}: {error}"[:200])
    return {"n": len(X), "d": X.shape[1], "classes": int(y.max()) + 1, "scores": scores}


def print_results(results):
    """Score of every method on every set, then mean ranks and the falls with depth."""
    methods = list(next(iter(results.values()))["scores"])
    print_table("5-fold AUC (two classes) or accuracy",
                ["set", "n", "d", "classes", *methods, "depth, leaves of curvature 5"],
                [[name, of["n"], of["d"], of["classes"],
                  *(f"{of['scores'][m]['score']:.3f}" if m in of["scores"] else "-"
                    for m in methods),
                  "{depth:.1f}, {leaves:.1f}".format(**of["scores"]["curvature tree 5"])]
                 for name, of in results.items()])
    complete = [of["scores"] for of in results.values() if set(of["scores"]) == set(methods)]
    scores = np.array([[of[m]["score"] for m in methods] for of in complete])
    ranks = rankdata(-scores, axis=1).mean(axis=0)
    print_table(f"mean over {len(complete)} sets", ["method", "mean score", "mean rank"],
                [[m, f"{s:.4f}", f"{r:.2f}"] for m, s, r in
                 zip(methods, scores.mean(axis=0), ranks, strict=True)])
    falls = [max(of["scores"][f"curvature tree {d}"]["score"] for d in DEPTHS)
             - of["scores"]["curvature tree 5"]["score"] for of in results.values()]
    print(f"curvature tree: score at its best depth less that at depth 5: mean "
          f"{np.mean(falls):.4f}, largest {np.max(falls):.4f}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--rows", type=int, default=3_000, help="rows a set at most (%(default)s)")
    arguments = parser.parse_args()
    trees, reasons = missing(TREES)
    flat, _ = missing(FLAT)
    print_missing(reasons)
    results = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, X, y in tables(arguments.data, 500 if arguments.quick else arguments.rows):
            results[name] = evaluate(name, X, y, trees, flat)
            print(f"{name}: done", flush=True)
            write_json(arguments.json, NAME, results, arguments.quick)
    print_results(results)
    print(f"results written to {arguments.json}")


if __name__ == "__main__":
    main()
