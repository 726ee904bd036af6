"""Test scores of soft trees with default settings on real data.

    python benchmarks/soft_tree_defaults.py --data FOLDER

Settings are compared with each other and with a linear model and gradient boosting's defaults: AUC
(classes, one against the rest) or R^2, the mean of three splits, 70 % for training.
"""

import argparse
import warnings
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from fctree import (
    SoftTreeClassifier,
    SoftTreeRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
)
from real_data import load_table, short_name
from report import add_arguments, print_markdown, write_json
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

NAME = "soft_tree_defaults"
CLASSIFICATION = (
    "heart_c", "hypothyroid", "ecoli", "breast_cancer_wisconsin", "pima", "solar_flare_2",
    "churn", "yeast", "vehicle", "car_evaluation",
)
REGRESSION = (
    "libsvm/space_ga", "regression/kin8nm", "libsvm/abalone", "regression/airfoil",
    "regression/concrete", "regression/energy_cooling", "libsvm/cadata", "regression/cpu_act",
)
SOFT = {
    "default": {},
    "no prior": {"l2_leaf_reg": 0.0},
    "prior 40": {"l2_leaf_reg": 40.0},
    "30 trees": {"n_trees": 30},
    "stopped early": {"early_stopping": True},
}
N_SPLITS = 3


def models(by_class, seed):
    """Unfitted models by name."""
    soft = SoftTreeClassifier if by_class else SoftTreeRegressor
    boosting = SymmetricBoostingClassifier if by_class else SymmetricBoostingRegressor
    linear = LogisticRegressionCV(max_iter=1000) if by_class else RidgeCV(np.logspace(-3, 3, 9))
    return {
        **{name: soft(random_state=seed, **settings) for name, settings in SOFT.items()},
        "linear": make_pipeline(StandardScaler(), linear),
        "boosting": boosting(random_state=seed),
    }


def score(model, by_class, X, y):
    if not by_class:
        return r2_score(y, model.predict(X))
    shares = model.predict_proba(X)
    if shares.shape[1] == 2:
        return roc_auc_score(y, shares[:, 1])
    return roc_auc_score(y, shares, multi_class="ovr", average="macro")


def mean_scores(X, y, by_class):
    """The mean test score of each model."""
    found = {}
    for seed in range(N_SPLITS):
        parts = train_test_split(X, y, test_size=0.3, stratify=y if by_class else None,
                                 random_state=seed)
        for name, model in models(by_class, seed).items():
            model.fit(parts[0], parts[2])
            found.setdefault(name, []).append(score(model, by_class, parts[1], parts[3]))
    return {name: float(np.mean(values)) for name, values in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=3000, help="rows of a table at most")
    add_arguments(parser, NAME)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    threadpool_limits(1)  # small products gain nothing from waiting for threads
    results = {}
    for by_class, names in ((True, CLASSIFICATION), (False, REGRESSION)):
        rows = []
        for name in names:
            file = f"classification/pmlb_{name}" if by_class else name
            X, y = load_table(args.data, file, args.rows)
            y = np.unique(y, return_inverse=True)[1] if by_class else y
            results[name] = mean_scores(X, y, by_class)
            rows.append([short_name(name), *(f"{v:.3f}" for v in results[name].values())])
        means = np.mean([list(results[name].values()) for name in names], axis=0)
        rows.append(["mean", *(f"{v:.3f}" for v in means)])
        print_markdown("AUC" if by_class else "R²", ["set", *results[names[0]]], rows)
    write_json(args.json, NAME, results)


if __name__ == "__main__":
    main()
