# distutils: language = c++
"""Probabilities of classes from their scores, (n_samples, n_classes) float64."""

cimport numpy as cnp
from libc.math cimport NAN, exp, fmax, fmin, isfinite, pow
from libc.stdint cimport int64_t
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

cnp.import_array()


cdef struct Pair:
    const double* scores
    double* out
    int64_t n_rows
    int64_t n_classes


cdef cnp.ndarray values_of(array, int n_axes):
    return cnp.PyArray_ContiguousFromAny(array, cnp.NPY_FLOAT64, n_axes, n_axes)


cdef cnp.ndarray table(int64_t n_rows, int64_t n_classes):
    cdef cnp.npy_intp[2] shape
    shape[0], shape[1] = n_rows, n_classes
    return cnp.PyArray_EMPTY(2, shape, cnp.NPY_FLOAT64, 0)


cdef Pair pair_of(cnp.ndarray scores, cnp.ndarray out) noexcept:
    cdef Pair pair
    pair.scores = <const double*>cnp.PyArray_DATA(scores)
    pair.out = <double*>cnp.PyArray_DATA(out)
    pair.n_rows, pair.n_classes = scores.shape[0], scores.shape[1]
    return pair


cdef double largest_of(const double* values, int64_t n) noexcept:
    cdef double largest = values[0]
    cdef int64_t k
    for k in range(n):
        largest = fmax(largest, values[k])
    return largest


cdef void divide_by_sum(double* values, int64_t n) noexcept:
    cdef double total = 0.0
    cdef int64_t k
    for k in range(n):
        total += values[k]
    for k in range(n):
        values[k] /= total


def of_two(positive):
    """Probabilities of two classes, (n_samples, 2), from those of the second."""
    cdef cnp.ndarray given = values_of(positive, 1)
    cdef cnp.ndarray out = table(given.shape[0], 2)
    cdef const double* second = <const double*>cnp.PyArray_DATA(given)
    cdef double* both = <double*>cnp.PyArray_DATA(out)
    cdef int64_t row
    for row in range(given.shape[0]):
        both[2 * row], both[2 * row + 1] = 1.0 - second[row], second[row]
    return out


def softmax(scores):
    """``exp(score)`` over its sum in each row, with the largest score taken from all."""
    cdef cnp.ndarray given = values_of(scores, 2)
    cdef cnp.ndarray out = table(given.shape[0], given.shape[1])
    cdef Pair pair = pair_of(given, out)
    cdef int64_t row, k
    cdef const double* score = pair.scores
    cdef double* p = pair.out
    cdef double largest
    for row in range(pair.n_rows):
        largest = largest_of(score, pair.n_classes)
        for k in range(pair.n_classes):
            p[k] = exp(score[k] - largest)
        divide_by_sum(p, pair.n_classes)
        score += pair.n_classes
        p += pair.n_classes
    return out


cdef void project_row(const double* scores, int64_t n, double* out, vector[double]& ordered) except *:
    cdef double largest = largest_of(scores, n), total = 0.0, shift = 0.0, candidate
    cdef int64_t k
    cdef bint is_known = True
    for k in range(n):
        is_known &= isfinite(scores[k])
    for k in range(n):
        out[k] = fmax(scores[k] - largest, -1.0) if is_known else NAN
        ordered[k] = -out[k]
    if not is_known:
        return
    sort(ordered.begin(), ordered.end())
    for k in range(n):
        total -= ordered[k]
        candidate = (total - 1.0) / <double>(k + 1)
        if -ordered[k] > candidate:
            shift = candidate
    for k in range(n):
        out[k] = fmin(fmax(out[k] - shift, 0.0), 1.0)


def project_to_simplex(scores):
    """The nearest probability vector of each row, in Euclidean distance; NaN for a row with a score
    that is not finite.

    It is ``max(score - shift, 0)`` with the shift that makes a row sum to 1, found from
    the sorted scores (Held, Wolfe and Crowder 1974). The order of the classes is kept. A common
    shift of a row changes nothing, and a score 1 or more below the largest has probability 0:
    scores are taken relative to the largest and no lower than -1, where no digit is lost.
    """
    cdef cnp.ndarray given = values_of(scores, 2)
    cdef cnp.ndarray out = table(given.shape[0], given.shape[1])
    cdef Pair pair = pair_of(given, out)
    cdef vector[double] ordered
    cdef int64_t row
    ordered.resize(pair.n_classes)
    for row in range(pair.n_rows):
        project_row(pair.scores + row * pair.n_classes, pair.n_classes, pair.out + row * pair.n_classes, ordered)
    return out


def raised(probabilities, double floor, double exponent, shifts):
    """``(p + floor) ** exponent * exp(shifts)`` over its sum in each row, shifts (n_classes,); NaN where p is."""
    cdef cnp.ndarray given = values_of(probabilities, 2)
    cdef cnp.ndarray out = table(given.shape[0], given.shape[1])
    cdef Pair pair = pair_of(given, out)
    cdef int64_t row, k
    cdef cnp.ndarray of_classes = values_of(shifts, 1)
    cdef const double* shift = <const double*>cnp.PyArray_DATA(of_classes)
    cdef vector[double] factor
    cdef const double* p = pair.scores
    cdef double* power = pair.out
    cdef double largest
    if of_classes.shape[0] != pair.n_classes:
        raise ValueError("a shift for each class is needed")
    largest = largest_of(shift, pair.n_classes)
    for k in range(pair.n_classes):
        factor.push_back(exp(shift[k] - largest))
    for row in range(pair.n_rows):
        largest = largest_of(p, pair.n_classes)
        for k in range(pair.n_classes):
            power[k] = factor[k] * pow((p[k] + floor) / (largest + floor), exponent)
        divide_by_sum(power, pair.n_classes)
        p += pair.n_classes
        power += pair.n_classes
    return out
