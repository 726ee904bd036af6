"""The public interface: names, signatures, shapes and types, and nothing hidden behind them."""

import inspect
import re
import warnings
from pathlib import Path

import fctree
import numpy as np
import pandas as pd
import pytest
from estimators import public_estimators
from fctree import (
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTClassifier,
    FCODTRegressor,
    ObliqueTree,
    export_text,
    plot_regions,
)
from fctree._tables.encoder import TableEncoder
from reference.tree_comparison import smooth_table
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags
from table_cases import CLASSIFIERS

ESTIMATORS = [FCODTRegressor, FCODTClassifier]
DEFAULTS = {
    "alpha": 1.0, "max_depth": 3, "min_samples_split": 2, "min_samples_leaf": 1,
    "min_impurity_decrease": 0.0, "feature_concatenation": True, "leaf_model": "ridge",
    "fit_intercept": True, "n_jobs": None, "random_state": None,
}
NODE_ARRAYS = {
    "children_left": np.int64, "children_right": np.int64, "threshold": np.float64,
    "coef": np.float64, "intercept": np.float64, "split_output": np.int64,
    "leaf_index": np.int64, "value": np.float64, "impurity": np.float64,
    "n_node_samples": np.int64, "weighted_n_node_samples": np.float64,
}


def labels(y, n_classes):
    return np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)


def fitted(kind, n_classes=3, **parameters):
    X, y = smooth_table(120, 4, seed=40)
    return kind(**parameters).fit(X, y if kind is FCODTRegressor else labels(y, n_classes)), X


def test_everything_promised_is_exported():
    for name in ("FCODTRegressor", "FCODTClassifier", "ObliqueTree", "export_text", "plot_tree",
                 "show_config", "datasets", "__version__"):
        assert hasattr(fctree, name) and name in fctree.__all__
    assert isinstance(fctree.__version__, str)


def test_unreleased_changes_are_of_a_development_version():
    changelog = (Path(__file__).parents[2] / "CHANGELOG.md").read_text()
    newest, before = re.findall(r"^## (\S+)", changelog, flags=re.M)[:2]
    number, dev, _ = fctree.__version__.partition(".dev")
    assert bool(dev) == (newest == "Unreleased")
    assert [*map(int, number.split("."))] > [*map(int, before.split("."))]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_parameters_are_keywords_with_the_documented_defaults(kind):
    parameters = dict(inspect.signature(kind).parameters)
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters.values())
    assert DEFAULTS.items() <= {name: p.default for name, p in parameters.items()}.items()
    assert kind().get_params() == {name: p.default for name, p in parameters.items()}
    assert set(kind._parameter_constraints) == set(parameters)
    for name in parameters:
        assert f"\n{name} : " in inspect.getdoc(kind), f"{name} is not documented"


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_fit_takes_sample_weight_and_returns_self(kind):
    assert list(inspect.signature(kind.fit).parameters) == ["self", "X", "y", "sample_weight"]
    X, y = smooth_table(30, 2, seed=41)
    y = y if kind is FCODTRegressor else labels(y, 2)
    model = kind()
    assert model.fit(X, y, np.ones(30)) is model


def test_kinds_and_tags():
    assert is_regressor(FCODTRegressor()) and is_classifier(FCODTClassifier())
    for kind in ESTIMATORS:
        tags = get_tags(kind())
        assert tags.input_tags.allow_nan
        assert not tags.input_tags.sparse
    assert get_tags(FCODTRegressor()).target_tags.multi_output


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("leaf_model", ["ridge", "constant"])
def test_tree_arrays(kind, leaf_model):
    model, X = fitted(kind, leaf_model=leaf_model)
    tree, n_nodes = model.tree_, model.tree_.node_count
    assert isinstance(tree, ObliqueTree)
    for name, dtype in NODE_ARRAYS.items():
        array = getattr(tree, name)
        assert type(array) is np.ndarray and array.dtype == dtype and array.flags.c_contiguous
        assert array.shape[0] == n_nodes, name
    n_outputs = 1 if kind is FCODTRegressor else 3
    assert tree.n_outputs == n_outputs and tree.n_features == 4
    assert tree.coef.shape == (n_nodes, 4)
    assert tree.leaf_intercept.shape == (tree.n_leaves, n_outputs)
    assert tree.leaf_coef.shape == (tree.n_leaves if leaf_model == "ridge" else 0, n_outputs, 4)
    if kind is FCODTRegressor:
        assert tree.value.shape == (n_nodes, 1, 1) and tree.n_classes is None
    else:
        assert tree.value.shape == (n_nodes, 1, 3) and tree.n_classes == 3
    assert tree.feature_gain.shape == (4,)
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_fitted_models_hold_nothing_native(kind):
    """Only plain values and NumPy arrays that own their memory, all the way down."""
    model, _ = fitted(kind)
    plain = (type(None), bool, int, float, str)

    def check(value, where):
        if isinstance(value, (ObliqueTree, TableEncoder)):
            for name, part in vars(value).items():
                check(part, f"{where}.{name}")
            return
        if isinstance(value, list):
            for number, part in enumerate(value):
                check(part, f"{where}[{number}]")
            return
        assert isinstance(value, (*plain, np.ndarray)), f"{where} is a {type(value).__name__}"
        if isinstance(value, np.ndarray):
            base = value if value.base is None else value.base
            assert isinstance(base, np.ndarray) and base.flags.owndata, where

    for name, value in vars(model).items():
        check(value, name)


