"""Tables with categories and missing values: every container, every family."""

import pickle

import numpy as np
import pytest
from fctree import load_model, save_model
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from table_cases import CLASSIFIERS, CONTAINERS, NAMES, REGRESSORS, as_pandas, mixed_columns

COLUMNS, Y = mixed_columns()
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, np.quantile(Y, [0.3, 0.7]))]
FRAME = as_pandas(COLUMNS)
MODELS = [pytest.param(model, Y, id=name) for name, model in REGRESSORS.items()] + [
    pytest.param(model, LABELS, id=f"{name}, classes") for name, model in CLASSIFIERS.items()
]
each_model = pytest.mark.parametrize("model, y", MODELS)


def container(name):
    """The table in this container; skipped nowhere: all libraries are needed for tests."""
    return CONTAINERS[name](COLUMNS)


@each_model
def test_every_container_gives_the_same_model(model, y):
    expected = clone(model).fit(FRAME, y).predict(FRAME)
    for name in CONTAINERS:
        table = container(name)
        chosen = [1, 2] if name == "objects" else "from_dtype"
        fitted = clone(model).set_params(categorical_features=chosen).fit(table, y)
        assert fitted.encoder_.categories[2] == ["large", "medium", "small"], name
        np.testing.assert_array_equal(fitted.predict(table), expected, err_msg=name)
        if name != "objects":
            assert fitted.feature_names_in_.tolist() == NAMES


@each_model
def test_a_model_predicts_from_any_container(model, y):
    fitted = clone(model).fit(FRAME, y)
    expected = fitted.predict(FRAME)
    for name in set(CONTAINERS) - {"objects"}:
        np.testing.assert_array_equal(fitted.predict(container(name)), expected, err_msg=name)


@each_model
def test_models_go_through_pickle_and_files(model, y, tmp_path):
    fitted = clone(model).fit(FRAME, y)
    expected = fitted.predict(FRAME)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(FRAME), expected)
    save_model(fitted, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(FRAME), expected)
    assert loaded.encoder_.categories == fitted.encoder_.categories
    assert not hasattr(clone(fitted), "encoder_")


@each_model
def test_unseen_and_missing_categories_are_predicted(model, y):
    fitted = clone(model).fit(FRAME, y)
    new = FRAME.iloc[:4].copy()
    new["city"] = ["elsewhere", None, "city 03", "nowhere"]
    new["size"] = [None, "gigantic", "small", "large"]
    new.loc[new.index[1], "age"] = np.nan
    predicted = fitted.predict(new)
    assert len(predicted) == 4
    if hasattr(fitted, "predict_proba"):
        assert np.all(np.isfinite(fitted.predict_proba(new)))
    elif predicted.dtype.kind == "f":
        assert np.all(np.isfinite(predicted))
    for name in ("city", "size"):  # one unseen category is as good as any other
        one, other = FRAME.iloc[:20].copy(), FRAME.iloc[:20].copy()
        one[name], other[name] = "elsewhere", "nowhere"
        np.testing.assert_array_equal(fitted.predict(one), fitted.predict(other))


@each_model
def test_values_missing_only_at_prediction_are_predicted(model, y):
    complete = FRAME.assign(age=FRAME["age"].fillna(0.0))
    fitted = clone(model).fit(complete, y)
    missing = complete.assign(age=np.nan)
    at_mean = complete.assign(age=fitted.encoder_.means[0])
    predicted = fitted.predict(missing)
    assert len(predicted) == len(missing)
    if fitted.encoder_.impute:
        np.testing.assert_array_equal(predicted, fitted.predict(at_mean))


@each_model
def test_samples_without_weight_leave_no_trace(model, y):
    weight = np.ones(len(Y))
    weight[:40] = 0.0
    kept = clone(model).fit(FRAME.iloc[40:], y[40:])
    if hasattr(kept, "n_classes_"):
        assert len(kept.classes_) == 3
    weighted = clone(model).fit(FRAME, y, sample_weight=weight)
    assert weighted.encoder_.categories == kept.encoder_.categories
    for name in ("statistics", "shares"):
        for one, other in zip(
            getattr(weighted.encoder_, name), getattr(kept.encoder_, name), strict=True
        ):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(weighted.encoder_.means, kept.encoder_.means, rtol=1e-13)
    if y is Y and not hasattr(model, "random_state"):  # others draw by the numbers of all samples
        np.testing.assert_allclose(weighted.predict(FRAME), kept.predict(FRAME), rtol=1e-6)


