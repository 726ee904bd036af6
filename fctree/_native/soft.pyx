# distutils: language = c++
"""Soft trees: ``native/soft`` on NumPy arrays, float32 or float64 throughout a call."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint64_t

from fctree._native.core cimport (
    Execution,
    Listener,
    RoundListener,
    Table,
    elements,
    execution_on,
    loss_choice,
    pointer_1d,
)
from fctree._native.ensembles cimport table_of

import numpy as np

cnp.import_array()

ctypedef fused real:
    float
    double


cdef list numbers(const vector[double]& values):
    return [values[i] for i in range(<int64_t>values.size())]


def check_children(const int32_t[:, ::1] children, int64_t n_splits):
    """Raise ValueError unless these are left and right children, (n_splits, 2), breadth-first.

    Splits are numbered from 0 and leaves, after them, from ``n_splits``.
    """
    cdef int64_t split = 1, leaf = n_splits, node, side, child
    cdef bint valid = children.shape[0] == n_splits and children.shape[1] == 2
    if valid:
        for node in range(n_splits):
            for side in range(2):
                child = children[node, side]
                if child == split and child < n_splits and child > node:
                    split += 1
                elif child == leaf:
                    leaf += 1
                else:
                    valid = False
    if not valid or split != n_splits or leaf != 2 * n_splits + 1:
        raise ValueError(
            f"children of shape {np.shape(children)} are not those of a binary tree of {n_splits} "
            f"splits, numbered breadth-first"
        )


cdef Ensemble[real] ensemble_of(const real[:, :, ::1] split_weights,
                                const real[:, :, ::1] leaf_weights, dict shape) except *:
    """A view of the weights; ``shape`` has routing, gamma and scale, and children but for perfect trees."""
    cdef Ensemble[real] trees
    cdef const int32_t[:, ::1] children = shape.get("children")
    trees.n_trees = leaf_weights.shape[0]
    trees.n_splits = leaf_weights.shape[1] - 1
    trees.n_features = split_weights.shape[2]
    trees.n_outputs = leaf_weights.shape[2]
    if (split_weights.shape[0] != trees.n_trees or trees.n_trees < 1 or trees.n_features < 1
            or trees.n_outputs < 1 or trees.n_splits < 1
            or split_weights.shape[1] != trees.n_splits
            or (children is None and trees.n_splits & (trees.n_splits + 1) != 0)):
        raise ValueError(
            f"weights of shapes {np.shape(split_weights)} and {np.shape(leaf_weights)} "
            f"are not those of {'perfect' if children is None else 'binary'} trees"
        )
    trees.children = NULL
    if children is not None:
        check_children(children, trees.n_splits)
        trees.children = &children[0, 0]
    trees.split_weights = &split_weights[0, 0, 0]
    trees.leaf_weights = &leaf_weights[0, 0, 0]
    trees.routing = <Routing><int>shape["routing"]
    trees.gamma = shape["gamma"]
    trees.scale = shape["scale"]
    return trees


cdef class PassOf32:
    """A forward pass of float32 trees and what its backward pass needs."""
    cdef LayerPass[float]* native

    def __cinit__(self, int kind):
        self.native = new LayerPass[float](<PassKind>kind)

    def __dealloc__(self):
        del self.native


cdef class PassOf64:
    """A forward pass of float64 trees and what its backward pass needs."""
    cdef LayerPass[double]* native

    def __cinit__(self, int kind):
        self.native = new LayerPass[double](<PassKind>kind)

    def __dealloc__(self):
        del self.native


cdef LayerPass[real]* native_pass(layer_pass, const real* unused):
    if real is float:
        return (<PassOf32?>layer_pass).native
    else:
        return (<PassOf64?>layer_pass).native


def new_pass(dtype, int kind=0):
    """An empty pass for arrays of this type; ``kind`` is a ``PassKind``."""
    return PassOf32(kind) if np.dtype(dtype) == np.float32 else PassOf64(kind)


def forward(layer_pass, const real[:, ::1] x, const real[:, :, ::1] split_weights,
            const real[:, :, ::1] leaf_weights, real[:, ::1] out, dict shape, int n_threads):
    """out (n, n_outputs) = the sum over the trees of x (n, n_features)."""
    cdef Ensemble[real] trees = ensemble_of(split_weights, leaf_weights, shape)
    cdef Execution execution = execution_on(n_threads)
    if x.shape[1] != trees.n_features or out.shape[0] != x.shape[0] \
            or out.shape[1] != trees.n_outputs:
        raise ValueError("x, out and the weights have shapes that do not belong together")
    if x.shape[0] == 0:
        return
    cdef const real* rows = &x[0, 0]
    cdef int64_t n_rows = x.shape[0]
    cdef real* out_data = &out[0, 0]
    cdef LayerPass[real]* native = native_pass[real](layer_pass, NULL)
    with nogil:
        native.forward(trees, rows, n_rows, out_data, execution)


def backward(layer_pass, const real[:, :, ::1] split_weights,
             const real[:, :, ::1] leaf_weights, const real[:, ::1] out_gradient,
             real[:, :, ::1] split_gradient, real[:, :, ::1] leaf_gradient,
             real[:, ::1] x_gradient, dict shape, int n_threads):
    """Adds the gradients of the last forward pass to those of the weights; ``x_gradient``, unless None, is set to its own."""
    cdef Ensemble[real] trees = ensemble_of(split_weights, leaf_weights, shape)
    cdef Execution execution = execution_on(n_threads)
    cdef LayerPass[real]* native = native_pass[real](layer_pass, NULL)
    if out_gradient.shape[0] == 0:
        return
    if not native.was_of(trees, out_gradient.shape[0]) or out_gradient.shape[1] != trees.n_outputs:
        raise ValueError("the weights or out_gradient are not those of the last forward pass")
    if np.shape(split_weights) != np.shape(split_gradient) or np.shape(leaf_weights) != np.shape(leaf_gradient):
        raise ValueError("weights and their gradients must have the same shape")
    if x_gradient is not None and np.shape(x_gradient) != (out_gradient.shape[0], trees.n_features):
        raise ValueError("x_gradient must have the shape of x")
    cdef EnsembleGradients[real] gradients
    gradients.split_weights = &split_gradient[0, 0, 0]
    gradients.leaf_weights = &leaf_gradient[0, 0, 0]
    gradients.touched = NULL
    cdef const real* by_output = &out_gradient[0, 0]
    cdef real* by_x = NULL
    if x_gradient is not None:
        by_x = &x_gradient[0, 0]
    with nogil:
        native.find_derivatives(trees, by_output, execution)
        native.add_all_gradients(trees, by_output, gradients, execution)
        if by_x != NULL:
            native.input_gradient(trees, by_x, execution)


def workspace_bytes(layer_pass):
    """Bytes held by a pass."""
    if isinstance(layer_pass, PassOf32):
        return (<PassOf32>layer_pass).native.bytes()
    return (<PassOf64?>layer_pass).native.bytes()


def reached_leaves(layer_pass):
    """Reached leaves of the last forward pass, over all samples and trees."""
    if isinstance(layer_pass, PassOf32):
        return (<PassOf32>layer_pass).native.n_reached_leaves()
    return (<PassOf64?>layer_pass).native.n_reached_leaves()


cdef Standardization rule_of(standardization, vector[double]& factor) except *:
    """Of ``(mean, variance, intercept)``, the first two arrays or None; ``factor`` has to outlive it."""
    mean, variance, intercept = standardization
    cdef Standardization rule
    rule.mean = NULL
    rule.factor = NULL
    rule.intercept = intercept
    if mean is not None:
        factor.resize(len(variance))
        rule.mean = <const double*>elements(mean, b"f", 1)
        inverse_deviations(rule.mean, <const double*>elements(variance, b"f", 1), factor.size(), factor.data())
        rule.factor = factor.data()
    return rule


def factors_of(standardization):
    """Factors of centred features, (n_features,): 1 / sqrt(variance), 0 where that is rounding."""
    cdef vector[double] factor
    rule_of(standardization, factor)
    return np.array(factor)


def predict(X, const real[:, :, ::1] split_weights, const real[:, :, ::1] leaf_weights,
            dict shape, standardization, int n_threads, baseline, output_scale):
    """``baseline + output_scale * (sum over the trees)``, (n, n_outputs) float64; ``standardization``
    is (mean, variance, intercept)."""
    cdef Ensemble[real] trees = ensemble_of(split_weights, leaf_weights, shape)
    cdef Table table = table_of(X)
    cdef int64_t n_rows = len(X)
    cdef vector[double] factor
    cdef Standardization rule = rule_of(standardization, factor)
    cdef Execution execution = execution_on(n_threads)
    cdef const double* base = <const double*>elements(baseline, b"f", 1)
    cdef const double* scale = <const double*>elements(output_scale, b"f", 1)
    cdef vector[real] sums
    cdef int64_t i, k, n_outputs = trees.n_outputs
    if len(baseline) != n_outputs or len(output_scale) != n_outputs:
        raise ValueError(f"expected the baseline and the scale of {n_outputs} outputs")
    sums.resize(n_rows * n_outputs)
    with nogil:
        predict_soft(trees, table, n_rows, rule, sums.data(), execution)
    out = np.empty((n_rows, n_outputs))
    cdef double* scores = <double*>cnp.PyArray_DATA(out)
    for i in range(n_rows):
        for k in range(n_outputs):
            scores[i * n_outputs + k] = base[k] + scale[k] * sums[i * n_outputs + k]
    return out


def reachable_leaves(X, const real[:, :, ::1] split_weights,
                     const real[:, :, ::1] leaf_weights, dict shape, standardization,
                     int n_threads):
    """The number of leaves that each sample reaches in each tree, (n, n_trees) int32."""
    cdef Ensemble[real] trees = ensemble_of(split_weights, leaf_weights, shape)
    cdef Table table = table_of(X)
    cdef int64_t n_rows = len(X)
    cdef vector[double] factor
    cdef Standardization rule = rule_of(standardization, factor)
    cdef Execution execution = execution_on(n_threads)
    out = np.empty((n_rows, trees.n_trees), dtype=np.int32)
    cdef int32_t[:, ::1] view = out
    if out.size == 0:
        return out
    cdef int32_t* data = &view[0, 0]
    with nogil:
        count_reachable_leaves(trees, table, n_rows, rule, data, execution)
    return out


def draw_weights(real[:, :, ::1] split_weights, real[:, :, ::1] leaf_weights, *,
                 children, dict spread, uint64_t seed, int n_threads):
    """Draw the weights; ``spread`` has the fields of ``InitialSpread``."""
    cdef Ensemble[real] trees = ensemble_of[real](
        split_weights, leaf_weights,
        {"routing": 0, "gamma": 1.0, "scale": 1.0, "children": children})
    cdef InitialSpread native = spread
    cdef Execution execution = execution_on(n_threads)
    cdef real* splits = &split_weights[0, 0, 0]
    cdef real* leaves = &leaf_weights[0, 0, 0]
    with nogil:
        c_draw_weights(trees, native, seed, splits, leaves, execution)


cdef SoftSamples samples_of(tuple arrays) except *:
    """Of ``(X, y, weight)``, which have to outlive it."""
    cdef SoftSamples samples
    cdef const double[:, ::1] y = arrays[1]
    cdef const double[::1] weight = arrays[2]
    samples.x = table_of(arrays[0])
    samples.n_samples = len(arrays[0])
    samples.y = &y[0, 0]
    samples.weight = pointer_1d(weight)
    return samples


cdef SoftWeights[real] weights_of(real[:, :, ::1] split_weights, real[:, :, ::1] leaf_weights,
                                  dict arrays) except *:
    """A view of the arrays of weights that predict."""
    cdef double[::1] mean = arrays["running_mean"]
    cdef double[::1] variance = arrays["running_variance"]
    cdef SoftWeights[real] weights
    weights.splits = &split_weights[0, 0, 0]
    weights.leaves = &leaf_weights[0, 0, 0]
    weights.mean = &mean[0]
    weights.variance = &variance[0]
    return weights


cdef SoftHistory train_of(const SoftTask& task, const SoftTreeParams& params,
                          real[:, :, ::1] split_weights, real[:, :, ::1] leaf_weights,
                          dict state, best, const RoundListener& listener, int n_threads) except *:
    """Trains in place; the counters of ``state`` are set to their new values."""
    cdef real[:, :, ::1] split_first = state["split_first_moment"]
    cdef real[:, :, ::1] split_second = state["split_second_moment"]
    cdef real[:, :, ::1] leaf_first = state["leaf_first_moment"]
    cdef real[:, :, ::1] leaf_second = state["leaf_second_moment"]
    cdef double[::1] reached = state["reached_leaves"]
    cdef const int32_t[:, ::1] children = state["children"]
    cdef SoftState[real] native
    check_children(children, split_weights.shape[1])
    native.children = &children[0, 0]
    native.n_splits = split_weights.shape[1]
    native.reached_leaves = &reached[0]
    native.last = weights_of[real](split_weights, leaf_weights, state)
    if best is not None:
        native.best = weights_of[real](best["split_weights"], best["leaf_weights"], best)
    native.split_first_moment = &split_first[0, 0, 0]
    native.split_second_moment = &split_second[0, 0, 0]
    native.leaf_first_moment = &leaf_first[0, 0, 0]
    native.leaf_second_moment = &leaf_second[0, 0, 0]
    native.n_batches = state["n_batches"]
    native.n_epochs = state["n_epochs"]
    cdef Execution execution = execution_on(n_threads)
    cdef SoftHistory history
    with nogil:
        history = train_soft(task, params, native, listener, execution)
    state["n_batches"] = native.n_batches
    state["n_epochs"] = native.n_epochs
    return history


def train(tuple train, eval, *, dict state, best, past_losses, tuple loss, const double[::1] offset,
          double multiplier, dict params, listener, int n_threads):
    """Train in place the arrays of ``state``, all of one type; returns the losses and leaves.

    ``train`` and ``eval`` (or None) are tuples ``(X, y, weight)`` with arrays of shapes (n, d),
    (n_targets, n), (n,) or None. ``state`` has the weights of the last epoch, ``best`` (with ``eval``, else None)
    those with the least loss of ``eval``; ``past_losses`` are what early stopping went by in the fit that this one
    continues, as the fourth of the answers.
    """
    cdef SoftTask task
    cdef SoftSamples eval_samples
    task.train = samples_of(train)
    task.eval = NULL
    if eval is not None:
        eval_samples = samples_of(eval)
        task.eval = &eval_samples
    task.past_losses = past_losses
    task.loss = loss_choice(loss)
    task.n_targets = len(train[1])
    task.n_outputs = offset.shape[0]
    task.offset = &offset[0]
    task.multiplier = multiplier
    cdef SoftTreeParams native_params = params
    cdef Listener holder = Listener(listener)
    cdef RoundListener native_listener = holder.native()
    cdef SoftHistory history
    if state["split_weights"].dtype == np.float32:
        history = train_of[float](task, native_params, state["split_weights"],
                                  state["leaf_weights"], state, best, native_listener, n_threads)
    else:
        history = train_of[double](task, native_params, state["split_weights"],
                                   state["leaf_weights"], state, best, native_listener, n_threads)
    holder.raise_error()
    return numbers(history.train_loss), numbers(history.eval_loss), numbers(history.reached), np.array(numbers(history.judged))
