"""Attributions as pictures: the features' mean sizes, or one sample's way to its score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fctree._typing import ArrayLike, Self
from fctree.inspection.shap_result import ShapValues
from fctree.inspection.attributions import shap_values
from fctree.plotting.node_box import cut, cut_apart
from fctree.plotting.node_colors import CLASS_COLORS, require_matplotlib
from fctree.plotting.tree_labels import at_least

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UP, _DOWN = CLASS_COLORS[3], CLASS_COLORS[0]


class ShapDisplay:
    """Bar chart of attributions.

    Without a sample the bars are mean absolute values. With a sample they are the steps of a waterfall from
    the base value to the score of the sample, the largest at the top and the sum of those not shown at the
    bottom. The axis names the class of the score; with two classes the one that positive values favour.

    Created by `from_estimator` or `from_result`; `plot` draws again.

    Parameters
    ----------
    result : ShapValues

    Attributes
    ----------
    result : ShapValues
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from fctree import SymmetricBoostingRegressor
    >>> from fctree.inspection import ShapDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)  # doctest: +SKIP
    >>> model = SymmetricBoostingRegressor(random_state=0).fit(X, y)  # doctest: +SKIP
    >>> display = ShapDisplay.from_estimator(model, X, sample=0)  # doctest: +SKIP
    """

    def __init__(self, result: ShapValues) -> None:
        if not isinstance(result, ShapValues):
            raise TypeError(f"result must be that of shap_values, got a {type(result).__name__}")
        self.result = result

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        background: ArrayLike | None = None,
        *,
        method: str = "auto",
        n_jobs: int | None = None,
        **options: Any,
    ) -> Self:
        """Compute attributions and draw them.

        Parameters
        ----------
        model, X, background, method, n_jobs
            As for `shap_values`.
        **options
            Parameters of `plot`.

        Returns
        -------
        display : ShapDisplay
        """
        require_matplotlib()
        result = shap_values(model, X, background, method=method, n_jobs=n_jobs)
        return cls(result).plot(**options)

    @classmethod
    def from_result(cls, result: ShapValues, **options: Any) -> Self:
        """Draw existing attributions.

        Parameters
        ----------
        result : ShapValues
        **options
            Parameters of `plot`.

        Returns
        -------
        display : ShapDisplay
        """
        return cls(result).plot(**options)

    def plot(
        self,
        *,
        sample: int | None = None,
        output: int | str | None = None,
        max_features: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the bars.

        Parameters
        ----------
        sample : int or None, default=None
            Row whose waterfall is drawn; None draws the mean absolute values of all rows.
        output : int, str or None, default=None
            Output or class to draw if there are several: its number, or its name in `output_names`. None
            draws the mean over all; a waterfall needs a single one.
        max_features : int, default=10
            Maximum number of features shown by name, the largest first.
        ax : matplotlib Axes, default=None
            Axes to draw into; None creates a figure.

        Returns
        -------
        display : ShapDisplay
            Itself; the axes are `ax_`.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            For a sample or an output that does not exist.
        """
        require_matplotlib(ax)
        import matplotlib.pyplot as plt

        at_least("max_features", max_features, 1)
        values, base, of_output = self._of_output(output, sample is not None)
        score = f"score of {cut(of_output)}" if of_output else "score"
        if sample is not None:
            at_least("sample", sample, 0, high=len(values) - 1)
        shown = values[sample] if sample is not None else np.abs(values).mean(axis=0)
        order = np.argsort(-np.abs(shown), kind="stable")
        rest = shown[order[max_features:]].sum()
        n_rest = max(len(order) - max_features, 0)
        order = order[:max_features]
        steps, names = shown[order], self._names(order, sample)
        if n_rest:
            steps, names = np.append(steps, rest), [*names, f"{n_rest} others"]
        if ax is None:
            _, ax = plt.subplots(figsize=(6.4, 1.2 + 0.32 * len(steps)), layout="constrained")
        if sample is None:
            self.bars_ = ax.barh(np.arange(len(steps)), steps, color=CLASS_COLORS[0])
            ax.set_xlabel(f"mean |value|, {score}" if of_output else "mean |value|", parse_math=False)
        else:
            end = self._waterfall(ax, steps, base)
            ax.set_xlabel(f"{score}: {base:.4g} on average, {end:.4g} here", parse_math=False)
        ax.set_yticks(np.arange(len(steps)), names, parse_math=False)
        ax.invert_yaxis()
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _of_output(self, output, one_sample):
        """Values (n_samples, n_features), the base value and the name of an output, or of all."""
        values, base, names = self.result.values, self.result.base_values, self.result.output_names
        if values.ndim == 2:
            values, base = values[:, :, np.newaxis], [base]
        last = values.shape[2] - 1
        known = f"from 0 to {last}" + ("" if names is None else f" or one of {names[:10]}")
        if isinstance(output, str) and names is not None:
            if output not in names:
                raise ValueError(f"output must be {known}, got {output!r}")
            output = names.index(output)
        at_least("output", output, 0, high=last, none_allowed=True)
        if output is None and last > 0:
            if one_sample:
                raise ValueError(f"a waterfall needs output, {known}")
            return np.abs(values).mean(axis=2), None, ""
        output = output or 0
        names = names or [f"output {number}" if last > 0 else "" for number in range(last + 1)]
        return values[:, :, output], base[output], names[output]

    def _names(self, features, sample):
        """Names of features, with the values of a sample; long ones cut."""
        names = cut_apart([self.result.feature_names[j] for j in features])
        if sample is None:
            return names
        values = self.result.data[sample, features]
        is_number = [isinstance(value, (float, np.floating)) for value in values]
        texts = [f"{v:.4g}" if number else cut(str(v)) for v, number in zip(values, is_number, strict=True)]
        return [f"{name} = {text}" for name, text in zip(names, texts, strict=True)]

    def _waterfall(self, ax, steps, base):
        """Draws steps from the base value at the bottom to the score at the top, and returns that."""
        ends = base + np.cumsum(steps[::-1])[::-1]
        starts = ends - steps
        place = np.arange(len(steps))
        colors = [_UP if step > 0 else _DOWN for step in steps]
        self.bars_ = ax.barh(place, steps, left=starts, color=colors)
        ax.bar_label(self.bars_, [f"{step:+.3g}" for step in steps], padding=3, fontsize=8)
        ax.vlines(starts[:-1], place[:-1] - 0.4, place[1:] + 0.4, color="#7f8c99", linewidth=0.8)
        ax.axvline(base, color="#7f8c99", linewidth=0.8, linestyle="--")
        ax.use_sticky_edges = False  # room for the labels
        ax.margins(x=0.16)
        return ends[0]
