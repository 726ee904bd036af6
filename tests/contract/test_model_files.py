"""save_model and load_model: what is read is what was written, bit by bit."""

import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import fctree
import numpy as np
import pandas as pd
import pytest
from estimators import public_estimators
from fctree import (
    CurvatureTreeRegressor,
    FCODTClassifier,
    FCODTRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    load_model,
    save_model,
)
from fctree.persistence import archive
from fctree.persistence.registry import ESTIMATORS
from reference.tree_comparison import smooth_table
from fctree._tables.encoder import TableEncoder
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, Y = smooth_table(150, 5, 2, seed=50)
y = Y[:, 0]
LABELS = np.searchsorted(np.quantile(y, [0.3, 0.7]), y)
WORDS = np.array(["low", "middle", "high"])[LABELS]
HOLES = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
NAMED = pd.DataFrame(X, columns=["a", "b", "c", "äö", "e e"])

MODELS = {
    "oblique": (FCODTRegressor(), X, y),
    "oblique, options": (
        CurvatureTreeRegressor(alpha="loo", directions=("ridge", "axis"), max_depth=None),
        NAMED,
        y,
    ),
    "oblique, outputs": (FCODTRegressor(max_depth=np.int64(4)), X, Y),
    "oblique, constant leaves": (FCODTRegressor(leaf_model="constant"), X, y),
    "oblique, one leaf": (FCODTRegressor(max_depth=0), X, y),
    "oblique, bool classes": (FCODTClassifier(), X, y > np.median(y)),
    "oblique, int classes": (FCODTClassifier(alpha=0.1), NAMED, LABELS * 10 - 7),
    "oblique, text classes": (FCODTClassifier(), X, WORDS),
    "oblique, object classes": (FCODTClassifier(), X, WORDS.astype(object)),
    "oblique, one class": (FCODTClassifier(), X, np.full(150, "all")),
    "boosting": (SymmetricBoostingRegressor(max_iter=12), X, y),
    "boosting, missing values": (SymmetricBoostingRegressor(max_iter=9), HOLES, y),
    "boosting, one precision less": (
        SymmetricBoostingRegressor(max_iter=5, loss="quantile", quantile=0.3),
        X.astype(np.float32),
        y,
    ),
    "boosting, outputs": (SymmetricBoostingRegressor(max_iter=6), X, Y),
    "boosting, logarithmic link": (
        SymmetricBoostingRegressor(max_iter=5, loss="poisson", monotonic_cst={"a": 1}),
        NAMED,
        np.abs(y),
    ),
    "boosting, posterior": (
        SymmetricBoostingRegressor(max_iter=8, posterior_samples=3, max_depth=3),
        X,
        y,
    ),
    "boosting, posterior of outputs": (
        SymmetricBoostingRegressor(max_iter=4, posterior_samples=2, max_depth=2),
        X,
        Y,
    ),
    "boosting, early stopping": (
        SymmetricBoostingRegressor(max_iter=40, early_stopping=True, n_iter_no_change=2),
        X,
        y,
    ),
    "boosting, nothing to split": (SymmetricBoostingRegressor(max_iter=3), X[:, :1] * 0, y),
    "boosting, bool classes": (SymmetricBoostingClassifier(max_iter=7), X, y > np.median(y)),
    "boosting, text classes": (SymmetricBoostingClassifier(max_iter=7), NAMED, WORDS),
    "boosting, one class": (SymmetricBoostingClassifier(max_iter=2), X, np.zeros(150, int)),
}


@pytest.fixture(params=MODELS)
def fitted(request):
    model, features, targets = MODELS[request.param]
    return clone(model).set_params(random_state=3).fit(features, targets), features


def assert_same_values(read, written):
    """Equal values of equal types, arrays bit by bit."""
    assert type(read) is type(written)
    if isinstance(written, np.ndarray):
        assert (read.dtype, read.shape) == (written.dtype, written.shape)
        if written.dtype == object:
            assert_same_values(read.tolist(), written.tolist())
        else:
            assert read.tobytes() == written.tobytes()
    elif isinstance(written, (list, tuple)):
        assert len(read) == len(written)
        for pair in zip(read, written, strict=True):
            assert_same_values(*pair)
    elif isinstance(written, dict):
        assert list(read) == list(written)
        assert_same_values(list(read.values()), list(written.values()))
    elif isinstance(
        written, (fctree.ObliqueTree, fctree.SymmetricTrees, TableEncoder, BaseEstimator)
    ):
        assert_same_values(vars(read), vars(written))
    else:
        assert read == written


def round_trip(model, tmp_path):
    path = tmp_path / "model"
    save_model(model, path)
    return load_model(path)


def test_everything_is_as_it_was(fitted, tmp_path):
    model, features = fitted
    loaded = round_trip(model, tmp_path)
    assert_same_values(loaded, model)
    assert loaded.get_params() == model.get_params()
    for method in ("predict", "predict_proba", "decision_function", "apply"):
        if hasattr(model, method):
            before, after = getattr(model, method)(features), getattr(loaded, method)(features)
            assert_same_values(after, before)
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)
    if getattr(model, "posterior_samples", 0):
        for before, after in zip(
            model.predict(X, return_std=True), loaded.predict(X, return_std=True), strict=True
        ):
            assert_same_values(after, before)


