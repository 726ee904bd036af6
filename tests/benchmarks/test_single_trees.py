"""Counts of parameters, and the choice within a budget, of benchmarks/bench_single_trees.py."""

from types import SimpleNamespace

import numpy as np
import pytest

from fctree import CurvatureTreeRegressor


@pytest.fixture
def programs(benchmark_module):
    return benchmark_module("single_tree_programs")


@pytest.fixture
def classifiers(benchmark_module):
    return benchmark_module("single_tree_classifiers")


@pytest.fixture
def bench(benchmark_module):
    return benchmark_module("bench_single_trees")


@pytest.fixture
def bent():
    X = np.random.default_rng(0).normal(size=(400, 5))
    return X, np.abs(X[:, 0]) + X[:, 1]


def test_a_vector_is_written_in_the_cheaper_way(programs):
    assert programs.vector_size([0.0, 2.0, 0.0, 0.0, 0.0]).tolist() == [1, 1]
    assert programs.vector_size([1.0, 2.0, 3.0, 4.0, 0.0]).tolist() == [4, 1]  # five numbers in a row
    assert programs.vector_size([1.0, 2.0]).tolist() == [2, 0]


@pytest.mark.parametrize("options, size", [
    ({"max_depth": 0}, [6, 0]),
    ({"max_depth": 1, "max_coef": 1}, [13, 1]),
    ({"max_depth": 1}, [18, 0]),
    ({"max_depth": 1, "max_coef": 2}, [15, 2]),
    ({"max_depth": 1, "max_coef": 1, "leaf_model": "constant"}, [3, 1]),
])
def test_curvature_trees_are_counted(programs, bent, options, size):
    X, y = bent
    options = {"directions": "curvature", **options}
    tree = CurvatureTreeRegressor(**options).fit(X, y + 0.3 * np.abs(X[:, 1:]).sum(axis=1))
    assert programs.oblique_size(tree).tolist() == size


def test_soft_boundaries_are_counted(programs, bent):
    X, _ = bent
    y = np.log1p(np.exp(2.0 * X @ [1.0, 1.0, 0.5, 0.5, 0.5]))
    hard, soft = (CurvatureTreeRegressor(max_depth=1, directions="curvature", leaf_model=leaves).fit(X, y)
                  for leaves in ("ridge", "soft"))
    assert soft.tree_.boundary_width is not None
    assert programs.oblique_size(hard).tolist() == [18, 0]
    assert programs.oblique_size(soft).tolist() == [19, 0]


def test_cart_and_sparse_linear_models_are_counted(programs, bent):
    tree = programs.cart(*bent, {}, max_leaf_nodes=4)
    assert programs.cart_size(tree).tolist() == [7, 3]
    program = programs.PROGRAMS["sparse linear"]
    assert program.size(program.fit(*bent, {}, n_coef=2)).tolist() == [3, 2]


def test_fewer_features_cost_their_indices(programs, bent):
    program = programs.PROGRAMS["curvature tree"]
    model, size = programs.fit(program, *bent, {}, {"max_depth": 0, "features": 2})
    assert sorted(model.chosen) == [0, 1]
    assert size.tolist() == [3, 2]
    assert model.predict(bent[0]).shape == (400,)


def test_a_budget_chooses_by_held_out_rows_and_not_by_the_test(bench):
    mean = {"numbers": 1, "indices": 0, "held": 1.0, "r2": 0.0}
    found = [{"mean": mean, "numbers": 8, "indices": 2, "held": 0.5, "r2": 0.4},
             {"mean": mean, "numbers": 9, "indices": 1, "held": 0.6, "r2": 0.9},
             {"mean": mean, "numbers": 11, "indices": 0, "held": 0.1, "r2": 0.8},
             {"mean": mean, "failure": "ValueError"}]
    both = ("numbers", "indices")
    assert [bench.chosen(found, budget, both) for budget in (5, 10, 20)] == [0.0, 0.4, 0.8]
    assert bench.chosen(found, 8, ("numbers",)) == 0.4


