# distutils: language = c++
"""Attributions of predictions to features: ``native/inspection`` on NumPy arrays.

``player`` (n_features,) int64 has the player of each feature, from 0 to ``n_players`` - 1; features of a
player enter and leave coalitions together. Neither samples nor background may be empty.
"""

cimport numpy as cnp
from libc.stdint cimport int64_t

from fctree._native.core cimport Execution, execution_on
from fctree._native.ensembles cimport Trees
from fctree._native.symmetric cimport matrix_of, view_of

import numpy as np

cnp.import_array()


def attribute_symmetric(trees, X, background, const int64_t[::1] player, int64_t n_players, *,
                        bint path_dependent, int n_threads):
    """Shapley values of the raw scores of ``SymmetricTrees``, (n, n_players, n_outputs)."""
    out = np.zeros((X.shape[0], n_players, trees.n_outputs))
    if trees.n_trees == 0:
        return out
    cdef double[:, :, ::1] values = out
    cdef SymmetricShapleyTask task
    task.trees = view_of(trees)
    task.x = matrix_of(X)
    task.background = matrix_of(background)
    task.player = &player[0]
    task.n_players = n_players
    task.kind = CoalitionValue.path_dependent if path_dependent else CoalitionValue.interventional
    cdef Execution execution = execution_on(n_threads)
    with nogil:
        add_symmetric_shapley(task, &values[0, 0, 0], execution)
    return out


def attribute_oblique(trees, const double[:, ::1] X, const double[:, ::1] background,
                      const int64_t[::1] player, int64_t n_players, *, bint along_lines,
                      int n_threads):
    """Shapley values or path attributions of the scores of ``ObliqueTrees``, (n, n_players,
    n_outputs)."""
    out = np.zeros((X.shape[0], n_players, trees.n_outputs))
    cdef double[:, :, ::1] values = out
    cdef Trees native_trees = Trees(trees)
    cdef ObliqueAttributionTask task
    task.trees = native_trees.view
    task.n_trees = native_trees.n_trees
    task.x = &X[0, 0]
    task.n_samples = X.shape[0]
    task.background = &background[0, 0]
    task.n_background = background.shape[0]
    task.player = &player[0]
    task.n_players = n_players
    task.along_lines = along_lines
    cdef Execution execution = execution_on(n_threads)
    with nogil:
        c_attribute_oblique(task, &values[0, 0, 0], execution)
    return out
