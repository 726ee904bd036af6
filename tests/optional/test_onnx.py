"""ONNX Runtime predicts from exported models what `predict` predicts."""

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
from fctree import CurvatureBoostingRegressor, CurvatureTreeRegressor, SymmetricBoostingClassifier, SymmetricBoostingRegressor
from fctree.export import oblique, register_skl2onnx, to_onnx
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

# Sums in another order; rounded outputs.
RELATIVE = {np.float64: 1e-12, np.float32: 1e-6}


def run(model, inputs):
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    outputs = [output.name for output in session.get_outputs()]
    return dict(zip(outputs, session.run(None, inputs), strict=True))


def assert_close(found, expected, dtype):
    assert found.dtype == dtype
    tolerance = RELATIVE[dtype]
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


def check(model, X, dtype):
    """A float32 model predicts what the model predicts for the same numbers."""
    X = X.astype(dtype)
    outputs = run(to_onnx(model, dtype=dtype), {"X": X})
    expected = predictions(model, X.astype(np.float64))
    if not hasattr(model, "predict_proba"):
        assert list(outputs) == ["variable"]
        return assert_close(outputs["variable"], expected, dtype)
    assert list(outputs) == ["label", "probabilities"]
    assert_close(outputs["probabilities"], expected, dtype)
    np.testing.assert_array_equal(outputs["label"], model.predict(X.astype(np.float64)))


