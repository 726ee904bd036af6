"""The protocol of models whose training can continue on changed data.

A model implements three methods (`WarmStartModel`), or one round of training and its predictions
(`RoundByRound`, which adds early stopping).
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from fctree._native.core import Patience
from fctree._typing import ArrayLike, NDArray, Self
from fctree.inspection.scores import mean_loss


@dataclass(eq=False)
class Samples:
    """Features, targets and weights of one part of the data.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Targets, or class labels.
    sample_weight : ndarray of shape (n_samples,) or None
    classes : ndarray of shape (n_classes,) or None
        Sorted labels if `y` holds classes.
    """

    X: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray | None = None
    classes: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: NDArray[Any]) -> Samples:
        """The samples of these rows.

        Parameters
        ----------
        rows : ndarray of shape (n_taken,) or (n_samples,)
            Indices, or a mask.

        Returns
        -------
        samples : Samples
        """
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        return Samples(self.X[rows], self.y[rows], weight, self.classes)

    def replace(self, masked: NDArray[Any], replacement: ArrayLike) -> Samples:
        """The samples with some columns replaced by constants.

        Parameters
        ----------
        masked : ndarray of shape (n_features,), bool
        replacement : array-like of shape (n_features,)
            Values of the columns where `masked` is set.

        Returns
        -------
        samples : Samples
        """
        X = np.where(masked, replacement, self.X).astype(self.X.dtype, copy=False)
        return Samples(X, self.y, self.sample_weight, self.classes)


@dataclass(frozen=True)
class Stopping:
    """The end of training: names as in scikit-learn, and the minimum number of rounds."""

    max_iter: int
    n_iter_no_change: int
    tol: float
    min_iter: int = 0

    def __post_init__(self):
        for name, least in (("max_iter", 1), ("n_iter_no_change", 1), ("tol", 0.0), ("min_iter", 0)):
            if not getattr(self, name) >= least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)!r}")


class WarmStartModel(ABC):
    """Base class of models for `variable_importance` and `shapley_importance`.

    These functions call `fit` on a copy of the given model, and `continue_fit` on a copy of the fitted
    model for each group of features.

    Attributes
    ----------
    n_iter_ : int
        Rounds of the last `fit` or `continue_fit`.
    stopped_early_ : bool
        Whether early stopping ended it before the maximum number of rounds.
    classification : bool
        Whether the targets are classes; False unless a subclass overrides it.
    allow_nan : bool
        Whether features may be NaN; False unless a subclass overrides it.
    """

    n_iter_ = 0
    stopped_early_ = True
    classification = False
    allow_nan = False

    def copy(self) -> Self:
        """A model with the same parameters and the same state, independent of this one."""
        return copy.deepcopy(self)

    @abstractmethod
    def fit(self, train: Samples, validation: Samples) -> Self:
        """Train from scratch on `train`; keep the state that is best on `validation`.

        Parameters
        ----------
        train, validation : Samples
        """

    @abstractmethod
    def continue_fit(self, train: Samples, validation: Samples) -> Self:
        """Continue training from the current state; keep the best one, the current one included.

        Parameters
        ----------
        train, validation : Samples
            The samples of `fit` with some columns made constant.
        """

    @abstractmethod
    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Predict targets, or class probabilities in the order of the sorted labels.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)

        Returns
        -------
        outputs : ndarray of shape (n_samples,), (n_samples, n_outputs) or (n_samples, n_classes)
        """


class RoundByRound(WarmStartModel):
    """Base class of models trained round by round, with early stopping by the validation loss.

    A subclass defines `start`, `train_round` and `predict`. The loss is the mean squared error, or
    the log-loss for classes.

    Parameters
    ----------
    max_iter : int, default=100
        Maximum number of rounds of `fit`, and of each `continue_fit`.
    n_iter_no_change : int, default=10
        Rounds without improvement before training stops.
    tol : float, default=1e-4
        Smallest decrease of the loss that counts as an improvement.
    min_iter : int, default=0
        Minimum number of rounds.
    """

    def __init__(
        self,
        max_iter: int = 100,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        min_iter: int = 0,
    ) -> None:
        self.stopping = Stopping(max_iter, n_iter_no_change, tol, min_iter)

    @abstractmethod
    def start(self, train: Samples) -> None:
        """Set the state to that before any training.

        Parameters
        ----------
        train : Samples
        """

    @abstractmethod
    def train_round(self, train: Samples) -> None:
        """Train for one round, such as an epoch.

        Parameters
        ----------
        train : Samples
        """

    def state(self) -> Any:
        """Copy the state, for `restore`.

        Returns
        -------
        state : dict
            The attributes; a subclass may return anything else that its `restore` takes.
        """
        return copy.deepcopy({k: v for k, v in vars(self).items() if k != "stopping"})

    def restore(self, state: Any) -> None:
        """Go back to a state.

        Parameters
        ----------
        state : dict
            As `state` returned it.
        """
        vars(self).update(state)

    def fit(self, train: Samples, validation: Samples) -> Self:
        """Train from the beginning; see `WarmStartModel.fit`."""
        self.start(train)
        return self._train(train, validation, np.inf, None)

    def continue_fit(self, train: Samples, validation: Samples) -> Self:
        """Train on; see `WarmStartModel.continue_fit`."""
        return self._train(train, validation, self.loss(validation), self.state())

    def loss(self, samples: Samples) -> float:
        """Mean loss of the predictions for some samples.

        Parameters
        ----------
        samples : Samples

        Returns
        -------
        loss : float
            The mean squared error, or the log-loss for classes.
        """
        return mean_loss(self.predict(samples.X), samples)

    def _train(self, train, validation, best, best_state):
        stopping = self.stopping
        patience = Patience(stopping.n_iter_no_change, stopping.tol)
        patience.start(best)
        for n_rounds in range(1, stopping.max_iter + 1):
            self.train_round(train)
            if patience.take(self.loss(validation)):
                best_state = self.state()
            if patience.is_over and n_rounds >= stopping.min_iter:
                break
        self._check_kept(best_state)
        self.restore(best_state)
        self.n_iter_, self.stopped_early_ = n_rounds, patience.is_over
        return self

    def _check_kept(self, best):
        if best is None:
            raise ValueError(
                f"the validation loss of {type(self).__name__} is not finite in any of "
                f"{self.stopping.max_iter} rounds: scale the features and the targets"
            )
