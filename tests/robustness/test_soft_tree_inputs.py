"""Odd samples, targets and parameters of the soft tree estimators."""

import numpy as np
import pytest
from fctree import SoftTreeClassifier, SoftTreeRegressor
from scipy import sparse

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
y = X[:, 0] + np.abs(X[:, 1])
FEW = {"n_trees": 3, "depth": 3, "max_epochs": 5, "random_state": 0}


def test_not_finite():
    broken = X.copy()
    broken[3, 1] = np.inf
    model = SoftTreeRegressor(**FEW)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(broken, y)
    assert not hasattr(model, "loss_curve_")
    with pytest.raises(ValueError, match="infinity"):
        model.fit(X, y).predict(broken)


@pytest.mark.parametrize(
    "rows",
    [slice(0, 1), slice(0, 2)],
)
def test_few_samples(rows):
    model = SoftTreeRegressor(**FEW).fit(X[rows], y[rows])
    assert np.all(np.isfinite(model.predict(X)))
    model = SoftTreeClassifier(**FEW).fit(X[rows], np.arange(60)[rows])
    assert np.all(np.isfinite(model.predict_proba(X)))


def test_constants():
    """A constant feature says nothing, constant targets are predicted."""
    with_constant = np.column_stack([X, np.full(60, 1e6)])
    model = SoftTreeRegressor(**FEW).fit(with_constant, y)
    elsewhere = with_constant.copy()
    elsewhere[:, 3] = -5.0
    np.testing.assert_array_equal(model.predict(with_constant), model.predict(elsewhere))
    found = SoftTreeRegressor(**FEW).fit(X, np.full(60, 7.1)).predict(X)
    np.testing.assert_array_equal(found, 7.1)
    model = SoftTreeRegressor(**FEW).fit(np.ones((60, 2)), y)
    np.testing.assert_allclose(model.predict(np.ones((60, 2))), model.predict([[3, 4]])[0])


@pytest.mark.parametrize("value, rounding", [(0.3, 5e-17), (1e6, 1e-10)])
def test_a_column_that_is_constant_up_to_rounding_says_nothing(value, rounding):
    column = value + rounding * RNG.standard_normal(60)
    assert np.ptp(column) > 0.0
    options = {**FEW, "batch_size": 7, "early_stopping": True}
    model = SoftTreeRegressor(**options).fit(np.column_stack([X, column]), y)
    constant = SoftTreeRegressor(**options).fit(np.column_stack([X, np.full(60, value)]), y)
    np.testing.assert_array_equal(model.validation_loss_curve_, constant.validation_loss_curve_)
    rows = np.column_stack([X, np.full(60, np.float32(value) + 1.0)])
    np.testing.assert_array_equal(model.predict(rows), constant.predict(rows))


