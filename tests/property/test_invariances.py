"""Changes of the data that do not change a tree, or in a known way.

Two fits are compared, so each property is stated on continuous data where the literal
twin says that no cut was a close call; a tie that rounding may turn is no finding.
Tolerance 1e-8: two roundings of one ridge system whose condition number is below 1e5.
"""

import numpy as np
from fctree import FCODTClassifier, FCODTRegressor
from hypothesis import assume, given
from hypothesis import strategies as st
from property.strategies import Table, generic_tables, tree_parameters, well_posed
from reference.literal_fcodt import LiteralFCODT
from scipy.stats import ortho_group

TOLERANCE = 1e-8
CLOSEST_CALL = 1e-6

ordinary = tree_parameters(min_impurity_decrease=0.0, min_samples_split=2, max_depth=3).map(
    well_posed)
# Nodes may be of any size: with a penalty only.
single = tree_parameters(min_impurity_decrease=0.0, min_samples_split=2, min_samples_leaf=1,
                         max_depth=2).filter(lambda parameters: parameters["alpha"] > 0)


def decided(table, parameters):
    """Discards the example if its tree hangs on a rounding."""
    twin = LiteralFCODT(**parameters).fit(table.X, table.y, table.sample_weight)
    assume(twin.margin > CLOSEST_CALL)


def model(X, y, weight, parameters):
    return FCODTRegressor(**parameters).fit(X, y, sample_weight=weight)


def points(table, seed=0):
    """The training samples and as many new ones."""
    new = np.random.default_rng(seed).uniform(-1, 1, table.X.shape)
    return np.concatenate([table.X, new])


def assert_same_predictions(a, b, scale=1.0):
    np.testing.assert_allclose(a, b, rtol=0, atol=TOLERANCE * max(scale, np.abs(b).max()))


@given(generic_tables(max_outputs=2), ordinary, st.randoms(use_true_random=False))
def test_the_order_of_samples_does_not_matter(table, parameters, random):
    decided(table, parameters)
    order = list(range(len(table.X)))
    random.shuffle(order)
    weight = None if table.sample_weight is None else table.sample_weight[order]
    first = model(table.X, table.y, table.sample_weight, parameters)
    second = model(table.X[order], table.y[order], weight, parameters)
    X = points(table)
    assert_same_predictions(second.predict(X), first.predict(X))
    np.testing.assert_array_equal(second.tree_.n_node_samples, first.tree_.n_node_samples)


@given(generic_tables(max_outputs=2, weighted=False), single, st.integers(0, 2**32 - 1))
def test_weight_two_is_a_duplicate(table, parameters, seed):
    twice = np.random.default_rng(seed).random(len(table.X)) < 0.5
    weight = np.where(twice, 2.0, 1.0)
    decided(Table(table.X, table.y, weight), parameters)
    rows = np.concatenate([np.arange(len(table.X)), np.flatnonzero(twice)])
    weighted = model(table.X, table.y, weight, parameters)
    repeated = model(table.X[rows], table.y[rows], None, parameters)
    X = points(table)
    assert_same_predictions(repeated.predict(X), weighted.predict(X))
    np.testing.assert_allclose(repeated.tree_.weighted_n_node_samples,
                               weighted.tree_.weighted_n_node_samples, rtol=1e-12)


@given(generic_tables(max_outputs=2, weighted=False), ordinary, st.integers(0, 2**32 - 1))
def test_weight_zero_is_absence(table, parameters, seed):
    rng = np.random.default_rng(seed)
    weight = np.where(rng.random(len(table.X)) < 0.3, 0.0, 1.0)
    kept = weight > 0
    assume(kept.sum() >= 2)
    decided(Table(table.X[kept], table.y[kept]), parameters)
    # What is absent may be anything, even enormous.
    X, y = table.X.copy(), table.y.copy()
    X[~kept] *= 1e3
    y[~kept] += 1e6
    weighted = model(X, y, weight, parameters)
    absent = model(table.X[kept], table.y[kept], None, parameters)
    new = points(table)
    assert_same_predictions(weighted.predict(new), absent.predict(new))
    np.testing.assert_array_equal(weighted.tree_.n_node_samples, absent.tree_.n_node_samples)


@given(generic_tables(max_outputs=2), ordinary, st.floats(1, 1e4))
def test_the_unit_of_the_weights_is_that_of_the_penalty(table, parameters, factor):
    """alpha and all weights times c: the same tree, of weights that are not scaled for being small."""
    weights = np.where(table.weights > 0, 1.0 + table.weights, 0.0)
    decided(Table(table.X, table.y, weights), parameters)
    first = model(table.X, table.y, weights, parameters)
    scaled = {**parameters, "alpha": factor * parameters["alpha"]}
    second = model(table.X, table.y, factor * weights, scaled)
    X = points(table)
    assert_same_predictions(second.predict(X), first.predict(X))


