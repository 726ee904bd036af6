"""Reproduce the tables of the tree ensemble layer's paper (Hazimeh et al. 2020) on PMLB sets.

    python benchmarks/reproduce/tree_ensemble_layer.py --data FOLDER/classification --minutes 60

  models       table 3: test AUC of soft trees, gradient boosting, logistic regression and CART
  routing      table 2: smooth step against logistic routing, 10 trees of depth 4
  trees        figure 4: AUC by the number of trees, soft trees and boosting (heart_c, pima, spambase)
  unpenalized  table 3's soft trees again, with the same draws but no penalty on leaves, as in the paper
  published    the same with the paper's ranges: up to 100 trees of depth 8

Each split is 70 % training, stratified. A method's settings are those with the best AUC (one against
the rest, macro average) among ``--draws`` random draws and its defaults, on 3 stratified folds of the training
part, or on a quarter of it from 2,000 samples on. Ranges are the paper's, cut to where 100 epochs move anything:
learning rates from 1e-3, gamma from 1e-2, penalties up to 1e-2; and to smaller models: at most 30 trees of
depth 6 (the paper: 100 and 8). The penalty on leaves, which the paper does not have, is drawn from 1 to 100.

Five splits take an hour of one core for models, .7 hours for each of unpenalized and published and .5 for routing
(``--draws 16 --peer-draws 6``, published with 10), a quarter of an hour for two splits of trees.
Each result is written as soon as it is there; a second call continues where the first ended. Split by split over
all sets, so a run that ends early has fewer splits of every set.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from types import MappingProxyType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
import pandas as pd
from fctree import SoftTreeClassifier, SymmetricBoostingClassifier
from report import RESULTS, print_markdown, write_json
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

NAME = "tree_ensemble_layer"
# The paper's sets, by size.
SETS = (
    "heart_c", "ecoli", "dermatology", "breast_cancer_wisconsin", "crx",
    "diabetes", "pima", "vehicle", "flare", "solar_flare_2",
    "yeast", "car_evaluation", "hypothyroid", "dna", "spambase",
    "churn", "texture", "optdigits", "satimage", "ann_thyroid",
    "twonorm", "nursery", "sleep",
)
MODELS = ("soft trees", "boosting", "logistic regression", "CART")
COMPACT_SETS = ("heart_c", "pima", "spambase")
N_TREES = (1, 2, 5, 10, 20, 50, 100)
EXPERIMENTS = ("models", "routing", "trees", "unpenalized", "published")
MANY_SAMPLES = 2000


def read_set(folder, name):
    frame = pd.read_csv(Path(folder) / f"pmlb_{name}.csv.gz")
    labels = np.unique(frame.iloc[:, -1].to_numpy(), return_inverse=True)[1]
    return frame.iloc[:, :-1].to_numpy(np.float32), labels


def auc(model, X, y):
    probabilities = model.predict_proba(X)
    if probabilities.shape[1] == 2:
        return roc_auc_score(y, probabilities[:, 1])
    return roc_auc_score(y, probabilities, multi_class="ovr", average="macro")


def draw_soft(rng, routing="smooth_step", fixed_size=False):
    """Settings in the paper's ranges (appendix D.1)."""
    settings = {
        "learning_rate": float(rng.choice([1e-1, 1e-2, 1e-3])),
        "batch_size": int(rng.choice([32, 64, 128, 256, 512])),
        "max_epochs": int(rng.integers(5, 101)),
        "gamma": float(10 ** rng.uniform(-2, 0)),
        "routing": routing,
    }
    if routing == "logistic":
        settings["gamma"] = float(10 ** rng.uniform(-1, 2))
    if fixed_size:
        return settings
    penalty = float(10 ** rng.uniform(-8, -2)) if rng.random() < 0.5 else 0.0
    return {**settings, "l2_regularization": penalty,
            "l2_leaf_reg": float(10 ** rng.uniform(0, 2)), "depth": int(rng.integers(2, 7)),
            "n_trees": int(rng.integers(1, 31))}


def draw_published(rng):
    """Settings in the paper's ranges as they are."""
    penalty = float(10 ** rng.uniform(-8, 2)) if rng.random() < 0.5 else 0.0
    return {"learning_rate": float(10.0 ** -rng.integers(1, 6)), "batch_size": int(rng.choice([32, 64, 128, 256, 512])),
            "max_epochs": int(rng.integers(5, 101)), "gamma": float(10 ** rng.uniform(-4, 0)),
            "l2_regularization": penalty, "l2_leaf_reg": 0.0, "depth": int(rng.integers(2, 9)),
            "n_trees": int(rng.integers(1, 101))}


