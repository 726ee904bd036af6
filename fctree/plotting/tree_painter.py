"""Draws boxes, bars and branches into matplotlib axes, in points from their lower left."""

from fctree._warnings import warn
from fctree.plotting.node_box import FONT_SIZE, LINE, PAD, STRIP
from fctree.plotting.node_colors import NodeColors, text_color

_INK, _FAINT, _RIM, _BRANCH = "#1d2329", "#68737e", "#8b959e", "#b9c1c8"
_MARGIN = 8.0
_SMALLEST_TEXT = 4.0  # points
_MANY_LEAVES = 100


def prepare_axes(ax, size, n_leaves):
    """Axes whose data units are points of the drawing, whose width and height in points are ``size``; None
    makes a figure as large as the drawing.

    Returns the size of a point of the drawing on paper besides: 1 in a figure of our own. Warns of text
    that is too small, and of many leaves.
    """
    import matplotlib.pyplot as plt

    width, height = size[0] + 2 * _MARGIN, size[1] + 2 * _MARGIN
    if ax is None:
        figure = plt.figure(figsize=(width / 72.0, height / 72.0))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    box = ax.get_window_extent()
    available = [length * 72.0 / ax.figure.dpi for length in (box.width, box.height)]
    scale = min(available[0] / width, available[1] / height)
    inches = f"{width / 72:.1f} x {height / 72:.1f} inches"
    reason = None
    if scale * FONT_SIZE < _SMALLEST_TEXT:
        reason = (
            f"the axes are too small to read the tree: text has {scale * FONT_SIZE:.1f} points; it "
            f"needs {inches} (ax=None gives a figure of that size)"
        )
    elif n_leaves > _MANY_LEAVES:
        reason = f"a picture of {n_leaves} leaves takes seconds and {inches}"
    if reason is not None:
        warn(f"{reason}; max_depth draws less of it")
    # The drawing sits in the middle of axes of another shape.
    extra_x = available[0] / scale - width
    extra_y = available[1] / scale - height
    ax.set_xlim(-_MARGIN - extra_x / 2, width - _MARGIN + extra_x / 2)
    ax.set_ylim(-_MARGIN - extra_y / 2, height - _MARGIN + extra_y / 2)
    ax.set_axis_off()
    return ax, scale


class TreePainter:
    """Draws one tree into axes as `prepare_axes` returns them; ``bar_colors`` are those of positive and of
    negative coefficients."""

    def __init__(self, ax, scale, bar_colors):
        self.ax = ax
        self.scale = scale
        self.bar_colors = bar_colors

    def branch(self, start, end, share):
        """A line from a parent to a child that gets this share of all samples."""
        middle = (start[1] + end[1]) / 2
        self.ax.plot(
            [start[0], start[0], end[0], end[0]],
            [start[1], middle, middle, end[1]],
            color=_BRANCH,
            linewidth=(0.8 + 5.0 * share) * self.scale,
            solid_joinstyle="round",
            solid_capstyle="butt",
            zorder=1,
        )

    def branch_names(self, start, end_left, end_right):
        """Label the root's branches with where the inequality is true."""
        y = start[1] + 0.75 * (end_left[1] - start[1])
        for name, x, align in (
            ("true ", end_left[0] - 4.0, "right"),
            (" false", end_right[0] + 4.0, "left"),
        ):
            self._text(x, y, name, color=_FAINT, ha=align, style="italic")

    def box(self, box, center, top, color):
        """A node: head in its colour, then the bars and the last line."""
        left, bottom = center - box.width / 2, top - box.height
        rim = self._frame(box, left, bottom, facecolor="white", edgecolor="none")
        head_bottom = top - box.head_height
        self._filled(left, head_bottom, box.width, box.head_height, color, rim)
        if box.fractions is not None:
            start = left
            for index, fraction in enumerate(box.fractions):
                width = fraction * box.width
                hue = NodeColors.of_class(index)
                self._filled(start, head_bottom, width, STRIP, hue, rim)
                start += width
        self._frame(
            box,
            left,
            bottom,
            facecolor="none",
            edgecolor=_RIM,
            linewidth=0.8 * self.scale,
            zorder=5,
        )
        self._head_text(box, left, top, text_color(color))
        y = head_bottom - PAD / 2 - LINE / 2
        for bar in box.bars:
            self._bar(box, left, y, *bar)
            y -= LINE
        y -= PAD / 4
        self._text(left + PAD, y, box.more, color=_FAINT)
        right = left + box.width - PAD
        self._text(right, y, box.footer, ha="right", weight="bold")

    def _frame(self, box, left, bottom, **style):
        from matplotlib.patches import FancyBboxPatch

        corner = 2.0 if box.is_split else 6.0
        return self.ax.add_patch(
            FancyBboxPatch(
                (left, bottom),
                box.width,
                box.height,
                boxstyle=f"round,pad=0,rounding_size={corner}",
                **{"zorder": 2, **style},
            )
        )

    def _filled(self, left, bottom, width, height, color, clip=None):
        from matplotlib.patches import Rectangle

        patch = Rectangle(
            (left, bottom), width, height, facecolor=color, edgecolor="none", zorder=3
        )
        self.ax.add_patch(patch)
        if clip is not None:
            patch.set_clip_path(clip)

    def _head_text(self, box, left, top, color):
        y = top - PAD / 2 - LINE / 2
        right = left + box.width - PAD
        if box.is_split:
            self._text(left + PAD, y, box.title, color=color)
            self._text(right, y, box.note, color=color, ha="right", style="italic")
            return
        middle = left + box.width / 2
        self._text(middle, y, box.title, color=color, ha="center", weight="bold")
        for line in box.lines:
            y -= LINE
            self._text(middle, y, line, color=color, ha="center")

    def _bar(self, box, left, y, name, length, text):
        # Names end where the bars may begin, and the bars keep to the middle of what
        # the widest line of the box has left over.
        columns = 3 * PAD + box.name_width + 2 * box.bar_length
        columns += box.text_width + PAD if box.text_width else 0.0
        start = left + (box.width - columns) / 2 + PAD
        zero = start + box.name_width + PAD + box.bar_length
        self._text(start + box.name_width, y, name, ha="right")
        color = self.bar_colors[0 if length > 0 else 1]
        self._filled(zero, y - 3.6, length * box.bar_length, 7.2, color)
        self.ax.plot(
            [zero, zero],
            [y - LINE / 2, y + LINE / 2],
            color=_RIM,
            linewidth=0.7 * self.scale,
            zorder=4,
        )
        end = zero + box.bar_length + PAD + box.text_width
        self._text(end, y, text, color=_FAINT, ha="right")

    def _text(self, x, y, text, *, color=_INK, va="center_baseline", **style):
        if text:
            self.ax.text(
                x,
                y,
                text,
                color=color,
                va=va,
                fontsize=FONT_SIZE * self.scale,
                parse_math=False,
                zorder=6,
                **style,
            )
