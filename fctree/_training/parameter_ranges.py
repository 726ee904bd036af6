"""Ranges of the parameters that every estimator trained round by round has."""

from numbers import Integral, Real

from fctree._sklearn import Interval


TRAINING_CONSTRAINTS = {
    "early_stopping": ["boolean"],
    "validation_fraction": [
        Interval(Real, 0, 1, closed="neither"),
        Interval(Integral, 1, None, closed="left"),
    ],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "warm_start": ["boolean"],
    "verbose": ["verbose"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
}