def draw_boosting(rng):
    return {"learning_rate": float(10 ** rng.uniform(-2, -0.5)), "max_depth": int(rng.integers(2, 7)),
            "max_iter": int(rng.integers(20, 301)), "l2_leaf_reg": float(10 ** rng.uniform(-1, 1.5))}


def soft_model(seed, **settings):
    return SoftTreeClassifier(random_state=seed, n_jobs=1, **settings)


def boosting_model(seed, **settings):
    return SymmetricBoostingClassifier(random_state=seed, n_jobs=1, **settings)


def logistic_model(_seed, **settings):
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, **settings))


def cart_model(seed, **settings):
    return DecisionTreeClassifier(random_state=seed, **settings)


DEFAULTS = MappingProxyType({})
# For each method: its constructor, the settings tried first (read-only: all tasks share them), and how to draw more.
METHODS = {
    "soft trees": (soft_model, DEFAULTS, draw_soft),
    "published ranges": (soft_model, MappingProxyType({"l2_leaf_reg": 0.0}), draw_published),
    "boosting": (boosting_model, DEFAULTS, draw_boosting),
    "logistic regression": (logistic_model, DEFAULTS,
                            lambda rng: {"C": float(10 ** rng.uniform(-4, 4))}),
    "CART": (cart_model, MappingProxyType({"max_depth": 5}),
             lambda rng: {"max_depth": int(rng.integers(2, 21))}),
    "smooth step": (soft_model, DEFAULTS, lambda rng: draw_soft(rng, fixed_size=True)),
    "logistic": (soft_model, MappingProxyType({"routing": "logistic"}),
                 lambda rng: draw_soft(rng, "logistic", fixed_size=True)),
}


def folds_of(X, y, seed):
    """Pairs of training and validation rows."""
    rarest = np.bincount(y).min()
    if len(X) >= MANY_SAMPLES or rarest < 3:
        return list(StratifiedShuffleSplit(1, test_size=0.25, random_state=seed).split(X, y))
    return list(StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y))


def tune(method, X, y, seed, n_draws, fixed=None):
    """The model with the best validated settings, fitted to all of X; and its settings."""
    make, first, draw = METHODS[method]
    rng = np.random.default_rng(seed)
    candidates = [{**settings, **(fixed or {})}
                  for settings in [first, *(draw(rng) for _ in range(n_draws))]]
    folds = folds_of(X, y, seed)
    scores = []
    for settings in candidates:
        folds_scores = []
        for train, held in folds:
            try:
                model = make(seed, **settings).fit(X[train], y[train])
                folds_scores.append(auc(model, X[held], y[held]))
            except ValueError:  # a loss that grew without bound
                folds_scores.append(0.0)
        scores.append(np.mean(folds_scores))
    best = candidates[int(np.argmax(scores))]
    return make(seed, **best).fit(X, y), best


class Results:
    """Results by key, on disk after each."""

    def __init__(self, path):
        self.path = Path(path)
        self.entries = {}
        if self.path.exists():
            self.entries = json.loads(self.path.read_text())["results"]

    def add(self, key, value):
        self.entries[key] = value
        write_json(self.path, NAME, self.entries)


def tasks(args):
    """Keys of all results, in the order in which they are wanted."""
    for split in range(args.splits):
        for name in args.sets:
            if "models" in args.experiments:
                yield from (f"models/{name}/{split}/{method}" for method in MODELS)
            if "routing" in args.experiments:
                yield from (f"routing/{name}/{split}/{m}" for m in ("smooth step", "logistic"))
            if "unpenalized" in args.experiments:
                yield f"unpenalized/{name}/{split}/soft trees"
            if "published" in args.experiments:
                yield f"published/{name}/{split}/published ranges"
            if "trees" in args.experiments and name in COMPACT_SETS:
                yield from (f"trees/{name}/{split}/{m}/{n}"
                            for m in ("soft trees", "boosting") for n in N_TREES)


