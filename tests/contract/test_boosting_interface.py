"""Arguments and results of the boosting estimators besides predictions."""

import pickle
import warnings

import boosters
import numpy as np
import pandas as pd
import pytest
from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

KINDS = [SymmetricBoostingRegressor, SymmetricBoostingClassifier]
SMALL = {"max_iter": 6, "max_depth": 3, "random_state": 0}


def table(kind, n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = X[:, 0] + 0.1 * rng.standard_normal(n)
    return X, y if kind is SymmetricBoostingRegressor else np.array(["a", "b"])[(y > 0).astype(int)]


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_predict_and_go_on_alike(kind, protocol):
    X, y = table(kind)
    model = kind(**SMALL, warm_start=True).fit(X, y)
    copy = pickle.loads(pickle.dumps(model, protocol))
    assert copy.predict(X).tobytes() == model.predict(X).tobytes()
    for one in (model, copy):
        one.set_params(max_iter=11).fit(X, y)
    assert copy.trees_.leaf_values.tobytes() == model.trees_.leaf_values.tobytes()


def test_clones_are_unfitted_and_fit_alike(kind):
    X, y = table(kind)
    model = kind(**SMALL, monotonic_cst=[1, 0, 0], subsample=0.5).fit(X, y)
    copy = clone(model)
    assert copy.get_params() == model.get_params() and not hasattr(copy, "trees_")
    assert copy.fit(X, y).predict(X).tobytes() == model.predict(X).tobytes()


def test_forms_of_eval_set(kind):
    X, y = table(kind)
    Z, z = table(kind, 50, seed=1)
    ones = np.ones(50)
    expected = kind(**SMALL).fit(X, y, eval_set=(Z, z)).validation_score_
    assert expected.shape == (7,) and np.isfinite(expected).all()
    for same in ((Z, z, None), (Z, z, ones), [(Z, z)], [(Z, z, ones)], (Z.tolist(), list(z))):
        scores = kind(**SMALL).fit(X, y, eval_set=same).validation_score_
        np.testing.assert_allclose(scores, expected, rtol=1e-12)
    weight = np.arange(50) < 20
    np.testing.assert_allclose(
        kind(**SMALL).fit(X, y, eval_set=(Z, z, weight)).validation_score_,
        kind(**SMALL).fit(X, y, eval_set=(Z[:20], z[:20])).validation_score_, rtol=1e-12)
    without = kind(**SMALL).fit(X, y)
    assert without.validation_score_.shape == (0,) and without.train_score_.shape == (7,)


def test_eval_set_does_not_change_the_trees(kind):
    X, y = table(kind)
    with_it = kind(**SMALL).fit(X, y, eval_set=table(kind, 50, seed=1))
    without = kind(**SMALL).fit(X, y)
    assert with_it.trees_.leaf_values.tobytes() == without.trees_.leaf_values.tobytes()


def test_other_forms_of_eval_set_are_refused(kind):
    X, y = table(kind)
    for bad in ((X,), [X, y], [(X, y), X], [], X, (X, y, None, None, None), "XY", {"X": X}, 5,
                ((X, y), (X, y)), ((X, y),), ((X, y, None),) * 4):
        with pytest.raises(ValueError, match="eval_set must be a tuple"):
            kind(**SMALL).fit(X, y, eval_set=bad)
    assert kind(**SMALL).fit(X, y, eval_set=(tuple(map(tuple, X)), tuple(y))).validation_score_.shape == (7,)
    for bad, message in (((X,), "got tuple of 1"), (((X, y), (X, y)), "list of such.*got tuple of 2 tuples"),
                         ([], "one at least, got list of 0"),
                         ((X, y[:-1]), "inconsistent numbers of samples"),
                         ((X[:, :2], y), "2 features.*expecting 3"),
                         ((X, y, -np.ones(120)), "Negative values"),
                         ((X, y, np.zeros(120)), "zero"),
                         ((X[:0], y[:0]), "0 sample")):
        with pytest.raises(ValueError, match=message):
            kind(**SMALL).fit(X, y, eval_set=bad)


def test_fits_are_quiet_unless_told(kind, capfd):
    X, y = table(kind)
    kind(**SMALL).fit(X, y, eval_set=(X, y)).predict(X)
    assert capfd.readouterr() == ("", "")


def test_a_line_a_round(kind, capsys):
    X, y = table(kind)
    model = kind(**SMALL, verbose=2).fit(X, y, eval_set=table(kind, 50, seed=1))
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"[{i}] train loss {-model.train_score_[i]:.6g}, "
        f"validation loss {-model.validation_score_[i]:.6g}" for i in range(1, 7)]
    model = kind(**SMALL, verbose=2).fit(X, y)
    assert capsys.readouterr().out.splitlines()[-1] == (
        f"[6] train loss {-model.train_score_[6]:.6g}")
    kind(**SMALL, verbose=4).fit(X, y)
    assert [line[:4] for line in capsys.readouterr().out.splitlines()] == ["[4] "]


