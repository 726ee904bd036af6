"""The picture of `bench_single_trees.py`: R² by the number of parameters allowed, one panel a data set."""

import math

import numpy as np

STYLES = {
    "curvature trees": ("C3", "-", 2.4), "CART": ("0.55", "-", 1.2), "sparse linear": ("0.55", ":", 1.2),
    "Cubist": ("C0", "-", 1.2), "EBM": ("C1", "-", 1.2), "HRT": ("C2", "-", 1.2), "PILOT": ("C4", "-", 1.2),
    "linear-tree": ("C5", "-", 1.2), "STreeD": ("C9", "-", 1.2),
}


def plot_frontiers(sets, names, path):
    """Draw the panels of some sets of the benchmark's results and write a PNG."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    columns = min(4, len(names))
    rows = math.ceil(len(names) / columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.0 * columns, 2.6 * rows + 0.6), squeeze=False,
                                layout="constrained")
    handles = {}
    for panel, name in zip(axes.flat, names, strict=False):
        scores = sets[name]["R2"]
        for program in sorted(set(STYLES) & set(scores), key=lambda p: STYLES[p][2]):  # the widest on top
            colour, line, width = STYLES[program]
            budgets = np.array([int(budget) for budget in scores[program]])
            r2 = np.array(list(scores[program].values()))
            handles[program], = panel.plot(budgets, r2, line, color=colour, linewidth=width, marker=".",
                                           markersize=3.5)
        top = max(max(scores[program].values()) for program in handles)
        at_30 = [scores[program]["30"] for program in handles]
        panel.set_ylim(max(0.0, min(np.median(at_30), top - 0.1) - 0.1), top + 0.02)
        panel.set_xscale("log")
        panel.set_xticks([10, 30, 100, 300], ["10", "30", "100", "300"], minor=False)
        panel.minorticks_off()
        panel.set_title(f"{name} ({sets[name]['columns']} columns)", fontsize=9)
        panel.tick_params(labelsize=7)
        panel.grid(True, alpha=0.2)
    for panel in axes.flat[len(names):]:
        panel.axis("off")
    for panel in axes.flat[max(0, len(names) - columns):len(names)]:
        panel.set_xlabel("parameters at most", fontsize=8)
    figure.supylabel("R² on new rows", fontsize=9)
    order = [program for program in STYLES if program in handles]
    figure.legend([handles[program] for program in order], order, loc="outside lower center", ncols=5,
                  fontsize=8, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
