"""C files compute what `predict` computes, and compile without a warning."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from export_cases import (
    CATEGORICAL,
    CLASSES,
    CLASSIFIERS,
    OF_SEVERAL_OUTPUTS,
    REGRESSORS,
    SOFT_BOUNDARIES,
    categories,
    on_edges,
    overflowing,
    predictions,
    regression,
    rows_near,
    soft_boundaries,
)
from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor, load_model
from fctree.export import to_c
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

# Sums in another order, of up to some hundred terms.
RELATIVE = 1e-12
STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]


def compiled(folder, *sources):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    files = []
    for number, source in enumerate(sources):
        files.append(folder / f"model{number}.c")
        files[-1].write_text(source)
    library = folder / "model.so"
    command = [compiler, *STRICT, "-O1", "-fPIC", "-shared", *files, "-o", library, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def evaluate(function, X, n_outputs):
    function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_void_p], None
    # One element more, which has to stay.
    out = np.full((len(X), n_outputs + 1), 7.0)
    for row, result in zip(np.ascontiguousarray(X, dtype=np.float64), out, strict=True):
        function(row.ctypes.data, result.ctypes.data)
    assert np.all(out[:, n_outputs] == 7.0)
    return out[:, :n_outputs]


def check(model, X, folder, codes=None):
    expected = predictions(model, X)
    library = compiled(folder, to_c(model))
    found = evaluate(library.predict, X if codes is None else codes, expected.shape[1])
    np.testing.assert_allclose(found, expected, rtol=RELATIVE, atol=RELATIVE * np.abs(expected).max())


@pytest.mark.filterwarnings("ignore:early stopping kept no round")
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name, tmp_path):
    X, y = regression()
    model = clone(REGRESSORS[name]).fit(X, y)
    check(model, rows_near(X, missing=True), tmp_path)


def test_a_soft_tree_with_a_column_that_is_constant_up_to_rounding(tmp_path):
    X, y = regression()
    X = np.column_stack([X, 1e6 + 1e-10 * np.random.default_rng(0).standard_normal(len(X))])
    assert np.ptp(X[:, -1]) > 0.0
    model = clone(REGRESSORS["soft"]).fit(X, y)
    check(model, rows_near(X), tmp_path)


def test_a_soft_tree_with_a_column_without_numbers_in_fit(tmp_path):
    X, y = regression()
    model = clone(REGRESSORS["soft, erf"]).fit(np.column_stack([X, np.full(len(X), np.nan)]), y)
    new = np.column_stack([X, np.full(len(X), 3.0)])
    check(model, new, tmp_path)


@pytest.mark.parametrize("kind", SOFT_BOUNDARIES)
def test_soft_boundaries(kind, tmp_path):
    model, X = soft_boundaries(kind)
    check(model, X, tmp_path)


@pytest.mark.parametrize("name", OF_SEVERAL_OUTPUTS)
def test_several_outputs(name, tmp_path):
    X, y = regression(n_outputs=3)
    check(clone(REGRESSORS[name]).fit(X, y), rows_near(X), tmp_path)


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name, classes, tmp_path):
    X, y = CLASSES[classes]()
    X = X.copy()
    X[::7, 1] = np.nan
    check(clone(CLASSIFIERS[name]).fit(X, y), rows_near(X, missing=True), tmp_path)


@pytest.mark.filterwarnings("ignore:.*not finite|overflow")
@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("name", ["tree", "fcodt", "soft"])
def test_scores_that_overflow(name, classes, tmp_path):
    X, y = CLASSES[classes]()
    X = X - X.mean(axis=0)
    check(clone(CLASSIFIERS[name]).fit(X, y), overflowing(X), tmp_path)


def test_symmetric_trees_to_the_last_bit(tmp_path):
    """Also for the numbers on thresholds and those next to them, infinities and missing values."""
    X, y = regression()
    X = X.copy()
    X[::3, 0] = np.nan
    model = SymmetricBoostingRegressor(max_iter=40, max_depth=4, random_state=0).fit(X, y)
    used = model.trees_.split_feature >= 0
    thresholds = model.trees_.split_threshold[used]
    rows = np.repeat(X[:1], 3 * len(thresholds), axis=0)
    beside = [thresholds, np.nextafter(thresholds, np.inf), np.nextafter(thresholds, -np.inf)]
    rows[np.arange(len(rows)), np.tile(model.trees_.split_feature[used], 3)] = np.concatenate(beside)
    rows = np.vstack([rows, X, np.full_like(X[:1], np.inf), np.full_like(X[:1], np.nan)])
    found = evaluate(compiled(tmp_path, to_c(model)).predict, rows, 1)
    np.testing.assert_array_equal(found[:, 0], model.predict(rows))


@pytest.mark.parametrize("name", ["boosting", "fcodt", "soft", "symmetric"])
@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_categories_by_number(name, kind, tmp_path):
    frame, y = categories()
    cases = REGRESSORS if kind == "regressor" else CLASSIFIERS
    model = clone(cases[name]).set_params(categorical_features=CATEGORICAL)
    model.fit(frame, y if kind == "regressor" else np.digitize(y, [3.0, 9.0]))
    frame, _ = categories(seed=1, strange=True)
    codes = frame.copy().astype(object)
    for column, known in zip(frame, model.encoder_.categories, strict=True):
        if known is not None:
            codes[column] = [
                np.nan if value != value or value is None else
                float(known.index(value)) if value in known else -1.0 if column == "code" else float(len(known))
                for value in frame[column].tolist()
            ]  # fmt: skip
    check(model, frame, tmp_path, codes.to_numpy(dtype=np.float64))
    assert "'sex': 0 'f', 1 'm'" in to_c(model)


def test_numbers_on_the_edges_of_pairs(tmp_path):
    frame, y = on_edges()
    model = SymmetricBoostingRegressor(max_iter=5, random_state=0).fit(frame, y)
    assert len(model.encoder_.pairs)
    numbers = frame["place"].map(model.encoder_.categories[0].index)
    check(model, frame, tmp_path, frame.assign(place=numbers).to_numpy(dtype=np.float64))


@pytest.mark.filterwarnings("ignore:the file is of fctree 0.1")
@pytest.mark.parametrize("name", ["boosting", "boosting_classes", "classes", "forest", "symmetric", "tree"])
def test_models_of_0_1(name, tmp_path):
    """Models without an encoder."""
    folder = Path(__file__).parents[1] / "contract" / "models_of_0_1"
    model = load_model(folder / f"{name}.fctree")
    X = np.random.default_rng(0).standard_normal((50, model.n_features_in_))
    check(model, X, tmp_path)


def test_two_models_in_one_program(tmp_path):
    X, y = regression()
    models = [clone(REGRESSORS[name]).fit(X, y) for name in ("tree", "symmetric")]
    library = compiled(tmp_path, to_c(models[0], name="first"), to_c(models[1], name="second"))
    for function, model in zip((library.first, library.second), models, strict=True):
        expected = model.predict(X)
        np.testing.assert_allclose(evaluate(function, X, 1)[:, 0], expected, rtol=RELATIVE)


@pytest.mark.parametrize("name", ["", "a b", "1st", "while", "naïve", "f(", "exp", "sin", "fabsl",
                                  "y0", "isfinite", "M_PI", "_Bool", "NAN"])
def test_names_that_c_does_not_have(name):
    X, y = regression()
    with pytest.raises(ValueError, match="name"):
        to_c(clone(REGRESSORS["tree"]).fit(X, y), name=name)


def test_labels_that_end_comments(tmp_path):
    X, _, y = *CLASSES["one class"](), np.tile(["*/ ??/", "/* \n", "*//*/"], 50)
    check(clone(CLASSIFIERS["symmetric"]).fit(X, y), X, tmp_path)


def test_other_models_are_refused():
    X, y = regression()
    with pytest.raises(TypeError, match="Ridge"):
        to_c(Ridge().fit(X, y))
    with pytest.raises(NotFittedError):
        to_c(SymmetricBoostingRegressor())


def test_labels_do_not_end_the_comment():
    """Lines that a backslash continues are joined before comments are read."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    texts = []
    for label in ("plain", "*\\\n/ int x;", "\u202eleft"):
        model = SymmetricBoostingClassifier(max_iter=2, random_state=0).fit(X, np.where(X[:, 0] > 0, label, "other"))
        texts.append(to_c(model).replace("\\\n", ""))
    assert all(text.isascii() and text.count("*/") == texts[0].count("*/") for text in texts)


def test_names_of_columns_and_categories_are_written_in_ascii():
    frame = pd.DataFrame({"größe": np.arange(60.0), "città": ["Zürich", "東京"] * 30})
    text = to_c(SymmetricBoostingRegressor(max_iter=2).fit(frame, frame["größe"]))
    assert text.isascii() and r"'citt\xe0': 0 'Z\xfcrich', 1 '\u6771\u4eac'" in text