def test_shapes_of_a_regressor():
    model, X = fitted(FCODTRegressor)
    assert model.predict(X).shape == (120,)
    assert model.apply(X).shape == (120,) and model.apply(X).dtype == np.int64
    path = model.decision_path(X)
    assert sparse.issparse(path) and path.format == "csr"
    assert path.shape == (120, model.tree_.node_count)
    assert model.feature_importances_.shape == (4,)
    assert type(model.get_depth()) is int and type(model.get_n_leaves()) is int


@pytest.mark.parametrize("n_outputs", [1, 2, 5])
def test_several_outputs_keep_the_shape_of_y(n_outputs):
    X, Y = smooth_table(80, 3, n_outputs, seed=42)
    Y = np.reshape(Y, (80, n_outputs))
    model = FCODTRegressor().fit(X, Y)
    assert model.predict(X).shape == (80, n_outputs)
    assert model.tree_.value.shape == (model.tree_.node_count, n_outputs, 1)
    assert model.tree_.leaf_coef.shape == (model.get_n_leaves(), n_outputs, 3)
    assert np.isfinite(model.score(X, Y))


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_shapes_of_a_classifier(n_classes):
    model, X = fitted(FCODTClassifier, n_classes)
    assert model.n_classes_ == n_classes
    np.testing.assert_array_equal(model.classes_, np.arange(n_classes))
    assert model.predict(X).shape == (120,)
    assert model.predict_proba(X).shape == (120, n_classes)
    assert model.decision_function(X).shape == ((120,) if n_classes == 2 else (120, n_classes))
    assert model.tree_.n_outputs == (1 if n_classes == 2 else n_classes)
    assert model.tree_.value.shape == (model.tree_.node_count, 1, n_classes)


@pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_logarithms_of_probabilities(model, n_classes):
    X, y = smooth_table(120, 3, seed=42)
    model = clone(model).fit(X, labels(y, n_classes))
    if not hasattr(model, "predict_proba"):
        assert not hasattr(model, "predict_log_proba")
        return
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X), np.log(model.predict_proba(X)))


def test_the_logarithm_of_no_probability():
    X = np.arange(40.0)[:, np.newaxis]
    model = FCODTClassifier(max_depth=1, leaf_model="constant").fit(X, X[:, 0] > 19.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.predict_log_proba(X[[0, -1]])
    np.testing.assert_array_equal(found, [[0.0, -np.inf], [-np.inf, 0.0]])


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_feature_names_of_a_frame(kind):
    X, y = smooth_table(60, 3, seed=43)
    frame = pd.DataFrame(X, columns=["height", "width", "depth"])
    target = pd.Series(y if kind is FCODTRegressor else labels(y, 2))
    model = kind().fit(frame, target)
    np.testing.assert_array_equal(model.feature_names_in_, ["height", "width", "depth"])
    plain = kind().fit(X, target.to_numpy())
    assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["width", "height", "depth"]])
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X)


def test_a_refit_forgets_the_first_fit():
    model, X = fitted(FCODTRegressor, max_depth=3)
    X2, Y2 = smooth_table(50, 2, 3, seed=44)
    model.fit(X2, Y2)
    fresh = FCODTRegressor(max_depth=3).fit(X2, Y2)
    np.testing.assert_array_equal(model.predict(X2), fresh.predict(X2))
    assert model.n_features_in_ == 2
    assert vars(model).keys() == vars(fresh).keys()


def test_show_config(capsys):
    config = fctree.show_config()
    printed = capsys.readouterr().out
    assert set(config) == {"version", "compiler", "openmp", "simd", "eigen", "cuda"}
    assert config["version"] == fctree.__version__ and config["version"] in printed
    assert type(config["cuda"]) is bool and type(config["openmp"]) is bool
    assert isinstance(config["compiler"], str) and config["compiler"]
    assert config["compiler"] in printed and config["eigen"] in printed
    assert "baseline" in config["simd"]["built"]
    assert config["simd"]["in_use"] in config["simd"]["built"]


def test_names_with_line_breaks_stay_in_their_line():
    X = np.random.default_rng(0).standard_normal((100, 2))
    model = CurvatureTreeClassifier(max_depth=1).fit(X, X[:, 0] > 0)
    text = export_text(model, feature_names=["a\nb", "c\u2028\r"], class_names=["no\n", "yes"])
    assert "a\\nb" in text and "no\\n" in text
    plain = export_text(model, feature_names=["a", "c"], class_names=["no", "yes"])
    assert len(text.splitlines()) == len(plain.splitlines())


def test_regions_of_more_features_are_refused_as_such():
    pytest.importorskip("matplotlib")
    X = np.random.default_rng(0).standard_normal((100, 4))
    model = CurvatureTreeRegressor().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="need a tree over 2 features, this one has 4"):
        plot_regions(model, X=X)


@pytest.mark.parametrize("name", public_estimators())
def test_unknown_parameters_are_refused_in_the_name_of_the_class(name):
    class Derived(getattr(fctree, name)):
        pass

    for cls in (getattr(fctree, name), Derived):
        with pytest.raises(TypeError, match=rf"^{cls.__name__}\.__init__\(\) got an unexpected keyword argument 'no_such'"):
            cls(no_such=1)
    assert clone(Derived()).get_params() == getattr(fctree, name)().get_params()
