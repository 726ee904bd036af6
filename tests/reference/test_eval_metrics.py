"""Metrics and evaluation sets of the boosters' fit, compared with those of finished models."""

import warnings

import numpy as np
import pandas as pd
import pytest
from boosters import BOOSTERS, CLASSIFIERS, REGRESSORS, SMALL, bytes_of, table
from fctree import SymmetricBoostingRegressor, load_model, save_model
from sklearn.metrics import accuracy_score, get_scorer, make_scorer, mean_absolute_error
from sklearn.model_selection import train_test_split


def metrics_of(kind):
    return ["r2", "neg_mean_absolute_error"] if kind in REGRESSORS else ["roc_auc", "accuracy"]


def models_of_each_round(kind, settings, X, y):
    """Models of 1, 2, .. rounds."""
    return [kind(**{**settings, "max_iter": i}).fit(X, y)
            for i in range(1, settings["max_iter"] + 1)]


@pytest.mark.parametrize("kind", BOOSTERS)
def test_metrics_are_those_of_models_of_so_many_rounds(kind):
    X, y = table(kind)
    sets = [table(kind, 60, 1), (*table(kind, 40, 2), np.arange(40.0) % 3), table(kind, 30, 3)]
    names = metrics_of(kind)
    model = kind(**SMALL).fit(X, y, eval_set=sets, eval_metric=names)
    results = model.evals_result_
    assert list(results) == ["training", "valid_0", "valid_1", "valid_2"]
    np.testing.assert_array_equal(results["training"]["loss"], -model.train_score_[1:])
    np.testing.assert_array_equal(results["valid_0"]["loss"], -model.validation_score_[1:])
    rounds = models_of_each_round(kind, SMALL, X, y)
    for i, (Z, z, *weight) in enumerate(sets):
        found = results[f"valid_{i}"]
        assert list(found) == ["loss", *names]
        weights = {"sample_weight": weight[0]} if weight else {}
        for name in names:
            # Scores are added up in the order of training here and of prediction there.
            expected = [get_scorer(name)(each, Z, z, **weights) for each in rounds]
            np.testing.assert_allclose(found[name], expected, rtol=1e-12, atol=1e-12)
        alone = kind(**SMALL).fit(X, y, eval_set=sets[i])
        np.testing.assert_array_equal(found["loss"], alone.evals_result_["valid_0"]["loss"])
    assert bytes_of(model) == bytes_of(rounds[-1])


@pytest.mark.parametrize("kind", BOOSTERS)
def test_the_first_metric_on_the_first_set_stops_the_fit(kind):
    X, y = table(kind, 80)
    settings = {**SMALL, "learning_rate": 1.0, "max_iter": 40, "n_iter_no_change": 5,
                "early_stopping": True}
    first, second = table(kind, 60, 1), table(kind, 60, 2)
    metric = metrics_of(kind)[1]
    model = kind(**settings).fit(X, y, eval_set=[first, second], eval_metric=[metric, "neg_max_error"]
                                 if kind in REGRESSORS else [metric, "neg_log_loss"])
    found = model.evals_result_["valid_0"][metric]
    assert model.n_iter_ == np.argmax(found) + 1 and len(found) < 40
    assert len(found) == model.n_iter_ + 5
    by_loss = kind(**settings).fit(X, y, eval_set=[first, second])
    assert bytes_of(by_loss) == bytes_of(kind(**settings).fit(X, y, eval_set=first))
    assert by_loss.n_iter_ == np.argmax(by_loss.validation_score_)


