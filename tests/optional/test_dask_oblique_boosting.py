"""Boosted oblique trees on Dask: the plain estimators' models up to rounding, and the same bytes
from any partitions on any workers."""

import pickle

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import pandas as pd  # noqa: E402
from distributed import Client, LocalCluster, Nanny, Scheduler, SpecCluster  # noqa: E402
from optional.dask_cluster import client  # noqa: E402, F401

from fctree import (  # noqa: E402
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureTreeRegressor,
    FCODTRegressor,
    show_config,
)
from fctree.dask import (  # noqa: E402
    DaskCurvatureBoostingClassifier,
    DaskCurvatureBoostingRegressor,
    oblique,
)

# Four blocks of 64 rows, and no more places to cut than are all tried.
N_ROWS = 240
LENGTHS = (100, 1, 0, 139)
SHORT = {"max_iter": 2, "random_state": 1}
LOCAL = {
    DaskCurvatureBoostingRegressor: CurvatureBoostingRegressor,
    DaskCurvatureBoostingClassifier: CurvatureBoostingClassifier,
}


def draw(n=N_ROWS, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * [1.0, 10.0, 0.1, 1.0, 1.0] + [0.0, 50.0, 0.0, 0.0, 0.0]
    y = X[:, 0] * X[:, 3] + np.abs(X[:, 4]) + 0.1 * rng.normal(size=n)
    return X, y, rng.random(n) + 0.1


def in_chunks(array, lengths=LENGTHS):
    return da.from_array(array, chunks=(lengths, *array.shape[1:]))


def fit_both(kind, params, X, y, weight=None):
    params = {**SHORT, **params}
    local = LOCAL[kind](**params).fit(X, y, sample_weight=weight)
    model = kind(**params).fit(
        in_chunks(X), in_chunks(y), sample_weight=None if weight is None else in_chunks(weight)
    )
    return model, local


def assert_close(model, local, X):
    """The same splits; sums in another order differ by rounding, which ill-conditioned fits in
    small nodes amplify."""
    ours, theirs = model.trees_, local.trees_
    for name in ("node_offsets", "children_left", "split_kind", "n_node_samples"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), name)
    np.testing.assert_array_equal(model.tree_kinds_, local.tree_kinds_)
    for name in ("train_score_", "validation_score_", "baseline_", "feature_importances_"):
        np.testing.assert_allclose(getattr(model, name), getattr(local, name), 1e-8, 1e-10, name)
    np.testing.assert_allclose(model._raw_predict(X), local._raw_predict(X), 1e-8, 1e-8)
    assert model.alpha_ == local.alpha_


def assert_same_bytes(model, other):
    for name, array in vars(other.trees_).items():
        assert getattr(model.trees_, name).tobytes() == array.tobytes(), name
    scores = ("baseline_", "train_score_", "validation_score_")
    for name in (*scores, "tree_kinds_", "step_sums_", "learning_rates_"):
        assert getattr(model, name).tobytes() == getattr(other, name).tobytes(), name


