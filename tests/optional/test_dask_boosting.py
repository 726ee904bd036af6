"""Boosting on Dask: the plain estimators' models, byte for byte, from any partitions."""

import pickle

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask  # noqa: E402
import dask.array as da  # noqa: E402
import pandas as pd  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402
from optional.dask_cluster import client  # noqa: E402, F401

from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor  # noqa: E402
from fctree.dask import (  # noqa: E402
    DaskSymmetricBoostingClassifier,
    DaskSymmetricBoostingRegressor,
)

SHORT = {"max_iter": 3, "max_depth": 3, "random_state": 1}
LOCAL = {
    DaskSymmetricBoostingRegressor: SymmetricBoostingRegressor,
    DaskSymmetricBoostingClassifier: SymmetricBoostingClassifier,
}


def draw(n=600, n_features=10, seed=0):
    """Features with missing values, some of them few-valued, and a target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    X[:, 3] = np.round(X[:, 3])
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nansum(X[:, :3], axis=1) ** 2 + rng.normal(size=n)
    return X, y, rng.random(n) + 0.1


def in_chunks(array, lengths):
    return da.from_array(array, chunks=(lengths, *array.shape[1:]))


def assert_same_model(dask_model, local):
    for name, array in vars(local.trees_).items():
        assert getattr(dask_model.trees_, name).tobytes() == array.tobytes(), name
    assert dask_model.baseline_.tobytes() == local.baseline_.tobytes()
    for ours, theirs in zip(dask_model.bin_thresholds_, local.bin_thresholds_, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    # Losses are sums of doubles over the rows, in another order: n terms, each to 2^-53.
    np.testing.assert_allclose(dask_model.train_score_, local.train_score_, rtol=1e-12)


def fit_both(kind, params, X, y, weight=None, lengths=(250, 1, 0, 349)):
    local = LOCAL[kind](**SHORT, **params).fit(X, y, sample_weight=weight)
    model = kind(**SHORT, **params).fit(
        in_chunks(X, lengths),
        in_chunks(y, lengths),
        sample_weight=None if weight is None else in_chunks(weight, lengths),
    )
    return model, local


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"subsample": 0.6, "colsample": 0.5, "score_function": "cosine"},
        {"loss": "poisson", "max_bins": 16, "min_samples_leaf": 5},
        {"loss": "gamma", "random_strength": 0.0},
        {"score_noise": "gumbel", "random_strength": 1e-3, "l2_leaf_reg": 0.0},
        {"monotonic_cst": [1, -1] + [0] * 8},
    ],
    ids=lambda params: ",".join(params) or "defaults",
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_regressor_is_the_local_one(params, weighted):
    X, y, weight = draw()
    if params.get("loss") == "poisson":
        y = np.floor(np.abs(y))
    if params.get("loss") == "gamma":
        y = np.abs(y) + 0.1
    model, local = fit_both(
        DaskSymmetricBoostingRegressor, params, X, y, weight if weighted else None
    )
    assert_same_model(model, local)


def test_splits_of_long_tables_are_searched_on_the_same_rows():
    X, y, weight = draw(90_000, 4)
    model, local = fit_both(DaskSymmetricBoostingRegressor, {}, X, y, weight, lengths=(20_001, 1, 0, 69_998))
    assert_same_model(model, local)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_classifier_is_the_local_one(n_classes):
    X, y, weight = draw()
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [1.0, 4.0][: n_classes - 1])]
    model, local = fit_both(DaskSymmetricBoostingClassifier, {}, X, labels, weight)
    assert_same_model(model, local)
    np.testing.assert_array_equal(model.classes_, local.classes_)
    chunks = in_chunks(X, (300, 300))
    np.testing.assert_array_equal(model.predict(chunks).compute(), local.predict(X))
    for method in ("predict_proba", "predict_log_proba"):
        found = getattr(model, method)(chunks).compute()
        np.testing.assert_array_equal(found, getattr(local, method)(X))


def test_several_outputs_and_weights_of_zero():
    X, y, weight = draw()
    weight[::3] = 0.0
    model, local = fit_both(
        DaskSymmetricBoostingRegressor, {}, X, np.column_stack([y, np.abs(y)]), weight
    )
    assert_same_model(model, local)
    assert model.predict(in_chunks(X, (600,))).compute().shape == (600, 2)


@pytest.mark.parametrize(
    "lengths", [(600,), (1,) * 5 + (595,), (0, 300, 0, 300), (100,) * 6], ids=str
)
def test_partitions_do_not_matter(lengths):
    X, y, weight = draw()
    model, local = fit_both(DaskSymmetricBoostingRegressor, {}, X, y, weight, lengths)
    assert_same_model(model, local)


@pytest.mark.parametrize("lengths", [(600,), (250, 1, 0, 349)], ids=str)
def test_small_weights_are_scaled_by_the_mean_of_all(lengths):
    X, y, weight = draw()
    weight = np.where(np.arange(600) < 250, 2.0, 2.0**-20) * np.where(y > 0.1, weight, 0.0) / 600
    model, local = fit_both(DaskSymmetricBoostingRegressor, {}, X, y, weight, lengths)
    assert_same_model(model, local)
    larger = LOCAL[DaskSymmetricBoostingRegressor](**SHORT).fit(X, y, sample_weight=weight * 512)
    np.testing.assert_array_equal(local.predict(X), larger.predict(X))


def test_more_rows_than_quantiles_are_taken_of():
    """Of many rows thresholds come from a fixed sample: the same one."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=70_000), rng.integers(0, 5, size=70_000)])
    X[::1000, 1] = np.nan
    model, local = fit_both(
        DaskSymmetricBoostingRegressor, {"max_bins": 30}, X, X[:, 0] ** 2,
        lengths=(30_000, 40_000),
    )
    assert_same_model(model, local)


