"""Simulated data whose truth is known.

Real data for examples and tests come from scikit-learn; this module generates the designs of the
papers that fctree implements, with the noiseless function or the true importances
returned on request.
"""

from fctree.datasets.simulations import (
    make_correlated_linear,
    make_ridge_exp,
    make_ridge_relu,
)

__all__ = ["make_correlated_linear", "make_ridge_exp", "make_ridge_relu"]