def test_standings_compare_programs_on_the_same_sets(bench):
    own = bench.OWN[0]

    def record(name, program, fold, r2):
        return {"set": name, "program": program, "fold": fold, "numbers": 5, "indices": 0, "held": 0.5,
                "r2": r2, "mean": {"numbers": 1, "indices": 0, "held": 1.0, "r2": 0.0}}

    found = [record("a", own, 0, 0.5), record("a", own, 1, 0.7), record("a", "CART", 0, 0.4),
             record("a", "CART", 1, 0.6), record("b", own, 0, 0.5), record("b", "CART", 0, 0.9)]
    by_set = bench.scores(found)
    assert by_set["a"][bench.TREES][30] == pytest.approx(0.6)
    at_30 = bench.standings(by_set)["30"]
    assert at_30["CART"]["mean rank"] == 1.5
    assert at_30["CART"]["curvature trees better"] == 1
    assert at_30[bench.TREES]["best"] == 1


def test_programs_without_records_keep_their_scores(bench):
    def record(name, program, log_loss):
        return {"set": name, "program": program, "fold": 0, "options": {}, "columns": 4, "classes": 2, "numbers": 5, "indices": 0,
                "held": log_loss, "log_loss": log_loss, "accuracy": 1.0 - log_loss,
                "mean": {"numbers": 1, "indices": 0, "held": 0.9, "log_loss": 0.9, "accuracy": 0.5}}

    task = bench.TASKS["classes"]
    found = [record(name, program, loss) for name in "ab"
             for program, loss in zip((*bench.OWN, "CART", "EBM"), (0.5, 0.4, 0.3, 0.2, 0.6), strict=True)]
    earlier = bench.summarise(found, task)
    again = [{**record, "log_loss": 0.1, "accuracy": 0.7} for record in found if record["program"] in bench.OWN]
    results = bench.summarise(again, task, earlier)
    assert results["kept"] == ["CART", "EBM"]
    assert "without indices" in earlier and "without indices" not in results
    assert results["sets"]["a"]["best"]["30"] == bench.TREES
    assert results["sets"]["a"]["log-loss"]["CART"] == earlier["sets"]["a"]["log-loss"]["CART"]
    assert results["classes"]["30"]["CART"]["mean rank"] == 2.0 > earlier["classes"]["30"]["CART"]["mean rank"]
    assert {program: of["mean accuracy"] for program, of in results["accuracy"]["30"].items()} == pytest.approx(
        {"CART": 0.8, "EBM": 0.4, bench.TREES: 0.7})
    for fewer in (again[:1], again[:3]):  # a variant is missing, a set is
        with pytest.raises(SystemExit):
            bench.summarise(fewer, task, earlier)
    rival = bench.summarise([record(name, "CART", 0.7) for name in "ab"], task, earlier)
    assert rival["alone"].keys() == {*bench.OWN}
    assert rival["classes"]["30"][bench.TREES] == {
        "mean rank": 1.0, "mean log-loss": 0.3, "best": 2, "curvature trees better": 0}


def classes_of(X, n_classes):
    """Classes by the quantiles of a sum of two columns and of their bends."""
    score = X[:, 0] + np.abs(X[:, 1])
    return np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


def test_scores_of_classes_are_written_in_the_cheaper_way(programs):
    assert programs.scores_size([[1.0, 2.0, 3.0]]).tolist() == [4, 0]
    dense = np.random.default_rng(0).normal(size=(3, 4))
    assert programs.scores_size(dense).tolist() == [10, 0]  # two differences
    sparse = np.diag([1.0, 2.0, 3.0, 4.0])[:, [0, 1, 2, 3, 3]]
    assert programs.scores_size(sparse).tolist() == [9, 5]  # five coefficients, four intercepts