@pytest.mark.parametrize("kind", BOOSTERS)
def test_metrics_on_samples_held_out(kind):
    X, y = table(kind)
    settings = {**SMALL, "early_stopping": True, "n_iter_no_change": 20, "validation_fraction": 40}
    seen = []

    def remembered(estimator, X, y):
        seen.append((X, y))
        return get_scorer(metrics_of(kind)[1])(estimator, X, y)

    kind(**settings).fit(X, y, eval_metric=remembered)
    X_held, y_held = seen[0]
    assert X_held.shape == (40, 3) and len(seen) == 9
    rows = [int(np.flatnonzero((X == row).all(axis=1))[0]) for row in X_held]
    np.testing.assert_array_equal(y_held, y[rows])


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_metrics_of_several_classes(kind):
    X, y = table(kind, n_classes=3)
    Z, z = table(kind, 60, 1, n_classes=3)
    model = kind(**SMALL).fit(X, y, eval_set=(Z, z), eval_metric=["neg_log_loss", "accuracy"])
    found = model.evals_result_["valid_0"]
    np.testing.assert_allclose(found["neg_log_loss"], -found["loss"], rtol=1e-10)
    assert found["accuracy"][-1] == accuracy_score(z, model.predict(Z))


def test_metrics_see_predictions_and_not_raw_scores():
    X, y = table(SymmetricBoostingRegressor)
    y = np.exp(y)
    model = SymmetricBoostingRegressor(**SMALL, loss="poisson")
    model.fit(X, y, eval_set=(X, y), eval_metric="r2")
    np.testing.assert_allclose(model.evals_result_["valid_0"]["r2"][-1], model.score(X, y))
    two = np.column_stack([y, -y])
    model = SymmetricBoostingRegressor(**SMALL).fit(X, two, eval_set=(X, two), eval_metric="r2")
    np.testing.assert_allclose(model.evals_result_["valid_0"]["r2"][-1], model.score(X, two))


@pytest.mark.parametrize("kind", BOOSTERS)
def test_forms_of_eval_metric(kind):
    X, y = table(kind)
    Z, z = table(kind, 50, 1)
    frame, names = pd.DataFrame(X, columns=list("pqr")), metrics_of(kind)
    scorer = make_scorer(mean_absolute_error if kind in REGRESSORS else accuracy_score)

    def of_some(estimator, X, y):
        assert isinstance(X, pd.DataFrame) and list(X) == list("pqr")
        return np.mean(estimator.predict(X)[X["p"] > 0] == y[X["p"] > 0])

    model = kind(**SMALL).fit(
        frame, y, eval_set=[(pd.DataFrame(Z, columns=list("pqr")), z)],
        eval_metric={"first": names[0], "second": scorer, "third": of_some})
    found = model.evals_result_["valid_0"]
    assert list(found) == ["loss", "first", "second", "third"]
    plain = kind(**SMALL).fit(X, y, eval_set=(Z, z), eval_metric=names[0])
    np.testing.assert_array_equal(found["first"], plain.evals_result_["valid_0"][names[0]])
    model.fit(frame, y, eval_set=[(pd.DataFrame(Z, columns=list("pqr")), z)], eval_metric=of_some)
    assert list(model.evals_result_["valid_0"]) == ["loss", "of_some"]


@pytest.mark.parametrize("kind", BOOSTERS)
def test_samples_of_weight_zero_do_not_count(kind):
    X, y = table(kind)
    Z, z = table(kind, 60, 1)
    weight = (np.arange(60) < 40).astype(float)
    name = metrics_of(kind)[0]
    found = kind(**SMALL).fit(X, y, eval_set=(Z, z, weight), eval_metric=name).evals_result_
    few = kind(**SMALL).fit(X, y, eval_set=(Z[:40], z[:40]), eval_metric=name).evals_result_
    for each in ("loss", name):
        np.testing.assert_allclose(found["valid_0"][each], few["valid_0"][each], rtol=1e-12)


@pytest.mark.parametrize("kind", BOOSTERS)
def test_callbacks_hear_of_metrics(kind):
    X, y = table(kind)
    heard = []
    model = kind(**SMALL).fit(
        X, y, eval_set=[table(kind, 50, 1), table(kind, 50, 2)], eval_metric=metrics_of(kind),
        callbacks=lambda round, scores: heard.append(scores))
    for data, scores in model.evals_result_.items():
        for name, values in scores.items():
            assert [each[data][name] for each in heard] == list(values)


