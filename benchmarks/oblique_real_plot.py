"""The picture of `oblique_real_data.py`: R^2 by depth, one panel a data set."""

import math

import numpy as np
from real_data import short_name

# One colour for each method and its variants; dashes mean no concatenation, or other settings.
STYLES = {
    "FC-ODT": ("C0", "-", "o"),
    "FC-ODT, no concatenation": ("C0", "--", "o"),
    "FC-ODT, constant leaves": ("C1", "-", "s"),
    "FC-ODT, constant, no concatenation": ("C1", "--", "s"),
    "curvature tree": ("C4", "-", "^"),
    "curvature tree, alpha loo": ("C4", "--", "^"),
    "curvature tree, not standardised": ("C4", ":", "^"),
    "CART": ("0.6", "-", "."),
    "treeple oblique tree": ("C2", "-", "."),
    "linear-tree + Ridge": ("C3", "-", "."),
    "HRT": ("C9", "--", "v"),
    "HRT, as in its script": ("C9", "-", "v"),
}
SPARE_COLOURS = ("C5", "C6", "C8")
FLAT_STYLES = {"Ridge": ("0.5", ":"), "HistGradientBoosting, tuned": ("black", "-.")}


def panel_limits(curves):
    """Limits that show the range of interest: one method far below must not flatten the rest."""
    values = np.concatenate([np.asarray(c, dtype=float) for c in curves])
    values = values[np.isfinite(values)]
    top, middle = values.max(), np.median(values)
    low = max(values.min(), top - 4 * max(top - middle, 0.01), -0.2)
    margin = 0.06 * (top - low)
    return low - margin, top + margin


def plot_scores(results, methods, flat, depths, path):
    """Draw one panel a data set and write a PNG."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    columns = min(5, len(results))
    rows = math.ceil(len(results) / columns)
    size = (3.1 * columns, 2.6 * rows + 0.8 + 1.4 / columns)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    spare = iter(SPARE_COLOURS * 4)
    styles = {m: STYLES.get(m) or (next(spare), "-", "^") for m in methods}
    handles = {}
    for panel, (name, entry) in zip(axes.flat, results.items(), strict=False):
        curves = []
        for method in methods:
            cells = [entry["scores"].get(method, {}).get(str(d)) for d in depths]
            curve = [np.mean(c["r2"]) if c else np.nan for c in cells]
            if np.all(np.isnan(curve)):
                continue
            colour, line, marker = styles[method]
            handles[method], = panel.plot(depths, curve, line, color=colour, marker=marker,
                                          markersize=3.5, linewidth=1.3)
            curves.append(curve)
        for method in flat:
            cell = entry["scores"].get(method, {}).get("-")
            if cell:
                colour, line = FLAT_STYLES.get(method, ("C7", ":"))
                handles[method] = panel.axhline(np.mean(cell["r2"]), color=colour, linestyle=line,
                                                linewidth=1.2)
                curves.append([np.mean(cell["r2"])])
        panel.set_title(short_name(name), fontsize=9)
        panel.set_ylim(*panel_limits(curves))
        panel.set_xticks(depths)
        panel.tick_params(labelsize=7)
        panel.grid(True, alpha=0.2)
    for panel in axes.flat[len(results):]:
        panel.axis("off")
    for column in range(columns):
        last = max(i for i in range(len(results)) if i % columns == column)
        axes.flat[last].set_xlabel("depth", fontsize=8)
    figure.supylabel("mean R² over the folds", fontsize=9)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center",
                  ncols=min(4, columns), fontsize=8, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