def test_a_loaded_model_can_be_fitted_and_saved_again(fitted, tmp_path):
    model, features = fitted
    loaded = round_trip(round_trip(model, tmp_path), tmp_path)
    assert_same_values(loaded, model)
    targets = model.predict(features)
    before, after = clone(model).fit(features, targets), loaded.fit(features, targets)
    assert_same_values(after.predict(features), before.predict(features))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_unfitted(name, tmp_path):
    model = ESTIMATORS[name].cls(n_jobs=2)
    loaded = round_trip(model, tmp_path)
    assert_same_values(loaded, model)
    loaded.fit(X, LABELS)


def test_each_estimator_can_be_stored():
    assert public_estimators().keys() == ESTIMATORS.keys()


@pytest.mark.parametrize("options", [{}, {"subsample": 0.5}])
@pytest.mark.parametrize("cls", [SymmetricBoostingRegressor, SymmetricBoostingClassifier])
def test_warm_start_goes_on_as_without_a_file(cls, options, tmp_path):
    targets = y if cls is SymmetricBoostingRegressor else WORDS
    model = cls(max_iter=6, warm_start=True, random_state=2, **options).fit(HOLES, targets)
    loaded = round_trip(model, tmp_path)
    for each in (model, loaded):
        each.set_params(max_iter=15).fit(HOLES, targets)
    assert loaded.n_iter_ == 15
    assert_same_values(loaded, model)


