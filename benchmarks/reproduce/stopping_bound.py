"""The theory's stopping time beside measured ones: figure 1 of the paper on variable importance, for boosting.

    python benchmarks/reproduce/stopping_bound.py

Sun and Raskutti (2025), section 5.1: three independent features of four values each, noise of deviation 5, the first
feature dropped. A boosted model of depth 2 is trained with all features and trained on without the first one by steps of
1 / n with splits at random, as the theory has it. The target is what is left to predict without the feature: it is
known, and a sum of 50 such trees. Recorded are `stopping_threshold`, computed with the target and the noise; the round with the
smallest error; the round that 1/3 of additional samples would choose; the errors there, on the training samples and on
fresh ones; and the bound at the threshold, C² / (e η) + 5 σ² η R(1 / √η)².

The paper has 10 sets of each size and at most 4,000 rounds, which end at the time 4,000 / n. Here training ends at the
time 6 for all sizes. 3 minutes on one core.
"""

import argparse
import sys
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from fctree import SymmetricBoostingRegressor
from report import RESULTS, print_table, write_json
from stopping_theory import boosting_kernel, local_complexity, stopping_threshold
from tqdm import tqdm

NAME = "stopping_bound"
SIZES = tuple(range(200, 2001, 300))
COEF = (2.0, 3.0, 4.0)
NOISE = 5.0
FULL_ROUNDS = 4000
TIME = 6  # of the reduced model's training: 6 n rounds
N_FRESH = 10_000
DROPPED = 0


def features(rng, n_samples):
    """Three independent features of four even values each."""
    return 2.0 * np.column_stack([rng.integers(low, low + 4, n_samples) for low in (1, 2, 3)])


def without(X, mean):
    X = X.copy()
    X[:, DROPPED] = mean
    return X


def random_trees(**options):
    """Boosting of depth 2 with constant leaves."""
    return SymmetricBoostingRegressor(max_depth=2, l2_leaf_reg=0.0, random_state=0, n_jobs=1, **options)


def make_truth(rng, mean):
    """The function of the features that stay: 50 trees fitted to a linear one."""
    X = without(features(rng, 100), mean)
    return random_trees(max_iter=50, random_strength=1e3).fit(X, X[:, 1:] @ COEF[1:]).predict


def squared_distance(K, residual):
    """r' K⁺ r."""
    return float(residual @ np.linalg.pinv(K, rcond=1e-10, hermitian=True) @ residual)


def run(n_samples, seed):
    """Rounds and errors for one data set."""
    rng = np.random.default_rng(seed)
    X = features(rng, n_samples)
    mean = X[:, DROPPED].mean()
    truth, reduced = make_truth(rng, mean), without(X, mean)
    y = truth(reduced) + COEF[DROPPED] * X[:, DROPPED] + NOISE * rng.standard_normal(n_samples)
    # The expectation of 2 randint(1, 5) is 5.
    target = truth(reduced) + 5.0 * COEF[DROPPED]
    model = random_trees(max_iter=FULL_ROUNDS, random_strength=1e7, early_stopping=True).fit(X, y)
    begun = model.n_iter_
    start = model.predict(reduced)
    step, n_rounds = 1.0 / n_samples, TIME * n_samples
    model.set_params(warm_start=True, early_stopping=False, learning_rate=step, score_noise="gumbel",
                     random_strength=n_samples**1.25, max_iter=begun + n_rounds).fit(reduced, y)

    held_X = features(rng, n_samples // 3)
    held = without(held_X, mean)
    held_y = truth(held) + COEF[DROPPED] * held_X[:, DROPPED] + NOISE * rng.standard_normal(len(held))
    fresh = without(features(rng, N_FRESH), mean)

    def path(X):
        return islice(model.staged_predict(X), begun - 1, None)

    errors = np.array([np.mean((f - target) ** 2) for f in path(reduced)])
    losses = np.array([np.mean((f - held_y) ** 2) for f in path(held)])
    K = boosting_kernel(model, reduced, stationary=True)
    threshold = stopping_threshold(K, target - start, NOISE**2, step=step, max_rounds=n_rounds)
    time = step * threshold
    bias = squared_distance(K, target - start) / (np.e * time)
    variance = 5 * NOISE**2 * time * local_complexity(K, time**-0.5) ** 2
    at_threshold = next(islice(path(fresh), threshold, None))
    best, chosen = int(errors.argmin()), int(losses.argmin())
    return {
        "threshold": threshold, "best": best, "held out": chosen,
        "error at the start": errors[0], "error at the threshold": errors[threshold],
        "error at the best": errors[best], "error held out": errors[chosen],
        "error at the end": errors[-1], "bound": bias + variance,
        "fresh error at the threshold":
            np.mean((at_threshold - truth(fresh) - 5.0 * COEF[DROPPED]) ** 2),
    }


def slope(means, column):
    """Exponent of n."""
    return float(np.polyfit(np.log(SIZES), np.log([means[f"n={n}"][column] for n in SIZES]), 1)[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=int, default=4, help="data sets of each size")
    parser.add_argument("--json", type=Path, default=RESULTS / f"{NAME}.json")
    arguments = parser.parse_args()
    means = {}
    for n_samples in tqdm(SIZES):
        found = [run(n_samples, seed) for seed in range(arguments.sets)]
        means[f"n={n_samples}"] = {key: float(np.mean([entry[key] for entry in found]))
                                   for key in found[0]}
    slopes = {column: slope(means, column) for column in
              ("error at the threshold", "fresh error at the threshold", "error at the best", "bound")}
    columns = list(means[f"n={SIZES[0]}"])
    print_table("means over the sets", ("", *columns),
                [(size, *entry.values()) for size, entry in means.items()])
    print_table("exponents of n", tuple(slopes), [tuple(slopes.values())])
    write_json(arguments.json, NAME, {"means": means, "slopes": slopes})


if __name__ == "__main__":
    main()
