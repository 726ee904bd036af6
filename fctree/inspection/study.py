"""Shared by importances and Shapley values: the data split, the full model, its masks."""

import time
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

from fctree._sklearn import Interval, get_feature_names
from fctree._tables.frames import check_frame
from fctree._training.progress import ProgressBar
from fctree.inspection.adapters import by_position, masked_models, numbered_categories
from fctree.inspection.partition import partition
from fctree.inspection.scores import find_score, shaped, target_of
from fctree.inspection.workers import Workers

_FRACTION = [Interval(Real, 0, 1, closed="neither"), Interval(Integral, 1, None, closed="left")]
STUDY_CONSTRAINTS = {
    "validation_fraction": _FRACTION,
    "test_fraction": _FRACTION,
    "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    "verbose": ["verbose"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
}
METHODS = ("early_stopping", "dropout", "retrain")


class Study:
    """A full model fitted once, and the test scores of the models without some features.

    `where` is ``(n_jobs, client)``: threads here, or a Dask cluster. ``parts`` is the `DataSplit`,
    ``target`` that of the test part; ``n_iter`` and ``fit_seconds`` are those of the full model.
    """

    def __init__(
        self, estimator, data, *, method, scoring, fractions, min_iter, where, random_state
    ):
        X, y, sample_weight = data
        X = check_frame(X)
        names = get_feature_names(X)
        estimator, X = numbered_categories(estimator, X, names)
        n_jobs, client = where
        workers = None if client is None else Workers(client)
        # At most 2^32 - 1: what scikit-learn takes as a seed.
        seeds = check_random_state(random_state).randint(2**31 - 1, size=2)
        self.models = masked_models(
            by_position(estimator, names),
            min_iter,
            (n_jobs, workers),
            int(seeds[1]),
            continues=method == "early_stopping",
        )
        self.parts = partition(estimator, X, y, sample_weight, fractions=fractions, seed=seeds[0])
        self._score = find_score(scoring, self.parts.test.classes)
        self.target = target_of(self.parts.test)
        begun = time.perf_counter()
        self.models.fit(self.parts)
        self.fit_seconds = time.perf_counter() - begun
        self.n_iter = self.models.n_iter_

    def score(self, target, outputs):
        """The score of predictions for a target, and its influence function."""
        return self._score(target, shaped(target, outputs))

    def evaluate(self, masked, method, *, verbose=0):
        """Yield the outputs of the models without each mask's features, in order, with their
        `MaskedOutputs`.

        Without any feature at all a model is the best constant (and None), unless it is not trained.
        """
        empty = masked.all(axis=1) & (method != "dropout")
        with ProgressBar(verbose, total=len(masked), desc=method) as bar:
            found = self.models.masked_outputs(masked[~empty], method, bar.update)
            for is_empty in empty:
                if is_empty:
                    bar.update()
                    yield self.models.constant_outputs(), None
                else:
                    result = next(found)
                    yield result.outputs, result

    def full_outputs(self, method):
        """Predictions of the model with all features for the test part.

        For ``"early_stopping"`` it is trained on like the others, with nothing withheld: what more
        rounds do for any model must not count against the features.
        """
        if method != "early_stopping":
            return self.models.full_outputs()
        nothing = np.zeros((1, self.parts.n_features), dtype=bool)
        ((outputs, cost),) = self.evaluate(nothing, method)
        self.n_iter += cost.n_iter
        self.fit_seconds += cost.seconds
        return outputs

    def common_results(self, names, members, interval):
        """Fields of a result: of the study, the groups, and the Wald `interval` of their values."""
        return {
            "names": names,
            "groups": [np.flatnonzero(row) for row in members],
            "stderr": interval.stderr,
            "confidence_interval": interval.limits,
            "p_values": interval.p_values,
            "full_n_iter": self.n_iter,
            "full_fit_seconds": self.fit_seconds,
            "n_test": len(self.parts.test),
        }

    def warnings(self):
        """Warnings about the full model."""
        if self.models.stopped_early_:
            return []
        return [
            "the full model was still improving when its rounds ended: a larger max_iter would "
            "raise its score, and so change importances"
        ]


def check_method(method):
    """ValueError for an unknown method."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")


def draws(random_state):
    """A generator for draws of subsets, independent of the seeds of a `Study`."""
    seed = check_random_state(random_state).randint(2**31 - 1, size=3)[2]
    return np.random.default_rng(seed)
