"""The picture of importances: what is drawn where."""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import pytest

from fctree import SymmetricBoostingRegressor
from fctree.datasets import make_correlated_linear
from fctree.inspection import VariableImportanceDisplay, variable_importance

MODEL = SymmetricBoostingRegressor(max_iter=60, max_depth=3)


def make_data():
    return make_correlated_linear(300, coef=(1.0, 0.0, 2.0), random_state=0)


def results():
    return [
        variable_importance(MODEL, *make_data(), method=method, random_state=0)
        for method in ("early_stopping", "dropout")
    ]


def labels(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def test_bars_are_the_importances_in_order():
    result = results()[0]
    display = VariableImportanceDisplay.from_result(result)
    assert labels(display) == ["x2", "x0", "x1"]
    widths = [bar.get_width() for bar in display.bars_["early stopping"]]
    np.testing.assert_array_equal(widths, np.sort(result.importances)[::-1])
    assert display.figure_ is display.ax_.figure
    assert display.ax_.get_legend() is None
    alphas = [bar.get_alpha() for bar in display.bars_["early stopping"]]
    assert alphas == [1.0, 1.0, 0.45]  # the last is near 0
    assert "pale: do not trust the interval" in display.ax_.get_xlabel()


def test_warnings_of_the_results_are_given():
    result = results()[0]
    assert result.warnings  # of the feature that is near 0
    with pytest.warns(UserWarning) as given:
        VariableImportanceDisplay.from_result(result)
    assert {f"early stopping: {text}" for text in result.warnings} <= {
        str(warning.message) for warning in given
    }
    certain = dataclasses.replace(result, trusted=np.ones(3, dtype=bool), warnings=[])
    assert "pale" not in VariableImportanceDisplay.from_result(certain).ax_.get_xlabel()


def test_intervals_are_drawn():
    result = results()[0]
    display = VariableImportanceDisplay.from_result(result, sort=False)
    lines = display.bars_["early stopping"].errorbar.lines[2][0].get_segments()
    drawn = np.array([[line[0][0], line[1][0]] for line in lines])
    np.testing.assert_allclose(drawn, result.confidence_interval)
    assert labels(display) == ["x0", "x1", "x2"]


def test_methods_side_by_side():
    display = VariableImportanceDisplay.from_result(results(), max_features=2)
    assert list(display.bars_) == ["early stopping", "dropout"]
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == list(
        display.bars_
    )
    assert labels(display) == ["x2", "x0"]
    first, second = (bars[0].get_y() for bars in display.bars_.values())
    assert first != second


def test_every_label_is_in_the_legend():
    names = ["_first", "$second", "third"]
    display = VariableImportanceDisplay.from_result(dict.fromkeys(names, results()[0]))
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == names
    display.figure_.canvas.draw()


def test_from_estimator_is_the_function():
    _, ax = plt.subplots()
    display = VariableImportanceDisplay.from_estimator(
        MODEL, *make_data(), method=["early_stopping", "dropout"], ax=ax, random_state=0
    )
    assert display.ax_ is ax
    for shown, expected in zip(display.results.values(), results(), strict=True):
        np.testing.assert_array_equal(shown.importances, expected.importances)
    shapley = VariableImportanceDisplay.from_estimator(
        MODEL, *make_data(), shapley=True, random_state=0
    )
    first = shapley.ax_.get_xlabel().splitlines()[0]
    assert first == "Shapley value (neg_mean_squared_error)"


def test_names_are_text_as_it_is():
    names = ["$", "$price_{$", "a$b$"]
    result = dataclasses.replace(results()[0], names=names)
    display = VariableImportanceDisplay.from_result({"$dropout^{$": result, "$": result}, sort=False)
    display.figure_.canvas.draw()
    assert labels(display) == names


def test_long_names_are_cut_and_stay_apart():
    names = [f"a very long feature name that a bank would use for a column, {j}" for j in range(3)]
    display = VariableImportanceDisplay.from_result(dataclasses.replace(results()[0], names=names))
    display.figure_.canvas.draw()
    assert display.ax_.get_position().width > 0.6
    assert [name[-1] for name in labels(display)] == ["2", "0", "1"]
    assert all("…" in name and len(name) < 30 for name in labels(display))


def test_plot_returns_the_display():
    display = VariableImportanceDisplay({"here": results()[0]})
    assert display.plot() is display


def test_bad_input():
    result = results()[0]
    other = variable_importance(MODEL, *make_data(), groups=[[0]], random_state=0)
    with pytest.raises(TypeError, match="mapping of labels"):
        VariableImportanceDisplay({})
    with pytest.raises(TypeError, match="got float"):
        VariableImportanceDisplay({"a": 1.0})
    with pytest.raises(ValueError, match="different features"):
        VariableImportanceDisplay({"a": result, "b": other})
    with pytest.raises(ValueError, match="need labels"):
        VariableImportanceDisplay.from_result([result, result])
    for number in (0, 2.5, True):
        with pytest.raises(ValueError, match="max_features must be an int of at least 1 or None"):
            VariableImportanceDisplay.from_result(result, max_features=number)
    with pytest.raises(ValueError, match="integer random_state"):
        VariableImportanceDisplay.from_estimator(MODEL, *make_data(), method=["dropout", "retrain"])
