"""Boosting of oblique trees reads float32 and float64 tables as they are: of the same values, the same bytes."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureTreeRegressor,
    FCODTRegressor,
)
from sklearn.base import clone

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3000, 12)).astype(np.float32)
X[:, 1] = 1e5 + 100 * X[:, 1]
y = X[:, 0] * X[:, 2] + np.floor(X[:, 3]) + 0.3 * RNG.standard_normal(3000)
LABELS = np.searchsorted(np.quantile(y, [0.3, 0.7]), y)
GAPS = np.where(RNG.random(X.shape) < 0.05, np.nan, X)

# More than 10 million values, which are not kept as trees take them.
MANY = RNG.standard_normal((70_000, 150), dtype=np.float32)
TARGET = MANY[:, 0] * MANY[:, 2] + np.floor(MANY[:, 3]) + 0.3 * RNG.standard_normal(70_000)


def same_models(one, other):
    for name, array in vars(one.trees_).items():
        assert array.tobytes() == getattr(other.trees_, name).tobytes(), name
    for name in ("baseline_", "train_score_", "validation_score_", "step_sums_", "learning_rates_"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name


def fit_both(model, X, y, **options):
    models = [clone(model).set_params(random_state=3).fit(table, y, **options)
              for table in (X, X.astype(np.float64))]
    same_models(*models)
    rows = X[:300]
    assert models[0].predict(rows).tobytes() == models[1].predict(rows.astype(float)).tobytes()
    return models[0]


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_iter": 15},
        {"colsample": 0.5, "early_stopping": True},
        {"loss": "huber", "subsample": 1.0},
        {"alpha": "loo"},
        {"calibration_fraction": 0.3},
        {"tree": FCODTRegressor(max_depth=2)},
    ],
    ids=lambda parameters: "-".join(parameters),
)
def test_float32_gives_the_model_of_its_float64_copy(parameters):
    fit_both(CurvatureBoostingRegressor(**{"max_iter": 5, **parameters}), X, y)


def test_so_it_does_for_classes_weights_and_evaluation_sets():
    fit_both(CurvatureBoostingClassifier(max_iter=4), X, LABELS, sample_weight=RNG.uniform(0, 2, 3000))
    models = [CurvatureBoostingRegressor(max_iter=4, random_state=0)
              .fit(X, y, eval_set=(held, y[:200])) for held in (X[:200], X[:200].astype(float))]
    same_models(*models)


def test_so_it_does_with_missing_values_and_categories():
    fit_both(CurvatureBoostingRegressor(max_iter=4), GAPS, y)
    coded = X.copy()
    coded[:, 5] = np.round(2 * np.clip(coded[:, 5], -2, 2)) + 4
    fit_both(CurvatureBoostingRegressor(max_iter=4, categorical_features=[5]), coded, y)


def test_a_memory_map_is_not_copied(tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    models = [CurvatureBoostingRegressor(max_iter=4, random_state=0).fit(table, y)
              for table in (mapped, X, np.asfortranarray(X))]
    same_models(*models[:2])
    same_models(*models[1:])


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"colsample": 0.6, "step_depth": 3},
        {"tree": CurvatureTreeRegressor(leaf_model="constant", directions="axis", split_margin=0.5)},
    ],
    ids=["plain", "colsample", "constants"],
)
def test_large_tables(parameters):
    models = [
        CurvatureBoostingRegressor(
            **{"max_iter": 2, "step_depth": 4, **parameters}, random_state=0, n_jobs=n_jobs
        ).fit(table, TARGET)
        for n_jobs, table in ((1, MANY), (2, MANY.astype(np.float64)))
    ]
    same_models(*models)