@pytest.mark.parametrize("kind", BOOSTERS)
def test_a_warm_start_appends_results(kind, tmp_path):
    X, y = table(kind)
    sets = [table(kind, 50, 1), table(kind, 50, 2)]
    name = metrics_of(kind)[0]
    whole = kind(**SMALL).fit(X, y, eval_set=sets, eval_metric=name).evals_result_
    model = kind(**{**SMALL, "max_iter": 3}, warm_start=True)
    model.fit(X, y, eval_set=sets, eval_metric=name)
    model.set_params(max_iter=5).fit(X, y)
    model.set_params(max_iter=8).fit(X, y, eval_set=sets[0], eval_metric=[name])
    save_model(model, tmp_path / "model")
    for results in (model.evals_result_, load_model(tmp_path / "model").evals_result_):
        np.testing.assert_array_equal(results["training"]["loss"], whole["training"]["loss"])
        gap = np.isin(np.arange(8), [3, 4])
        np.testing.assert_array_equal(np.isnan(results["valid_0"]["loss"]), gap)
        np.testing.assert_allclose(results["valid_0"][name][~gap], whole["valid_0"][name][~gap],
                                   rtol=1e-12)
        np.testing.assert_array_equal(np.isnan(results["valid_1"][name]), np.arange(8) >= 3)
    model.set_params(warm_start=False).fit(X, y)
    assert list(model.evals_result_) == ["training"]


@pytest.mark.parametrize("kind", BOOSTERS)
def test_what_is_no_metric_is_refused(kind):
    X, y = table(kind)
    sets = {"eval_set": (X, y)}
    for bad in (5, [None], {"name": 5}, {5: "r2"}):
        with pytest.raises(TypeError, match="eval_metric"):
            kind(**SMALL).fit(X, y, **sets, eval_metric=bad)
    for bad, words in (("rmse", "eval_metric 'rmse' is no scorer of scikit-learn: it is called"),
                       (["r2", "r2"], "'r2' twice"), ({"loss": "r2"}, "'loss' twice")):
        with pytest.raises(ValueError, match=words):
            kind(**SMALL).fit(X, y, **sets, eval_metric=bad)
    for bad in (mean_absolute_error, [mean_absolute_error], {"error": mean_absolute_error},
                lambda y_true, y_pred: 1.0, lambda truth, found: 1.0):
        with pytest.raises(TypeError, match="function of y_true.*sklearn.metrics.make_scorer"):
            kind(**SMALL).fit(X, y, **sets, eval_metric=bad)
    with pytest.raises(ValueError, match="eval_metric needs an eval_set"):
        kind(**SMALL).fit(X, y, eval_metric="r2")

    def fails(value):
        return lambda estimator, X, y: value

    model = kind(**SMALL).fit(X, y)
    before = vars(model).copy()
    for value, error, words in ((np.nan, ValueError, "nan"), (np.inf, ValueError, "inf"),
                                ("good", TypeError, "must be a number"),
                                (None, TypeError, "must be a number")):
        with pytest.raises(error, match=words):
            model.fit(X, y, **sets, eval_metric=fails(value))
    with pytest.raises(ValueError, match="predictions of the X that it is given"):
        model.fit(X, y, **sets, eval_metric=lambda estimator, X, y: estimator.predict(X[:5]).mean())
    assert all(vars(model)[name] is before[name] for name in before)
    assert kind(**SMALL).fit(X, y, **sets, eval_metric=[]).n_iter_ == 8


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_errors_of_scorers_name_the_metric(kind):
    X, y = table(kind, n_classes=3)
    some = y != "b"
    sets = {"eval_set": (X[some], y[some])}
    with pytest.raises(ValueError, match="'neg_log_loss' failed on an evaluation set: .*lacks the classes .'b'"):
        kind(**SMALL).fit(X, y, **sets, eval_metric="neg_log_loss")
    assert kind(**SMALL).fit(X, y, **sets).n_iter_ == 8


