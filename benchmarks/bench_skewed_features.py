"""Skewed features: the error of models on them, and behind a transformation to normal scores.

Four features matter, through a slope, a product and a bend, and two are noise. Each feature x is given as
exp(sigma x), and as itself for sigma 0. A tree with constant leaves sees the same splits for every sigma, a linear
model of a skewed feature follows its few largest values. RMSE on 1,000 new rows after 2,000 training rows, mean of
five draws, default settings.
"""

import argparse

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from report import add_arguments, print_markdown, write_json
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

from fctree import (
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
    SymmetricBoostingRegressor,
)

NAME = "bench_skewed_features"
OBLIQUE = {
    "curvature boosting": CurvatureBoostingRegressor(random_state=0),
    "curvature forest": CurvatureForestRegressor(random_state=0),
    "curvature tree": CurvatureTreeRegressor(),
}
AXIS = {
    "symmetric boosting": SymmetricBoostingRegressor(random_state=0),
    "HistGradientBoosting": HistGradientBoostingRegressor(random_state=0),
}


def drawn(seed, sigma, n_rows):
    """Features and targets."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 6))
    y = x[:, 0] + x[:, 1] * x[:, 2] + np.abs(x[:, 3]) + 0.3 * rng.normal(size=n_rows)
    return np.exp(sigma * x) if sigma else x, y


def errors_of(sigma, n_train, n_draws):
    scores = QuantileTransformer(output_distribution="normal", n_quantiles=500, subsample=None)
    models = {**OBLIQUE, **{f"{name}, normal scores": make_pipeline(scores, model) for name, model in OBLIQUE.items()}, **AXIS}
    found = {name: [] for name in models}
    for seed in range(n_draws):
        X, y = drawn(seed, sigma, n_train + 1000)
        for name, model in models.items():
            predicted = model.fit(X[:n_train], y[:n_train]).predict(X[n_train:])
            found[name].append(float(np.sqrt(np.mean((predicted - y[n_train:]) ** 2))))
    return {name: float(np.mean(errors)) for name, errors in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    arguments = parser.parse_args()
    size = (600, 1) if arguments.quick else (2000, 5)
    results = {f"sigma {sigma}": errors_of(sigma, *size) for sigma in (0, 0.5, 1, 2, 3)}
    rows = [[name, *(f"{of[name]:.3f}" for of in results.values())] for name in results["sigma 0"]]
    print_markdown("RMSE", ["", *results], rows)
    write_json(arguments.json, NAME, results, quick=arguments.quick)


if __name__ == "__main__":
    main()