@pytest.mark.parametrize("params", [{"colsample": 0.8}, {"tree": CurvatureTreeRegressor(standardize=False)}])
def test_constant_columns_are_those_of_all_places(params):
    """One is constant on each worker, but not on all; the first row counts for nothing."""
    X, y, weight = draw()
    weight[0], moved = 0.0, np.repeat([0.0, 1.0], N_ROWS // 2)
    wide = np.insert(np.c_[X, moved], [0, 2, 6], 0.1, axis=1)
    wide[0] = 1e3
    model, local = fit_both(DaskCurvatureBoostingRegressor, params, wide, y + 3.0 * moved, weight)
    assert_close(model, local, wide)
    narrow, _ = fit_both(DaskCurvatureBoostingRegressor, params, wide[:, [1, 2, 4, 5, 6, 7]], y + 3.0 * moved, weight)
    np.testing.assert_allclose(model.predict(wide), narrow.predict(wide[:, [1, 2, 4, 5, 6, 7]]), rtol=0, atol=1e-10)
    assert model.feature_importances_[7] > 0.0


def test_what_a_linear_model_of_all_features_leaves():
    X = np.random.default_rng(1).normal(size=(N_ROWS, 14))
    y = X.sum(axis=1) + 3.0 * np.abs(X[:, 0])
    model, local = fit_both(DaskCurvatureBoostingRegressor, {"max_iter": 5, "step_depth": None}, X, y)
    assert 2 in model.tree_kinds_
    assert_close(model, local, X)


@pytest.mark.parametrize("seed", [1, 4])
def test_linear_models_compete_with_what_they_leave(seed):
    """In the same rounds: the trees that are grown in between take few of the features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 30))
    score = X.sum(axis=1) + 3.0 * np.abs(X[:, 0]) + rng.normal(size=N_ROWS)
    labels = np.digitize(score, np.quantile(score, [0.33, 0.66]))
    model, local = fit_both(DaskCurvatureBoostingClassifier, {"max_iter": 5}, X, labels)
    assert 4 in model.tree_kinds_
    assert_close(model, local, X)


def test_samples_of_all_places_are_enough_for_step_trees_of_few_levels():
    """500 for each of three classes, and fewer in any of the places."""
    X = np.random.default_rng(0).uniform(size=(1500, 4))
    labels = 2 - (X[:, 0] > 0.3) - (X[:, 1] > 0.6)
    params, lengths = {"max_iter": 8, "random_state": 1}, (800, 700)
    model = DaskCurvatureBoostingClassifier(**params).fit(in_chunks(X, lengths), in_chunks(labels, lengths))
    assert 3 in model.tree_kinds_
    assert 3 in CurvatureBoostingClassifier(**params).fit(X, labels).tree_kinds_


def test_few_different_rows():
    """Whether equal samples are drawn one by one is decided by those of all places."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (N_ROWS, 3)).astype(float)
    y = X[:, 0] + rng.integers(0, 2, N_ROWS)
    model, local = fit_both(DaskCurvatureBoostingRegressor, {"max_iter": 4}, X, y)
    assert_close(model, local, X)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"alpha": "loo", "colsample": 0.6, "step_depth": 2},
        {"max_coef": 2, "step_depth": None, "tree": CurvatureTreeRegressor(split_margin=0.0)},
        {"loss": "poisson", "subsample": 1.0},
        {"loss": "gamma", "l2_leaf_reg": 0.0, "extrapolation": None},
        {
            "tree": CurvatureTreeRegressor(
                standardize=False, directions=("ridge", "axis"), n_screened=None, max_thresholds=8
            )
        },
        {"tree": FCODTRegressor(fit_intercept=False), "min_samples_leaf": 0.1},
        {
            "tree": CurvatureTreeRegressor(
                leaf_model="constant", split_margin=0.5, parent_weight=0.0, max_thresholds=8
            )
        },
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_regressor_is_the_local_one_up_to_rounding(params, weighted):
    X, y, weight = draw()
    if params.get("loss") == "poisson":
        y = np.floor(np.abs(3 * y))
    if params.get("loss") == "gamma":
        y = np.abs(y) + 0.1
    model, local = fit_both(
        DaskCurvatureBoostingRegressor, params, X, y, weight if weighted else None
    )
    assert_close(model, local, X)


def test_few_of_many_features():
    X, y, weight = draw()
    X = np.hstack([X, np.random.default_rng(1).normal(size=(N_ROWS, 9))])
    model, local = fit_both(DaskCurvatureBoostingRegressor, {"step_depth": None}, X, y, weight)
    assert_close(model, local, X)
    used = np.any(model.trees_.leaf_coef != 0, axis=(0, 1))
    assert 8 <= used.sum() < 14