@pytest.mark.filterwarnings("ignore:early stopping kept no round")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [name for name in REGRESSORS if name != "soft, erf"])
def test_regressors(name, dtype):
    X, y = regression()
    check(clone(REGRESSORS[name]).fit(X, y), rows_near(X, missing=True), dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", SOFT_BOUNDARIES)
def test_soft_boundaries(kind, dtype):
    check(*soft_boundaries(kind), dtype)


@pytest.mark.parametrize("name", OF_SEVERAL_OUTPUTS)
def test_several_outputs(name):
    X, y = regression(n_outputs=3)
    check(clone(REGRESSORS[name]).fit(X, y), rows_near(X), np.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name, classes, dtype):
    X, y = CLASSES[classes]()
    X = X.copy()
    X[::7, 1] = np.nan
    check(clone(CLASSIFIERS[name]).fit(X, y), rows_near(X, missing=True), dtype)


@pytest.mark.filterwarnings("ignore:.*not finite|overflow")
@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("name", ["tree", "fcodt", "soft"])
def test_scores_that_overflow(name, classes):
    X, y = CLASSES[classes]()
    X = X - X.mean(axis=0)
    check(clone(CLASSIFIERS[name]).fit(X, y), overflowing(X), np.float64)


@pytest.mark.parametrize("few_leaves", [0, 1000])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("name", ["boosting", "forest"])
def test_large_ensembles(name, n_outputs, few_leaves, monkeypatch):
    """Trees in several groups; leaf models gathered, or all evaluated."""
    monkeypatch.setattr(oblique, "_DIRECTIONS_AT_A_TIME", 7)
    monkeypatch.setattr(oblique, "_FEW_LEAVES", few_leaves)
    X, y = regression(n_outputs)
    check(clone(REGRESSORS[name]).fit(X, y), rows_near(X), np.float64)


@pytest.mark.parametrize("name", ["boosting, no bounds", "forest", "symmetric"])
def test_children_of_roots_have_numbers_of_their_own(name):
    """Old runtimes take a root whose children have the same number for a leaf."""
    model = clone(REGRESSORS[name]).fit(*regression())
    graph = to_onnx(model, dtype=np.float64).graph
    ensembles = [{a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
                 for node in graph.node if node.op_type == "TreeEnsemble"]
    assert ensembles
    for trees in ensembles:
        low, high = (np.array(trees[f"nodes_{side}nodeids"]) for side in ("true", "false"))
        assert np.all((low != high)[trees["tree_roots"]])


def test_error_functions_are_in_single_precision():
    X, y = regression()
    model = clone(REGRESSORS["soft, erf"]).fit(X, y)
    check(model, rows_near(X), np.float32)
    with pytest.raises(ValueError, match="erf"):
        to_onnx(model, dtype=np.float64)


def test_rows_on_thresholds():
    """Numbers in float32 at and beside the thresholds of a model in float64."""
    X, y = regression()
    model = SymmetricBoostingRegressor(max_iter=40, max_depth=4, random_state=0).fit(X, y)
    used = model.trees_.split_feature >= 0
    thresholds = model.trees_.split_threshold[used].astype(np.float32)
    beside = [thresholds, np.nextafter(thresholds, np.float32(9)), np.nextafter(thresholds, np.float32(-9))]
    rows = np.repeat(X[:1], 3 * len(thresholds), axis=0).astype(np.float32)
    rows[np.arange(len(rows)), np.tile(model.trees_.split_feature[used], 3)] = np.concatenate(beside)
    check(model, rows, np.float32)


def test_no_rows():
    X, y = regression()
    for name in ("boosting", "symmetric", "soft"):
        model = to_onnx(clone(REGRESSORS[name]).fit(X, y))
        assert run(model, {"X": X[:0].astype(np.float32)})["variable"].shape == (0, 1)


def feed(frame, dtype):
    """A column an input; text is text."""
    inputs = {}
    for name in frame:
        column = frame[name]
        if column.dtype.kind in "fiu":
            inputs[name] = column.to_numpy(dtype).reshape(-1, 1)
        else:
            inputs[name] = column.fillna("").to_numpy(dtype=object).reshape(-1, 1)
    return inputs


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["boosting", "fcodt", "soft", "symmetric"])
def test_categories(name, dtype):
    frame, y = categories()
    model = clone(REGRESSORS[name]).set_params(categorical_features=CATEGORICAL).fit(frame, y)
    assert len(model.encoder_.pairs)
    frame, _ = categories(seed=1, strange=True)
    frame["x"] = frame["x"].astype(dtype).astype(np.float64)
    found = run(to_onnx(model, dtype=dtype), feed(frame, dtype))["variable"]
    assert_close(found, predictions(model, frame), dtype)


def test_numbers_on_the_edges_of_pairs():
    frame, y = on_edges()
    model = SymmetricBoostingRegressor(max_iter=5, random_state=0).fit(frame, y)
    assert len(model.encoder_.pairs)
    assert_close(run(to_onnx(model), feed(frame, np.float32))["variable"], predictions(model, frame), np.float32)


def test_an_empty_text_is_a_category():
    frame, y = categories()
    frame = frame[["x"]].assign(text=np.array(["", "a", "b"], dtype=object)[np.arange(len(frame)) % 3])
    model = SymmetricBoostingRegressor(max_iter=5).fit(frame, y)
    found = run(to_onnx(model), feed(frame, np.float32))["variable"]
    assert_close(found, predictions(model, frame), np.float32)


def test_empty_texts_beside_missing_ones_are_refused():
    frame, y = categories()
    texts = np.array(["", None, "a", "b"], dtype=object)[np.arange(len(frame)) % 4]
    model = SymmetricBoostingRegressor(max_iter=5).fit(frame[["x"]].assign(text=texts), y)
    with pytest.raises(ValueError, match="column 'text' had empty strings and missing values"):
        to_onnx(model)


def test_text_that_is_not_valid_unicode_is_refused():
    frame, y = categories()
    frame["city"] = frame["city"].astype(object).where(np.arange(len(frame)) > 5, "a\ud800")
    with pytest.raises(ValueError, match="column 'city' holds the category .*surrogate"):
        to_onnx(CurvatureTreeRegressor().fit(frame, y))


def test_categories_of_text_and_numbers():
    X = np.array([["a", 1.0], [2, 2.0], ["b", 3.0]] * 20, dtype=object)
    model = CurvatureTreeRegressor(categorical_features=[0]).fit(X, np.arange(60.0))
    with pytest.raises(ValueError, match="'x0' holds text and numbers"):
        to_onnx(model)


@pytest.mark.parametrize("first, dtype, remedy", [
    (100_000_001, np.float32, "use dtype=numpy.float64, or convert them to text"),
    (2**53, np.float32, "in float32: convert them to text"),
    (2**53, "float64", "in float64: convert them to text"),
])
def test_categories_that_the_type_merges(first, dtype, remedy):
    codes = np.array([first, first + 1, first + 2], dtype=object)
    frame = pd.DataFrame({"x": np.arange(60.0) % 7, "code": codes[np.arange(60) % 3]})
    model = CurvatureTreeRegressor(categorical_features=["code"]).fit(frame, np.arange(60.0) % 3)
    with pytest.raises(ValueError, match=f"column 'code' has categories that are equal .*{remedy}"):
        to_onnx(model, dtype=dtype)


def test_long_numbers_are_categories_in_float64():
    frame = pd.DataFrame({"x": np.arange(60.0) % 7, "code": 100_000_001 + np.arange(60) % 3})
    y = 10.0 * (np.arange(60) % 3)
    model = CurvatureTreeRegressor(categorical_features=["code"]).fit(frame, y)
    found = run(to_onnx(model, dtype="float64"), feed(frame, np.float64))["variable"]
    assert_close(found, predictions(model, frame), np.float64)


@pytest.mark.parametrize("name", ["variable", ""])
def test_columns_named_like_outputs(name):
    frame, y = categories()
    frame = frame[["city", "x"]].rename(columns={"x": name})
    with pytest.raises(ValueError, match=f"'{name}'.*rename"):
        to_onnx(CurvatureTreeRegressor(categorical_features=["city"]).fit(frame, y))


def test_labels_that_int64_does_not_hold():
    X, y = regression()
    labels = np.array([3, 2**63 + 1], dtype=np.uint64)[(y > np.median(y)).astype(int)]
    with pytest.raises(ValueError, match=f"class {2**63 + 1} does not fit into int64"):
        to_onnx(SymmetricBoostingClassifier(max_iter=2).fit(X, labels))


def test_other_arguments_are_refused():
    X, y = regression()
    with pytest.raises(ValueError, match="dtype must be"):
        to_onnx(CurvatureTreeRegressor().fit(X, y), dtype=np.int64)
    with pytest.raises(ValueError, match="dtype must be"):
        to_onnx(CurvatureTreeRegressor().fit(X, y), dtype=None)
    with pytest.raises(TypeError, match="Pipeline; register_skl2onnx"):
        to_onnx(make_pipeline(StandardScaler(), CurvatureTreeRegressor()).fit(X, y))


@pytest.fixture
def skl2onnx():
    module = pytest.importorskip("skl2onnx")
    register_skl2onnx()
    return module


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["boosting", "forest", "soft", "symmetric", "tree", "tree, one leaf"])
def test_pipelines(name, dtype, skl2onnx):
    X, y = regression(n_outputs=3)
    X = np.ascontiguousarray(X, dtype=dtype)
    pipeline = make_pipeline(StandardScaler(), clone(REGRESSORS[name])).fit(X, y)
    rows = rows_near(X).astype(dtype)
    found = run(skl2onnx.to_onnx(pipeline, rows[:1]), {"X": rows})["variable"]
    # Rows are scaled in their own type, by either program in its own order.
    assert_close(found, predictions(pipeline, rows), dtype)


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("name", ["boosting", "forest", "soft", "symmetric", "tree"])
def test_pipelines_of_classes(name, classes, skl2onnx):
    X, y = CLASSES[classes]()
    pipeline = make_pipeline(StandardScaler(), clone(CLASSIFIERS[name])).fit(X, y)
    rows = rows_near(X)
    options = {id(pipeline[-1]): {"zipmap": False}}
    outputs = run(skl2onnx.to_onnx(pipeline, rows[:1], options=options), {"X": rows})
    assert_close(outputs["probabilities"], predictions(pipeline, rows), np.float64)
    np.testing.assert_array_equal(outputs["label"], pipeline.predict(rows))


