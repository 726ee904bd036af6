"""Types that the public signatures use."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from typing_extensions import Self
else:
    Self = Any  # in typing from Python 3.11 on

__all__ = [
    "ArrayLike", "Callback", "Callbacks", "CustomLossFunction", "EvalMetric", "EvalSets",
    "FloatArray", "NDArray", "RandomState", "RoundScores", "Self",
]

FloatArray: TypeAlias = NDArray[np.float64]
RandomState: TypeAlias = int | np.random.RandomState | None
# (X, y) or (X, y, sample_weight), or a list of these.
EvalSets: TypeAlias = tuple[ArrayLike, ...] | list[tuple[ArrayLike, ...]]
# Names of scorers, or metric(estimator, X, y).
_Metric: TypeAlias = str | Callable[..., float]
EvalMetric: TypeAlias = _Metric | Sequence[_Metric] | Mapping[str, _Metric] | None
# Losses and metrics after a round, by data set and name.
RoundScores: TypeAlias = dict[str, dict[str, float]]
# callback(round, scores), which returns True to stop.
Callback: TypeAlias = Callable[[int, RoundScores], bool | None]
Callbacks: TypeAlias = Callback | Sequence[Callback] | None
# loss(y_true, raw_prediction) -> (gradient, hessian)
CustomLossFunction: TypeAlias = Callable[[NDArray[Any], FloatArray], tuple[ArrayLike, ArrayLike]]
