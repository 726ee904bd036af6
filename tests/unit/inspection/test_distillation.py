"""Trees grown on the predictions of another model."""

import pickle

import numpy as np
import pandas as pd
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTRegressor,
    load_model,
    save_model,
)
from fctree.inspection import compare_distilled, distill, distillation
from joblib import cpu_count
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (400, 3))
MEAN = np.abs(X[:, 0] + X[:, 1]) + np.maximum(X[:, 2], 0.0)
y = MEAN + 0.3 * RNG.standard_normal(400)
LABELS = np.array(["a", "b", "c"])[np.searchsorted([0.5, 1.0], y)]
X_TEST = RNG.uniform(-1, 1, (2000, 3))
MEAN_TEST = np.abs(X_TEST[:, 0] + X_TEST[:, 1]) + np.maximum(X_TEST[:, 2], 0.0)


class Truth:
    """A teacher that knows the mean."""

    def predict(self, X):
        X = np.asarray(X)
        return np.abs(X[:, 0] + X[:, 1]) + np.maximum(X[:, 2], 0.0)


def test_a_perfect_teacher_gives_a_better_tree_than_the_targets():
    tree = distill(Truth(), X, CurvatureTreeRegressor(max_depth=4), random_state=0)
    compared = compare_distilled(tree, Truth(), X, y, eval_set=(X_TEST, MEAN_TEST))
    table = pd.DataFrame(compared).set_index("model")
    assert list(table.index) == ["distilled", "teacher", "plain", "control"]
    assert table.score["distilled"] > max(table.score["plain"], table.score["control"]) + 0.01
    assert table.n_leaves["control"] <= tree.get_n_leaves() == table.n_leaves["distilled"]
    assert table.fidelity["teacher"] == 1.0 == table.score["teacher"]
    assert table.fidelity["distilled"] == table.score["distilled"]


def test_the_control_has_as_many_leaves_if_targets_give_them():
    teacher = RandomForestRegressor(random_state=0).fit(X, y)
    tree = distill(teacher, X, CurvatureTreeRegressor(max_depth=6, min_samples_leaf=5),
                   n_points=2, random_state=0)
    compared = compare_distilled(tree, teacher, X, y, (X_TEST, MEAN_TEST))
    leaves = dict(zip(compared["model"], compared["n_leaves"], strict=True))
    assert leaves["plain"] < leaves["distilled"]
    assert abs(leaves["control"] - leaves["distilled"]) <= 0.25 * leaves["distilled"]


def test_fidelity():
    tree = distill(Truth(), X, random_state=0)
    assert isinstance(tree, CurvatureTreeRegressor)
    own = Truth().predict(X)
    expected = 1 - np.mean((own - tree.predict(X)) ** 2) / own.var()
    np.testing.assert_allclose(tree.fidelity_, expected)


def test_no_points_is_a_fit_to_the_predictions():
    tree = distill(Truth(), X, FCODTRegressor(max_depth=2), n_points=0)
    expected = FCODTRegressor(max_depth=2).fit(X, Truth().predict(X))
    assert tree.predict(X).tobytes() == expected.predict(X).tobytes()


@pytest.mark.parametrize("n_features", [3, 20])
def test_parts_have_the_neighbours_of_the_whole(monkeypatch, n_features):
    """Also of rows with many copies, which are not among their own neighbours."""
    X = np.random.default_rng(0).integers(0, 3, (300, n_features)).astype(float)
    X[100:120] = X[0]
    rows = distillation._Rows(X, CurvatureTreeRegressor(), None)
    whole = rows._neighbors(10)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_array_equal(whole, NearestNeighbors(n_neighbors=10).fit(scaled).kneighbors(return_distance=False))
    monkeypatch.setattr(distillation, "_SEARCHED", 50 / cpu_count())
    np.testing.assert_array_equal(rows._neighbors(10), whole)


