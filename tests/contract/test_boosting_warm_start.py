"""T rounds, then T more by warm_start, are 2T rounds, bit for bit."""

import boosters
import numpy as np
import pytest
from fctree import CurvatureBoostingRegressor, SymmetricBoostingClassifier, SymmetricBoostingRegressor, load_model, save_model
from loss_cases import REGRESSION_LOSSES, loss_parameters

BASE = {"max_depth": 4, "random_state": 5, "max_bins": 20}
CASES = {
    "plain": {},
    "greedy": {"random_strength": 0.0},
    "gumbel": {"score_noise": "gumbel", "random_strength": 0.1},
    "strong normal noise": {"random_strength": 50.0, "learning_rate": 0.5},
    "subsample": {"subsample": 0.5},
    "colsample": {"colsample": 0.4},
    "both and cosine": {"subsample": 0.7, "colsample": 0.7, "score_function": "cosine"},
    "monotone": {"monotonic_cst": [1, 0, -1, 0, 0]},
}


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    X[rng.random((n, 5)) < 0.05] = np.nan
    y = np.exp(np.nan_to_num(X[:, 0]) + 0.3 * rng.standard_normal(n))
    return X, y, rng.uniform(0.3, 2, n)


def assert_same_model(a, b, X):
    for name, array in vars(a.trees_).items():
        other = getattr(b.trees_, name)
        assert array.dtype == other.dtype and array.tobytes() == other.tobytes(), name
    for name in ("baseline_", "train_score_", "validation_score_"):
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name
    assert a.n_iter_ == b.n_iter_
    assert a.predict(X).tobytes() == b.predict(X).tobytes()
    assert a.feature_importances_.tobytes() == b.feature_importances_.tobytes()


def compare(make, X, y, *, steps=(7, 14), **fit):
    """A model grown in steps beside one grown at once."""
    at_once = make(max_iter=steps[-1]).fit(X, y, **fit)
    continued = make(warm_start=True)
    for max_iter in steps:
        continued.set_params(max_iter=max_iter).fit(X, y, **fit)
    assert at_once.n_iter_ == steps[-1]
    assert_same_model(continued, at_once, X)
    return continued


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_regressor(case, weighted):
    X, y, weight = table()
    compare(lambda **p: SymmetricBoostingRegressor(**BASE, **CASES[case], **p), X, y,
            sample_weight=weight if weighted else None)


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_losses(loss):
    X, y, weight = table(seed=1)
    compare(lambda **p: SymmetricBoostingRegressor(**BASE, **loss_parameters(loss), **p), X, y,
            sample_weight=weight)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("case", ["plain", "gumbel", "both and cosine"])
def test_classifier(case, n_classes):
    X, y, weight = table(seed=2)
    labels = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    compare(lambda **p: SymmetricBoostingClassifier(**BASE, **CASES[case], **p), X, labels,
            sample_weight=weight)


@pytest.mark.parametrize("case", ["plain", "subsample"])
def test_starting_scores(case):
    X, y, _ = table(seed=3)
    start = np.log(y) / 2
    compare(lambda **p: SymmetricBoostingRegressor(**BASE, **CASES[case], **p), X, y,
            init_score=start)


@pytest.mark.parametrize("case", ["plain", "gumbel"])
def test_validation_scores_go_on(case):
    X, y, _ = table(seed=4)
    Z, z, weight = table(100, seed=5)
    compare(lambda **p: SymmetricBoostingRegressor(**BASE, **CASES[case], **p), X, y,
            eval_set=(Z, z, weight))


def test_several_outputs_and_many_steps():
    X, y, _ = table(seed=6)
    compare(lambda **p: SymmetricBoostingRegressor(**BASE, **p), X, np.column_stack([y, X[:, 1] > 0]),
            steps=(1, 2, 3, 9, 10, 17))


def test_large_tables_in_several_tiles():
    X, y, _ = table(9000, seed=7)
    compare(lambda **p: SymmetricBoostingRegressor(**BASE, n_jobs=2, **p), X, y, steps=(3, 6))


def test_early_stopping_goes_on_from_the_round_it_kept():
    X, y, _ = table(seed=8)
    Z, z, _ = table(seed=9)
    model = SymmetricBoostingRegressor(**BASE, max_iter=300, early_stopping=True, warm_start=True,
                                       learning_rate=0.3, n_iter_no_change=3)
    model.fit(X, y, eval_set=(Z, z))
    n_iter, score = model.n_iter_, model.validation_score_.max()
    assert 0 < n_iter < 300
    model.set_params(n_iter_no_change=40).fit(X, y, eval_set=(Z, z))
    assert model.n_iter_ > n_iter
    assert model.validation_score_.max() > score
    # Scores stay those of the model: entry T is that of T rounds.
    assert len(model.validation_score_) == len(model.train_score_)
    for n_rounds, prediction in enumerate(model.staged_predict(Z), 1):
        loss = np.mean((prediction - z) ** 2)
        np.testing.assert_allclose(-model.validation_score_[n_rounds], loss, rtol=1e-9)


