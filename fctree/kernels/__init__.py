"""Tree neural tangent kernels: the kernels of infinite ensembles of soft trees.

Papers: Kanoh and Sugiyama, "A neural tangent kernel perspective of infinite tree ensembles"
(ICLR 2022), and "Analyzing tree architectures in ensembles via neural tangent kernel"
(ICLR 2023). `docs/algorithms/tree_ntk.md` has the formulas in the form they are computed in.
"""

from fctree.kernels.architecture import leaf_counts
from fctree.kernels.dynamics import gradient_flow
from fctree.kernels.empirical import empirical_tree_ntk
from fctree.kernels.gaussian_process import TreeNTK
from fctree.kernels.gram import (
    relu_ntk,
    rule_ntk,
    tree_ntk,
    tree_ntk_matvec,
    tree_ntk_path,
)

__all__ = [
    "TreeNTK",
    "empirical_tree_ntk",
    "gradient_flow",
    "leaf_counts",
    "relu_ntk",
    "rule_ntk",
    "tree_ntk",
    "tree_ntk_matvec",
    "tree_ntk_path",
]
