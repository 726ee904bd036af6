"""Colours of nodes and regions: one scale for a regression, one hue per class for classes.

Also the single place that imports matplotlib for the pictures, so that its absence is
reported once and clearly.
"""

from colorsys import hls_to_rgb

import numpy as np

# One hue a class; those of further classes are computed.
CLASS_COLORS = (
    "#4c78a8", "#e8853b", "#54a24b", "#d1495b", "#8c6bb1",
    "#2a9d9d", "#c9a227", "#b5658a", "#8d6e63", "#7f8c99",
)  # fmt: skip
DEFAULT_CMAP = "viridis"


def require_matplotlib(ax=None):
    """Import matplotlib, or raise ImportError with how to get it; TypeError for an `ax` that is none of its
    axes."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError(
            "drawing needs matplotlib, which is not installed; install it with "
            "pip install '.[plot]'"
        ) from error
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be axes of matplotlib or None, got {ax!r}")
    return matplotlib


def plain_legend(ax, handles, **options):
    """A legend whose labels are text as it is, with dollar signs and underscores in front too."""
    # matplotlib leaves out labels that begin with an underscore, so they are set afterwards.
    legend = ax.legend(handles, [" "] * len(handles), **options)
    for text, handle in zip(legend.get_texts(), handles, strict=True):
        text.set(text=handle.get_label(), parse_math=False)


class NodeColors:
    """Colours of the nodes of a tree by what they predict; of regressions by an output.

    ``low`` and ``high`` are the values at the two ends of the colour map; by default the least and the
    largest mean among the leaves.
    """

    def __init__(self, tree, *, output=0, cmap=None, low=None, high=None):
        matplotlib = require_matplotlib()
        self.tree = tree
        self.output = output
        self.cmap = matplotlib.colormaps.get_cmap(DEFAULT_CMAP if cmap is None else cmap)
        if low is None:
            means = tree.value[tree.children_left < 0][:, self.row, 0]
            low, high = means.min(), means.max()
        self.norm = matplotlib.colors.Normalize(low, high)

    @property
    def row(self):
        """Row of ``value`` that is shown: classifiers have one."""
        return self.output if self.tree.n_classes is None else 0

    @property
    def bars(self):
        """Colours of positive and negative coefficients.

        Two greys beside classes, whose hues would seem to say which class is meant.
        """
        if self.tree.n_classes is None:
            return "#3b7dbf", "#d9663b"
        return "#46525e", "#a3aeb8"

    def node(self, node):
        """Colour of a node: its mean, or its largest class, paler where it is mixed."""
        value = self.tree.value[node, self.row]
        if self.tree.n_classes is None:
            return self.scalar(value[0])
        best = int(np.argmax(value))
        chance = 1.0 / self.tree.n_classes
        purity = 1.0 if chance == 1.0 else (value[best] - chance) / (1.0 - chance)
        return self.of_class(best, strength=0.25 + 0.75 * purity)

    def scalar(self, value):
        """Colour of a predicted number, as (r, g, b)."""
        # All leaves alike: matplotlib would give the lowest colour; the middle is apt.
        if self.norm.vmin == self.norm.vmax:
            return self.cmap(0.5)[:3]
        return self.cmap(float(self.norm(value)))[:3]

    @staticmethod
    def of_class(index, strength=1.0):
        """Colour of a class, mixed with white where `strength` is below 1."""
        if index < len(CLASS_COLORS):
            full = np.array([int(CLASS_COLORS[index][i : i + 2], 16) / 255.0 for i in (1, 3, 5)])
        else:  # hues by the golden ratio keep apart, however many there are
            full = np.array(hls_to_rgb(0.618034 * index % 1.0, (0.35, 0.5, 0.65)[index % 3], 0.7))
        return tuple(1.0 - strength * (1.0 - full))


def text_color(background):
    """Black or white, whichever is easier to read on an (r, g, b) background."""
    luminance = np.dot(background[:3], (0.299, 0.587, 0.114))
    return "#1d2329" if luminance > 0.52 else "white"