def test_early_stopping_on_a_partitioned_eval_set():
    X, y, weight = draw()
    params = {"early_stopping": True, "n_iter_no_change": 2, "learning_rate": 1.0,
              "max_depth": 4, "max_iter": 30, "random_state": 0}
    X_eval, y_eval, eval_weight = draw(200, seed=1)
    local = SymmetricBoostingRegressor(**params)
    local.fit(X, y, sample_weight=weight, eval_set=(X_eval, y_eval, eval_weight))
    lengths, eval_lengths = (400, 200), (150, 0, 50)
    model = DaskSymmetricBoostingRegressor(**params).fit(
        in_chunks(X, lengths),
        in_chunks(y, lengths),
        sample_weight=in_chunks(weight, lengths),
        eval_set=tuple(in_chunks(a, eval_lengths) for a in (X_eval, y_eval, eval_weight)),
    )
    assert 0 < local.n_iter_ < 30
    assert_same_model(model, local)
    np.testing.assert_allclose(model.validation_score_, local.validation_score_, rtol=1e-12)


def test_data_frames_keep_names_and_indices():
    X, y, _ = draw()
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])], index=np.arange(600) * 2)
    target = pd.Series(y, index=frame.index)
    import dask.dataframe as dd

    model = DaskSymmetricBoostingRegressor(**SHORT).fit(
        dd.from_pandas(frame, npartitions=3), dd.from_pandas(target, npartitions=3)
    )
    local = SymmetricBoostingRegressor(**SHORT).fit(frame, target)
    assert_same_model(model, local)
    assert list(model.feature_names_in_) == list(frame.columns)
    predictions = model.predict(dd.from_pandas(frame, npartitions=2))
    assert dask.is_dask_collection(predictions)
    computed = predictions.compute()
    assert computed.index.equals(frame.index)
    np.testing.assert_array_equal(computed.to_numpy(), local.predict(frame))


def test_chunks_of_unknown_lengths_and_along_columns():
    X, y, _ = draw()
    chunked = da.from_array(X, chunks=(200, 3))
    kept = np.nan_to_num(X[:, 0]) > -1.0
    rows = da.from_array(kept, chunks=200)
    unknown, target = chunked[rows], da.from_array(y, chunks=200)[rows]
    assert np.isnan(unknown.chunks[0][0])
    model = DaskSymmetricBoostingRegressor(**SHORT).fit(unknown, target)
    local = SymmetricBoostingRegressor(**SHORT).fit(X[kept], y[kept])
    assert_same_model(model, local)
    np.testing.assert_array_equal(model.predict(unknown).compute(), local.predict(X[kept]))


def test_a_slow_source_is_read_once(tmp_path):
    X, y, _ = draw()

    def read(block, block_info=None):
        number = block_info[0]["chunk-location"][0]
        with open(tmp_path / f"block-{number}", "a") as file:
            file.write("read\n")
        return block

    source = da.map_blocks(read, in_chunks(X, (300, 300)), dtype=X.dtype, meta=np.empty((0, 0)))
    DaskSymmetricBoostingRegressor(**SHORT).fit(source, in_chunks(y, (300, 300)))
    assert [p.read_text() for p in sorted(tmp_path.iterdir())] == ["read\n", "read\n"]


def test_to_local_needs_no_dask_and_predicts_alike():
    X, y, _ = draw()
    model, local = fit_both(DaskSymmetricBoostingRegressor, {}, X, y)
    plain = pickle.loads(pickle.dumps(model.to_local()))
    assert type(plain) is SymmetricBoostingRegressor
    np.testing.assert_array_equal(plain.predict(X), local.predict(X))
    np.testing.assert_array_equal(model.predict(X), local.predict(X))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "absolute_error"}, "quantiles"),
        ({"loss": "huber"}, "quantiles"),
        ({"loss": lambda y, raw: (raw - y, raw * 0 + 1)}, "function is not supported on Dask"),
        ({"warm_start": True}, "warm_start"),
        ({"posterior_samples": 2}, "posterior_samples"),
        ({"early_stopping": True}, "eval_set"),
        ({"loss": "gamma"}, "y > 0"),
        ({"max_depth": 0}, "max_depth"),
    ],
)
def test_what_partitions_cannot_do_is_refused(params, message):
    X, y, _ = draw(50)
    model = DaskSymmetricBoostingRegressor(**{**SHORT, **params})
    with pytest.raises(ValueError, match=message):
        model.fit(in_chunks(X, (25, 25)), in_chunks(y, (25, 25)))
    assert not hasattr(model, "trees_")