@pytest.mark.parametrize("shift, scale", [(1e6, 1.0), (0.0, 1e-9), (1e3, 1e9), (0.0, 1e150)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_units_do_not_matter(shift, scale, dtype):
    if dtype == np.float32 and scale == 1e150:
        scale = 1e18
    values = (X * scale + shift).astype(dtype)
    found = SoftTreeRegressor(**FEW).fit(values, y).predict(values)
    # Against the same samples as this type can hold them, standardised beforehand.
    exact = values.astype(np.float64) - values.astype(np.float64)[0]
    exact = ((exact - exact.mean(axis=0)) / exact.std(axis=0)).astype(dtype)
    expected = SoftTreeRegressor(**FEW).fit(exact, y).predict(exact)
    np.testing.assert_allclose(found, expected, atol=1e-5 if dtype == np.float64 else 1e-2)


@pytest.mark.parametrize("scale", [1e-300, 1e-165, 1e-100, 1e100, 1e180])
def test_units_of_targets_do_not_matter(scale):
    found = SoftTreeRegressor(**FEW).fit(X, y * scale).predict(X) / scale
    np.testing.assert_allclose(found, SoftTreeRegressor(**FEW).fit(X, y).predict(X), rtol=1e-8)


def test_too_large():
    with pytest.raises(ValueError, match="y is too large"):
        SoftTreeRegressor(**FEW).fit(X, np.where(y > y.mean(), 1.5e308, -1.5e308))
    model = SoftTreeRegressor(**FEW).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="learning_rate or the values"):
        model.set_params(learning_rate=1e200, optimizer="gradient_descent").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize(
    "change",
    [
        lambda X: np.asfortranarray(X),
        lambda X: X[::-1][::-1],
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X.astype(object),
        lambda X: X.tolist(),
        lambda X: X.astype(">f8"),
    ],
)
def test_layouts_and_types(change):
    expected = SoftTreeRegressor(**FEW).fit(X, y).predict(X)
    model = SoftTreeRegressor(**FEW).fit(change(X), y)
    np.testing.assert_array_equal(model.predict(change(X)), expected)


def test_integers_booleans_and_read_only():
    whole = (X * 10).astype(np.int32)
    expected = SoftTreeRegressor(**FEW).fit(whole.astype(float), y).predict(whole)
    np.testing.assert_array_equal(SoftTreeRegressor(**FEW).fit(whole, y).predict(whole), expected)
    frozen = X.copy()
    frozen.setflags(write=False)
    np.testing.assert_array_equal(
        SoftTreeRegressor(**FEW).fit(frozen, y).predict(frozen),
        SoftTreeRegressor(**FEW).fit(X, y).predict(X),
    )


def test_sparse_is_refused():
    with pytest.raises(TypeError, match="[Ss]parse"):
        SoftTreeRegressor(**FEW).fit(sparse.csr_matrix(X), y)


def test_input_is_not_changed():
    kept_x, kept_y = X.copy(), y.copy()
    SoftTreeRegressor(**FEW).fit(X, y).predict(X)
    np.testing.assert_array_equal(X, kept_x)
    np.testing.assert_array_equal(y, kept_y)


def test_early_stopping_needs_samples_to_hold_out():
    with pytest.raises(ValueError, match="early_stopping needs at least 2 samples"):
        SoftTreeRegressor(**FEW, early_stopping=True).fit(X[:1], y[:1])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_trees", 0), ("depth", 0), ("architecture", 3), ("gamma", 0.0), ("gamma", -1.0),
        ("routing", "hard"), ("scale", 0.0), ("learning_rate", 0.0), ("batch_size", 0),
        ("max_epochs", 0), ("l2_regularization", -1.0), ("l2_leaf_reg", -1.0),
        ("validation_fraction", 0.0), ("n_iter_no_change", 0), ("tol", -1.0), ("optimizer", "sgd"),
        ("initialization", "zeros"), ("depth", 2.0), ("batch_norm", "yes"),
    ],
)
def test_bad_parameters_are_named(name, value):
    for estimator in (SoftTreeRegressor, SoftTreeClassifier):
        with pytest.raises(ValueError, match=f"'{name}' parameter of {estimator.__name__}"):
            estimator(**{**FEW, name: value}).fit(X, np.sign(y))


@pytest.mark.parametrize("gamma", [1e-4, 1e-300, 1e4])
@pytest.mark.parametrize("depth", [1, 12])
def test_ends_of_the_ranges(gamma, depth):
    model = SoftTreeRegressor(n_trees=1, depth=depth, gamma=gamma, max_epochs=2).fit(X, y)
    assert np.all(np.isfinite(model.predict(X)))
    counts = model.reachable_leaves(X)
    assert np.all(counts == 2**depth) if gamma > 1 else np.all(counts <= 2)


def test_parameters_that_were_changed_are_checked_in_later_parts():
    X = np.random.default_rng(0).standard_normal((20, 2))
    model = SoftTreeRegressor(n_trees=1, depth=1).partial_fit(X, X[:, 0])
    with pytest.raises(ValueError, match="optimizer"):
        model.set_params(optimizer=np.nan).partial_fit(X, X[:, 0])


@pytest.mark.parametrize("fraction", [40, 0.99])
def test_a_validation_part_of_all_samples(fraction):
    X = np.random.default_rng(0).standard_normal((40, 2))
    with pytest.raises(ValueError, match=f"validation_fraction={fraction} of 40 samples leaves none to train on"):
        SoftTreeRegressor(early_stopping=True, validation_fraction=fraction).fit(X, X[:, 0])
