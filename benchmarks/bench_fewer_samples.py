"""Fewer samples than features: R2 of default models beside LightGBM, a random forest, the lasso and ridge regression.

Standard normal features, of which some or all matter, or features that five unseen factors move. R2 is that of the
truth without noise on 2,000 new rows, mean of the draws; the training targets have noise of half of the truth's
deviation. Times are seconds a fit and prediction, mean over designs and draws, one thread.
"""

import argparse
import time
import warnings

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from peers import peer
from report import add_arguments, print_markdown, write_json
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV, RidgeCV
from sklearn.metrics import r2_score

from fctree import CurvatureBoostingRegressor, CurvatureForestRegressor, CurvatureTreeRegressor

NAME = "bench_fewer_samples"
NOISE = 0.5
PROGRAMS = {
    "curvature boosting": lambda: CurvatureBoostingRegressor(n_jobs=1, random_state=0),
    "curvature forest": lambda: CurvatureForestRegressor(n_jobs=1, random_state=0),
    "curvature tree": lambda: CurvatureTreeRegressor(n_jobs=1),
    "LightGBM": lambda: peer("LightGBM"),
    "random forest": lambda: RandomForestRegressor(random_state=0),
    "lasso": lambda: LassoCV(random_state=0),
    "ridge": lambda: RidgeCV(np.logspace(-3, 5, 17)),
}
DESIGNS = {
    "three, linear": lambda x, rng: x[:, 0] + x[:, 1] - x[:, 2],
    "twenty, linear": lambda x, rng: x[:, :20] @ rng.standard_normal(20),
    "three, bent": lambda x, rng: 1.5 * np.abs(x[:, 0]) + np.sin(2 * x[:, 1]) + x[:, 2],
    "three, steps": lambda x, rng: 1.0 * (x[:, 0] > 0) + (x[:, 1] > 0.5) - (x[:, 2] < -0.3),
    "all, linear": lambda x, rng: x @ rng.standard_normal(x.shape[1]),
}


def drawn(design, n_rows, n_features, seed):
    """Features and the truth, of deviation 1."""
    rng = np.random.default_rng(seed)
    if design == "five factors":
        z = rng.standard_normal((n_rows, 5))
        x = z @ rng.standard_normal((5, n_features)) + rng.standard_normal((n_rows, n_features))
        truth = z[:, 0] + np.sin(z[:, 1]) + 0.5 * z[:, 2] * z[:, 3]
    else:
        x = rng.standard_normal((n_rows, n_features))
        truth = DESIGNS[design](x, rng)
    return x, truth / truth.std()


def scores_of(programs, n_rows, n_draws, draw, noise=NOISE):
    """R2 and seconds of each program; draw(n_rows, seed) gives features and the truth."""
    found = {name: [] for name in programs}
    for seed in range(n_draws):
        x, truth = draw(n_rows + 2000, seed)
        y = truth[:n_rows] + noise * np.random.default_rng([seed, 1]).standard_normal(n_rows)
        for name, program in programs.items():
            start = time.perf_counter()
            predicted = program().fit(x[:n_rows], y).predict(x[n_rows:])
            found[name].append((r2_score(truth[n_rows:], predicted), time.perf_counter() - start))
    return {name: np.mean(of, axis=0) for name, of in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    sizes = [(40, 60)] if arguments.quick else [(100, 300), (60, 500), (200, 600), (200, 2000)]
    results, seconds = {}, {}
    for n_rows, n_features in sizes:
        size = f"{n_rows} x {n_features}"
        designs = {design: scores_of(PROGRAMS, n_rows, 1 if arguments.quick else 3,
                                     lambda n, seed, design=design: drawn(design, n, n_features, seed))
                   for design in [*DESIGNS, "five factors"]}
        results[size] = {design: {name: float(r2) for name, (r2, _) in of.items()} for design, of in designs.items()}
        seconds[size] = {name: float(np.mean([of[name][1] for of in designs.values()])) for name in PROGRAMS}
        rows = [[size, design, *(f"{r2:.3f}" for r2 in of.values())] for design, of in results[size].items()]
        print_markdown("R2", ["rows x columns", "which matter", *PROGRAMS], rows)
    print_markdown("seconds", ["rows x columns", *PROGRAMS],
                   [[size, *(f"{value:.2f}" for value in of.values())] for size, of in seconds.items()])
    results["seconds"] = seconds
    write_json(arguments.json, NAME, results, quick=arguments.quick)


if __name__ == "__main__":
    main()
