"""Fits hold a BLAS to one thread, and give its threads back, however many fits run at a time."""

import threading

import numpy as np
from fctree._threads import one_blas_thread
from threadpoolctl import ThreadpoolController, threadpool_limits


def blas_threads():
    return [library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()]


def test_the_first_to_leave_does_not_lift_the_limit_and_the_last_does():
    first, last = one_blas_thread, one_blas_thread
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first.__enter__()
        last.__enter__()
        assert blas_threads() == [1] * len(before)
        first.__exit__()
        assert blas_threads() == [1] * len(before)
        last.__exit__()
        assert blas_threads() == before == [2] * len(before)


def test_interleaved_fits_leave_the_limits_as_they_were():
    from fctree import CurvatureTreeClassifier, TreeNTKRegressor

    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 4))
    models = [lambda: CurvatureTreeClassifier().fit(X, X[:, 0] > 0),
              lambda: TreeNTKRegressor(alpha=0.1, solver="nystrom", n_components=20).fit(X, X[:, 0])]
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        threads = [threading.Thread(target=models[i % 2]) for i in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert blas_threads() == before