@pytest.mark.parametrize("classes", ["two classes", "three classes"])
@pytest.mark.parametrize("name", ["boosting", "forest", "soft", "symmetric", "tree"])
def test_calibration_and_stacking_get_scores(name, classes, skl2onnx):
    """Both read `decision_function`; of two classes skl2onnx stacks no scores, whoever has them."""
    X, y = CLASSES[classes]()
    models = [CalibratedClassifierCV(clone(CLASSIFIERS[name]), cv=2, ensemble=False)]
    if classes == "three classes":
        final = LogisticRegression(max_iter=1000)
        models.append(StackingClassifier([("a", clone(CLASSIFIERS[name]))], final, cv=2,
                                         stack_method="decision_function"))  # fmt: skip
    for model in models:
        model.fit(X, y)
        rows = rows_near(X)
        outputs = run(skl2onnx.to_onnx(model, rows[:1], options={"zipmap": False}), {"X": rows})
        found = next(value for key, value in outputs.items() if "label" not in key)
        # Calibration is computed in float32.
        np.testing.assert_allclose(found, model.predict_proba(rows), atol=1e-5)


def test_searches_and_votes(skl2onnx):
    X, y = regression()
    rows = rows_near(X)
    for model in (
        GridSearchCV(CurvatureTreeRegressor(), {"max_depth": [1, 2]}),
        VotingRegressor([("a", Ridge()), ("b", CurvatureBoostingRegressor(max_iter=5))]),
    ):
        model.fit(X, y)
        found = run(skl2onnx.to_onnx(model, rows[:1]), {"X": rows})["variable"]
        assert_close(found, predictions(model, rows), np.float64)