@pytest.mark.parametrize("kind", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_random_streams_go_on_where_they_were(kind, tmp_path):
    state = np.random.RandomState(getattr(np.random, kind)(5))
    state.standard_normal(7)  # an odd number: half a pair is kept
    generator = np.random.Generator(getattr(np.random, kind)(6))
    generator.integers(10, size=3, dtype=np.int32)  # half a word is kept
    model = FCODTRegressor(random_state=state)
    model.generator = generator
    loaded = round_trip(model, tmp_path)
    assert type(loaded.random_state) is np.random.RandomState
    for draw in ("standard_normal", "random_sample"):
        expected = getattr(state, draw)(1000)
        np.testing.assert_array_equal(getattr(loaded.random_state, draw)(1000), expected)
    expected = generator.integers(10, size=1000, dtype=np.int32)
    drawn = loaded.generator.integers(10, size=1000, dtype=np.int32)
    np.testing.assert_array_equal(drawn, expected)


def test_saving_draws_nothing(tmp_path):
    state = np.random.RandomState(0)
    save_model(SymmetricBoostingRegressor(random_state=state), tmp_path / "model")
    assert state.randint(2**31) == np.random.RandomState(0).randint(2**31)


def test_equal_models_give_equal_files(fitted, tmp_path):
    model, _ = fitted
    for name in ("first", "second"):
        save_model(model, tmp_path / name)
    save_model(load_model(tmp_path / "first"), tmp_path / "third")
    first, second, third = ((tmp_path / n).read_bytes() for n in ("first", "second", "third"))
    assert first == second == third


def test_numpy_reads_the_file(tmp_path):
    model = FCODTRegressor().fit(X, y)
    save_model(model, tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as content:
        header = json.loads(content["header.json"])
        fields = header["attributes"]["tree_"]["fields"]
        coef = content[f"arrays/{fields['coef']['number']}"]
    assert (header["class"], header["format_version"]) == ("FCODTRegressor", 2)
    np.testing.assert_array_equal(coef, model.tree_.coef)


def test_an_array_held_twice_is_written_once(tmp_path):
    model = SymmetricBoostingRegressor(max_iter=100, max_depth=8).fit(X, y)
    model.posterior_trees_ = [model.trees_, model.trees_]
    save_model(model, tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 1.2 * model.trees_.leaf_values.nbytes + 50_000
    loaded = load_model(tmp_path / "model")
    assert np.shares_memory(
        loaded.trees_.leaf_values, loaded.posterior_trees_[1].leaf_values)


def test_another_process_reads_it(tmp_path):
    model = SymmetricBoostingRegressor(max_iter=5).fit(X, y)
    save_model(model, tmp_path / "model")
    np.save(tmp_path / "X.npy", X)
    code = (
        "import sys, numpy as np, fctree; "
        "np.save(sys.argv[3], fctree.load_model(sys.argv[1]).predict(np.load(sys.argv[2])))"
    )
    names = [str(tmp_path / name) for name in ("model", "X.npy", "predicted.npy")]
    subprocess.run([sys.executable, "-c", code, *names], check=True, timeout=120)
    np.testing.assert_array_equal(np.load(names[2]), model.predict(X))


# Paths ----------------------------------------------------------------------------------


@pytest.mark.parametrize("convert", [str, Path, lambda path: os.fsencode(path)])
@pytest.mark.parametrize("name", ["model", "model.fctree", "mödel.npz", "two words.zip"])
def test_the_path_is_used_as_it_is(convert, name, tmp_path):
    path = tmp_path / name
    save_model(FCODTRegressor(), convert(path))
    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert type(load_model(convert(path))) is FCODTRegressor


def test_an_open_file_takes_a_model_and_gives_it_back(fitted, tmp_path):
    model, X = fitted
    stream, path = io.BytesIO(), tmp_path / "model"
    stream.write(b"before")
    save_model(model, stream)
    save_model(model, path)
    assert stream.getvalue() == b"before" + path.read_bytes()
    stream.seek(6)
    loaded = load_model(stream)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with open(path, "rb") as file:
        np.testing.assert_array_equal(load_model(file).predict(X), model.predict(X))
    with pytest.raises(ValueError, match="it is not a model file"):
        load_model(io.BytesIO(b""))


def test_a_path_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_model(FCODTRegressor(), "model")
    assert (tmp_path / "model").exists() and type(load_model("model")) is FCODTRegressor


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_mode_and_links_are_kept(tmp_path):
    path, link = tmp_path / "model", tmp_path / "link"
    umask = os.umask(0o027)
    try:
        save_model(FCODTRegressor(), path)
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    link.symlink_to(path)
    save_model(FCODTClassifier(), link)
    assert link.is_symlink() and type(load_model(path)) is FCODTClassifier
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_errors_of_the_file_system(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        load_model(tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match="absent"):
        save_model(FCODTRegressor(), tmp_path / "absent" / "model")
    for act in (load_model, lambda path: save_model(FCODTRegressor(), path)):
        with pytest.raises((IsADirectoryError, PermissionError)):
            act(tmp_path)
        with pytest.raises(TypeError):
            act(3)
        with pytest.raises(FileNotFoundError):
            act("")
    with pytest.raises(IsADirectoryError):
        save_model(FCODTRegressor(), f"{tmp_path}/absent/")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="regular file"):
        load_model(tmp_path / "pipe")
    with pytest.raises(ValueError, match="regular file"):
        save_model(FCODTRegressor(), tmp_path / "pipe")


@pytest.mark.parametrize("step", ["_write_members", "_digest", "os.replace", "os.fsync"])
@pytest.mark.parametrize("error", [OSError("no space left"), KeyboardInterrupt()])
def test_a_failed_save_leaves_what_was_there(step, error, tmp_path, monkeypatch):
    save_model(FCODTRegressor(), tmp_path / "model")

    def fail(*args, **kwargs):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(f"{archive.__name__}.{step}", fail)
        with pytest.raises(type(error)):
            save_model(FCODTClassifier(), tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert type(load_model(tmp_path / "model")) is FCODTRegressor


# What cannot be saved -------------------------------------------------------------------


class Child(FCODTRegressor):
    pass


@pytest.mark.parametrize(
    "thing",
    [make_pipeline(StandardScaler(), FCODTRegressor()), Ridge(), Child(), FCODTRegressor, None, 3],
    ids=lambda thing: type(thing).__name__,
)
def test_other_objects_are_refused(thing, tmp_path):
    with pytest.raises(TypeError, match="estimators of fctree itself"):
        save_model(thing, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "value, message",
    [
        (lambda: None, "function"),
        ([1, {"key": object()}], r"attribute note\[1\]\['key'\]"),
        (np.zeros(2, dtype=[("a", int)]), "type"),
        (np.ma.masked_array([1.0], [True]), "MaskedArray"),
        (np.array([1, print], dtype=object), r"note\[1\]"),
        ({1, b"bytes"}, "bytes"),
        (b"bytes", "bytes"),
        (1 << 5000, "bits"),
        (np.random, "module"),
        (np.void(b"bytes"), "type"),
        (np.random.Generator(type("Own", (np.random.PCG64,), {})(0)), "not one of NumPy's"),
    ],
)
def test_values_that_no_file_holds_are_named(value, message, tmp_path):
    model = FCODTRegressor()
    model.note = value
    with pytest.raises(TypeError, match="note") as caught:
        save_model(model, tmp_path / "model")
    assert caught.match(message)
    with pytest.raises(TypeError, match="the parameter alpha"):
        save_model(FCODTRegressor(alpha=value), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_endless_values_and_hidden_methods_are_refused(tmp_path):
    model = FCODTRegressor()
    model.note = []
    model.note.append(model.note)
    with pytest.raises(TypeError, match="note.* nested"):
        save_model(model, tmp_path / "model")
    model.note, model.predict = None, "hidden"
    with pytest.raises(TypeError, match="'predict'"):
        save_model(model, tmp_path / "model")


def test_a_model_that_was_broken_by_hand_is_not_written(tmp_path):
    model = FCODTRegressor().fit(X, y)
    save_model(model, tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    vars(model.tree_)["children_left"] = model.tree_.children_left.copy()
    model.tree_.children_left[0] = 10_000
    with pytest.raises(ValueError, match="child"):
        save_model(model, tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == before
