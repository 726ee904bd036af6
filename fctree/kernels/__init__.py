"""Kernels of tree ensembles."""

from fctree.kernels.symmetric_trees import symmetric_tree_kernel

__all__ = ["symmetric_tree_kernel"]
