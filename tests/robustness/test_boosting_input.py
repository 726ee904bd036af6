"""Bad parameters and data are refused with a clear error, and change nothing."""

import numpy as np
import pandas as pd
import pytest
from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor
from fctree._sklearn import InvalidParameterError
from scipy import sparse

KINDS = [SymmetricBoostingRegressor, SymmetricBoostingClassifier]
BAD = {
    "learning_rate": [0.0, -1.0, np.nan, "fast", None],
    "max_iter": [0, -1, 1.5, None],
    "max_depth": [0, 17, 2.5, None],
    "max_bins": [1, 0, 255, -4, 10.5, None],
    "l2_leaf_reg": [-1.0, np.nan, np.inf, None],
    "min_samples_leaf": [0, 0.5, None],
    "random_strength": [-1.0, np.nan, np.inf],
    "score_noise": ["laplace", None],
    "score_function": ["L2", None],
    "subsample": [0.0, 1.5, -0.1, np.nan],
    "colsample": [0.0, 1.5, None],
    "monotonic_cst": ["up", 1],
    "interaction_cst": ["all", 1],
    "categorical_features": ["all", 1],
    "early_stopping": ["auto", 2],
    "validation_fraction": [0.0, 1.0, 0, -3],
    "n_iter_no_change": [0, None],
    "tol": [-1.0, np.nan],
    "warm_start": ["yes"],
    "verbose": [-1, "loud"],
    "n_jobs": [1.5, "all"],
    "random_state": ["seed", -1],
    "loss": ["mse", None],
}
ONLY_REGRESSORS = {
    "quantile": [0.0, 1.0, -0.5, "median"],
    "calibration_fraction": [0.0, 1.0, -0.5, 3, "auto"],
    "posterior_samples": [-1, 0.5],
}
ONLY_CLASSIFIERS = {"class_weight": ["even", [1, 2], 3]}


def table(kind=SymmetricBoostingRegressor, n=40):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    y = np.exp(X[:, 0])
    return X, y if kind is SymmetricBoostingRegressor else y > 1


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.mark.parametrize("name, value", [(n, v) for n, values in BAD.items() for v in values],
                         ids=str)
def test_bad_values_are_named(kind, name, value):
    estimator = kind(**{name: value})
    with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter"):
        estimator.fit(*table(kind))
    assert not hasattr(estimator, "trees_")


@pytest.mark.parametrize("name, value",
                         [(n, v) for n, values in ONLY_REGRESSORS.items() for v in values], ids=str)
def test_bad_values_of_regressors_are_named(name, value):
    with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter"):
        SymmetricBoostingRegressor(**{name: value}).fit(*table())
    assert name not in SymmetricBoostingClassifier().get_params()


@pytest.mark.parametrize("value", ONLY_CLASSIFIERS["class_weight"], ids=str)
def test_bad_class_weights_are_named(value):
    with pytest.raises(InvalidParameterError, match="The 'class_weight' parameter"):
        SymmetricBoostingClassifier(class_weight=value).fit(*table(SymmetricBoostingClassifier))


def test_every_parameter_is_tried(kind):
    own = set(ONLY_REGRESSORS if kind is SymmetricBoostingRegressor else ONLY_CLASSIFIERS)
    assert set(BAD) | own == set(kind().get_params())


@pytest.mark.parametrize("parameters, message", [
    ({"loss": "quantile"}, "needs the parameter quantile"),
    ({"posterior_samples": 3, "loss": "poisson"}, "posterior_samples needs loss='squared_error'"),
    ({"posterior_samples": 1}, "0 or at least 2"),
    ({"n_jobs": 0}, "n_jobs"),
    ({"monotonic_cst": [1, 0]}, "monotonic_cst"), ({"monotonic_cst": [3, 0, 0]}, "monotonic_cst"),
    ({"monotonic_cst": [1, 0, None]}, "monotonic_cst must be an array-like of -1, 0 or 1, got"),
    ({"early_stopping": True, "validation_fraction": 40}, "validation_fraction=40 of 40 samples leaves none"),
])
def test_combinations_that_make_no_sense(parameters, message):
    with pytest.raises(ValueError, match=message):
        SymmetricBoostingRegressor(**parameters).fit(*table())


