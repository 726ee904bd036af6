"""Arrays of kernels that begin at an odd address: native code gets aligned copies."""

import numpy as np
import pytest
from fctree.kernels import tree_ntk, tree_ntk_matvec
from fctree.kernels.checks import check_kernel_samples, check_vectors


def unaligned(values):
    """The same array at an odd address."""
    memory = np.zeros(values.nbytes + 1, dtype=np.uint8)[1:]
    array = memory.view(values.dtype).reshape(values.shape)
    array[...] = values
    assert not array.flags.aligned
    return array


X = np.random.default_rng(0).normal(size=(7, 3))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_samples_and_vectors_are_aligned(dtype):
    rows = unaligned(X.astype(dtype))
    for of_both in (check_kernel_samples(rows, None)[0], *check_kernel_samples(rows, rows)):
        assert of_both.flags.aligned and of_both.dtype == dtype
    vectors, _ = check_vectors(unaligned(np.ones(7, dtype=dtype)), (7, 3), dtype)
    assert vectors.flags.aligned and vectors.dtype == dtype


def test_values_are_those_of_aligned_arrays():
    rows, ones = unaligned(X), unaligned(np.ones(7))
    np.testing.assert_array_equal(tree_ntk(rows, depth=2), tree_ntk(X, depth=2))
    np.testing.assert_array_equal(tree_ntk_matvec(rows, None, ones, depth=2), tree_ntk_matvec(X, None, np.ones(7), depth=2))


def test_out_has_to_be_aligned():
    with pytest.raises(ValueError, match="out must be C-contiguous, aligned and writeable"):
        tree_ntk(X, depth=2, out=unaligned(np.zeros((7, 7))))