@pytest.mark.parametrize(
    "model, y", [case for case in MODELS if hasattr(case.values[0], "warm_start")]
)
def test_warm_starts_continue_as_one_fit(model, y):
    size = next(
        name
        for name in ("n_estimators", "max_iter", "max_epochs")
        if name in model.get_params(deep=False)
    )
    whole = clone(model).fit(FRAME, y)
    half = clone(model).set_params(warm_start=True, **{size: 2}).fit(FRAME, y)
    half.set_params(**{size: getattr(model, size)}).fit(FRAME, y)
    np.testing.assert_array_equal(half.predict(FRAME), whole.predict(FRAME))
    with pytest.raises(ValueError, match="names other columns than the model that is continued"):
        half.set_params(categorical_features=["city"]).fit(FRAME, y)
    np.testing.assert_array_equal(half.predict(FRAME), whole.predict(FRAME))


@each_model
def test_importances_belong_to_the_columns_of_the_table(model, y):
    fitted = clone(model).fit(FRAME, y)
    if not hasattr(fitted, "feature_importances_"):
        return
    importances = fitted.feature_importances_
    assert importances.shape == (4,)
    np.testing.assert_allclose(importances.sum(), 1.0)
    assert importances[1] > 0.05  # the cities


@pytest.mark.parametrize("name", ["symmetric", "boosting"])
def test_evaluation_sets_are_encoded_by_the_model(name):
    model = REGRESSORS[name]
    part = slice(0, 160), slice(160, None)
    (X, y), (X_val, y_val) = ((FRAME.iloc[rows], Y[rows]) for rows in part)
    told = clone(model).fit(X, y, eval_set=(X_val, y_val))
    loss = np.mean((told.predict(X_val) - y_val) ** 2)
    score = told.validation_score_[-1]
    assert np.isclose(-score, loss) or np.isclose(-score, loss / 2)
    as_in_scikit_learn = clone(model).fit(X, y, X_val=X_val, y_val=y_val)
    np.testing.assert_array_equal(as_in_scikit_learn.validation_score_, told.validation_score_)
    with pytest.raises(ValueError, match="exclude"):
        clone(model).fit(X, y, eval_set=(X_val, y_val), X_val=X_val, y_val=y_val)
    with pytest.raises(ValueError, match="belong together"):
        clone(model).fit(X, y, X_val=X_val)


@pytest.mark.parametrize("name", ["symmetric", "boosting", "soft"])
def test_held_out_samples_take_no_part_in_the_statistics(name):
    model = clone(REGRESSORS[name]).set_params(early_stopping=True, validation_fraction=0.5)
    fitted = model.fit(FRAME, Y)
    whole = clone(REGRESSORS[name]).fit(FRAME, Y)
    assert not np.array_equal(fitted.encoder_.shares[2], whole.encoder_.shares[2])


def test_columns_can_be_named_numbered_and_masked():
    model = REGRESSORS["tree"]
    expected = clone(model).fit(FRAME, Y).predict(FRAME)
    for chosen in (["city", "size"], [1, 2], np.array([False, True, True, False])):
        fitted = clone(model).set_params(categorical_features=chosen).fit(FRAME, Y)
        np.testing.assert_array_equal(fitted.predict(FRAME), expected)
    both = clone(model).set_params(categorical_features=[1, 0]).fit(FRAME[["city", "size"]], Y)
    assert both.encoder_.categories[1] == ["large", "medium", "small"]


def test_categories_may_be_numbered_by_unsigned_integers():
    """As polars hands them to pyarrow, and this to pandas."""
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    text = [None, *COLUMNS["city"][1:]]
    codes = pa.array(text).dictionary_encode()
    codes = pa.DictionaryArray.from_arrays(codes.indices.cast("uint32"), codes.dictionary)
    table = pa.table({"age": COLUMNS["age"], "city": codes})
    plain = pd.DataFrame({"age": COLUMNS["age"], "city": text})
    expected = clone(REGRESSORS["tree"]).fit(plain, Y).predict(plain)
    for frame in (table, table.to_pandas(types_mapper=pd.ArrowDtype)):
        np.testing.assert_array_equal(clone(REGRESSORS["tree"]).fit(frame, Y).predict(frame), expected)


