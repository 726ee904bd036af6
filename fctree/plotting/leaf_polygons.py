"""The leaves of a tree over two features, as exact polygons.

A leaf is the set where all inequalities on its path hold: a convex polygon inside a
rectangle, found by cutting the rectangle along one split after the other (Sutherland and
Hodgman's clipping, 1974). Nothing here needs matplotlib.
"""

import numpy as np


def clip(polygon, normal, offset):
    """The part of a convex polygon (n_vertices, 2) where ``normal @ x <= offset``, its vertices in the same
    order; (0, 2) where nothing is left. A normal of zero keeps all or nothing."""
    if polygon.shape[0] == 0:
        return polygon
    excess = polygon @ normal - offset
    part = []
    for i, (point, here) in enumerate(zip(polygon, excess)):
        before, there = polygon[i - 1], excess[i - 1]
        if (here <= 0.0) != (there <= 0.0):
            # The edge crosses the line where its excess, linear along it, vanishes.
            part.append(before + (point - before) * (there / (there - here)))
        if here <= 0.0:
            part.append(point)
    return np.array(part).reshape(-1, 2)


def leaf_polygons(tree, bounds):
    """Regions of the leaves inside a rectangle with rows (low, high) of the two features, by node number.

    Only those that meet it in more than a line.
    """
    (x_low, x_high), (y_low, y_high) = bounds
    corners = [(x_low, y_low), (x_high, y_low), (x_high, y_high), (x_low, y_high)]
    polygons = {}
    pending = [(0, np.array(corners, dtype=np.float64))]
    while pending:
        node, polygon = pending.pop()
        if polygon.shape[0] < 3:
            continue
        if tree.children_left[node] < 0:
            polygons[node] = polygon
            continue
        normal, offset = tree.coef[node], tree.threshold[node]
        pending.append((tree.children_right[node], clip(polygon, -normal, -offset)))
        pending.append((tree.children_left[node], clip(polygon, normal, offset)))
    return polygons


def class_polygons(tree, node, polygon):
    """Regions of a ridge leaf in which each class has the largest score, by the class's index.

    Scores are linear inside a leaf, so a class wins on an intersection of half-planes; those that win
    nowhere are left out. ``polygon`` is the region of the leaf, the node of a classification tree over two
    features.
    """
    row = tree.leaf_index[node]
    coef, constant = tree.leaf_coef[row], tree.leaf_intercept[row]
    if tree.n_outputs == 1:
        # One score s, that of the second class; the first one has 1 - s.
        coef = np.concatenate([-coef, coef])
        constant = np.array([1.0 - constant[0], constant[0]])
    polygons = {}
    for winner in range(tree.n_classes):
        part = polygon
        for other in range(tree.n_classes):
            if other != winner:
                normal = coef[other] - coef[winner]
                part = clip(part, normal, constant[winner] - constant[other])
        if part.shape[0] >= 3:
            polygons[winner] = part
    return polygons