def test_points_lie_between_neighbours():
    seen = []

    class Recording(Truth):
        def predict(self, X):
            seen.append(X)
            return super().predict(X)

    distill(Recording(), X, n_points=5, random_state=0)
    rows, points = seen[0][:400], seen[0][400:]
    assert rows.tobytes() == X.tobytes() and points.shape == (2000, 3)
    scaled = X / X.std(axis=0)
    for row, point in zip(np.repeat(np.arange(400), 5)[::37], points[::37], strict=True):
        nearest = np.argsort(((scaled - scaled[row]) ** 2).sum(axis=1))[1:11]
        steps = (X[nearest] - X[row])
        share = (steps @ (point - X[row])) / (steps**2).sum(axis=1)
        off = np.abs(X[row] + share[:, None] * steps - point).max(axis=1)
        assert np.any((off < 1e-12) & (share >= 0) & (share <= 1))


def test_seeds_and_threads():
    trees = [distill(Truth(), X, CurvatureTreeRegressor(n_jobs=jobs), random_state=seed)
             for jobs, seed in [(1, 3), (2, 3), (1, 4)]]
    first, same, other = (tree.predict(X).tobytes() for tree in trees)
    assert first == same and first != other


@pytest.mark.parametrize("targets", [y, LABELS])
def test_a_fit_to_targets_has_no_fidelity(targets):
    forest = RandomForestRegressor if targets is y else RandomForestClassifier
    tree = distill(forest(n_estimators=5, random_state=0).fit(X, targets), X, n_points=1)
    assert not hasattr(tree.fit(X, targets), "fidelity_")


def test_it_is_stored_and_has_no_intervals(tmp_path):
    tree = distill(Truth(), X, random_state=0)
    save_model(tree, tmp_path / "model")
    for other in (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(tree))):
        assert other.predict(X).tobytes() == tree.predict(X).tobytes()
        assert other.fidelity_ == tree.fidelity_
    with pytest.raises(ValueError, match="distill"):
        tree.predict_interval(X)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_targets(n_classes):
    labels = LABELS if n_classes == 3 else np.where(LABELS == "a", "a", "b")
    teacher = CurvatureBoostingClassifier(max_iter=30, random_state=0).fit(X, labels)
    tree = distill(teacher, X, n_points=4, random_state=0)
    assert isinstance(tree, CurvatureTreeClassifier)
    assert list(tree.classes_) == list(np.unique(labels))
    assert tree.fidelity_ > 0.8
    assert np.mean(tree.predict(X) == teacher.predict(X)) == tree.fidelity_
    own, taught = tree.predict_proba(X_TEST), teacher.predict_proba(X_TEST)
    plain = CurvatureTreeClassifier().fit(X, teacher.predict(X)).predict_proba(X_TEST)
    # Probabilities tell more than the classes.
    assert np.abs(own - taught).mean() < min(0.08, np.abs(plain - taught).mean())


def test_a_classifier_without_probabilities():
    class Signs:
        def predict(self, X):
            return np.where(np.asarray(X)[:, 0] > 0, "up", "down")

    class Column(Signs):
        def predict(self, X):
            return super().predict(X)[:, np.newaxis]

    for teacher in (Signs(), Column()):
        tree = distill(teacher, X, CurvatureTreeClassifier(), random_state=0)
        assert list(tree.classes_) == ["down", "up"] and tree.fidelity_ > 0.97


def test_classes_in_another_order():
    teacher = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, LABELS)
    expected = distill(teacher, X, n_points=2, random_state=0)

    class Reversed:
        classes_ = teacher.classes_[::-1]

        def predict(self, X):
            return teacher.predict(X)

        def predict_proba(self, X):
            return teacher.predict_proba(X)[:, ::-1]

    tree = distill(Reversed(), X, n_points=2, random_state=0)
    assert list(tree.classes_) == list(expected.classes_)
    np.testing.assert_array_equal(tree.predict_proba(X), expected.predict_proba(X))


def test_several_outputs_and_pipelines():
    both = np.column_stack([y, X[:, 0]])
    teacher = make_pipeline(StandardScaler(), RandomForestRegressor(n_estimators=10, random_state=0))
    tree = distill(teacher.fit(X, both), X, n_points=2, random_state=0)
    assert tree.predict(X).shape == (400, 2) and tree.fidelity_ > 0.6


