"""The pictures and the text of attributions: what is drawn where."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor
from fctree.inspection import ShapDisplay, shap_values

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 5))
Y = 3.0 * X[:, 1] + X[:, 3] + 0.1 * X[:, 0]
MODEL = SymmetricBoostingRegressor(max_iter=20, random_state=0).fit(X, Y)
RESULT = shap_values(MODEL, X)


def labels(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def test_bars_are_mean_sizes_in_order():
    display = ShapDisplay.from_result(RESULT, max_features=2)
    size = np.sort(RESULT.mean_abs())[::-1]
    widths = [bar.get_width() for bar in display.bars_]
    assert labels(display) == ["x1", "x3", "3 others"]
    np.testing.assert_allclose(widths, [size[0], size[1], size[2:].sum()])


def test_a_waterfall_goes_from_the_base_value_to_the_score():
    display = ShapDisplay.from_estimator(MODEL, X, sample=7)
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in display.bars_]
    assert ends[-1][0] == pytest.approx(RESULT.base_values)
    assert ends[0][1] == pytest.approx(MODEL.predict(X[7:8])[0])
    for above, below in zip(ends, ends[1:]):
        assert above[0] == pytest.approx(below[1])
    assert f"x1 = {X[7, 1]:.4g}" in labels(display)


def test_a_picture_goes_into_given_axes():
    _, ax = plt.subplots()
    assert ShapDisplay(RESULT).plot(ax=ax).ax_ is ax


def test_a_frame_has_a_column_for_each_feature_and_output(monkeypatch):
    frame = RESULT.to_frame()
    assert list(frame) == RESULT.feature_names and frame.to_numpy().tobytes() == RESULT.values.tobytes()
    classes = np.array(["low", "middle", "high"])[np.digitize(Y, [-1, 1])]
    result = shap_values(SymmetricBoostingClassifier(max_iter=3, random_state=0).fit(X, classes), X)
    frame = result.to_frame()
    for output, name in enumerate(result.output_names):
        assert list(frame[name]) == result.feature_names
        np.testing.assert_array_equal(frame[name], result.values[:, :, output])
    two = SymmetricBoostingRegressor(max_iter=3, random_state=0).fit(X, np.column_stack([Y, -Y]))
    frame = shap_values(two, X).to_frame()
    assert frame.columns.get_level_values("output").unique().tolist() == [0, 1]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame"):
        RESULT.to_frame()


def test_outputs_are_chosen():
    model = SymmetricBoostingClassifier(max_iter=5, random_state=0)
    result = shap_values(model.fit(X, np.digitize(Y, [-1, 1])), X)
    mean = ShapDisplay.from_result(result)
    assert mean.bars_[0].get_width() == pytest.approx(result.mean_abs().mean(axis=1).max())
    one = ShapDisplay.from_result(result, output=2, sample=0)
    assert one.bars_[-1].get_x() == pytest.approx(result.base_values[2])
    with pytest.raises(ValueError, match="a waterfall needs output"):
        ShapDisplay.from_result(result, sample=0)
    with pytest.raises(ValueError, match="output must be an int of 0 to 2"):
        ShapDisplay.from_result(result, output=3)


def test_classes_are_named():
    names = np.array(["low$", "middle", "high"])
    labels = names[np.digitize(Y, [-1, 1])]
    model = SymmetricBoostingClassifier(max_iter=5, random_state=0).fit(X, labels)
    result = shap_values(model, X)
    assert result.output_names == ["high", "low$", "middle"]
    by_name = ShapDisplay.from_result(result, output="low$", sample=3)
    by_number = ShapDisplay.from_result(result, output=1, sample=3)
    assert by_name.ax_.get_xlabel() == by_number.ax_.get_xlabel()
    assert by_name.ax_.get_xlabel().startswith(f"score of low$: {result.base_values[1]:.4g} on average")
    by_name.figure_.canvas.draw()  # a dollar sign starts no formula
    assert ShapDisplay.from_result(result).ax_.get_xlabel() == "mean |value|"
    assert ShapDisplay.from_result(result, output="high").ax_.get_xlabel() == "mean |value|, score of high"
    ends = [f"{value:.4g} ({name})" for value, name in zip(result.base_values, result.output_names)]
    assert str(result).splitlines()[0].endswith(f"base value {', '.join(ends)}")
    with pytest.raises(ValueError, match=r"output must be from 0 to 2 or one of \['high', .*got 'huge'"):
        ShapDisplay.from_result(result, output="huge")
    with pytest.raises(ValueError, match=r"a waterfall needs output, from 0 to 2 or one of \['high'"):
        ShapDisplay.from_result(result, sample=0)


def test_of_two_classes_the_second_is_named():
    model = SymmetricBoostingClassifier(max_iter=5, random_state=0).fit(X, Y > 1.0)
    result = shap_values(model, X)
    assert result.output_names == ["True"] and result.values.ndim == 2
    assert f"base value {result.base_values:.4g} (True)" in str(result)
    row = int(np.argmax(Y))
    display = ShapDisplay.from_result(result, sample=row)
    end = model.decision_function(X[row : row + 1])[0]
    assert display.ax_.get_xlabel() == f"score of True: {result.base_values:.4g} on average, {end:.4g} here"
    assert end > result.base_values  # as positive values favour the class
    ShapDisplay.from_result(result, sample=row, output="True")
    with pytest.raises(ValueError, match="one of .'True'.*got 'False'"):
        ShapDisplay.from_result(result, sample=row, output="False")


def test_outputs_without_names_have_numbers():
    model = SymmetricBoostingRegressor(max_iter=5, random_state=0).fit(X, np.column_stack([Y, -Y]))
    display = ShapDisplay.from_result(shap_values(model, X), output=1, sample=0)
    assert display.ax_.get_xlabel().startswith("score of output 1: ")
    assert ShapDisplay.from_result(RESULT, sample=0).ax_.get_xlabel().startswith("score: ")
    with pytest.raises(ValueError, match="output must be an int of 0 to 0"):
        ShapDisplay.from_result(RESULT, output="x1")


def long_names(n):
    return [f"ratio of outstanding debt to the value of collateral, product {j}" for j in range(n)]


def test_long_names_leave_room_for_bars():
    frame = pd.DataFrame(X, columns=long_names(5))
    model = SymmetricBoostingRegressor(max_iter=20, random_state=0).fit(frame, Y)
    for sample in (None, 7):
        display = ShapDisplay.from_estimator(model, frame, sample=sample)
        display.figure_.canvas.draw()
        assert display.ax_.get_position().width > 0.5
        names = labels(display)
        assert len(set(names)) == 5 and all("…" in name for name in names)
        assert "product 1" in names[0]
    assert names[0].endswith(f" = {X[7, 1]:.4g}")


def test_long_categories_are_cut():
    text = "a category whose name would fill a whole line of the picture, and more than that"
    frame = pd.DataFrame({"kind": np.where(X[:, 0] > 0, text, "b"), "n": X[:, 1]})
    model = SymmetricBoostingRegressor(max_iter=20, random_state=0).fit(frame, 9.0 * (X[:, 0] > 0) + Y)
    row = int(np.argmax(X[:, 0] > 0))
    display = ShapDisplay.from_estimator(model, frame, sample=row)
    assert labels(display)[0].startswith("kind = a category") and labels(display)[0].endswith("…")
    assert f"n = {X[row, 1]:.4g}" in labels(display)


def test_what_there_is_not_is_refused():
    with pytest.raises(TypeError, match="result must be that of shap_values"):
        ShapDisplay(RESULT.values)
    with pytest.raises(ValueError, match="sample must be an int of 0 to 199"):
        ShapDisplay.from_result(RESULT, sample=200)
    with pytest.raises(ValueError, match="max_features"):
        ShapDisplay.from_result(RESULT, max_features=0)


def test_the_text_lists_the_largest_first():
    lines = str(RESULT).splitlines()
    assert "200 predictions (interventional)" in lines[0]
    assert [line.split()[0] for line in lines[2:4]] == ["x1", "x3"]
    assert repr(RESULT) == str(RESULT)
    assert RESULT._repr_html_().startswith("<pre>")
