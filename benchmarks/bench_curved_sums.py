"""Sums of curved effects: R2 and seconds of boosting beside LightGBM and CatBoost.

Additive truths (waves, bends, smooth steps, thresholds or an own effect for each of five answers), a peak in six
features, rules, and Friedman's function. R2 is that of the truth without noise on 2,000 new rows, mean of three draws;
2,000 training rows, whose targets have noise of a tenth or half of the truth's deviation. Times are seconds a fit and
prediction, mean over all fits, one thread.
"""

import argparse
from functools import partial

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from bench_fewer_samples import PROGRAMS as FEW_SAMPLES
from bench_fewer_samples import scores_of
from bench_many_relevant import PROGRAMS as MANY_RELEVANT
from bench_many_relevant import drawn
from report import add_arguments, print_markdown, write_json
from sklearn.datasets import make_friedman1

from fctree import SymmetricBoostingRegressor

NAME = "bench_curved_sums"
PROGRAMS = {
    "curvature boosting": FEW_SAMPLES["curvature boosting"],
    "symmetric boosting": lambda: SymmetricBoostingRegressor(n_jobs=1, random_state=0),
    "symmetric, 1,000 rounds": lambda: SymmetricBoostingRegressor(max_iter=1000, n_jobs=1, random_state=0),
    **{name: MANY_RELEVANT[name] for name in ("LightGBM", "CatBoost")},
}
CURVES = (lambda x: np.sin(2.0 * x), lambda x: 0.5 * x**2, np.abs)


def answers(n, rng):
    x = rng.integers(0, 5, (n, 20))
    effects = np.random.default_rng(0).standard_normal((20, 5))
    return x.astype(float), sum(of[column] for of, column in zip(effects, x.T, strict=True))


def rules(n, rng):
    x = rng.uniform(-1.0, 1.0, (n, 5))
    return x, 3.0 * ((x[:, 0] > 0.0) & (x[:, 1] < 0.3)) + 2.0 * ((x[:, 2] > 0.5) & (x[:, 3] < 0.0))


def of_uniform(n_features, width, function):
    """Features drawn from -width to width, and this function of them."""
    def draw(n, rng):
        x = rng.uniform(-width, width, (n, n_features))
        return x, function(x)

    return draw


DESIGNS = {
    "20 waves": of_uniform(20, 3.0, lambda x: np.sin(2.0 * x).sum(axis=1)),
    "4 waves on parabolas": of_uniform(4, 1.0, lambda x: (10.0 * x**2 - 5.0 * np.cos(2.0 * np.pi * x)).sum(axis=1)),
    "20 waves, parabolas and bends": of_uniform(20, 3.0, lambda x: sum(CURVES[j % 3](x[:, j]) for j in range(20))),
    "20 smooth steps": of_uniform(20, 1.0, lambda x: np.tanh(3.0 * x).sum(axis=1)),
    "20 thresholds": of_uniform(20, 1.0, lambda x: (x > np.linspace(-0.6, 0.6, 20)).sum(axis=1)),
    "20 questions, 5 answers": answers,
    "a peak in 6 features": of_uniform(6, 0.5, lambda x: np.exp(-3.0 * (x**2).sum(axis=1))),
    "2 rules": rules,
    "Friedman's function": lambda n, rng: make_friedman1(n, random_state=int(rng.integers(2**31))),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    arguments = parser.parse_args()
    n, n_draws = (300, 1) if arguments.quick else (2000, 3)
    found = {str(noise): {name: scores_of(PROGRAMS, n, n_draws, partial(drawn, design), noise) for name, design in DESIGNS.items()}
             for noise in (0.1, 0.5)}
    r2 = {noise: {design: {name: float(scores[0]) for name, scores in of.items()} for design, of in designs.items()}
          for noise, designs in found.items()}
    seconds = {name: float(np.mean([of[name][1] for designs in found.values() for of in designs.values()])) for name in PROGRAMS}
    rows = [[noise, design, *(f"{value:.3f}" for value in of.values())] for noise, designs in r2.items() for design, of in designs.items()]
    print_markdown("R2", ["noise", "truth", *PROGRAMS], rows)
    print_markdown("Seconds", [*PROGRAMS], [[f"{value:.2f}" for value in seconds.values()]])
    write_json(arguments.json, NAME, {"R2": r2, "seconds": seconds}, quick=arguments.quick)


if __name__ == "__main__":
    main()