def test_tables_with_categories_and_missing_values():
    frame = pd.DataFrame({"size": X[:, 0], "n": np.arange(400) % 7, "flag": X[:, 2] > 0,
                          "colour": pd.Categorical(np.array(["red", "blue"])[(X[:, 1] > 0) * 1])})
    frame.loc[::9, "size"] = np.nan
    target = X[:, 0] + 2.0 * (X[:, 1] > 0)
    teacher = CurvatureBoostingRegressor(max_iter=20, random_state=0).fit(frame, target)
    before = frame.copy()
    tree = distill(teacher, frame, n_points=3, random_state=0)
    compared = compare_distilled(tree, teacher, frame, target, (frame, target))
    assert compared["fidelity"][0] == tree.fidelity_ > 0.8
    assert list(tree.feature_names_in_) == list(frame.columns)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("library", ["polars", "pyarrow", "objects"])
def test_tables_of_any_library_give_the_same_tree(library):
    frame = pd.DataFrame({"size": X[:, 0], "n": X[:, 2] > 0, "colour": np.where(X[:, 1] > 0, "red", "blue")})
    teacher = CurvatureBoostingRegressor(max_iter=5, random_state=0).fit(frame, X[:, 0])
    expected = distill(teacher, frame, n_points=2, random_state=0)
    if library == "objects":
        table = frame.to_numpy(dtype=object)
        teacher = CurvatureBoostingRegressor(max_iter=5, random_state=0).fit(table, X[:, 0])
    else:
        made = pytest.importorskip(library)
        table = (made.table if library == "pyarrow" else made.DataFrame)(frame.to_dict("list"))
    tree = distill(teacher, table, n_points=2, random_state=0)
    np.testing.assert_array_equal(tree.predict(table), expected.predict(frame))
    assert library == "objects" or list(tree.feature_names_in_) == list(frame.columns)


def codes_and_target(as_frame):
    rng = np.random.default_rng(1)
    codes = rng.choice(np.arange(100, 112), 400)
    target = X[:, 0] + 3.0 * rng.normal(size=12)[codes - 100]
    table = pd.DataFrame({"size": X[:, 0], "code": codes})
    return table if as_frame else table.to_numpy(), target


class Watched:
    """A teacher that keeps what it is given to predict."""

    def __init__(self, model):
        self.model = model
        for name in ("encoder_", "is_categorical_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))

    def predict(self, X):
        self.seen = X if not hasattr(self, "seen") else self.seen
        return self.model.predict(X)


@pytest.mark.parametrize("as_frame", [True, False])
@pytest.mark.parametrize("of_tree", [True, False])
def test_numbers_that_are_categories_are_not_drawn_between(as_frame, of_tree):
    table, target = codes_and_target(as_frame)
    teacher = CurvatureBoostingRegressor(max_iter=5, categorical_features=[1], random_state=0)
    teacher = Watched(teacher.fit(table, target))
    if of_tree:
        del teacher.encoder_
    tree = CurvatureTreeRegressor(categorical_features=[1] if of_tree else None)
    tree = distill(teacher, table, tree, n_points=3, random_state=0)
    seen = np.asarray(teacher.seen)
    assert len(seen) == 1600 and set(seen[:, 1]) == set(range(100, 112))
    assert len(set(seen[:, 0])) == 1600
    if of_tree:
        assert tree.encoder_.categories[1] == list(range(100, 112))
    if as_frame:
        assert list(teacher.seen.dtypes) == list(table.dtypes)


def test_categories_of_other_boosting_are_not_drawn_between():
    table, target = codes_and_target(True)
    for mask in ([1], None):
        model = HistGradientBoostingRegressor(max_iter=5, categorical_features=mask)
        teacher = Watched(model.fit(table.assign(code=table.code % 100), target))
        distill(teacher, table.assign(code=table.code % 100), n_points=3, random_state=0)
        whole = np.all(np.asarray(teacher.seen)[:, 1] % 1 == 0)
        assert whole == (mask is not None)


def test_categories_of_a_pipeline_are_named_to_the_tree():
    table, target = codes_and_target(True)
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["code"]), remainder="passthrough")
    teacher = make_pipeline(encoder, RandomForestRegressor(5, random_state=0)).fit(table, target)
    with pytest.raises(ValueError, match="unknown categories.*categorical_features of tree"):
        distill(teacher, table, random_state=0)
    named = CurvatureTreeRegressor(categorical_features=["code"])
    assert distill(teacher, table, named, random_state=0).fidelity_ > 0.9
    distill(teacher, table, n_points=0)


