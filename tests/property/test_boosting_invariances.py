"""Changes of the data that do not change a boosted model, or in a known way.

Two fits are compared without noise, on continuous data in general position, where no two
candidates part the samples equally well.
"""

import numpy as np
import pandas as pd
import pytest
from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor
from hypothesis import given
from hypothesis import strategies as st
from property.strategies import boosting_parameters, generic_tables

plain = boosting_parameters(random_strength=0.0, subsample=1.0, colsample=1.0)
# One sample a leaf, because samples are counted and not weighed.
any_leaf = boosting_parameters(random_strength=0.0, subsample=1.0, colsample=1.0,
                               min_samples_leaf=1, max_depth=2)
seeds = st.integers(0, 2**32 - 1)


def positive(table):
    return np.exp(np.clip(table.y, -3, 3))


def fit(X, y, weight, parameters):
    return SymmetricBoostingRegressor(**parameters).fit(X, y, sample_weight=weight)


def assert_same_partitions(a, b):
    """Columns of leaves that group the rows alike, whatever the leaves are called."""
    assert a.shape == b.shape
    for one, other in zip(a.T, b.T, strict=True):
        pairs = np.unique(np.column_stack([one, other]), axis=0)
        assert len(pairs) == len(np.unique(one)) == len(np.unique(other))


@given(generic_tables(weighted=False), any_leaf, seeds)
def test_weight_two_is_a_duplicate(table, parameters, seed):
    y = positive(table)
    twice = np.random.default_rng(seed).random(len(y)) < 0.5
    rows = np.concatenate([np.arange(len(y)), np.flatnonzero(twice)])
    weighted = fit(table.X, y, np.where(twice, 2.0, 1.0), parameters)
    repeated = fit(table.X[rows], y[rows], None, parameters)
    for one, other in zip(weighted.bin_thresholds_, repeated.bin_thresholds_, strict=True):
        np.testing.assert_array_equal(one, other)
    assert_same_partitions(weighted.apply(table.X)[:, :1], repeated.apply(table.X)[:, :1])
    np.testing.assert_allclose(repeated.predict(table.X), weighted.predict(table.X), rtol=1e-8)


@given(generic_tables(), plain, seeds)
def test_weight_zero_is_absence(table, parameters, seed):
    y, rng = positive(table), np.random.default_rng(seed)
    kept = rng.random(len(y)) < 0.7
    kept[0] = True
    X, targets = table.X.copy(), y.copy()
    X[~kept] *= 1e3  # what is absent may be anything
    targets[~kept] += 1e6
    weighted = fit(X, targets, np.where(kept, table.weights, 0.0), parameters)
    absent = fit(table.X[kept], y[kept], table.weights[kept], parameters)
    for name, array in vars(absent.trees_).items():
        np.testing.assert_array_equal(getattr(weighted.trees_, name), array, err_msg=name)
    np.testing.assert_array_equal(weighted.predict(table.X), absent.predict(table.X))


@given(generic_tables(), plain)
def test_equal_weights_of_one_are_no_weights(table, parameters):
    y = positive(table)
    weighted, without = (fit(table.X, y, w, parameters) for w in (np.ones(len(y)), None))
    np.testing.assert_allclose(weighted.predict(table.X), without.predict(table.X), rtol=1e-9)


MAPS = {
    "exp": np.exp,
    "cube": lambda x: x**3,
    "affine": lambda x: 1000.0 * x - 3.0,
    "sinh": lambda x: np.sinh(5 * x),
}


@given(generic_tables(), plain, st.sampled_from(sorted(MAPS)), st.integers(0, 5), st.booleans())
def test_only_the_order_of_a_feature_counts(table, parameters, name, column, missing):
    y, column = positive(table), column % table.X.shape[1]
    X = table.X.copy()
    if missing:
        X[::7] = np.nan
    mapped = X.copy()
    mapped[:, column] = MAPS[name](X[:, column])
    first, second = (fit(Z, y, table.sample_weight, parameters) for Z in (X, mapped))
    np.testing.assert_array_equal(second.trees_.split_feature, first.trees_.split_feature)
    np.testing.assert_array_equal(second.trees_.leaf_values, first.trees_.leaf_values)
    np.testing.assert_array_equal(second.apply(mapped), first.apply(X))
    np.testing.assert_array_equal(second.predict(mapped), first.predict(X))


