"""Boosting on masks is boosting on replaced columns: predictions, new models, continuations.

Without noise a masked model is the same as one fitted on replaced data; to the last bit, for
both add the same numbers in the same order.
"""

import numpy as np
import pytest
from sklearn.base import clone

from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor
from fctree.inspection import variable_importance
from fctree.inspection.boosting import MaskedBoosting
from fctree.inspection.partition import partition


def make_data(n=600, d=11, seed=0, missing=False, few_values=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if few_values:  # of what mask 1 leaves: fewer codes than those of a whole group
        X[:, 3:9] = np.round(X[:, 3:9])
        X[:, 10] = np.round(X[:, 10])
    y = X[:, 0] + 2.0 * X[:, 1] * (X[:, 2] > 0) + X[:, 4] + X[:, 9] + 0.5 * rng.standard_normal(n)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, rng.uniform(0.5, 2.0, n)


def masks(d):
    found = np.zeros((6, d), dtype=bool)
    found[0, 1] = True  # one column, both groups of features stay
    found[1, [0, 1, 2, 9]] = True  # few enough left for one group
    found[2, : d - 1] = True
    found[3, ::2] = True
    found[4] = True
    return found


def regressor(**options):
    parameters = {
        "max_iter": 60, "max_depth": 3, "random_strength": 0.0, "random_state": 0,
        "n_iter_no_change": 5,
    }  # fmt: skip
    return SymmetricBoostingRegressor(**{**parameters, **options})


CASES = {
    "plain": (regressor(), {}),
    "missing": (regressor(), {"missing": True}),
    "missing beside few values": (regressor(), {"missing": True, "few_values": True}),
    "cosine": (regressor(score_function="cosine"), {}),
    "subsample": (regressor(subsample=0.7), {}),
    "absolute error": (regressor(loss="absolute_error"), {}),
    "interactions": (regressor(interaction_cst=[[0, 3, 9, 10], [1, 2, 4, 6], [5, 7, 8]]), {}),
    "monotone": (regressor(monotonic_cst=[1] + [0] * 8 + [-1, 0]), {}),
}


def prepare(estimator, y_of=lambda y: y, weighted=False, **options):
    X, y, weight = make_data(**options)
    parts = partition(
        estimator, X, y_of(y), weight if weighted else None, fractions=(0.25, 0.25), seed=1
    )
    return parts, MaskedBoosting(clone(estimator), 0, None).fit(parts)


def outputs_of(models, mask, method):
    return next(models.masked_outputs(mask[None], method, lambda: None))


def fit_options(parts, mask):
    train = parts.train.replace(mask, parts.replacement)
    validation = parts.validation.replace(mask, parts.replacement)
    return {
        "X": train.X, "y": train.y, "sample_weight": train.sample_weight,
        "eval_set": (validation.X, validation.y, validation.sample_weight),
    }  # fmt: skip


def predict(model, X):
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_dropout_predicts_replaced_data(case, weighted):
    estimator, options = CASES[case]
    parts, models = prepare(estimator, weighted=weighted, **options)
    for mask in masks(parts.n_features):
        replaced = parts.test.replace(mask, parts.replacement)
        found = outputs_of(models, mask, "dropout")
        np.testing.assert_array_equal(found.outputs, predict(models.estimator, replaced.X))
        assert found.n_iter == 0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_retraining_is_a_fit_on_replaced_data(case, weighted):
    estimator, options = CASES[case]
    parts, models = prepare(estimator, weighted=weighted, **options)
    for mask in masks(parts.n_features):
        found = outputs_of(models, mask, "retrain")
        model = clone(models.estimator).fit(**fit_options(parts, mask))
        replaced = parts.test.replace(mask, parts.replacement)
        expected = predict(model, replaced.X)
        np.testing.assert_array_equal(found.outputs, expected)
        assert found.n_iter == len(model.validation_score_) - 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_early_stopping_is_a_warm_start_on_replaced_data(case, weighted):
    estimator, options = CASES[case]
    parts, models = prepare(estimator, weighted=weighted, **options)
    for mask in masks(parts.n_features):
        found = outputs_of(models, mask, "early_stopping")
        model = clone(models.estimator).fit(**fit_options(parts, np.zeros_like(mask)))
        n_rounds = model.n_iter_ + model.max_iter
        model.set_params(warm_start=True, max_iter=n_rounds).fit(**fit_options(parts, mask))
        replaced = parts.test.replace(mask, parts.replacement)
        # A model adds its trees to the baseline in blocks of its own: rounding.
        np.testing.assert_allclose(
            found.outputs, predict(model, replaced.X), rtol=1e-10, atol=1e-10
        )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes(n_classes):
    estimator = SymmetricBoostingClassifier(
        max_iter=40, max_depth=3, random_strength=0.0, random_state=0, n_iter_no_change=5
    )
    edges = np.linspace(-1, 1, n_classes - 1) if n_classes > 2 else [0.0]
    parts, models = prepare(estimator, y_of=lambda y: np.digitize(y, edges))
    for mask in masks(parts.n_features)[:3]:
        replaced = parts.test.replace(mask, parts.replacement)
        dropout = outputs_of(models, mask, "dropout")
        np.testing.assert_allclose(
            dropout.outputs, models.estimator.predict_proba(replaced.X), rtol=1e-12
        )
        model = clone(models.estimator).fit(**fit_options(parts, mask))
        retrained = outputs_of(models, mask, "retrain")
        np.testing.assert_allclose(
            retrained.outputs, model.predict_proba(replaced.X), rtol=1e-12
        )


def test_two_outputs():
    parts, models = prepare(regressor(), y_of=lambda y: np.column_stack([y, -2 * y**2]))
    mask = masks(parts.n_features)[3]
    model = clone(models.estimator).fit(**fit_options(parts, mask))
    found = outputs_of(models, mask, "retrain")
    replaced = parts.test.replace(mask, parts.replacement)
    np.testing.assert_array_equal(found.outputs, model.predict(replaced.X))


def test_min_iter_delays_patience():
    parts, models = prepare(regressor(max_iter=200, learning_rate=0.5))
    mask = np.zeros(parts.n_features, dtype=bool)
    mask[5] = True  # nothing to learn: patience would end at once
    models.min_iter = 0
    few = outputs_of(models, mask, "early_stopping")
    models.min_iter = 37
    many = outputs_of(models, mask, "early_stopping")
    assert few.n_iter < 37  # patience alone
    assert many.n_iter >= 37


def test_withheld_columns_are_weighted_means_of_those_that_are_there():
    parts, _ = prepare(regressor(max_iter=1), weighted=True, missing=True)
    known = ~np.isnan(parts.train.X)
    means = [np.average(x[k], weights=parts.train.sample_weight[k]) for x, k in zip(parts.train.X.T, known.T, strict=True)]
    np.testing.assert_allclose(parts.replacement, means)


def test_rounds_of_the_full_model_are_those_of_its_continuation_too():
    X, y, _ = make_data()
    full, continued = (
        variable_importance(regressor(), X, y, groups=[[0]], method=method, min_iter=7, random_state=0)
        for method in ("dropout", "early_stopping")
    )
    assert continued.full_n_iter >= full.full_n_iter + 7


def test_masks_do_not_depend_on_each_other():
    parts, models = prepare(regressor(random_strength=1.0, subsample=0.5))
    together = list(models.masked_outputs(masks(parts.n_features), "early_stopping", lambda: None))
    for mask, found in zip(masks(parts.n_features), together, strict=True):
        alone = outputs_of(models, mask, "early_stopping")
        np.testing.assert_array_equal(alone.outputs, found.outputs)
        assert alone.n_iter == found.n_iter
