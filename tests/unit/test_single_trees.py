"""Counts of parameters, and the choice within a budget, of benchmarks/bench_single_trees.py."""

import numpy as np
import pytest

from fctree import CurvatureTreeRegressor


@pytest.fixture
def programs(benchmark_module):
    return benchmark_module("single_tree_programs")


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
