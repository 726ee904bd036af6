"""The picture of the league: Elo ratings with default settings and their 95 % intervals, one panel for each number of rows.

    python league_plot.py
"""

import json

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import matplotlib
from league_programs import OWN
from report import RESULTS

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PANELS = {
    "league.json": "at most 500 training rows",
    "league_5000_rows.json": "at most 2,500",
    "league_five_folds.json": "at most 4,000, five folds",
}
FEWEST_SETS = 10  # of a program that is drawn


def draw_panel(panel, programs):
    """Draw the ratings of some programs, the highest on top."""
    rated = {name: row for name, row in programs.items() if row["sets"] >= FEWEST_SETS}
    names = sorted(rated, key=lambda name: rated[name]["elo"])
    for place, name in enumerate(names):
        row, colour = rated[name], "C3" if name in OWN else "0.4"
        panel.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=1.2)
        panel.plot(row["elo"], place, "o", color=colour, markersize=4)
    panel.set_yticks(range(len(names)), names, fontsize=8)
    for label, name in zip(panel.get_yticklabels(), names, strict=True):
        label.set_color("C3" if name in OWN else "0.2")
    panel.axvline(1000, color="0.8", linewidth=0.8, zorder=0)
    panel.tick_params(axis="x", labelsize=8)


def main():
    figure, axes = plt.subplots(1, len(PANELS), figsize=(11, 3.9), layout="constrained")
    for panel, (file, title) in zip(axes, PANELS.items(), strict=True):
        results = json.loads((RESULTS / file).read_text())["results"]
        draw_panel(panel, results["all"])
        panel.set_title(f"{title}: {len(results['sets'])} tables", fontsize=9)
    figure.supxlabel("Elo rating (random forest: 1,000) and 95 % interval over tables; fctree's programs in red", fontsize=9)
    figure.savefig(RESULTS.parent.parent / "docs" / "images" / "league.png", dpi=110)


if __name__ == "__main__":
    main()