def test_one_class_in_an_evaluation_set():
    X, y = table(CLASSIFIERS[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="roc_auc"):
            CLASSIFIERS[0](**SMALL).fit(X, y, eval_set=(X[y == "a"], y[y == "a"]),
                                        eval_metric="roc_auc")


@pytest.mark.parametrize("kind", REGRESSORS)
def test_several_sets_with_missing_values_and_categories(kind):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=120), "b": rng.choice(["u", "v", "w"], 120)})
    frame.loc[::7, "a"] = np.nan
    y = frame["a"].fillna(1).to_numpy() + (frame["b"] == "u")
    train, *held, y_train, y_held = train_test_split(frame, y, random_state=0)
    halves = [(held[0][:15], y_held[:15]), (held[0][15:], y_held[15:])]
    model = kind(**SMALL).fit(train, y_train, eval_set=halves, eval_metric="neg_mean_squared_error")
    for i, (Z, z) in enumerate(halves):
        found = model.evals_result_[f"valid_{i}"]
        np.testing.assert_allclose(-found["neg_mean_squared_error"], found["loss"], rtol=1e-10)
        np.testing.assert_allclose(found["loss"][-1], np.mean((z - model.predict(Z)) ** 2))


@pytest.mark.parametrize("kind", BOOSTERS)
def test_metrics_see_the_held_out_rows_of_the_table(kind):
    X, y = table(kind, 120)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    frame["row"] = np.arange(120)
    frame["kind"] = np.where(X[:, 0] > 0, "u", "v")
    weight = np.repeat([0.0, 1.0], [30, 90])
    seen = []

    def metric(model, given, target, sample_weight):
        seen.append((given, target))
        return float(np.mean(model.predict(given) == target))

    kind(**SMALL, early_stopping=True).fit(frame, y, sample_weight=weight, eval_metric=metric)
    given, target = seen[0]
    rows = given["row"].to_numpy()
    assert rows.min() >= 30
    pd.testing.assert_frame_equal(given, frame.iloc[rows].reset_index(drop=True))
    np.testing.assert_array_equal(target, y[rows])


@pytest.mark.parametrize("kind", BOOSTERS)
def test_lines_of_progress_have_the_metrics_of_the_first_set(kind, capsys):
    X, y = table(kind)
    name = metrics_of(kind)[0]
    model = kind(**SMALL, verbose=2).fit(X, y, eval_set=[table(kind, 60, 1), table(kind, 40, 2)], eval_metric=name)
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition(", ")[2] for line in lines] == [
        f"{name} {value:.6g}" for value in model.evals_result_["valid_0"][name]]


def test_a_metric_has_to_take_weights_where_there_are_some():
    X, y = table(SymmetricBoostingRegressor)
    with pytest.raises(TypeError, match="eval_metric '<lambda>' has to take the weights .*sample_weight"):
        SymmetricBoostingRegressor(**SMALL).fit(X, y, eval_set=(X, y, np.ones(len(y))), eval_metric=lambda m, X, y: 0.0)


@pytest.mark.parametrize("kind", BOOSTERS)
def test_a_metric_may_keep_the_estimator_that_it_is_given(kind):
    """Its predictions are those of that round, also when the fit's memory is gone."""
    X, y = table(kind)
    Z, z = table(kind, 60, 1)
    kept = []

    def metric(model, Z, z):
        kept.append((model, model.predict(Z)))
        return 0.0

    model = kind(**SMALL).fit(X, y, eval_set=(Z, z), eval_metric=metric)
    del X, y
    filler = [np.full(len(Z) * 3, np.nan) for _ in range(1000)]  # takes the freed memory
    assert len(kept) == model.n_iter_ + 1 and filler
    for then, predicted in kept:
        np.testing.assert_array_equal(then.predict(Z), predicted)
