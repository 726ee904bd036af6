"""Early stopping against the rule written out: which round ends a fit, which is kept."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    SoftTreeClassifier,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
)
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split


def literal_stop(losses, n_iter_no_change, tol):
    """(rounds grown, rounds kept) from the loss before the first round and after each."""
    reference, since, best = losses[0], 0, 0
    for n_rounds in range(1, len(losses)):
        if losses[n_rounds] < reference - tol:
            reference, since = losses[n_rounds], n_rounds
        if losses[n_rounds] < losses[best]:
            best = n_rounds
        if n_rounds - since >= n_iter_no_change:
            return n_rounds, best
    return len(losses) - 1, best


def noisy_table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    return X, X[:, 0] + rng.standard_normal(n)


FIT = {"max_iter": 60, "max_depth": 3, "learning_rate": 0.3, "random_state": 0}


@pytest.mark.parametrize("tol", [0.0, 1e-7, 0.02])
@pytest.mark.parametrize("patience", [1, 4, 15])
def test_the_rule(patience, tol):
    X, y = noisy_table()
    Z, z = noisy_table(seed=1)
    full = SymmetricBoostingRegressor(**FIT).fit(X, y, eval_set=(Z, z))
    grown, kept = literal_stop(-full.validation_score_, patience, tol)
    model = SymmetricBoostingRegressor(**FIT, early_stopping=True, n_iter_no_change=patience,
                                       tol=tol).fit(X, y, eval_set=(Z, z))
    assert model.n_iter_ == model.trees_.n_trees == kept
    assert len(model.validation_score_) == len(model.train_score_) == grown + 1
    np.testing.assert_array_equal(model.validation_score_, full.validation_score_[:grown + 1])
    np.testing.assert_array_equal(model.trees_.leaf_values, full.trees_.leaf_values[:kept])
    assert grown < FIT["max_iter"], "the case shows nothing"


def test_the_kept_model_is_the_best_round():
    X, y = noisy_table()
    Z, z = noisy_table(seed=1)
    model = SymmetricBoostingRegressor(**FIT, early_stopping=True).fit(X, y, eval_set=(Z, z))
    loss = mean_squared_error(z, model.predict(Z))
    np.testing.assert_allclose(loss, -model.validation_score_.max(), rtol=1e-12)
    assert 0 < model.n_iter_ < len(model.validation_score_) - 1


def test_nothing_is_kept_where_nothing_helps():
    X, y = noisy_table()
    Z, _ = noisy_table(seed=1)
    constant = SymmetricBoostingRegressor(**FIT, early_stopping=True).fit(
        X, y, eval_set=(X, np.full(len(X), y.mean())))
    assert constant.n_iter_ == 0 and constant.trees_.n_trees == 0
    np.testing.assert_array_equal(constant.predict(Z), constant.baseline_[0])
    assert constant.apply(Z).shape == (len(Z), 0)
    assert not constant.feature_importances_.any()
    assert list(constant.staged_predict(Z)) == []


@pytest.mark.parametrize("fraction", [0.2, 31])
def test_samples_are_held_out(fraction):
    """Without eval_set a part of the samples validates, the rest alone is learnt from."""
    X, y = noisy_table()
    model = SymmetricBoostingRegressor(**FIT, early_stopping=True, validation_fraction=fraction)
    model.fit(X, y)
    held = 30 if fraction == 0.2 else 31
    # Each held out sample is found by what the baseline, the mean of the others, says.
    kept_mean = model.baseline_[0]
    split = train_test_split(np.arange(150), test_size=fraction,
                             random_state=model._random_seed % 2**32)
    assert len(split[1]) == held
    np.testing.assert_allclose(y[split[0]].mean(), kept_mean, rtol=1e-12)
    by_hand = SymmetricBoostingRegressor(**FIT, early_stopping=True).fit(
        X[np.sort(split[0])], y[np.sort(split[0])],
        eval_set=(X[np.sort(split[1])], y[np.sort(split[1])]))
    np.testing.assert_array_equal(by_hand.predict(X), model.predict(X))


def test_classes_are_held_out_in_proportion():
    X, y = noisy_table(400)
    labels = np.where(y > np.quantile(y, 0.9), "rare", "usual")
    model = SymmetricBoostingClassifier(**FIT, early_stopping=True, validation_fraction=0.25)
    model.fit(X, labels)
    p = np.mean(labels == model.classes_[1])
    np.testing.assert_allclose(1 / (1 + np.exp(-model.baseline_[0])), p, rtol=1e-12)


def test_a_class_with_one_sample_is_no_obstacle():
    X, y = noisy_table()
    labels = (y > 0).astype(int)
    labels[0] = 2
    model = SymmetricBoostingClassifier(**FIT, early_stopping=True).fit(X, labels)
    assert model.predict_proba(X).shape == (150, 3)


@pytest.mark.parametrize("model", [
    SymmetricBoostingClassifier(max_iter=3), CurvatureBoostingClassifier(max_iter=3), SoftTreeClassifier(max_epochs=3)])
def test_the_only_sample_of_a_class_is_not_held_out(model):
    X, _ = noisy_table(40)
    for seed in range(10):
        model.set_params(early_stopping=True, validation_fraction=0.5, random_state=seed)
        found = model.fit(X, np.arange(40) == 7).predict_proba(X)[:, 1]
        assert found.mean() > 0.005
    model.set_params(validation_fraction=39).fit(X, np.arange(40) == 7)  # where that leaves none to hold out


def test_validation_without_stopping_only_measures():
    X, y = noisy_table()
    Z, z = noisy_table(seed=1)
    plain = SymmetricBoostingRegressor(**FIT).fit(X, y)
    measured = SymmetricBoostingRegressor(**FIT).fit(X, y, eval_set=(Z, z))
    np.testing.assert_array_equal(measured.predict(Z), plain.predict(Z))
    assert len(plain.validation_score_) == 0
    assert len(measured.validation_score_) == FIT["max_iter"] + 1
    losses = [mean_squared_error(z, p) for p in measured.staged_predict(Z)]
    np.testing.assert_allclose(-measured.validation_score_[1:], losses, rtol=1e-10)


def test_weights_of_the_validation_samples():
    X, y = noisy_table()
    Z, z = noisy_table(seed=1)
    weight = np.random.default_rng(2).integers(0, 4, len(Z))
    weighted = SymmetricBoostingRegressor(**FIT).fit(X, y, eval_set=(Z, z, weight))
    repeated = SymmetricBoostingRegressor(**FIT).fit(
        X, y, eval_set=(np.repeat(Z, weight, axis=0), np.repeat(z, weight)))
    np.testing.assert_allclose(weighted.validation_score_, repeated.validation_score_, rtol=1e-12)
