"""Interface of soft tree estimators beyond scikit-learn's checks."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from fctree import SoftTreeClassifier, SoftTreeRegressor, load_model, save_model
from reference.tree_comparison import smooth_table
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

X, Y = smooth_table(300, 4, 2, seed=7)
WORDS = np.array(["high", "low", "middle"])[np.digitize(Y[:, 0], np.quantile(Y[:, 0], [0.3, 0.7]))]
LAST_WEIGHTS = {f"last_{name}" for name in ("split_weights", "leaf_weights", "running_mean", "running_variance")}
FEW = {"n_trees": 4, "depth": 3, "max_epochs": 8, "learning_rate": 0.05, "batch_size": 64}

MODELS = {
    "regressor": (SoftTreeRegressor(**FEW, random_state=0), Y[:, 0]),
    "outputs": (SoftTreeRegressor(**FEW, random_state=0), Y),
    "two classes": (SoftTreeClassifier(**FEW, random_state=0), WORDS == "low"),
    "three classes": (SoftTreeClassifier(**FEW, random_state=0), WORDS),
    "logistic": (SoftTreeRegressor(**FEW, routing="logistic", random_state=0), Y[:, 0]),
    "theory": (SoftTreeRegressor(**FEW, routing="erf", initialization="ntk", random_state=0), Y),
    "stopped": (SoftTreeRegressor(**FEW, early_stopping=True, random_state=0), Y[:, 0]),
}


@pytest.fixture(params=MODELS)
def model_and_targets(request):
    model, targets = MODELS[request.param]
    return clone(model), targets


def output_of(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def by_hand(model, X):
    """Predictions from the public attributes alone, in NumPy."""
    X = (X - model.feature_means_) / np.sqrt(model.feature_variances_)
    total = np.zeros((len(X), model.n_outputs_))
    for tree in range(model.n_trees):
        t = X @ model.split_weights_[tree].T + model.split_intercepts_[tree]
        if model.routing == "logistic":
            share = expit(6 * t / model.gamma)
        else:
            u = np.clip(t / model.gamma, -0.5, 0.5)
            share = 0.5 + 1.5 * u - 2 * u**3
        reach = [np.ones(len(X))]
        for node in range(t.shape[1]):
            reach += [reach[node] * share[:, node], reach[node] * (1 - share[:, node])]
        total += np.stack(reach[t.shape[1] :], axis=1) @ model.leaf_weights_[tree]
    return model.baseline_ + model.output_scale_ * total


@pytest.mark.parametrize("name", ["regressor", "outputs", "logistic", "stopped"])
def test_public_arrays_give_the_predictions(name):
    model, targets = MODELS[name]
    model = clone(model).fit(X, targets)
    found = model.predict(X)
    # Float64 sums in another order.
    np.testing.assert_allclose(found.reshape(len(X), -1), by_hand(model, X), rtol=1e-10, atol=1e-12)


def test_shapes():
    model = SoftTreeRegressor(**FEW, random_state=0).fit(X, Y)
    assert model.split_weights_.shape == (4, 7, 4)
    assert model.split_intercepts_.shape == (4, 7)
    assert model.leaf_weights_.shape == (4, 8, 2)
    assert model.n_iter_ == len(model.loss_curve_) == len(model.reachable_leaves_curve_) == 8
    counts = model.reachable_leaves(X)
    assert counts.shape == (300, 4) and counts.min() >= 1 and counts.max() <= 8
    assert model.predict(X).shape == (300, 2)
    assert not model.validation_loss_curve_


def test_not_fitted_has_no_weights():
    for name in ("split_weights_", "leaf_weights_", "split_intercepts_", "feature_means_"):
        assert not hasattr(SoftTreeRegressor(), name)


@pytest.mark.parametrize("name", MODELS)
def test_warm_start_is_exact(name):
    model, targets = clone(MODELS[name][0]), MODELS[name][1]
    at_once = clone(model).fit(X, targets)
    model.set_params(max_epochs=3, warm_start=True).fit(X, targets)
    model.set_params(max_epochs=8).fit(X, targets)
    np.testing.assert_array_equal(output_of(model, X), output_of(at_once, X))
    assert model.loss_curve_ == at_once.loss_curve_
    assert model.n_iter_ == 8
    with pytest.raises(ValueError, match="max_epochs=7 must be at least the 8 epochs"):
        model.set_params(max_epochs=7).fit(X, targets)


def read_back(model, path):
    save_model(model, path)
    return load_model(path)


OVERFITTING = SoftTreeRegressor(**{**FEW, "learning_rate": 0.2, "max_epochs": 60}, early_stopping=True, n_iter_no_change=8,
                                warm_start=True, random_state=0)
NOISY = Y[:, 0] + Y.std() * np.random.default_rng(0).standard_normal(300)


@pytest.mark.parametrize("first", [1, 10, 13, 60])
@pytest.mark.parametrize("kept", [lambda model, path: model, lambda model, path: pickle.loads(pickle.dumps(model)), read_back],
                         ids=["as it is", "pickle", "file"])
@pytest.mark.parametrize("optimizer", ["adam", "gradient_descent"])
def test_warm_start_after_early_stopping_is_exact(optimizer, kept, first, tmp_path):
    at_once = clone(OVERFITTING).set_params(optimizer=optimizer).fit(X, NOISY)
    model = clone(at_once).set_params(max_epochs=first).fit(X, NOISY)
    for _ in range(2):  # what has stopped stays as it is
        model = kept(model, tmp_path / "model").set_params(max_epochs=60).fit(X, NOISY)
        np.testing.assert_array_equal(model.predict(X), at_once.predict(X))
        for curve in ("loss_curve_", "validation_loss_curve_", "reachable_leaves_curve_"):
            assert getattr(model, curve) == getattr(at_once, curve)
    if optimizer == "adam":
        assert np.argmin(at_once.validation_loss_curve_) + 9 <= at_once.n_iter_ < 60


def test_last_weights_are_kept_where_they_are_not_the_best():
    first = clone(OVERFITTING).set_params(max_epochs=1).fit(X, NOISY)
    assert not LAST_WEIGHTS & first._state.keys()
    stopped = clone(OVERFITTING).fit(X, NOISY)
    assert LAST_WEIGHTS <= stopped._state.keys()
    assert not LAST_WEIGHTS & stopped.partial_fit(X, NOISY)._state.keys()


def test_more_patience_trains_on():
    patient = clone(OVERFITTING).set_params(n_iter_no_change=20).fit(X, NOISY)
    model = clone(OVERFITTING).fit(X, NOISY)
    assert model.n_iter_ < patient.n_iter_ < 60
    model.set_params(n_iter_no_change=20).fit(X, NOISY)
    np.testing.assert_array_equal(model.predict(X), patient.predict(X))


def test_early_stopping_starts_anew_on_other_samples():
    model = clone(OVERFITTING).fit(X[:200], NOISY[:200])
    n_iter = model.n_iter_
    for samples in (X[100:], NOISY[100:]), (X, NOISY):
        model.fit(*samples)
        assert n_iter < model.n_iter_ <= 60
        n_iter = model.n_iter_


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_training_in_parts_on_other_samples_is_exact(noise):
    """Early stopping goes by the losses on these samples, not by those on the first ones."""
    targets = Y[:, 0] + noise * NOISY
    first = clone(OVERFITTING).set_params(max_epochs=8).fit(X, Y[:, 0] + 0.5 * NOISY)
    at_once = copy.deepcopy(first).set_params(max_epochs=60).fit(X, targets)
    model = copy.deepcopy(first)
    for max_epochs in (9, 12, 60, 60):
        model.set_params(max_epochs=max(max_epochs, model.n_iter_)).fit(X, targets)
    assert model.validation_loss_curve_ == at_once.validation_loss_curve_
    np.testing.assert_array_equal(model.predict(X), at_once.predict(X))


def test_moments_of_batches_cannot_be_found_later():
    model = SoftTreeRegressor(**FEW, batch_norm=False, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="moments are unknown"):
        model.set_params(batch_norm=True, max_epochs=9).fit(X, Y)
    model.set_params(batch_norm=False).fit(X, Y)


def test_early_stopping_keeps_what_it_starts_from():
    model = clone(OVERFITTING).set_params(early_stopping=False, max_epochs=15).fit(X, NOISY)
    before = model.predict(X)
    model.set_params(early_stopping=True, learning_rate=3.0, max_epochs=20).fit(X, NOISY)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("change", [
    {"depth": 4}, {"n_trees": 5}, {"fit_intercept": False}, {"architecture": "decision_list"},
    {"architecture": {1: 1, 4: 5, 5: 6}},
])
def test_warm_start_keeps_the_shape(change):
    model = SoftTreeRegressor(**FEW, warm_start=True).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="trees to continue have the shape"):
        model.set_params(**change, max_epochs=9).fit(X, Y)
    np.testing.assert_array_equal(model.set_params(fit_intercept=True).predict(X), before)


@pytest.mark.parametrize("name", ["regressor", "two classes", "three classes"])
def test_warm_start_has_no_other_initialization(name):
    """It is over: the factor of the trees stays, and so does training."""
    plain, targets = clone(MODELS[name][0]), MODELS[name][1]
    changed = clone(plain)
    for model in (plain, changed):
        model.set_params(max_epochs=3, warm_start=True).fit(X, targets)
    plain.set_params(max_epochs=8).fit(X, targets)
    changed.set_params(max_epochs=8, initialization="ntk").fit(X, targets)
    np.testing.assert_array_equal(output_of(changed, X), output_of(plain, X))


@pytest.mark.parametrize("options", [{}, {"early_stopping": True}, {"optimizer": "gradient_descent", "batch_size": 300}])
@pytest.mark.parametrize("name", ["regressor", "outputs", "two classes", "three classes"])
def test_training_that_diverges_warns(name, options):
    model, targets = clone(MODELS[name][0]), MODELS[name][1]
    with pytest.warns(ConvergenceWarning, match="training diverged.*lower learning_rate"):
        model.set_params(learning_rate=1000.0, **options).fit(X, targets)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(learning_rate=0.05).fit(X, targets)


@pytest.mark.parametrize("name", ["regressor", "outputs", "two classes", "three classes"])
def test_a_loss_half_above_that_of_the_constant_model_is_divergence(name, monkeypatch):
    starts = []
    monkeypatch.setattr("fctree.soft.base.warn_if_diverged", lambda start, end: starts.append(start))
    model, targets = clone(MODELS[name][0]), MODELS[name][1]
    model.fit(X, targets)
    shares = np.unique(targets, return_counts=True)[1] / len(X) if hasattr(model, "classes_") else None
    variances = 1.0 if targets.ndim == 1 else targets.shape[1]  # in units of their own
    np.testing.assert_allclose(starts, [variances if shares is None else -shares @ np.log(shares)])


@pytest.mark.parametrize("targets", [np.ones(300), np.r_[1.0, np.zeros(299)]])
@pytest.mark.parametrize("cls", [SoftTreeRegressor, SoftTreeClassifier])
def test_training_with_nothing_to_learn_does_not_warn(cls, targets):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cls(**FEW, random_state=0).fit(X, targets)


def test_partial_fit_is_an_epoch():
    for model, targets in (MODELS["regressor"], MODELS["three classes"]):
        at_once = clone(model).fit(X, targets)
        step_by_step = clone(model)
        for _ in range(8):
            step_by_step.partial_fit(X, targets)
        np.testing.assert_array_equal(output_of(step_by_step, X), output_of(at_once, X))


def test_partial_fit_knows_classes_to_come():
    model = SoftTreeClassifier(**FEW, random_state=0)
    first = WORDS != "middle"
    model.partial_fit(X[first], WORDS[first], classes=["low", "middle", "high"])
    assert model.predict_proba(X).shape == (300, 3)
    model.partial_fit(X, WORDS)
    with pytest.raises(ValueError, match="not those of before"):
        model.partial_fit(X, WORDS, classes=["low", "high"])
    with pytest.raises(ValueError, match="labels that the training data lack"):
        model.partial_fit(X, np.where(first, WORDS, "other"))
    # A first call without them has those that it sees.
    plain = SoftTreeClassifier(**FEW).partial_fit(X[first], WORDS[first])
    assert list(plain.classes_) == ["high", "low"]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_to_come_are_learned(n_classes):
    """Whatever weights the first part has; it counts each of them as one sample."""
    y = np.digitize(X[:, 0], [0.0, 0.5][: n_classes - 1])
    first = np.flatnonzero(y == 0)[:20]
    for weight in (1.0, 8.0):
        model = SoftTreeClassifier(random_state=0, learning_rate=0.05)
        model.partial_fit(X[first], y[first], classes=range(n_classes), sample_weight=np.full(20, weight))
        odds = np.exp(model.baseline_[0] - (model.baseline_[1] if n_classes > 2 else 0.0))
        assert odds == pytest.approx(20.0 if n_classes > 2 else 1 / 20)
        for _ in range(40):
            model.partial_fit(X, y)
        assert model.score(X, y) > 0.8


@pytest.mark.parametrize("n_first", [1, 50])
def test_targets_that_are_constant_at_first_are_learned(n_first):
    """Whatever their unit is: that of each output comes from the first part that is not constant."""
    units = np.array([1e5, 1e-5])
    targets = units * (Y + 30.0)
    model = SoftTreeRegressor(**FEW, l2_leaf_reg=0.0, random_state=0)
    model.partial_fit(X[:n_first], np.tile(targets[0], (n_first, 1)))
    np.testing.assert_array_equal(model.predict(X[:2]), targets[[0, 0]])
    for _ in range(60):
        model.partial_fit(X, targets)
    assert model.score(X, targets) > 0.8
    warm = SoftTreeRegressor(**FEW, warm_start=True, random_state=0).fit(X, np.tile(targets[0], (300, 1)))
    assert warm.set_params(max_epochs=68).fit(X, targets).score(X, targets) > 0.8


def test_losses_of_the_curve():
    """A batch's loss is that of the model before its step: the first is the baseline's."""
    settings = {**FEW, "batch_size": 300}
    model = SoftTreeRegressor(**settings).fit(X, Y[:, 0])
    assert model.loss_curve_[0] == pytest.approx(1.0)
    model = SoftTreeClassifier(**settings).fit(X, WORDS)
    shares = np.unique(WORDS, return_counts=True)[1] / 300
    assert model.loss_curve_[0] == pytest.approx(log_loss(WORDS, np.tile(shares, (300, 1))))
    assert model.loss_curve_[-1] < 0.95 * model.loss_curve_[0]


def test_early_stopping_keeps_the_best():
    settings = {**FEW, "max_epochs": 400, "learning_rate": 0.1}
    model = SoftTreeRegressor(**settings, early_stopping=True, n_iter_no_change=5, random_state=0)
    model.fit(X, Y[:, 0])
    curve = np.array(model.validation_loss_curve_)
    assert len(curve) == model.n_iter_ < 400
    assert np.argmin(curve) < len(curve) - 1
    # Trained for as many epochs as were best, on the same samples, it is the same model.
    best = int(np.argmin(curve)) + 1
    short = clone(model).set_params(max_epochs=best, n_iter_no_change=400).fit(X, Y[:, 0])
    np.testing.assert_array_equal(short.predict(X), model.predict(X))


def test_training_hardens_the_routing():
    """Fewer leaves are reached as training goes on (figure 2 of the paper)."""
    model = SoftTreeClassifier(n_trees=1, depth=8, gamma=0.5, learning_rate=0.1, max_epochs=60,
                               random_state=0).fit(X, WORDS)
    curve = model.reachable_leaves_curve_
    assert curve[-1] < curve[0] / 2
    assert model.reachable_leaves(X).mean() == pytest.approx(curve[-1], rel=0.5)


def test_float32_stays_float32():
    single = SoftTreeRegressor(**FEW, random_state=0).fit(X.astype(np.float32), Y[:, 0])
    double = SoftTreeRegressor(**FEW, random_state=0).fit(X, Y[:, 0])
    assert single.leaf_weights_.dtype == np.float32 and double.leaf_weights_.dtype == np.float64
    # Adam divides by roots of small numbers: rounding grows over its 40 steps.
    np.testing.assert_allclose(single.predict(X), double.predict(X), atol=0.02 * Y.std())


@pytest.mark.parametrize("verbose", [1, 2])
def test_verbose(verbose, capsys):
    SoftTreeRegressor(**FEW, verbose=verbose).fit(X, Y)
    told = capsys.readouterr()
    assert ("SoftTreeRegressor" in told.err) == (verbose == 1)
    assert told.out.count("train loss") == (8 if verbose == 2 else 0)
    assert "8/8" in told.err or verbose == 2


def test_model_files_and_pickles(model_and_targets, tmp_path):
    model, targets = model_and_targets
    model.fit(X, targets)
    save_model(model, tmp_path / "model")
    for copy in (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert vars(copy).keys() == vars(model).keys()
        np.testing.assert_array_equal(output_of(copy, X), output_of(model, X))
        continued = clone(model).set_params(max_epochs=10).fit(X, targets)
        copy.set_params(warm_start=True, max_epochs=10).fit(X, targets)
        np.testing.assert_array_equal(output_of(copy, X), output_of(continued, X))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("split_weights", np.zeros((4, 7, 4))),
        ("split_weights", np.zeros((4, 6, 5))),
        ("split_weights", np.zeros((4, 7, 5), dtype=np.int64)),
        ("leaf_weights", np.zeros((4, 8, 2))),
        ("leaf_weights", np.zeros((4, 8, 1), dtype=np.float32)),
        ("split_second_moment", np.zeros((4, 7, 4))),
        ("running_mean", np.zeros(3)),
        ("n_epochs", -1),
        ("n_epochs", 2.0),
        ("children", None),
        ("children", np.arange(1, 15).reshape(7, 2)),
        ("children", np.arange(1, 13, dtype=np.int32).reshape(6, 2)),
        ("children", np.arange(0, 14, dtype=np.int32).reshape(7, 2)),
        ("children", np.array([[7, 8], [1, 2], [3, 4], [5, 6], [9, 10], [11, 12], [13, 14]],
                              dtype=np.int32)),  # splits below themselves
        ("children", np.array([[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12], [13, 13]],
                              dtype=np.int32)),
        ("children", np.array([[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12], [13, 2**30]],
                              dtype=np.int32)),
        ("children", np.asfortranarray(np.arange(1, 15, dtype=np.int32).reshape(7, 2))),
        ("split_weights", np.zeros((0, 7, 5))),
        ("split_weights", np.zeros((4, 0, 5))),
        ("more", 1),
        ("routing", "step"),
        ("gamma", 0.0),
        ("gamma", np.inf),
        ("scale", True),
        ("batch_norm", 1),
    ],
)
def test_files_that_do_not_fit_together_are_refused(name, value, tmp_path):
    model = SoftTreeRegressor(**FEW).fit(X, Y[:, 0])
    part = "_rule" if name in model._rule else "_state"
    setattr(model, part, {**getattr(model, part), name: value})
    with pytest.raises(ValueError, match=name if part == "_rule" else "weights|moment|running|epochs|children|other names"):
        save_model(model, tmp_path / "model")


@pytest.mark.parametrize("name", sorted(LAST_WEIGHTS))
@pytest.mark.parametrize("change", [None, lambda array: array[:-1], lambda array: array.astype(np.float16),
                                    lambda array: np.repeat(array, 2, axis=0)[::2]],
                         ids=["missing", "short", "type", "strides"])
def test_last_weights_that_do_not_fit_are_refused(name, change, tmp_path):
    model = clone(OVERFITTING).fit(X, NOISY)
    last = model._state.pop(name)
    if change is not None:
        model._state[name] = change(last)
    with pytest.raises(ValueError, match="last_|other names"):
        save_model(model, tmp_path / "model")