@pytest.mark.parametrize("options, n_classes, size", [
    ({"max_depth": 0}, 2, [6, 0]),
    ({"max_depth": 0}, 3, [12, 0]),
    ({"max_depth": 1, "max_coef": 1}, 3, [25, 1]),
    ({"max_depth": 1, "max_coef": 1, "leaf_model": "constant"}, 2, [3, 1]),
    ({"max_depth": 1, "max_coef": 1, "leaf_model": "constant"}, 3, [5, 1]),
])
def test_curvature_trees_of_classes_are_counted(classifiers, bent, options, n_classes, size):
    X, y = bent[0], classes_of(bent[0], n_classes)
    model = classifiers.curvature_tree(X, y, {}, split_margin=0.0, standardize=False, **options)
    assert classifiers.curvature_size(model).tolist() == size
    assert model.predict_proba(X).shape == (400, n_classes)


def test_shares_of_leaves_are_smoothed(classifiers, bent):
    X, y = bent[0], classes_of(bent[0], 3)
    model = classifiers.cart(X, y, {}, max_leaf_nodes=4)
    assert classifiers.leaf_shares_size(model).tolist() == [3 + 4 * 2, 3]
    leaves = model.tree.apply(X)
    counts = np.bincount(y[leaves == leaves[0]], minlength=3)
    assert model.predict_proba(X[:1])[0] == pytest.approx((counts + 1) / (counts.sum() + 3))


def test_trees_of_yes_and_no_find_their_leaves(classifiers):
    class Node:
        def __init__(self, feature=None, left=None, right=None):
            self.feature, self.left_child, self.right_child = feature, left, right

    tree = classifiers.BinaryTree(Node(0, Node(), Node(1, Node(), Node())), lambda X: X)
    leaves = tree.apply(np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]]))
    assert leaves[0] == leaves[1] and leaves[3] == leaves[4]
    assert len({*leaves.tolist()}) == 3


def test_additive_and_sparse_models_of_classes_are_counted(programs, classifiers):
    scores = np.zeros((6, 3))
    scores[1:4] = 1.0, -1.0, 0.0  # three equal bins between those of missing and of unknown values
    scores[4] = 0.0, 0.0, 2.0
    model = SimpleNamespace(intercept_=np.zeros(3), term_scores_=[scores, np.zeros((4, 3))], term_features_=[(0,), (1,)])
    assert programs.additive_size(model).tolist() == [2 + 2 * 2 + 1, 1]
    sparse = SimpleNamespace(coef_=np.array([[0.0, 2.0, 0.0, 0.0]]))
    assert classifiers.CLASSIFIERS["sparse logistic"].size(sparse).tolist() == [2, 1]


def test_classes_are_judged_by_their_log_loss(bench, bent):
    X, y = bent[0], classes_of(bent[0], 3)
    parts = [(X[:200], y[:200], X[200:], y[200:])] * 4
    found = bench.measure(bench.CLASSIFIERS["CART"], {"max_leaf_nodes": 6}, parts, [{}] * 4)
    frequencies = bench.constant(parts)
    assert frequencies["numbers"] == 2
    assert frequencies["held"] == pytest.approx(np.log(3.0), abs=0.05)
    assert found["log_loss"] == pytest.approx(found["held"])
    assert found["held"] < frequencies["held"] and 0.0 < found["accuracy"] <= 1.0
    record = {**found, "set": "a", "program": "CART", "fold": 0, "mean": frequencies}
    by_set = bench.scores([record, {**record, "program": bench.OWN[0], "log_loss": 0.01}], "log_loss")
    at_100 = bench.standings(by_set, label="log-loss", sign=1)["100"]
    assert at_100[bench.TREES]["mean log-loss"] == pytest.approx(0.01)
    assert at_100["CART"]["mean rank"] == 2.0 and at_100["CART"]["curvature trees better"] == 1
