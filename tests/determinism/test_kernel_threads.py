"""The same bytes for any number of threads, in one process and in two."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from fctree import TreeNTKClassifier, TreeNTKRegressor, TreeNTKRegressorCV
from fctree.kernels import (
    empirical_tree_ntk,
    relu_ntk,
    tree_ntk,
    tree_ntk_matvec,
    tree_ntk_path,
)
from threadpoolctl import threadpool_limits

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((500, 7)), RNG.standard_normal((333, 7))
V = RNG.standard_normal((333, 2))
MANY = RNG.standard_normal((20_500, 3))
CALLS = {
    "symmetric": lambda n: tree_ntk(X, n_jobs=n),
    "rectangular": lambda n: tree_ntk(X, Y, n_jobs=n),
    "float32": lambda n: tree_ntk(X.astype(np.float32), n_jobs=n),
    "relu": lambda n: relu_ntk(X, Y, depth=4, n_jobs=n),
    "path": lambda n: tree_ntk_path(X, depths=[1, 5], architecture="decision_list", n_jobs=n),
    "matvec": lambda n: tree_ntk_matvec(X, Y, V, n_jobs=n),
    "matvec of few rows": lambda n: tree_ntk_matvec(Y[:3], np.tile(X, (40, 1)), np.ones(20_000),
                                                    n_jobs=n),
    "empirical": lambda n: empirical_tree_ntk(X[:50], n_trees=300, random_state=0, n_jobs=n),
    "nystrom": lambda n: TreeNTKClassifier(solver="nystrom", n_components=50, random_state=0,
                                           alpha=0.1, n_jobs=n).fit(X, X[:, 0] > 0).dual_coef_,
    # More samples than landmarks are sought among: products in float32.
    "nystrom of many": lambda n: TreeNTKRegressor(solver="nystrom", n_components=30, alpha=0.1, random_state=0,
                                                  n_jobs=n).fit(MANY, MANY[:, 0]).dual_coef_,
    "search": lambda n: TreeNTKRegressorCV(alphas=(0.1, 1.0), depths=(1, 2), scales=(1.0,),
                                           n_jobs=n).fit(X[:100], X[:100, 0]).dual_coef_,
}


@pytest.mark.parametrize("name", CALLS)
def test_threads(name):
    one = CALLS[name](1).tobytes()
    for n_jobs in (2, 4):
        assert CALLS[name](n_jobs).tobytes() == one


def test_search_does_not_depend_on_the_threads_of_the_blas():
    """Eigenvectors of 300 samples do, where the search lets a BLAS use them."""
    coefficients = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            model = TreeNTKRegressorCV(alphas=(0.1,), depths=(2,), scales=(1.0,))
            coefficients.append(model.fit(X[:300], X[:300, 0]).dual_coef_.tobytes())
    assert coefficients[0] == coefficients[1]


def test_processes():
    code = ("import hashlib, numpy as np; from fctree.kernels import tree_ntk; "
            "X = np.random.default_rng(1).standard_normal((300, 5)); "
            "print(hashlib.sha256(tree_ntk(X, depth=4, n_jobs=2).tobytes()).hexdigest())")
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = tree_ntk(np.random.default_rng(1).standard_normal((300, 5)), depth=4)
    assert other.stdout.strip() == hashlib.sha256(here.tobytes()).hexdigest()


def test_large_matrices_that_are_written_around_the_caches():
    """2,100 rows make 35 MB; its corners equal those of small ones."""
    A = np.random.default_rng(2).standard_normal((2101, 3))
    K = tree_ntk(A, n_jobs=2)
    assert np.array_equal(K, K.T)
    some = np.r_[0:50, 1000:1050, 2050:2101]
    assert np.array_equal(K[np.ix_(some, some)], tree_ntk(A[some]))
    assert tree_ntk(A).tobytes() == K.tobytes()
