"""Kernels of tree ensembles.

Most are tree neural tangent kernels, those of infinite ensembles of soft trees;
`symmetric_tree_kernel` is that of boosting with symmetric trees.

Papers: Kanoh and Sugiyama, "A neural tangent kernel perspective of infinite tree ensembles"
(ICLR 2022), and "Analyzing tree architectures in ensembles via neural tangent kernel"
(ICLR 2023). `docs/algorithms/tree_ntk.md` has the formulas in the form they are computed in.
"""

from fctree.kernels.architecture import leaf_counts
from fctree.kernels.dynamics import gradient_flow
from fctree.kernels.empirical import empirical_tree_ntk
from fctree.kernels.gaussian_process import TreeNTK
from fctree.kernels.gram import (
    exponential_kernel,
    relu_ntk,
    rule_ntk,
    tree_ntk,
    tree_ntk_matvec,
    tree_ntk_path,
)
from fctree.kernels.symmetric_trees import symmetric_tree_kernel

__all__ = [
    "TreeNTK",
    "empirical_tree_ntk",
    "exponential_kernel",
    "gradient_flow",
    "leaf_counts",
    "relu_ntk",
    "rule_ntk",
    "symmetric_tree_kernel",
    "tree_ntk",
    "tree_ntk_matvec",
    "tree_ntk_path",
]