@pytest.mark.parametrize("kind", [SymmetricBoostingRegressor, CurvatureBoostingRegressor])
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
@pytest.mark.parametrize("tol", [0.0, 0.03, 0.1])
def test_a_continued_fit_stops_where_one_fit_does(kind, scoring, tol, tmp_path):
    """The rounds that the first part has waited for count, also from a file."""
    X, y = table(seed=13)[:2]
    X, y = np.nan_to_num(X), y / y.std()
    params = {"early_stopping": True, "n_iter_no_change": 3, "tol": tol, "learning_rate": 0.05, "random_state": 0}
    options = {} if scoring is None else {"eval_set": (X[200:], y[200:]), "eval_metric": scoring}
    at_once = kind(**params, max_iter=60).fit(X[:200], y[:200], **options)
    assert 0 < at_once.n_iter_ < 60
    for n_rounds in (1, 2, 5, 9, 25):
        first = kind(**params, warm_start=True, max_iter=n_rounds).fit(X[:200], y[:200], **options)
        save_model(first, tmp_path / "model")
        continued = load_model(tmp_path / "model").set_params(max_iter=60).fit(X[:200], y[:200], **options)
        assert continued.n_iter_ == at_once.n_iter_
        assert continued.predict(X).tobytes() == at_once.predict(X).tobytes()


def test_validation_that_starts_or_ends_later():
    X, y, _ = table(seed=9)
    Z, z, _ = table(seed=10)
    model = SymmetricBoostingRegressor(**BASE, max_iter=4, warm_start=True).fit(X, y)
    model.set_params(max_iter=9).fit(X, y, eval_set=(Z, z))
    assert np.isnan(model.validation_score_[:4]).all()
    losses = [np.mean((p - z) ** 2) for p in model.staged_predict(Z)]
    np.testing.assert_allclose(-model.validation_score_[4:], losses[3:], rtol=1e-12)
    model.set_params(max_iter=11).fit(X, y)
    np.testing.assert_array_equal(np.isnan(model.validation_score_),
                                  [True] * 4 + [False] * 6 + [True] * 2)


def test_held_out_samples_stay_the_same():
    X, y, _ = table(seed=10)
    stopping = {"early_stopping": True, "n_iter_no_change": 100}
    compare(lambda **p: SymmetricBoostingRegressor(**BASE, **p), X, y)
    at_once = SymmetricBoostingRegressor(**BASE, **stopping, max_iter=14).fit(X, y)
    continued = SymmetricBoostingRegressor(**BASE, **stopping, warm_start=True, max_iter=7)
    continued.fit(X, y).set_params(max_iter=14).fit(X, y)
    np.testing.assert_array_equal(continued.validation_score_, at_once.validation_score_)


def test_other_data_may_continue_a_model():
    """As importance by warm start does: the same rows with columns replaced."""
    X, y, _ = table(seed=11)
    Z, z, _ = table(seed=12)
    without, without_z = X.copy(), Z.copy()
    without[:, 0] = without_z[:, 0] = 0.0
    model = SymmetricBoostingRegressor(**BASE, max_iter=30, warm_start=True, early_stopping=True,
                                       n_iter_no_change=10)
    model.fit(X, y, eval_set=(Z, z))
    first = model.n_iter_
    # A warm start from a model of the first column is bad at first and gets better.
    before = np.mean((model.predict(without_z) - z) ** 2)
    model.set_params(max_iter=first + 40).fit(without, y, eval_set=(without_z, z))
    assert model.n_iter_ > first
    assert np.mean((model.predict(without_z) - z) ** 2) < before


def test_all_constant_columns_continue_with_an_intercept():
    X, y, _ = table(seed=13)
    model = SymmetricBoostingRegressor(**BASE, max_iter=10, warm_start=True).fit(X, y)
    model.set_params(max_iter=60).fit(np.zeros_like(X), y)
    assert model.n_iter_ == 60
    assert not (model.trees_.split_feature[10:] >= 0).any()
    # Each round takes n / (n + 3) of a tenth off the mean residual of the one point left.
    left = (1 - 0.1 * 300 / 303) ** 50
    start = SymmetricBoostingRegressor(**BASE, max_iter=10).fit(X, y).predict(np.zeros((1, 5)))
    np.testing.assert_allclose(model.predict(np.zeros((1, 5))),
                               y.mean() + left * (start - y.mean()), rtol=1e-9)