@pytest.mark.parametrize("loss, bad", [("poisson", -1e-9), ("gamma", 0.0), ("gamma", -1.0)])
def test_domains_of_the_losses(loss, bad):
    X, y = table()
    outside = y.copy()
    outside[3] = bad
    model = SymmetricBoostingRegressor(loss=loss, max_iter=3)
    with pytest.raises(ValueError, match=f"loss='{loss}' needs y"):
        model.fit(X, outside)
    with pytest.raises(ValueError, match=f"loss='{loss}' needs y"):
        model.fit(X, y, eval_set=(X, outside))
    assert not hasattr(model, "trees_")
    assert np.all(model.fit(X, y).predict(X) > 0)


def test_poisson_takes_zeros_but_not_only_zeros():
    X, y = table()
    model = SymmetricBoostingRegressor(loss="poisson", max_iter=3)
    assert np.all(model.fit(X, np.floor(y)).predict(X) > 0)
    with pytest.raises(ValueError, match="positive sum"):
        model.fit(X, np.zeros(40))
    with pytest.raises(ValueError, match="needs y >= 0; the smallest is -1"):
        model.fit(X, np.floor(y), eval_set=(X[:3], [0.0, -1.0, 0.0]))
    validated = model.fit(X, np.floor(y), eval_set=(X[:3], np.zeros(3)))  # nothing is learned from these
    assert np.isfinite(validated.validation_score_).all()


def test_labels_that_only_the_eval_set_has():
    X, y = table(SymmetricBoostingClassifier)
    labels = np.array(["no", "yes"])[y.astype(int)]
    unseen = np.where(X[:, 1] > 0, "maybe", labels)
    with pytest.raises(ValueError, match="labels that the training data lack.*maybe"):
        SymmetricBoostingClassifier(max_iter=3).fit(X, labels, eval_set=(X, unseen))
    # Fewer labels than training has are fine.
    SymmetricBoostingClassifier(max_iter=3).fit(X, labels, eval_set=(X[y], labels[y]))


@pytest.mark.parametrize("weight, message", [
    (-np.ones(40), "Negative"), (np.zeros(40), "zero"), (np.full(40, np.nan), "NaN"),
    (np.full(40, np.inf), "infinity"), (np.ones(39), "sample_weight.shape"),
    (np.ones((40, 2)), "1D|2D|dim"),
])
def test_bad_weights(kind, weight, message):
    with pytest.raises(ValueError, match=message):
        kind(max_iter=3).fit(*table(kind), sample_weight=weight)


@pytest.mark.parametrize("start, message", [
    (np.ma.masked_array(np.zeros(40), np.arange(40) == 0), "init_score is a masked array with 1 masked"),
    (np.zeros(39), "init_score must have the shape"), (np.zeros((40, 2)), "init_score must have"),
    (np.zeros((1, 40)), "init_score must have"), (np.full(40, np.nan), "init_score contains NaN"),
])
def test_bad_starting_scores(kind, start, message):
    with pytest.raises(ValueError, match=message):
        kind(max_iter=3).fit(*table(kind), init_score=start)


def test_all_sets_have_starting_scores_or_none_has(kind):
    X, y = table(kind)
    scores = np.zeros(40)
    for start, eval_set in [(scores, (X, y)), (None, (X, y, None, scores)), (scores, [(X, y, None, scores), (X, y)])]:
        with pytest.raises(ValueError, match=r"or none has: .* eval_set=\(X, y, sample_weight, init_score\)"):
            kind(max_iter=3).fit(X, y, init_score=start, eval_set=eval_set)
    with pytest.raises(ValueError, match=r"eval_set\[0\]: init_score must have the shape"):
        kind(max_iter=3).fit(X, y, init_score=scores, eval_set=(X, y, None, scores[1:]))