@given(generic_tables(max_outputs=2), ordinary, st.floats(0.01, 100), st.sampled_from([1, -1]))
def test_scaling_y_scales_predictions(table, parameters, size, sign):
    """Without concatenation always. With it only for least squares with one solution,
    because the scores that are appended have the unit of y: it changes what a penalty, or
    the least norm, prefers."""
    if parameters["alpha"] > 0:
        parameters = {**parameters, "feature_concatenation": False}
    decided(table, parameters)
    factor = sign * size
    first = model(table.X, table.y, table.sample_weight, parameters)
    second = model(table.X, factor * table.y, table.sample_weight, parameters)
    X = points(table)
    assert_same_predictions(second.predict(X) / factor, first.predict(X))


@given(generic_tables(max_outputs=2), ordinary, st.floats(-50, 50))
def test_shifting_y_shifts_predictions(table, parameters, shift):
    parameters = {**parameters, "fit_intercept": True}
    decided(table, parameters)
    first = model(table.X, table.y, table.sample_weight, parameters)
    second = model(table.X, table.y + shift, table.sample_weight, parameters)
    X = points(table)
    assert_same_predictions(second.predict(X) - shift, first.predict(X), scale=abs(shift))


@given(generic_tables(max_outputs=2), ordinary, st.integers(0, 2**32 - 1))
def test_shifting_the_features_changes_nothing(table, parameters, seed):
    parameters = {**parameters, "fit_intercept": True}
    decided(table, parameters)
    shift = np.random.default_rng(seed).uniform(-100, 100, table.X.shape[1])
    first = model(table.X, table.y, table.sample_weight, parameters)
    second = model(table.X + shift, table.y, table.sample_weight, parameters)
    X = points(table)
    # A shift of 100 costs two digits of every feature and so of every score.
    assert_same_predictions(second.predict(X + shift), first.predict(X), scale=100)


@given(generic_tables(max_outputs=2), ordinary, st.integers(0, 2**32 - 1))
def test_rotating_the_features_rotates_the_directions(table, parameters, seed):
    """The penalty is the Euclidean norm, so an orthogonal map changes no prediction."""
    decided(table, parameters)
    d = table.X.shape[1]
    Q = ortho_group.rvs(d, random_state=seed) if d > 1 else np.array([[-1.0]])
    first = model(table.X, table.y, table.sample_weight, parameters)
    second = model(table.X @ Q, table.y, table.sample_weight, parameters)
    X = points(table)
    assert_same_predictions(second.predict(X @ Q), first.predict(X))
    inner = first.tree_.children_left >= 0
    expected = first.tree_.coef[inner] @ Q
    np.testing.assert_allclose(second.tree_.coef[inner], expected, rtol=0,
                               atol=TOLERANCE * max(1, np.abs(expected).max(initial=0)))


@given(generic_tables(max_outputs=2), ordinary)
def test_without_penalty_concatenation_does_nothing(table, parameters):
    parameters = well_posed({**parameters, "alpha": 0.0})
    decided(table, parameters)
    with_it, without = (
        model(table.X, table.y, table.sample_weight, {**parameters, "feature_concatenation": on})
        for on in (True, False))
    X = points(table)
    assert_same_predictions(with_it.predict(X), without.predict(X))


@given(generic_tables(max_outputs=2), ordinary)
def test_output_columns_alone_and_together(table, parameters):
    """An output repeated has the tree of the output alone, and the first copy wins ties."""
    y = table.targets[:, 0]
    decided(Table(table.X, y, table.sample_weight), parameters)
    alone = model(table.X, y, table.sample_weight, parameters)
    both = model(table.X, np.column_stack([y, y]), table.sample_weight, parameters)
    inner = both.tree_.children_left >= 0
    assert np.all(both.tree_.split_output[inner] == 0)
    X = points(table)
    assert_same_predictions(both.predict(X)[:, 0], alone.predict(X))
    assert_same_predictions(both.predict(X)[:, 1], alone.predict(X))


@given(generic_tables(), ordinary)
def test_two_classes_are_a_regression_on_their_indicator(table, parameters):
    y = (table.y > np.median(table.y)).astype(int)
    weight = np.random.default_rng(len(y)).uniform(0.5, 2, len(y))
    decided(Table(table.X, y, weight), parameters)
    classifier = FCODTClassifier(**parameters).fit(table.X, y, sample_weight=weight)
    regressor = model(table.X, y.astype(float), weight, parameters)
    X = points(table)
    if classifier.temperature_ is None:
        assert_same_predictions(classifier.predict_proba(X)[:, 1],
                                np.clip(regressor.predict(X), 0, 1))
    else:
        assert_same_predictions(classifier.decision_function(X), 2 * regressor.predict(X) - 1)
