"""The result of `shap_values`."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from fctree._tables.columns import is_missing
from fctree._typing import FloatArray
from fctree.inspection.results import import_pandas

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(eq=False, repr=False)
class ShapValues:
    """Attributions of predictions to features.

    The scores of the samples are ``base_values + values.sum(axis=1)``.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_features) or (n_samples, n_features, n_outputs)
    base_values : float, or ndarray of shape (n_outputs,)
        Mean scores of the background.
    data : ndarray of shape (n_samples, n_features)
        The explained samples, as they were passed.
    feature_names : list of str
        Names of the columns of the table.
    output_names : list of str or None
        Classes of the scores; with two classes the second, which positive values favour. None for
        regressors.
    method : {"interventional", "path_dependent", "aumann_shapley"}
        Method that computed the values.
    """

    values: np.ndarray
    base_values: float | np.ndarray
    data: np.ndarray
    feature_names: list[str]
    output_names: list[str] | None
    method: str

    def mean_abs(self) -> FloatArray:
        """Mean absolute value of each feature, (n_features,) or (n_features, n_outputs)."""
        return np.abs(self.values).mean(axis=0)

    def to_frame(self) -> DataFrame:
        """Convert the values to a pandas data frame, one row per sample.

        Columns are the features; with several outputs pairs (output, feature), so that ``frame[output]`` has
        those of a class, or of the number of an output.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pd = import_pandas()
        if self.values.ndim == 2:
            return pd.DataFrame(self.values, columns=self.feature_names)
        outputs = range(self.values.shape[2]) if self.output_names is None else self.output_names
        columns = pd.MultiIndex.from_product([outputs, self.feature_names], names=["output", "feature"])
        by_output = self.values.transpose(0, 2, 1).reshape(len(self.values), -1)
        return pd.DataFrame(by_output, columns=columns)

    def to_shap(self) -> Any:
        """Convert to an ``Explanation`` of the shap package, for its plots.

        Missing values in text columns become ``"missing"`` in its `data`, since the plots of shap sort
        them.

        Raises
        ------
        ImportError
            If shap is not installed.
        """
        try:
            import shap
        except ImportError as error:
            raise ImportError("to_shap() needs shap, which is not installed") from error
        return shap.Explanation(
            values=self.values,
            base_values=np.tile(self.base_values, (len(self.values), *[1] * np.ndim(self.base_values))),
            data=_sortable(self.data),
            feature_names=self.feature_names,
            output_names=self.output_names if self.values.ndim == 3 else None,
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self):
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self):
        """A table of the mean absolute values, over all outputs, the largest first."""
        size = self.mean_abs().reshape(len(self.feature_names), -1).mean(axis=1)
        width = max(len("feature"), *(len(name) for name in self.feature_names))
        base = [f"{value:.4g}" for value in np.atleast_1d(self.base_values)]
        if self.output_names is not None:
            base = [f"{value} ({name})" for value, name in zip(base, self.output_names, strict=True)]
        lines = [
            f"Attributions of {len(self.values)} predictions ({self.method}), base value {', '.join(base)}",
            f"{'feature':<{width}}  {'mean |value|':>12}",
        ]
        for row in np.argsort(-size, kind="stable"):
            lines.append(f"{self.feature_names[row]:<{width}}  {size[row]:>12.4g}")
        return "\n".join(lines)


def _sortable(data):
    """The samples with the text "missing" for missing values in columns of text."""
    if data.dtype != object:
        return data
    data = data.copy()
    for column in data.T:
        if any(isinstance(value, str) for value in column):
            column[[is_missing(value) for value in column]] = "missing"
    return data