@pytest.mark.parametrize(("copies", "weighted"), [(1, True), (2, False)])
def test_few_of_many_features_where_samples_are_few(copies, weighted):
    """Neither weights above 1 nor copies are samples of their own."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 20)), copies, axis=0)
    y = X[:, 0] + np.abs(X[:, 1]) + np.repeat(rng.normal(size=60), copies)
    params = {**SHORT, "subsample": 1.0, "step_depth": None}
    weight = rng.integers(1, 4, len(y)) + 0.0 if weighted else None
    local = CurvatureBoostingRegressor(**params).fit(X, y, weight)
    parts = (30, len(y) - 30)
    model = DaskCurvatureBoostingRegressor(**params).fit(
        in_chunks(X, parts), in_chunks(y, parts), sample_weight=None if weight is None else in_chunks(weight, parts)
    )
    assert_close(model, local, X)
    assert np.any(model.trees_.leaf_coef != 0, axis=(0, 1)).sum() < 20


def test_several_outputs_and_weights_of_zero():
    X, y, weight = draw()
    weight[::7] = 0.0
    targets = np.column_stack([y, X[:, 0] + np.abs(y)])
    model, local = fit_both(DaskCurvatureBoostingRegressor, {}, X, targets, weight)
    assert_close(model, local, X)
    assert model.predict(in_chunks(X)).compute().shape == (N_ROWS, 2)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_a_classifier_is_the_local_one_up_to_rounding(n_classes):
    X, y, weight = draw()
    limits = np.quantile(y, np.arange(1, n_classes) / n_classes)
    labels = np.array([f"class {c}" for c in range(n_classes)])[np.digitize(y, limits)]
    model, local = fit_both(DaskCurvatureBoostingClassifier, {}, X, labels, weight)
    assert_close(model, local, X)
    np.testing.assert_array_equal(model.classes_, local.classes_)
    chunks = in_chunks(X, (120, 120))
    plain = model.to_local()
    np.testing.assert_array_equal(model.predict(chunks).compute(), plain.predict(X))
    np.testing.assert_array_equal(model.predict_proba(chunks).compute(), plain.predict_proba(X))


def test_partitions_and_workers_do_not_matter():
    X, y, weight = draw(400)
    params = {**SHORT, "step_depth": 2}

    def fit(lengths):
        return DaskCurvatureBoostingRegressor(**params).fit(
            in_chunks(X, lengths), in_chunks(y, lengths), sample_weight=in_chunks(weight, lengths)
        )

    model = fit((400,))
    for lengths in [(1, 0, 399), (200, 200), (57,) * 7 + (1,)]:
        assert_same_bytes(fit(lengths), model)
    cluster = LocalCluster(
        n_workers=3, threads_per_worker=2, processes=False, dashboard_address=None
    )
    with cluster, Client(cluster):
        assert_same_bytes(fit((150, 250)), model)


def test_the_learning_rate_follows_samples_held_out_in_all_partitions():
    X, _, weight = draw(1000)
    y = X[:, 0] + np.abs(X[:, 3])
    params = {"max_iter": 104, "max_depth": 1, "step_depth": None}
    local = CurvatureBoostingRegressor(**params, random_state=1).fit(X, y, weight)
    models = [
        DaskCurvatureBoostingRegressor(**params, random_state=1).fit(
            in_chunks(X, lengths), in_chunks(y, lengths), sample_weight=in_chunks(weight, lengths)
        )
        for lengths in [(400, 600), (990, 0, 10), (1000,)]
    ]
    for other in models[1:]:
        assert_same_bytes(other, models[0])
    assert models[0].learning_rates_[-1] == local.learning_rates_[-1] == 0.1
    np.testing.assert_allclose(models[0]._raw_predict(X), local._raw_predict(X), 1e-6, 1e-6)


def test_early_stopping_on_a_partitioned_eval_set():
    X, y, weight = draw()
    X_eval, y_eval, eval_weight = draw(150, seed=1)
    params = {"early_stopping": True, "n_iter_no_change": 2, "learning_rate": 0.9,
              "max_iter": 12, "random_state": 0, "step_depth": 2}
    local = CurvatureBoostingRegressor(**params).fit(
        X, y, sample_weight=weight, eval_set=(X_eval, y_eval, eval_weight)
    )
    assert local.n_iter_ < 12
    parts = (50, 100)
    model = DaskCurvatureBoostingRegressor(**params).fit(
        in_chunks(X), in_chunks(y), sample_weight=in_chunks(weight),
        eval_set=tuple(in_chunks(of, parts) for of in (X_eval, y_eval, eval_weight)),
    )
    assert len(model.validation_score_) == len(local.validation_score_)
    assert_close(model, local, X)


def test_data_frames_lazy_predictions_and_the_plain_estimator():
    X, y, _ = draw()
    frame = pd.DataFrame(X, columns=list("abcde"))
    table = dd.from_pandas(frame, npartitions=3)
    target = dd.from_pandas(pd.Series(y), npartitions=3)
    model = DaskCurvatureBoostingRegressor(**SHORT).fit(table, target)
    plain = model.to_local()
    assert type(plain) is CurvatureBoostingRegressor
    assert set(vars(plain)) == set(vars(CurvatureBoostingRegressor(**SHORT).fit(frame, y)))
    np.testing.assert_array_equal(model.predict(table).compute(), plain.predict(frame))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(frame), plain.predict(frame))


def test_thresholds_from_a_part_of_the_rows(monkeypatch):
    """The moments are of all rows: a model as good, from a sixth of the places to cut at."""
    X, y, _ = draw(1200)
    monkeypatch.setattr(oblique, "_SAMPLE_ROWS", 200)
    lengths = (500, 700)
    model = DaskCurvatureBoostingRegressor(max_iter=10, random_state=0).fit(
        in_chunks(X, lengths), in_chunks(y, lengths)
    )
    local = CurvatureBoostingRegressor(max_iter=10, random_state=0).fit(X, y)
    assert model.trees_.n_node_samples[0] > 600
    # Cuts that are a few ranks off cost little of what a tree explains.
    assert model.score(X, y) > local.score(X, y) - 0.02


def test_the_sample_has_one_row_of_each_stretch():
    np.testing.assert_array_equal(oblique.sample_rows(1000, 3), np.arange(1000))
    rows = oblique.sample_rows(1_000_003, 3)
    bounds = 1_000_003 * np.arange(65_537) // 65_536
    assert np.all((bounds[:-1] <= rows) & (rows < bounds[1:]))
    np.testing.assert_array_equal(rows, oblique.sample_rows(1_000_003, 3))


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"loss": "absolute_error"}, "quantiles"),
        ({"loss": "quantile", "quantile": 0.3}, "quantiles"),
        ({"loss": "huber", "quantile": 0.9}, "quantiles"),
        ({"warm_start": True}, "warm_start"),
        ({"early_stopping": True}, "eval_set"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_what_partitions_cannot_do_is_refused(params, words):
    X, y, _ = draw()
    with pytest.raises(ValueError, match=words):
        DaskCurvatureBoostingRegressor(**params).fit(in_chunks(X), in_chunks(y))


def test_data_that_cannot_be_fitted_are_refused():
    X, y, _ = draw()
    model = DaskCurvatureBoostingRegressor(**SHORT)
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="X contains infinity"):
        model.fit(in_chunks(X), in_chunks(y))
    with pytest.raises(ValueError, match="fewer samples than features"):
        model.fit(np.ones((3, 5)) * np.arange(3)[:, np.newaxis], np.arange(3.0))
    with pytest.raises(ValueError, match="overflows"):
        model.fit(in_chunks(draw()[0] * 1e200), in_chunks(y))
    y -= 5.0  # the sum is far below all
    with pytest.raises(ValueError, match=f"the smallest is {y.min()}"):
        DaskCurvatureBoostingRegressor(loss="poisson").fit(in_chunks(draw()[0]), in_chunks(y))
    assert not hasattr(model, "trees_")


def test_splits_of_many_rows_are_searched_on_the_same_sample():
    """Other cuts are tried than in one place, of nodes with as many rows; the same bytes from any partitions."""
    X, y, _ = draw(100_000)
    params = {**SHORT, "max_depth": 2, "subsample": 0.97, "step_depth": None}
    local = CurvatureBoostingRegressor(**params).fit(X, y)
    first, second = (
        DaskCurvatureBoostingRegressor(**params).fit(in_chunks(X, lengths), in_chunks(y, lengths))
        for lengths in ((100_000,), (60_000, 40_000)))
    assert_same_bytes(first, second)
    np.testing.assert_array_equal(first.trees_.n_node_samples[0], local.trees_.n_node_samples[0])
    inner = np.flatnonzero(first.trees_.children_left[:3] >= 0)
    assert len(inner) > 0
    of_children = first.trees_.n_node_samples[1:3].sum()
    assert of_children == first.trees_.n_node_samples[0]
    spread = np.std(local.predict(X) - first.predict(X)) / y.std()
    assert spread < 0.1


def test_workers_with_different_instruction_sets_use_those_of_all():
    """Models are those of workers that all have no more than that."""
    X, y, _ = draw(400)

    def fit(*simd):
        spec = {i: {"cls": Nanny, "options": {"nthreads": 1, "env": {"FCTREE_SIMD": isa}, "host": "127.0.0.1"}}
                for i, isa in enumerate(simd)}
        scheduler = {"cls": Scheduler, "options": {"dashboard_address": ":0", "host": "127.0.0.1", "port": 0}}
        with SpecCluster(spec, scheduler) as cluster, Client(cluster) as client:
            client.wait_for_workers(len(simd), timeout=60)
            in_use = client.run(lambda: __import__("fctree").show_config()["simd"]["in_use"])
            assert sorted(in_use.values()) == sorted(simd)
            return DaskCurvatureBoostingRegressor(**SHORT).fit(in_chunks(X, (200, 200)), in_chunks(y, (200, 200)))

    baseline = fit("baseline", "baseline")
    if show_config()["simd"]["in_use"] != "baseline":
        best = show_config()["simd"]["in_use"]
        assert_same_bytes(fit(best, "baseline"), baseline)
        assert_same_bytes(fit("baseline", best), baseline)