def test_a_progress_bar(kind, capsys):
    X, y = table(kind)
    shown = kind(**SMALL, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == "" and kind.__name__ in err and "6/6" in err and "train loss" in err
    quiet = kind(**SMALL).fit(X, y)
    assert shown.trees_.leaf_values.tobytes() == quiet.trees_.leaf_values.tobytes()


def test_names_of_features(kind):
    X, y = table(kind)
    frame = pd.DataFrame(X, columns=["p", "q", "r"])
    model = kind(**SMALL).fit(frame, y)
    np.testing.assert_array_equal(model.feature_names_in_, ["p", "q", "r"])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(model.predict(X), model.predict(frame))
    for method in ("predict", "apply"):
        with pytest.raises(ValueError, match="feature names should match"):
            getattr(model, method)(frame[["q", "p", "r"]])
        with pytest.raises(ValueError, match="feature names should match"):
            getattr(model, method)(frame.rename(columns={"p": "s"}))
    with pytest.raises(ValueError, match="feature names should match"):
        kind(**SMALL).fit(frame, y, eval_set=(frame[["q", "p", "r"]], y))
    assert not hasattr(kind(**SMALL).fit(X, y), "feature_names_in_")
    with pytest.warns(UserWarning, match="fitted without feature names"):
        kind(**SMALL).fit(X, y).predict(frame)


def test_warm_start_refuses_fewer_rounds_and_other_labels(kind):
    X, y = table(kind)
    model = kind(**SMALL, warm_start=True).fit(X, y)
    before = model.predict(X).tobytes()
    with pytest.raises(ValueError, match="max_iter=5 must be at least the 6 rounds"):
        model.set_params(max_iter=5).fit(X, y)
    with pytest.raises(ValueError, match="2 features.*expecting 3"):
        model.set_params(max_iter=9).fit(X[:, :2], y)
    if kind is SymmetricBoostingClassifier:
        with pytest.raises(ValueError, match="labels that the training data lack.*c"):
            model.fit(X, np.where(X[:, 1] > 1, "c", y))
    else:
        with pytest.raises(ValueError, match="2 outputs, but 1 were expected"):
            model.fit(X, np.column_stack([y, y]))
    assert model.predict(X).tobytes() == before and model.n_iter_ == 6


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("kind", boosters.REGRESSORS)
def test_training_that_diverges_warns(kind, loss):
    X, y = boosters.table(kind)
    y = np.exp(y)
    with pytest.warns(ConvergenceWarning, match="training diverged.*lower learning_rate"):
        kind(loss=loss, learning_rate=5.0, max_iter=30, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(loss=loss, random_state=0).fit(X, y)


@pytest.mark.parametrize("kind", boosters.REGRESSORS)
def test_training_with_nothing_to_learn_does_not_warn(kind):
    X, _ = boosters.table(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y in (np.zeros(150), np.full(150, 0.1), 1e9 + 1e-6 * X[:, 0], np.r_[1.0, np.zeros(149)]):
            kind(random_state=0).fit(X, y)
