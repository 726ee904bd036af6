"""Tables of few different rows: are probabilities those of the truth?

Two-valued features, labels drawn from a logistic truth with products; 3,000 training rows. Log-loss on 20,000 new
rows, default settings. Many rows are equal by coincidence, which programs that draw rows have to live with.
"""

import argparse

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from report import add_arguments, print_markdown, write_json
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import log_loss

from fctree import CurvatureBoostingClassifier, CurvatureForestClassifier, SymmetricBoostingClassifier

NAME = "bench_few_rows"
MODELS = {
    "curvature boosting": CurvatureBoostingClassifier(random_state=0),
    "curvature boosting, all rows": CurvatureBoostingClassifier(subsample=1.0, random_state=0),
    "curvature forest": CurvatureForestClassifier(random_state=0),
    "symmetric boosting": SymmetricBoostingClassifier(random_state=0),
    "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
    "random forest": RandomForestClassifier(random_state=0),
}


def table(n_features, n_rows, rng, weights):
    """Features, labels and their probabilities."""
    X = rng.integers(0, 2, (n_rows, n_features)).astype(float)
    signs = 2 * X - 1
    scores = signs @ weights + signs[:, 0] * signs[:, 1]
    p = 1 / (1 + np.exp(-scores))
    return X, (rng.random(n_rows) < p).astype(int), p


def errors_of(n_features, n_rows):
    rng = np.random.default_rng(n_features)
    weights = rng.normal(0, 0.7, n_features)
    X, y, _ = table(n_features, n_rows, rng, weights)
    new, labels, truth = table(n_features, 20_000, rng, weights)
    found = {name: log_loss(labels, model.fit(X, y).predict_proba(new)) for name, model in MODELS.items()}
    different = len(np.unique(np.column_stack([X, y]), axis=0))
    return {"different rows": different, "true probabilities": log_loss(labels, truth), **found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    arguments = parser.parse_args()
    results = {f"{d} features": errors_of(d, 500 if arguments.quick else 3000) for d in (2, 4, 6, 8, 10, 14)}
    columns = list(results["2 features"])
    print_markdown("log-loss", ["", *columns], [[name, *(f"{v:.4g}" for v in of.values())] for name, of in results.items()])
    write_json(arguments.json, NAME, results, quick=arguments.quick)


if __name__ == "__main__":
    main()