def test_deeper_and_shallower_trees_may_follow():
    X, y, _ = table(seed=14)
    model = SymmetricBoostingRegressor(max_iter=5, max_depth=2, warm_start=True).fit(X, y)
    first = model.predict(X)
    for max_iter, max_depth in ((10, 5), (15, 1)):
        model.set_params(max_iter=max_iter, max_depth=max_depth).fit(X, y)
    assert model.trees_.leaf_values.shape == (15, 32, 1)
    np.testing.assert_array_equal(list(model.staged_predict(X))[4], first)
    assert model.score(X, y) > 0.5


def test_fewer_rounds_than_there_are_is_refused():
    X, y, _ = table()
    model = SymmetricBoostingRegressor(max_iter=5, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="max_iter=3"):
        model.set_params(max_iter=3).fit(X, y)
    assert model.n_iter_ == 5


def test_the_same_number_of_rounds_changes_nothing():
    X, y, _ = table()
    model = SymmetricBoostingRegressor(max_iter=5, warm_start=True).fit(X, y)
    before = model.predict(X)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), before)
    assert model.n_iter_ == 5 and len(model.train_score_) == 6


def test_without_warm_start_a_fit_starts_afresh():
    X, y, _ = table()
    model = SymmetricBoostingRegressor(**BASE, max_iter=5).fit(X[:50], y[:50])
    again = SymmetricBoostingRegressor(**BASE, max_iter=5).fit(X, y)
    assert_same_model(model.fit(X, y), again, X)


@pytest.mark.parametrize("before, after, broken", [
    ({}, {"monotonic_cst": [0, -1, 0, 0, 0]}, "monotonic_cst.*'x1'"),
    ({"monotonic_cst": [1, 0, 0, 0, 0]}, {"monotonic_cst": [-1, 0, 0, 0, 0]}, "monotonic_cst.*'x0'"),
    ({}, {"interaction_cst": "pairwise"}, "interaction_cst"),
    ({"interaction_cst": "pairwise"}, {"interaction_cst": [{0, 1}]}, "interaction_cst"),
])
def test_constraints_that_the_trees_of_before_break_are_refused(before, after, broken):
    X, y, _ = table(seed=11)
    model = SymmetricBoostingRegressor(**BASE, max_iter=20, warm_start=True, **before).fit(X, y)
    trees = model.trees_
    model.set_params(max_iter=25, **after)
    with pytest.raises(ValueError, match=f"{broken}.*warm_start"):
        model.fit(X, y)
    assert model.trees_ is trees
    model.set_params(warm_start=False).fit(X, y)
    model.set_params(warm_start=True, max_iter=30).fit(X, y)


@pytest.mark.parametrize("seed", range(5))
def test_constraints_that_the_trees_of_before_keep_may_be_new(seed):
    X, y, _ = table(seed=seed)
    grown = {"monotonic_cst": [1, 1, -1, -1, 0], "interaction_cst": "no_interactions"}
    model = SymmetricBoostingRegressor(**BASE, max_iter=20, warm_start=True, **grown).fit(X, y)
    model.set_params(max_iter=25, monotonic_cst=[1, 0, -1, 0, 0], interaction_cst=[{0, 1}]).fit(X, y)
    assert model.n_iter_ == 25


@pytest.mark.parametrize("kind", boosters.REGRESSORS)
@pytest.mark.parametrize("before, after", [
    ("poisson", "squared_error"),
    ("squared_error", ("tweedie", 1.5)),
    ("gamma", lambda y, scores: (scores - y, np.ones_like(y))),
])
def test_a_warm_start_keeps_the_link_of_the_loss(kind, before, after, tmp_path):
    X, y = boosters.table(kind)
    y = np.exp(y)
    model = kind(**boosters.SMALL, loss=before, warm_start=True).fit(X, y)
    save_model(model, tmp_path / "model")
    for fitted in (model, load_model(tmp_path / "model")):
        predicted = fitted.predict(X)
        fitted.set_params(loss=after, max_iter=12)
        with pytest.raises(ValueError, match="loss=.*scores are .*warm_start"):
            fitted.fit(X, y)
        np.testing.assert_array_equal(fitted.predict(X), predicted)
        fitted.set_params(warm_start=False).fit(X, y)
