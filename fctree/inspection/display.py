"""Importances as bars with intervals, methods side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fctree._typing import ArrayLike, Self
from fctree._warnings import warn
from fctree.inspection.importance import variable_importance
from fctree.inspection.results import ImportanceResult, ShapleyResult
from fctree.inspection.shapley import shapley_importance
from fctree.plotting.node_box import cut_apart
from fctree.plotting.node_colors import CLASS_COLORS, plain_legend, require_matplotlib
from fctree.plotting.tree_labels import at_least

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELS = {"early_stopping": "early stopping", "dropout": "dropout", "retrain": "retraining"}


class VariableImportanceDisplay:
    """Bar chart of importances or Shapley values with their confidence intervals.

    Created by `from_estimator` or `from_result`; `plot` draws again.

    Parameters
    ----------
    results : mapping of labels to ImportanceResult or ShapleyResult
        Results to draw, all with the same groups.

    Attributes
    ----------
    results : dict
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : dict of labels to matplotlib BarContainer

    Examples
    --------
    >>> from fctree import SymmetricBoostingRegressor
    >>> from fctree.datasets import make_correlated_linear
    >>> from fctree.inspection import VariableImportanceDisplay
    >>> X, y = make_correlated_linear(1000, random_state=0)
    >>> display = VariableImportanceDisplay.from_estimator(  # doctest: +SKIP
    ...     SymmetricBoostingRegressor(max_iter=500, max_depth=3), X, y,
    ...     method=["early_stopping", "dropout"],
    ... )
    >>> display.figure_.savefig("importance.png")  # doctest: +SKIP
    """

    def __init__(self, results: Mapping[str, ImportanceResult | ShapleyResult]) -> None:
        if not isinstance(results, Mapping) or not results:
            raise TypeError("results must be a mapping of labels to results, with at least one")
        for result in results.values():
            if not isinstance(result, (ImportanceResult, ShapleyResult)):
                raise TypeError(
                    "results must be those of variable_importance or shapley_importance, got "
                    f"{type(result).__name__}"
                )
        names = [tuple(result.names) for result in results.values()]
        if len(set(names)) > 1:
            raise ValueError("results are of different features; only equal ones compare")
        self.results = dict(results)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        method: str = "early_stopping",
        shapley: bool = False,
        max_features: int | None = None,
        sort: bool = True,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Compute importances and draw them.

        Parameters
        ----------
        estimator, X, y
            As for `variable_importance`.
        method : str or list of str, default="early_stopping"
            One or several methods, drawn side by side for the same data splits; several need a
            `random_state` that is not None.
        shapley : bool, default=False
            Draw Shapley values instead of importances.
        max_features, sort, ax
            As for `plot`.
        **options
            Further parameters of `variable_importance` or `shapley_importance`.

        Returns
        -------
        display : VariableImportanceDisplay
        """
        require_matplotlib()
        compute = shapley_importance if shapley else variable_importance
        methods = [method] if isinstance(method, str) else list(method)
        if len(methods) > 1 and not isinstance(options.get("random_state"), (int, np.integer)):
            raise ValueError("several methods need an integer random_state, to share their splits")
        results = {
            _LABELS.get(name, name): compute(estimator, X, y, method=name, **options)
            for name in methods
        }
        return cls(results).plot(max_features=max_features, sort=sort, ax=ax)

    @classmethod
    def from_result(
        cls,
        result: Any,
        *,
        max_features: int | None = None,
        sort: bool = True,
        ax: Axes | None = None,
    ) -> Self:
        """Draw existing results.

        Parameters
        ----------
        result : ImportanceResult, ShapleyResult, list of them, or mapping of labels to them
            Results to draw. Several are drawn side by side and named by their methods or labels.
        max_features, sort, ax
            As for `plot`.

        Returns
        -------
        display : VariableImportanceDisplay
        """
        if not isinstance(result, Mapping):
            found = list(result) if isinstance(result, (list, tuple)) else [result]
            result = {_label(one): one for one in found}
            if len(result) < len(found):
                raise ValueError("results of the same method need labels: pass a mapping")
        return cls(result).plot(max_features=max_features, sort=sort, ax=ax)

    def plot(
        self,
        *,
        max_features: int | None = None,
        sort: bool = True,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the bars.

        Parameters
        ----------
        max_features : int or None, default=None
            Maximum number of features drawn: the most important ones of the first result.
        sort : bool, default=True
            Whether to sort by importance; otherwise the order of the result is kept.
        ax : matplotlib Axes, default=None
            Axes to draw into; None creates a figure.

        Returns
        -------
        display : VariableImportanceDisplay
            Itself; the axes are `ax_`.

        Warns
        -----
        UserWarning
            For each warning of the results, such as the reason for a pale bar.
        """
        require_matplotlib(ax)
        import matplotlib.pyplot as plt

        first = next(iter(self.results.values()))
        order = np.argsort(-first.importances, kind="stable")
        order = order[: at_least("max_features", max_features, 1, none_allowed=True)]
        if not sort:
            order = np.sort(order)
        if ax is None:
            height = 1.0 + len(order) * (0.22 + 0.16 * len(self.results))
            _, ax = plt.subplots(figsize=(6.4, height), layout="constrained")
        self.bars_ = {}
        all_trusted = True
        thickness = 0.8 / len(self.results)
        for at, (label, result) in enumerate(self.results.items()):
            place = np.arange(len(order)) + (at - (len(self.results) - 1) / 2) * thickness
            values, limits = result.importances[order], result.confidence_interval[order]
            self.bars_[label] = ax.barh(
                place,
                values,
                height=0.9 * thickness,
                xerr=np.abs(limits.T - values),
                color=CLASS_COLORS[at % len(CLASS_COLORS)],
                ecolor="#444444",
                error_kw={"elinewidth": 1.0, "capsize": 2.0},
                label=label,
            )
            # Pale if the interval is not trusted.
            for bar, trusted in zip(self.bars_[label], result.trusted[order], strict=True):
                bar.set_alpha(1.0 if trusted else 0.45)
            all_trusted &= bool(np.all(result.trusted[order]))
            for text in result.warnings:
                warn(f"{label}: {text}")
        ax.axvline(0.0, color="#444444", linewidth=0.8)
        names = cut_apart([first.names[j] for j in order])
        ax.set_yticks(np.arange(len(order)), names, parse_math=False)
        ax.invert_yaxis()
        kind = "Shapley value" if isinstance(first, ShapleyResult) else "importance"
        note = "" if all_trusted else "\npale: do not trust the interval"
        ax.set_xlabel(f"{kind} ({first.scoring}){note}", parse_math=False)
        if len(self.results) > 1:
            plain_legend(ax, list(self.bars_.values()))
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _label(result):
    method = getattr(result, "method", None)
    return _LABELS.get(method, method)