def test_errors_about_evaluation_sets_say_so(kind):
    X, y = table(kind)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for bad, message in ((frame[["b", "a", "c"]], "feature names should match"), (frame[:7], "inconsistent numbers of samples")):
        with pytest.raises(ValueError, match=rf"^eval_set\[1\]: .*{message}"):
            kind(max_iter=3).fit(frame, y, eval_set=[(frame, y), (bad, y)])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_missing_and_infinite_targets(bad, n_outputs):
    X, y = table()
    Y = np.repeat(y[:, None], n_outputs, axis=1)
    Y[5, -1] = bad
    with pytest.raises(ValueError, match="contains (NaN|infinity)"):
        SymmetricBoostingRegressor(max_iter=3).fit(X, Y)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_features(kind, make):
    X, y = table(kind)
    with pytest.raises(TypeError, match="Sparse data was passed.*sparse_output=False.*sparse_threshold=0"):
        kind(max_iter=3).fit(make(X), y)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        kind(max_iter=3).fit(X, y).predict(make(X))


def test_text_complex_numbers_and_objects(kind):
    X, y = table(kind)
    with pytest.raises(ValueError, match="column 'x0' holds text"):
        kind(max_iter=3, categorical_features=None).fit(np.full(X.shape, "tall"), y)
    with pytest.raises(ValueError, match="Complex data not supported"):
        kind(max_iter=3).fit(X + 1j, y)
    objects = X.astype(object)
    objects[3, 1] = None  # a missing value
    missing = X.copy()
    missing[3, 1] = np.nan
    first, second = (kind(max_iter=3, random_state=0).fit(Z, y) for Z in (objects, missing))
    assert first.predict(objects).tobytes() == second.predict(missing).tobytes()


@pytest.mark.parametrize("shape, message", [
    ((0, 3), "0 sample"), ((40, 0), "0 feature"), ((40,), "Expected 2D array"),
    ((40, 2, 2), "dim 3|3D"), ((39, 3), "inconsistent numbers of samples"),
])
def test_shapes_that_do_not_fit(kind, shape, message):
    _, y = table(kind)
    with pytest.raises(ValueError, match=message):
        kind().fit(np.zeros(shape), y[: shape[0]] if shape[0] == 0 else y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        kind().fit(np.zeros((40, 3)), None)


METHODS = ("predict", "apply", "staged_predict", "predict_proba", "decision_function")


def test_predicting_needs_a_fit_and_the_same_features(kind):
    X, y = table(kind)
    model = kind(max_iter=3).fit(X, y)
    for method in METHODS:
        if not hasattr(model, method):
            continue
        for bad, message in ((X[:, :2], "2 features.*expecting 3"), (X[0], "Expected 2D array"),
                             (X[:0], "0 sample"), (np.zeros((2, 3, 3)), "dim 3|3D")):
            with pytest.raises(ValueError, match=message):
                list(getattr(model, method)(bad))
        with pytest.raises(ValueError, match="not fitted yet"):
            list(getattr(kind(), method)(X))
    with pytest.raises(ValueError, match="kind must be 'gain' or 'split'"):
        model.compute_feature_importances("cover")


def test_missing_values_that_training_did_not_have(kind):
    """They go with the majority of each split."""
    X, y = table(kind)
    Z = X.copy()
    Z[:, 1] = np.nan
    model = kind(max_iter=5, random_state=0, max_depth=3).fit(X, y, eval_set=(Z, y))
    assert np.isfinite(model.validation_score_).all()
    trees = model.trees_
    for tree in range(model.n_iter_):
        for level, feature in enumerate(trees.split_feature[tree]):
            if feature >= 0:
                above = np.mean(X[:, feature] > trees.split_threshold[tree, level])
                assert above == 0.5 or trees.missing_right[tree, level] == (above > 0.5)


def test_a_failed_fit_keeps_the_estimator_as_it_was(kind):
    X, y = table(kind)
    model = kind(max_iter=3).fit(X, y)
    before, attributes = model.predict(X), set(vars(model))
    for bad, options in ((X[:, :2], {"eval_set": (X, y)}), (X, {"sample_weight": -np.ones(40)}),
                         (X, {"init_score": np.zeros(7)}), (X, {"eval_set": 3})):
        with pytest.raises(ValueError):
            model.fit(bad, y, **options)
        np.testing.assert_array_equal(model.predict(X), before)
        assert set(vars(model)) == attributes
