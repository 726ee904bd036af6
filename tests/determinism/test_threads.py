"""The same bytes for any number of threads.

The tables are large enough to be cut into several blocks of rows (a block has a few
thousand), deep enough for many nodes on a level, and of all widths around the lengths of
vector registers.
"""

import hashlib

import joblib
import numpy as np
import pytest
from fctree import FCODTClassifier, FCODTRegressor
from reference.tree_comparison import random_weights, smooth_table


def fingerprint(model, X):
    """A hash of every array of the tree and of all that is computed from it."""
    digest = hashlib.sha256()
    for name, value in sorted(vars(model.tree_).items()):
        if isinstance(value, np.ndarray):
            digest.update(name.encode() + value.tobytes())
    digest.update(model.predict(X).tobytes())
    digest.update(model.apply(X).tobytes())
    digest.update(model.feature_importances_.tobytes())
    if hasattr(model, "predict_proba"):
        digest.update(model.predict_proba(X).tobytes())
    return digest.hexdigest()


def fingerprints(kind, X, y, weight=None, n_jobs=(1, 2, 4, 3), **parameters):
    return [fingerprint(kind(n_jobs=n, **parameters).fit(X, y, sample_weight=weight), X)
            for n in n_jobs]


@pytest.fixture(scope="module")
def large():
    return smooth_table(30_000, 12, seed=80)


@pytest.mark.parametrize("parameters", [
    {"max_depth": 6, "min_samples_leaf": 10},
    {"max_depth": 3, "leaf_model": "constant"},
    {"max_depth": 4, "alpha": 0.0, "feature_concatenation": False, "fit_intercept": False},
    {"max_depth": None, "min_samples_leaf": 50},
], ids=str)
def test_many_rows(large, parameters):
    assert len(set(fingerprints(FCODTRegressor, *large, **parameters))) == 1


def test_many_rows_with_weights(large):
    weight = random_weights(30_000, seed=81, zeros=True)
    assert len(set(fingerprints(FCODTRegressor, *large, weight, max_depth=5))) == 1


def test_several_outputs():
    X, Y = smooth_table(12_000, 9, 3, seed=82)
    assert len(set(fingerprints(FCODTRegressor, X, Y, max_depth=4))) == 1


@pytest.mark.parametrize("n_classes", [2, 4])
def test_classes(large, n_classes):
    X, score = large
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    assert len(set(fingerprints(FCODTClassifier, X, y, max_depth=4, min_samples_leaf=5))) == 1


@pytest.mark.parametrize("n_features", [*range(1, 10), 15, 16, 17, 31, 33, 63, 64, 65, 70])
def test_every_width(n_features):
    X, y = smooth_table(9_000, n_features, seed=n_features)
    assert len(set(fingerprints(FCODTRegressor, X, y, n_jobs=(1, 4), max_depth=2))) == 1


def test_more_features_than_samples():
    X, y = smooth_table(150, 300, seed=83)
    assert len(set(fingerprints(FCODTRegressor, X, y, max_depth=3))) == 1


def test_more_threads_than_samples():
    X, y = smooth_table(5, 2, seed=84)
    assert len(set(fingerprints(FCODTRegressor, X, y, n_jobs=(1, 16), max_depth=None))) == 1


def test_a_second_fit_gives_the_same(large):
    model = FCODTRegressor(max_depth=5, n_jobs=2)
    assert fingerprint(model.fit(*large), large[0]) == fingerprint(model.fit(*large), large[0])


def test_threads_from_joblib_and_all_cores(large):
    X, y = large
    expected = fingerprint(FCODTRegressor(max_depth=4).fit(X, y), X)
    with joblib.parallel_config(n_jobs=2):
        assert fingerprint(FCODTRegressor(max_depth=4).fit(X, y), X) == expected
    assert fingerprint(FCODTRegressor(max_depth=4, n_jobs=-1).fit(X, y), X) == expected


def test_inside_joblib_workers(large):
    """Fits in threads beside each other do not disturb each other."""
    X, y = large
    expected = fingerprint(FCODTRegressor(max_depth=3).fit(X, y), X)
    jobs = (joblib.delayed(lambda: fingerprint(FCODTRegressor(max_depth=3, n_jobs=2).fit(X, y), X))
            () for _ in range(4))
    assert set(joblib.Parallel(n_jobs=4, backend="threading")(jobs)) == {expected}


def test_layout_and_type_of_the_input_do_not_matter(large):
    X, y = large
    exact = np.round(X * 256) / 256  # float32 holds these numbers too
    expected = fingerprint(FCODTRegressor(max_depth=3).fit(exact, y), exact)
    strided = np.repeat(exact, 2, axis=1)[:, ::2]
    for same in (np.asfortranarray(exact), exact.astype(np.float32), strided):
        assert fingerprint(FCODTRegressor(max_depth=3).fit(same, y), exact) == expected
