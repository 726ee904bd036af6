"""The number of threads that ``n_jobs`` stands for."""

from multiprocessing import current_process
from numbers import Integral

import joblib

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