def test_numbers_can_be_categories():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 300), rng.normal(size=300)]).astype(float)
    y = np.array([3.0, -1.0, 4.0, -1.0])[X[:, 0].astype(int)]
    model = clone(REGRESSORS["tree"]).set_params(categorical_features=[0], max_depth=0, alpha=0.0)
    assert model.fit(X, y).score(X, y) > 0.999
    assert model.encoder_.categories == [[0, 1, 2, 3], None]
    assert model.encoder_.feature_names(["zone", "x"])[0] == "zone (target mean)"
    symmetric = clone(REGRESSORS["symmetric"]).set_params(categorical_features=[0]).fit(X, y)
    assert symmetric.encoder_.feature_names(["zone", "x"])[:2] == ["zone = 0", "zone = 1"]


def test_integer_categories_of_pandas_are_not_read_as_numbers():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"zone": pd.Categorical([3, 1, 2] * 30), "x": np.arange(90.0)})
    y = np.tile([0.0, 5.0, 0.0], 30)
    fitted = clone(REGRESSORS["symmetric"]).fit(frame, y)
    assert fitted.encoder_.categories[0] == [1, 2, 3]


def test_plain_numbers_have_no_encoder_where_none_is_needed():
    X = np.random.default_rng(0).normal(size=(50, 2))
    X[3, 1] = np.nan
    assert clone(REGRESSORS["symmetric"]).fit(X, X[:, 0]).encoder_ is None


def test_pipelines_and_selectors_work():
    selected = make_column_selector(pattern="city|size")(FRAME)
    model = clone(REGRESSORS["symmetric"]).set_params(categorical_features=selected)
    pipeline = make_pipeline(FunctionTransformer(), model).fit(FRAME, Y)
    assert pipeline.score(FRAME, Y) > 0.3


def test_many_classes_and_several_outputs():
    labels = np.arange(len(Y)) % 20
    fitted = clone(CLASSIFIERS["symmetric"]).fit(FRAME, labels)
    assert fitted.encoder_.statistics[1].shape[1] == 2 * 10
    assert fitted.predict_proba(FRAME).shape == (len(Y), 20)
    both = clone(REGRESSORS["tree"]).fit(FRAME, np.column_stack([Y, -Y]))
    assert both.encoder_.statistics[1].shape[1] == 2 * 2
    np.testing.assert_allclose(both.encoder_.units, Y.std())
    np.testing.assert_allclose(both.encoder_.priors, [Y.mean() / Y.std(), -Y.mean() / Y.std()])


@pytest.mark.parametrize("name", REGRESSORS)
def test_fractions_are_the_same_categories_in_float32(name):
    X = np.random.default_rng(0).integers(0, 12, size=(240, 2)) * 0.1
    y = np.sin(40 * X[:, 1]) + 0.1 * X[:, 0]
    model = clone(REGRESSORS[name]).set_params(categorical_features=[1])
    # The values of the column of numbers are exact in both.
    X[:, 0] = np.round(X[:, 0] * 16)
    expected = model.fit(X, y).predict(X)
    assert len(np.unique(X[:, 1])) == len(model.encoder_.categories[1])
    np.testing.assert_allclose(model.predict(X.astype(np.float32)), expected, rtol=1e-6, atol=1e-6)
    model.fit(X.astype(np.float32), y)
    np.testing.assert_allclose(model.predict(X), model.predict(X.astype(np.float32)), rtol=1e-6, atol=1e-6)


def test_fractions_that_are_others_stay_unknown():
    X = np.array([[0.1], [0.1 + 1e-12], [0.3], [0.5]] * 20)
    model = clone(REGRESSORS["tree"]).set_params(categorical_features=[0], min_samples_leaf=1)
    model.fit(X, np.tile([0.0, 5.0, 30.0, 9.0], 20))
    # A float64 between two categories that float32 merges, a neighbour, and what float32 cannot tell apart.
    unknown = model.predict([[77.0]])
    for value in (0.1 + 5e-13, 0.3 + 1e-12, np.float32(0.1)):
        np.testing.assert_array_equal(model.predict([[value]]), unknown)
    assert model.predict([[np.float32(0.3)]]) == model.predict([[0.3]]) != unknown
