"""Trees for people to read: as text, as a picture, and as regions of the plane.

The pictures need matplotlib (``pip install ".[plot]"`` in the source tree), which is imported only when
one is drawn.
"""

from fctree.plotting.feature_matrix_plot import plot_feature_matrix
from fctree.plotting.region_plot import plot_regions
from fctree.plotting.tree_plot import plot_tree
from fctree.plotting.tree_text import export_text

__all__ = ["export_text", "plot_feature_matrix", "plot_regions", "plot_tree"]