@pytest.mark.parametrize("n_samples", [1, 2, 3])
def test_few_rows(n_samples):
    tree = distill(Truth(), X[:n_samples], random_state=0)
    assert np.all(np.isfinite(tree.predict(X)))


class Returns:
    """A teacher that predicts the same whatever it is given."""

    def __init__(self, value):
        self.value = value

    def predict(self, X):
        return self.value


@pytest.mark.parametrize("shares", [[1.0, 1.0], [1.5, -0.5], [0.5, 0.4]])
def test_scores_are_no_probabilities(shares):
    teacher = Returns(np.zeros(400))
    teacher.predict_proba = lambda X: np.tile(shares, (len(X), 1))
    with pytest.raises(ValueError, match="no probabilities.*sum to 1"):
        distill(teacher, X, n_points=0)
    shares = np.array([0.7, 0.3004], dtype=np.float16)  # rounded
    assert distill(teacher, X, n_points=0).fidelity_ == 1.0


@pytest.mark.parametrize("value, message", [
    (np.full(400, np.nan), "teacher.predict"), (np.ones(7), "shape"),
    (np.ones((400, 2, 2)), "shape"), (np.array(["a"] * 400), "labels of text.*CurvatureTreeClassifier"),
    (np.array(["a"] * 400, dtype=object), "labels of text")])
def test_bad_predictions_are_refused(value, message):
    with pytest.raises(ValueError, match=message):
        distill(Returns(value), X, n_points=0)


@pytest.mark.parametrize("settings, error, message", [
    ({"n_points": -1}, ValueError, "n_points"), ({"n_points": 1.5}, ValueError, "n_points"),
    ({"n_points": True}, ValueError, "n_points"),
    ({"tree": RandomForestRegressor()}, TypeError, "tree"),
    ({"tree": CurvatureTreeRegressor(alpha=-1.0)}, ValueError, "alpha")])
def test_bad_arguments_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        distill(Truth(), X, **settings)


def test_bad_comparisons_are_refused():
    tree = distill(Truth(), X, n_points=0)
    with pytest.raises(ValueError, match="inconsistent"):
        compare_distilled(tree, Truth(), X, y[:5], (X, y))
    teacher = RandomForestClassifier(3, random_state=0).fit(X, LABELS)
    with pytest.raises(ValueError, match="inconsistent"):
        compare_distilled(distill(teacher, X, n_points=0), teacher, X, LABELS, (X, LABELS[:5]))
    with pytest.raises(TypeError, match="tree"):
        compare_distilled(RandomForestRegressor(), Truth(), X, y, (X, y))


def test_numbers_are_no_classes():
    X = np.random.default_rng(0).normal(size=(60, 2))
    teacher = RandomForestRegressor(5, random_state=0).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="tree is a classifier and teacher a regressor"):
        distill(teacher, X, CurvatureTreeClassifier())
    classes = RandomForestClassifier(5, random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    with pytest.raises(ValueError, match="teacher is a classifier and tree a regressor"):
        distill(classes, X, CurvatureTreeRegressor())


def test_errors_name_the_columns_of_frames():
    frame = pd.DataFrame({"age": X[:, 0], "day": pd.date_range("2020-01-01", periods=len(X))})
    with pytest.raises(TypeError, match="column 'day' holds values of type datetime"):
        distill(Truth(), frame)


def test_classifiers_of_several_outputs_are_refused():
    teacher = RandomForestClassifier(3, random_state=0).fit(X, np.column_stack([LABELS, LABELS == "a"]))
    with pytest.raises(ValueError, match=r"predict_proba\(X\) is a list of tables, as of classifiers of several outputs"):
        distill(teacher, X, n_points=0)