def test_votes_of_classifiers(skl2onnx):
    X, y = CLASSES["three classes"]()
    X = X.astype(np.float32)
    members = [(name, clone(CLASSIFIERS[name])) for name in ("boosting", "forest")]
    model = VotingClassifier(members, voting="soft", flatten_transform=False).fit(X, y)
    outputs = run(skl2onnx.to_onnx(model, X[:1], options={"zipmap": False}), {"X": X})
    np.testing.assert_array_equal(outputs["label"], model.predict(X))
    np.testing.assert_allclose(outputs["probabilities"], model.predict_proba(X), atol=1e-6)


def test_probabilities_by_name(skl2onnx):
    X, y = CLASSES["three classes"]()
    X = X.astype(np.float32)
    model = clone(CLASSIFIERS["tree"]).fit(X, y)
    outputs = run(skl2onnx.to_onnx(model, X[:1]), {"X": X})
    found = np.array([[row[name] for name in "abc"] for row in outputs["output_probability"]])
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-6)


def test_categories_in_pipelines_are_refused(skl2onnx):
    frame, y = categories()
    frame = frame[["code", "x"]].fillna(0.0)
    model = CurvatureTreeRegressor(categorical_features=["code"]).fit(frame, y)
    with pytest.raises(ValueError, match="learned categories from the columns 'code'"):
        skl2onnx.to_onnx(model, frame.to_numpy(np.float32)[:1])


@pytest.mark.parametrize("name", ["constant/0", "Gather/1/0", "LabelEncoder/0/0", "Sum"])
def test_columns_may_have_any_names_but_those_of_tensors(name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(list("abc"), 200), "z": rng.standard_normal(200)})
    model = SymmetricBoostingRegressor(max_iter=2).fit(frame, rng.standard_normal(200))
    inputs = {name: frame[[name]].to_numpy(dtype=object), "z": frame[["z"]].to_numpy()}
    np.testing.assert_allclose(run(to_onnx(model, dtype=np.float64), inputs)["variable"].ravel(), model.predict(frame), rtol=1e-12)
    frame = frame.rename(columns={name: f"fctree:{name}"})
    with pytest.raises(ValueError, match="names of outputs or of other tensors"):
        to_onnx(SymmetricBoostingRegressor(max_iter=2).fit(frame, rng.standard_normal(200)))


def test_constants_that_float32_would_lose_stay():
    X = np.random.default_rng(0).standard_normal((200, 3))
    model = SymmetricBoostingRegressor(max_iter=10, random_state=0).fit(X, (X[:, 0] + 5.0) * 1e-46)
    np.testing.assert_allclose(run(to_onnx(model, dtype=np.float64), {"X": X})["variable"].ravel(), model.predict(X), rtol=1e-12)