def compute(key, args):
    experiment, name, split, method, *size = key.split("/")
    X, y = read_set(args.data, name)
    seed = int(split)
    parts = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    X_train, X_test, y_train, y_test = parts
    fixed = {"l2_leaf_reg": 0.0} if experiment == "unpenalized" else None
    if experiment == "trees":
        # Trees of depth 4: 15 splits of n_features weights, or of depth 6 and one feature.
        sized = {"n_trees": int(size[0]), "depth": 4}
        if method == "boosting":
            sized = {"max_iter": int(size[0]), "max_depth": 6}
        fixed = sized
    start = time.perf_counter()
    n_draws = args.draws if METHODS[method][0] is soft_model else args.peer_draws
    model, settings = tune(method, X_train, y_train, seed, n_draws, fixed)
    return {"auc": auc(model, X_test, y_test), "settings": settings,
            "seconds": time.perf_counter() - start}


def run(args, results):
    deadline = time.monotonic() + 60 * args.minutes
    for key in tasks(args):
        if key in results.entries:
            continue
        if time.monotonic() > deadline:
            print("the time is up; call again to go on")
            return
        results.add(key, compute(key, args))
        print(f"{key}: {results.entries[key]['auc']:.4f} "
              f"({results.entries[key]['seconds']:.1f} s)", flush=True)


def collected(results, experiment, name, method, size=None):
    """AUCs of all splits."""
    found = []
    for key, value in results.entries.items():
        parts = key.split("/")
        if parts[0] == experiment and parts[1] == name and parts[3] == method:
            if size is None or parts[4] == str(size):
                found.append(value["auc"])
    return np.array(found)


def cell(values):
    if len(values) == 0:
        return "-"
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{values.mean():.3f} ± {error:.3f}" if len(values) > 1 else f"{values.mean():.3f}"


def paper_cells(paper, name, ours):
    """The paper's TEL, and whether ours is at least within two of its standard errors."""
    if name not in paper:
        return ["-", "-"]
    mean, error = paper[name]
    # An error printed as 0.000 is up to half of the last digit.
    level = ours.mean() >= mean - 2 * max(error, 0.0005)
    return [f"{mean:.3f} ± {error:.3f}", "yes" if level else "no"]


def show(results, paper):
    rows = []
    for name in SETS:
        ours = [collected(results, "models", name, method) for method in MODELS]
        if len(ours[0]):
            rows.append([name, str(len(ours[0])), *map(cell, ours),
                         *paper_cells(paper, name, ours[0])])
    print_markdown("Test AUC (table 3)", ["set", "splits", *MODELS, "paper's TEL", "level"], rows)
    rows = []
    for name in SETS:
        pair = [collected(results, "routing", name, m) for m in ("smooth step", "logistic")]
        if len(pair[0]) and len(pair[1]):
            rows.append([name, str(len(pair[0])), *map(cell, pair)])
    print_markdown("Routing (table 2)", ["set", "splits", "smooth step", "logistic"], rows)
    variants = (("models", "soft trees"), ("unpenalized", "soft trees"), ("published", "published ranges"))
    rows = []
    for name in SETS:
        found = [collected(results, experiment, name, method) for experiment, method in variants]
        if len(found[1]) or len(found[2]):
            rows.append([name, *(text for aucs in found for text in (cell(aucs), str(len(aucs))))])
    print_markdown("Soft trees of table 3, test AUC and splits", ["set", "as above", "", "no penalty on leaves", "",
                                                                  "the paper's ranges", ""], rows)
    rows = [
        [name, method, *(cell(collected(results, "trees", name, method, n)) for n in N_TREES)]
        for name in COMPACT_SETS for method in ("soft trees", "boosting")
        if len(collected(results, "trees", name, method))
    ]
    print_markdown("Number of trees (figure 4)", ["set", "", *map(str, N_TREES)], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with pmlb_*.csv.gz; without it, only "
                        "the tables of what is there are printed")
    parser.add_argument("--json", type=Path, default=RESULTS / f"{NAME}.json", metavar="FILE")
    parser.add_argument("--paper", type=Path, metavar="FILE", help="CSV file with the columns set, "
                        "tel, tel_error: the paper's table 3, to print beside ours")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--splits", type=int, default=15)
    parser.add_argument("--draws", type=int, default=10, help="settings tried for soft trees")
    parser.add_argument("--peer-draws", type=int, default=10, help="and for the others")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--experiments", nargs="+", choices=EXPERIMENTS, default=EXPERIMENTS)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    threadpool_limits(1)  # small products gain nothing from waiting for threads
    results = Results(args.json)
    if args.data is not None:
        run(args, results)
    paper = {}
    if args.paper is not None:
        table = pd.read_csv(args.paper)
        paper = {row.set: (row.tel, row.tel_error) for row in table.itertuples()}
    show(results, paper)


if __name__ == "__main__":
    main()
