"""Batches of tables: the same bytes as table by table, for any number of threads."""

import numpy as np
import pytest
from fctree._native import matrix as native
from fctree.kernels import (
    TreeNTK,
    relu_ntk,
    rule_ntk,
    tree_ntk,
    tree_ntk_matvec,
    tree_ntk_path,
)

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((7, 40, 3)), RNG.standard_normal((7, 25, 3))
CALLS = {
    "tree": tree_ntk,
    "list": lambda *a, **k: tree_ntk(*a, architecture="decision_list", depth=4, **k),
    "counts": lambda *a, **k: tree_ntk(*a, architecture={1: 1, 2: 2}, **k),
    "rule": rule_ntk,
    "relu": relu_ntk,
    "path": lambda *a, **k: tree_ntk_path(*a, depths=[1, 2, 5], **k),
    "path of one": lambda *a, **k: tree_ntk_path(*a, depths=[2], **k),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("n_jobs", [1, 2, 4, 9])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("other", [None, Y])
def test_a_batch_is_its_tables(name, n_jobs, dtype, other):
    x, y = X.astype(dtype), None if other is None else other.astype(dtype)
    found = CALLS[name](x, y, n_jobs=n_jobs)
    single = [CALLS[name](a, None if y is None else y[b]) for b, a in enumerate(x)]
    assert found.dtype == dtype and np.array_equal(found, np.stack(single))


@pytest.mark.parametrize("n_jobs", [1, 2, 9])
@pytest.mark.parametrize("shape", [(7, 25), (7, 25, 1), (7, 25, 4)])
def test_products(n_jobs, shape):
    v = RNG.standard_normal(shape)
    found = tree_ntk_matvec(X, Y, v, n_jobs=n_jobs)
    assert np.array_equal(found, np.stack([tree_ntk_matvec(X[b], Y[b], v[b]) for b in range(7)]))


def test_large_tables_are_computed_one_after_the_other():
    """Beyond a million entries all threads work on one table."""
    large = RNG.standard_normal((2, 1100, 2))
    found = tree_ntk(large, n_jobs=2)
    assert np.array_equal(found[1], tree_ntk(large[1]))


def test_outputs():
    out = np.empty((7, 40, 25))
    assert tree_ntk(X, Y, out=out) is out and np.array_equal(out[3], tree_ntk(X[3], Y[3]))
    with pytest.raises(ValueError, match="shape"):
        tree_ntk(X, Y, out=np.empty((7, 25, 40)))


def test_what_does_not_fit_is_refused():
    for bad, other, words in (
        (X[np.newaxis], None, "dimensions"), (X, Y[:3], "batch"), (X, Y[0], "batch"),
        (X[0], Y, "batch"), (X, Y[:, :, :2], "features"), (X[:, :0], None, "0 sample"),
    ):
        with pytest.raises(ValueError, match=words):
            tree_ntk(bad, other)
    for v in (np.ones(25), np.ones((7, 24)), np.ones((6, 25)), np.ones((7, 25, 1, 1))):
        with pytest.raises(ValueError, match="v of shape|dim"):
            tree_ntk_matvec(X, Y, v)
    broken = X.copy()
    broken[6, 1, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        tree_ntk(broken)
    broken[6, 1, 1] = 1e160
    with pytest.raises(ValueError, match="scale \\* \\|x\\|"):
        tree_ntk(broken, n_jobs=2)


def test_the_native_module_refuses_what_does_not_fit():
    spec = native.KernelSpec("power", depth=3)
    for arguments in (
        ([spec], X, Y, 1.0, np.empty((7, 1, 25, 40)), 1), ([spec], X[0], None, 1.0, np.empty(1), 1),
        ([spec], X, Y[:3].copy(), 1.0, np.empty((7, 1, 40, 25)), 1),
        ([native.KernelSpec("relu")] * 2, X, None, 1.0, np.empty((7, 2, 40, 40)), 1),
    ):
        with pytest.raises(ValueError):
            native.gram(*arguments)
    with pytest.raises(ValueError, match="vectors"):
        native.gram_product(spec, X, Y, 1.0, np.ones((7, 24, 1)), np.empty((7, 40, 1)), 1)


def test_estimators_and_gaussian_processes_take_one_table():
    with pytest.raises(ValueError):
        TreeNTK().diag(X)
