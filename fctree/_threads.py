"""The number of threads that ``n_jobs`` stands for, and linear algebra on one."""

import os
from contextlib import contextmanager
from multiprocessing import current_process
from numbers import Integral
from threading import Lock

import joblib
from threadpoolctl import ThreadpoolController, threadpool_limits

from fctree._native_input import check_threads


def count_threads(n_jobs):
    """Threads for ``n_jobs``, which means what it means in scikit-learn; TypeError if it is neither an
    integer nor None, ValueError if it is 0."""
    if n_jobs is not None and not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs must be an integer or None, got {n_jobs!r}")
    if current_process().daemon and n_jobs != 0:  # a pool's worker: joblib would warn that it starts no processes there
        return check_threads(max(n_jobs or 1, 1))
    return check_threads(joblib.effective_n_jobs(n_jobs))


def threads_for(n_jobs, X):
    """`count_threads`; one for one row, without asking whether there is a parallel context."""
    if len(X) == 1 and (n_jobs is None or type(n_jobs) is int and n_jobs > 0):
        return 1
    return count_threads(n_jobs)


class _OneBlasThread:
    """Limits linear algebra to one thread while any thread of the process is inside of it.

    The limits of a BLAS are those of the process: the first to leave must not lift them for the others.
    """

    def __init__(self):
        self.open()

    def open(self):
        """Nobody is inside."""
        self._lock = Lock()
        self._n_inside = 0
        self._blas = self._limits = None

    def __enter__(self):
        with self._lock:
            if self._blas is None:  # finding it takes longer than fitting a small tree
                self._blas = ThreadpoolController().select(user_api="blas")
            if self._n_inside == 0:
                self._limits = self._blas.limit(limits=1)
            self._n_inside += 1

    def __exit__(self, *error):
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limits.restore_original_limits()


one_blas_thread = _OneBlasThread()
if hasattr(os, "register_at_fork"):  # a child has no other threads that could leave
    os.register_at_fork(after_in_child=one_blas_thread.open)


@contextmanager
def one_thread():
    """Linear algebra, and OpenMP where this thread calls it, on one thread."""
    with one_blas_thread, threadpool_limits(1, user_api="openmp"):
        yield