@given(generic_tables(min_rows=40), plain, seeds)
def test_permuted_columns_permute_the_trees(table, parameters, seed):
    """The first tree: later ones may meet residuals that two candidates part alike."""
    parameters = {**parameters, "max_iter": 1, "min_samples_leaf": 5, "max_depth": 2}
    order = np.random.default_rng(seed).permutation(table.X.shape[1])
    y = table.y if parameters["loss"] == "squared_error" else positive(table)
    first = fit(table.X, y, table.sample_weight, parameters)
    second = fit(table.X[:, order], y, table.sample_weight, parameters)
    for feature, values in enumerate(second.bin_thresholds_):
        np.testing.assert_array_equal(values, first.bin_thresholds_[order[feature]])
    if parameters["loss"] in ("absolute_error", "huber"):  # signs: many candidates are as good
        return
    used = second.trees_.split_feature >= 0
    np.testing.assert_array_equal(order[second.trees_.split_feature[used]],
                                  first.trees_.split_feature[used])
    np.testing.assert_array_equal(second.trees_.split_threshold, first.trees_.split_threshold)
    np.testing.assert_array_equal(second.trees_.leaf_values, first.trees_.leaf_values)
    np.testing.assert_allclose(second.feature_importances_, first.feature_importances_[order],
                               rtol=1e-12)


def views(X):
    """The same numbers in memory laid out otherwise."""
    read_only = X.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"x" + X.tobytes(), dtype=X.dtype, offset=1).reshape(X.shape)
    return {
        "fortran": np.asfortranarray(X),
        "every second row": np.repeat(X, 2, axis=0)[::2],
        "every second column": np.repeat(X, 2, axis=1)[:, ::2],
        "reversed": X[::-1].copy()[::-1],
        "read-only": read_only,
        "unaligned": unaligned,
        "swapped bytes": X.astype(X.dtype.newbyteorder()),
        "object": X.astype(object),
        "lists": X.tolist(),
        "frame": pd.DataFrame(X),
        "float32": X.astype(np.float32),
        "float32 fortran": np.asfortranarray(X, dtype=np.float32),
    }


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", [SymmetricBoostingRegressor, SymmetricBoostingClassifier])
def test_layouts_types_and_containers_give_the_same_bytes(kind, missing):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 5)).astype(np.float32).astype(np.float64)
    y = X[:, 0] * X[:, 1] + X[:, 2] if kind is SymmetricBoostingRegressor else (
        np.digitize(X[:, 0] + X[:, 1], [-1, 1]))
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    settings = {"max_iter": 10, "max_depth": 4, "random_state": 0, "subsample": 0.8}
    expected = kind(**settings).fit(X, y)
    for name, same in views(X).items():
        model = kind(**settings).fit(same, y)
        for part, array in vars(expected.trees_).items():
            assert getattr(model.trees_, part).tobytes() == array.tobytes(), (name, part)
        assert model.predict(same).tobytes() == expected.predict(X).tobytes(), name
        assert expected.predict(same).tobytes() == expected.predict(X).tobytes(), name
        assert expected.apply(same).tobytes() == expected.apply(X).tobytes(), name


def test_inputs_are_left_alone():
    rng = np.random.default_rng(4)
    X, y, weight = rng.standard_normal((100, 3)), rng.standard_normal(100), rng.uniform(1, 2, 100)
    start = rng.standard_normal(100)
    before = [array.copy() for array in (X, y, weight, start)]
    model = SymmetricBoostingRegressor(max_iter=5).fit(X, y, sample_weight=weight,
                                                       init_score=start)
    prediction = model.predict(X)
    for array, copy in zip((X, y, weight, start), before, strict=True):
        np.testing.assert_array_equal(array, copy)
    kept = X.copy()
    X[:] = y[:] = 0  # the model keeps nothing of the data
    np.testing.assert_array_equal(model.predict(kept), prediction)