@pytest.mark.parametrize(
    "arguments", [{"callbacks": print}, {"eval_metric": "r2"}, {"eval_set": [(0, 0), (0, 0)]}])
def test_arguments_of_fit_that_partitions_cannot_take_are_refused(arguments):
    X, y, _ = draw(50)
    for kind in (DaskSymmetricBoostingRegressor, DaskSymmetricBoostingClassifier):
        model = kind(**SHORT)
        with pytest.raises(ValueError, match=f"{next(iter(arguments))} .*not supported on Dask"):
            model.fit(in_chunks(X, (25, 25)), in_chunks(y, (25, 25)), **arguments)
        assert not hasattr(model, "trees_")
    model = DaskSymmetricBoostingClassifier(**SHORT, class_weight="balanced")
    with pytest.raises(ValueError, match="class_weight is not supported on Dask"):
        model.fit(in_chunks(X, (25, 25)), in_chunks(y > 0, (25, 25)))


def test_bad_data_are_refused():
    X, y, weight = draw(50)
    model = DaskSymmetricBoostingRegressor(**SHORT)
    chunks = in_chunks(X, (25, 25))
    with pytest.raises(ValueError, match="rows"):
        model.fit(chunks, in_chunks(y[:40], (20, 20)))
    with pytest.raises(ValueError, match="Negative"):
        model.fit(chunks, in_chunks(y, (25, 25)), sample_weight=in_chunks(-weight, (25, 25)))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(chunks, in_chunks(np.where(y > 1, np.nan, y), (25, 25)))
    with pytest.raises(ValueError, match=r"y holds text \('1\.x'\), but a regressor takes numbers"):
        model.fit(chunks, in_chunks(np.array(["1.5", "1.x"] * 25), (25, 25)))
    with pytest.raises(ValueError, match="no samples"):
        model.fit(in_chunks(X[:0], (0,)), in_chunks(y[:0], (0,)))
    with pytest.raises(ValueError, match="y must have the targets of X"):
        model.fit(chunks, None)
    with pytest.raises(ValueError, match="y must have a value for each row"):
        model.fit(chunks, 3.0)
    for unsuitable in (X.tolist(), None, "X"):
        with pytest.raises(TypeError, match="X must be a Dask array or data frame, or an array or frame in memory"):
            model.fit(unsuitable, y)
    assert not hasattr(model, "trees_")


@pytest.mark.parametrize("n_threads", [1, 2])
def test_many_workers(n_threads):
    """Fourteen of them exchange in three steps and more; here they share a process."""
    X, y, weight = draw()
    X_eval, y_eval, _ = draw(50, seed=1)
    local = SymmetricBoostingRegressor(**SHORT).fit(X, y, weight, eval_set=(X_eval, y_eval))
    with (
        LocalCluster(
            n_workers=14, threads_per_worker=n_threads, processes=False, dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
        client.as_current(),
    ):
        model = DaskSymmetricBoostingRegressor(**SHORT).fit(
            in_chunks(X, (40,) * 15), in_chunks(y, (40,) * 15), in_chunks(weight, (40,) * 15),
            eval_set=(in_chunks(X_eval, (25, 25)), in_chunks(y_eval, (25, 25))),
        )
    assert_same_model(model, local)
    np.testing.assert_allclose(model.validation_score_, local.validation_score_, rtol=1e-12)


def test_a_round_moves_the_bytes_of_the_formula(client):
    """docs/algorithms/distributed.md's B(l): what the second of two workers sends to the first."""
    X, y, _ = draw(2000, n_features=12)
    X = np.nan_to_num(X)
    client.wait_for_workers(2, timeout=60)

    def count_messages():
        from fctree.dask.collective import Collective

        send, Collective.counted = Collective.send, 0

        def send_and_count(self, rank, arrays):
            if self.rank == 1:
                Collective.counted += len(pickle.dumps(arrays))
            send(self, rank, arrays)

        Collective.send = send_and_count

    def answered():
        from fctree.dask.collective import Collective

        Collective.counted, n = 0, Collective.counted
        return n

    client.run(count_messages)
    counted = {}
    for n_rounds in (1, 6):
        model = DaskSymmetricBoostingRegressor(max_iter=n_rounds, random_state=0)
        model.fit(in_chunks(X, (1000, 1000)), in_chunks(y, (1000, 1000)))
        counted[n_rounds] = sum(client.run(answered).values())
    cells = sum(
        max(len(t) for t in group) + 2
        for group in (model.bin_thresholds_[:6], model.bin_thresholds_[6:])
    )
    formula = 5 * 2 ** (model.max_depth - 1) * 64 * cells
    # Beyond it: 64 leaves' sums of 32 bytes, 2048 counts of exponents of 8, losses, and what pickle
    # adds.
    beyond = counted[6] - counted[1] - formula
    assert 0 < beyond < 5 * (64 * 32 + 2048 * 8 + 8 * 1000 + 64 * cells)
    assert formula > 3_000_000
