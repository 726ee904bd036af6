"""Metadata routing of scikit-learn: weights reach the estimators' fit through searches and pipelines."""

import inspect
import io

import fctree
import numpy as np
import pytest
from boosters import BOOSTERS, CLASSIFIERS, REGRESSORS, SMALL, table
from estimators import public_estimators
from sklearn import config_context
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("kind", public_estimators().values())
def test_arguments_of_fit_can_be_requested(kind):
    arguments = set(inspect.signature(kind.fit).parameters) - {"self", "X", "y"}
    assert "sample_weight" in arguments
    estimator = kind().set_fit_request(**dict.fromkeys(arguments, True))
    requests = estimator.get_metadata_routing().fit.requests
    assert requests == dict.fromkeys(arguments, True)
    assert kind().get_metadata_routing().fit.requests["sample_weight"] is None


@pytest.mark.parametrize("kind", BOOSTERS + [fctree.CurvatureTreeRegressor,
                                             fctree.CurvatureTreeClassifier])
def test_weights_reach_fits_in_a_search(kind):
    X, y = table(REGRESSORS[0] if "Regressor" in kind.__name__ else CLASSIFIERS[0])
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    settings = SMALL if kind in BOOSTERS else {}
    grid = {"max_depth": [1, 2]}
    with pytest.raises(UnsetMetadataPassedError):
        GridSearchCV(kind(**settings), grid).fit(X, y, sample_weight=weight)
    asked = kind(**settings).set_fit_request(sample_weight=True).set_score_request(
        sample_weight=True)
    search = GridSearchCV(asked, grid, cv=2).fit(X, y, sample_weight=weight)
    best = kind(**settings).set_params(**search.best_params_).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(search.predict(X), best.predict(X))
    unweighted = kind(**settings).set_params(**search.best_params_).fit(X, y)
    assert not np.array_equal(
        *[getattr(each, "predict_proba", each.predict)(X) for each in (best, unweighted)])


def test_evaluation_sets_and_callbacks_pass_through_pipelines():
    kind = BOOSTERS[0]
    X, y = table(kind)
    heard = []
    model = kind(**SMALL).set_fit_request(
        X_val=False, eval_set=True, eval_metric=True, callbacks=True)
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
    pipeline.fit(X, y, eval_set=(X, y), eval_metric="r2",
                 callbacks=lambda round, scores: heard.append(scores["valid_0"]["r2"]))
    assert heard == list(pipeline[-1].evals_result_["valid_0"]["r2"])


def test_a_metric_gets_weights_of_its_set():
    kind = BOOSTERS[0]
    X, y = table(kind)
    weight = np.arange(len(y), dtype=float)
    model = kind(**SMALL).fit(X, y, eval_set=(X, y, weight), eval_metric="r2")
    np.testing.assert_allclose(
        model.evals_result_["valid_0"]["r2"][-1], model.score(X, y, sample_weight=weight))


@pytest.mark.parametrize("kind", public_estimators().values())
def test_model_files_keep_requests(kind):
    estimator = kind().set_fit_request(sample_weight="importance").set_score_request(sample_weight=False)
    file = io.BytesIO()
    fctree.save_model(estimator, file)
    file.seek(0)
    with config_context(enable_metadata_routing=False):
        loaded = fctree.load_model(file)
    assert str(loaded.get_metadata_routing()) == str(estimator.get_metadata_routing())
    assert str(kind().get_metadata_routing()) != str(loaded.get_metadata_routing())


def test_searches_route_by_requests_of_a_model_file(tmp_path):
    X, y = table(REGRESSORS[0])
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    asked = fctree.CurvatureTreeRegressor().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    fctree.save_model(asked.fit(X, y), tmp_path / "model")
    searches = [
        GridSearchCV(model, {"max_depth": [1, 2]}, cv=2).fit(X, y, sample_weight=weight)
        for model in (asked, fctree.load_model(tmp_path / "model"))
    ]
    np.testing.assert_array_equal(*[search.predict(X) for search in searches])
