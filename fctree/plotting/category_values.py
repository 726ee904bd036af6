"""Values that an encoder gives to categories and to missing numbers of a table, as text below a tree."""

import numpy as np

from fctree.plotting.tree_labels import in_one_line


def category_lines(labels, encoder):
    """Lines of the features that the labels have shown: of statistics ``city (target mean): Rome -0.21, Oslo 0.35, other
    0.02``, of the rest what is not seen in the text: ``age where missing: 48.1``, ``sex = m where unseen: 0.52``.

    Levels ascend by their values; of more than twice `max_coef` the least and the largest are shown.
    """
    lines, layout = [], encoder.layout()
    for place in sorted(labels.shown):
        entry = layout[place]
        if entry[1] not in ("mean", "effect", "share", "pair"):
            lines += _neutral_lines(labels, encoder, place, entry)
            continue
        key, values = encoder.level_values(entry)
        error = 10.0**-labels.decimals * float(np.std(values))
        names = np.append(_level_names(encoder, key), "other")
        order = np.argsort(values[:-1], kind="stable")
        if len(key) > 1:  # pairs that training did not have are like others
            names, order = [f"{name}:" for name in names], order[values[order] != values[-1]]
        texts = [f"{in_one_line(names[level])} {labels.number(values[level], error)}" for level in [*order, len(values) - 1]]
        if labels.max_coef is not None and len(texts) > 2 * (labels.max_coef + 1):
            first, last = labels.max_coef, len(texts) - 1 - labels.max_coef
            texts[first:last] = [f"... ({last - first} more)"]
        lines.append(f"{labels.feature_names[place]}: {', '.join(texts)}")
    return lines


def _neutral_lines(labels, encoder, place, entry):
    """The line of a number that was missing in training, or of an indicator of categories that training did not have."""
    column, kind, _ = entry
    if kind == "level":
        word, value = "unseen", encoder.level_values(entry)[1][-1]
    elif kind == "value" and encoder.impute and encoder.has_missing[column]:
        word, value = "missing", encoder.means[column]
    else:
        return []
    error, _ = labels.rounding(np.arange(len(labels.feature_names)) == place, value)
    return [f"{labels.feature_names[place]} where {word}: {labels.number(value, error)}"]


def _level_names(encoder, key):
    """Names of the levels of a column, or of a pair, whose two names are joined by a cross."""
    names = [_names_of_column(encoder, column) for column in key]
    return names[0] if len(names) == 1 else [f"{a} x {b}" for a in names[0] for b in names[1]]


def _names_of_column(encoder, column):
    """Names of the categories, or of the parts that numbers are cut into, and of missing values."""
    categories, edges = encoder.categories[column], encoder.edges[column]
    if categories is not None:
        return encoder.category_names(column) + ["missing"] * int(encoder.has_missing[column])
    if not len(edges):
        return ["present", "missing"]
    ends = [f"{edge:.4g}" for edge in edges]
    between = [f"{low} to {high}" for low, high in zip(ends, ends[1:])]
    return [f"< {ends[0]}", *between, f">= {ends[-1]}", "missing"]
