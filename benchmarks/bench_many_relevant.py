"""Where all of many features matter: R2 and seconds of curvature boosting beside LightGBM, CatBoost and ridge regression.

One-hot codes of categories with effects of their own, of which two interact and two are bent by whether they agree;
normal features with a linear effect each, of which four also bend the target; and a network of sixteen hinges in all
features. R2 is that of the truth without noise on 2,000 new rows, mean of the draws; the training targets have noise
of half of the truth's deviation. Times are seconds a fit and prediction, one thread.
"""

import argparse
from functools import partial

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from bench_fewer_samples import PROGRAMS as FEW_SAMPLES
from bench_fewer_samples import scores_of
from peers import peer
from report import add_arguments, print_markdown, write_json

NAME = "bench_many_relevant"
PROGRAMS = {
    **{name: FEW_SAMPLES[name] for name in ("curvature boosting", "LightGBM")},
    "CatBoost": lambda: peer("CatBoost"),
    "ridge": FEW_SAMPLES["ridge"],
}


def one_hot(n, n_columns, n_levels, rng):
    codes = rng.integers(0, n_levels, (n, n_columns))
    x = np.concatenate([np.eye(n_levels)[column] for column in codes.T], axis=1)
    effects = rng.standard_normal((n_columns, n_levels))
    of_each = [of[column] for of, column in zip(effects, codes.T)]
    return x, sum(of_each) + 3.0 * (codes[:, 0] == codes[:, 1]) + 2.0 * of_each[2] * of_each[3]


def linear_and_bent(n, d, rng):
    x = rng.standard_normal((n, d))
    bent = np.abs(x[:, 0]) + np.sin(2.0 * x[:, 1]) + x[:, 2] * x[:, 3]
    return x, x @ rng.standard_normal(d) / np.sqrt(d) + 0.5 * bent


def hinges(n, d, rng):
    x = rng.standard_normal((n, d))
    return x, np.maximum(1.5 * x @ rng.standard_normal((d, 16)) / np.sqrt(d), 0.0) @ rng.standard_normal(16)


DESIGNS = {
    "80 one-hot codes": lambda n, rng: one_hot(n, 10, 8, rng),
    "300 one-hot codes": lambda n, rng: one_hot(n, 30, 10, rng),
    "100 linear, 4 bent": lambda n, rng: linear_and_bent(n, 100, rng),
    "200 linear, 4 bent": lambda n, rng: linear_and_bent(n, 200, rng),
    "80 in 16 hinges": lambda n, rng: hinges(n, 80, rng),
}


def drawn(design, n, seed):
    """Features and the truth, of deviation 1."""
    x, truth = design(n, np.random.default_rng(seed))
    return x, truth / truth.std()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    arguments = parser.parse_args()
    sizes, n_draws = ([300], 1) if arguments.quick else ([1000, 4000], 2)
    found = {f"{n:,}": {name: scores_of(PROGRAMS, n, n_draws, partial(drawn, design)) for name, design in DESIGNS.items()}
             for n in sizes}
    results = {part: {n: {design: {name: float(scores[place]) for name, scores in of.items()} for design, of in designs.items()}
                      for n, designs in found.items()} for place, part in enumerate(("R2", "seconds"))}
    for part, digits in (("R2", 3), ("seconds", 2)):
        rows = [[n, design, *(f"{value:.{digits}f}" for value in of.values())]
                for n, designs in results[part].items() for design, of in designs.items()]
        print_markdown(part, ["rows", "features", *PROGRAMS], rows)
    write_json(arguments.json, NAME, results, quick=arguments.quick)


if __name__ == "__main__":
    main()
