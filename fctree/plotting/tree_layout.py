"""Positions of the boxes of a drawn tree.

A tidy drawing in the manner of Reingold and Tilford (1981): the outlines of two sibling
subtrees are pushed together until they are `_GAP` apart on the level where they are
closest, and a parent is centred over its children. Boxes may have any size; boxes of one
level hang from one line. Everything is in one unit of length, x to the right, y upwards.
"""

import numpy as np

_GAP = 10.0  # least horizontal distance of two boxes of a level
_LEVEL_GAP = 34.0  # vertical distance of the tallest box of a level to the next level


def tidy_layout(children_left, children_right, width, height):
    """Positions of the boxes of a binary tree: centres and upper ends (n_nodes,), and the drawing's size.

    Children are -1 where a node is drawn without any; nodes that cannot be reached from node 0 get no
    position (NaN); a child's number is above its parent's. The lower left corner is (0, 0).
    """
    depth = _reached_depth(children_left, children_right)
    reached = np.flatnonzero(depth >= 0)
    # Horizontal offset of each node from its parent, bottom up. An outline lists, for
    # each level of a subtree, its left and right ends relative to the subtree's root.
    offset = np.zeros(len(depth))
    outlines = {}
    for node in reached[::-1]:
        outline = [(-width[node] / 2, width[node] / 2)]
        left, right = children_left[node], children_right[node]
        if left >= 0:
            ours, theirs = outlines.pop(left), outlines.pop(right)
            apart = max(a[1] - b[0] for a, b in zip(ours, theirs)) + _GAP
            offset[left], offset[right] = -apart / 2, apart / 2
            outline += _joined(ours, theirs, apart / 2)
        outlines[node] = outline

    center = np.full(len(depth), np.nan)
    center[0] = -min(left for left, _ in outlines[0])
    for node in reached:
        for child in (children_left[node], children_right[node]):
            if child >= 0:
                center[child] = center[node] + offset[child]

    tallest = [height[depth == level].max() for level in range(depth.max() + 1)]
    total = sum(tallest) + _LEVEL_GAP * (len(tallest) - 1)
    line = total - np.concatenate([[0.0], np.cumsum(np.array(tallest) + _LEVEL_GAP)])
    top = np.where(depth >= 0, line[depth], np.nan)
    return center, top, (float(np.nanmax(center + width / 2)), float(total))


def _reached_depth(children_left, children_right):
    depth = np.full(len(children_left), -1, dtype=np.int64)
    depth[0] = 0
    for node, left in enumerate(children_left):
        if depth[node] >= 0 and left >= 0:
            depth[[left, children_right[node]]] = depth[node] + 1
    return depth


def _joined(ours, theirs, shift):
    """Outline of two subtrees, the left one moved by -shift, the right one by +shift."""
    joined = []
    for level in range(max(len(ours), len(theirs))):
        first = ours[level] if level < len(ours) else None
        last = theirs[level] if level < len(theirs) else None
        joined.append(
            (
                first[0] - shift if first else last[0] + shift,
                last[1] + shift if last else first[1] - shift,
            )
        )
    return joined
