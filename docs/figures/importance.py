"""Draws `docs/images/importance_linear.png` and `importance_turbine.png` from the results of
`benchmarks/reproduce/variable_importance.py`.

Importance of the first of two correlated features (Sun and Raskutti 2025, figure 2), coverage of
the intervals (figure 6), and importances and Shapley values of a gas turbine's sensors (figure 7).
"""

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT.parent / "benchmarks" / "results" / "variable_importance.json"
METHODS = {"early_stopping": "early stopping", "retrain": "retraining", "dropout": "dropout"}
COLORS = {"early_stopping": "#4c78a8", "retrain": "#54a24b", "dropout": "#e8853b"}
COVERING = {
    "boosting": "boosting", "kernel": "tree kernel", "restarted": "boosting, noise begins again",
}  # fmt: skip


def entries(results, start):
    return [json.loads(value) for key, value in results.items() if key.startswith(start + " ")]


def draw_correlated(axes, results):
    rhos = np.linspace(0, 1, 101)
    axes.plot(rhos, 2.25 * (1 - rhos**2), color="#444444", label="truth")
    for method, label in METHODS.items():
        found = {rho: entries(results, f"correlated boosting {method} {rho}")
                 for rho in (0.0, 0.2, 0.5, 0.8, 1.0)}
        found = {rho: [e["importance"] for e in some] for rho, some in found.items() if some}
        axes.errorbar(list(found), [np.mean(v) for v in found.values()],
                      yerr=[np.std(v) for v in found.values()], fmt="o", capsize=3,
                      color=COLORS[method], label=label)
    axes.set(xlabel="correlation of the first two features", ylabel="importance of the first",
             title="boosting, 5,000 samples: mean and deviation of 20 sets")
    axes.legend()


def draw_coverage(axes, results):
    for at, (model, label) in enumerate(COVERING.items()):
        found = {rho: entries(results, f"coverage {model} early_stopping {rho}")
                 for rho in (0.0, 0.2, 0.5, 0.8)}
        found = {rho: np.mean([e["covers"] for e in some]) for rho, some in found.items() if some}
        axes.plot(list(found), list(found.values()), "o-", color=f"C{at}", label=label)
    axes.axhline(0.95, color="#444444", linewidth=0.8)
    axes.set(xlabel="correlation of the first two features", ylabel="share of intervals",
             ylim=(0.4, 1.02), title="coverage of 95 % intervals (200, 200, 40 sets)")
    axes.legend()


def draw_bars(axes, results, kind, target):
    found = {m: entries(results, f"turbine {target} {kind} {m}") for m in METHODS}
    found = {m: some for m, some in found.items() if some}
    if not found:
        return
    first = next(iter(found.values()))[0]
    order = np.argsort(-np.mean([e["values"] for e in found.get("retrain", [first])], axis=0))
    for at, (method, some) in enumerate(found.items()):
        values = np.mean([e["values"] for e in some], axis=0)[order]
        errors = np.mean([e["stderr"] for e in some], axis=0)[order]
        place = np.arange(len(order)) + (at - 1) * 0.27
        axes.barh(place, values, 0.25, xerr=1.96 * errors, color=COLORS[method],
                  label=METHODS[method], error_kw={"elinewidth": 0.8})
    axes.set_yticks(np.arange(len(order)), [first["names"][j] for j in order])
    axes.invert_yaxis()
    title = "Shapley values" if kind == "shapley" else "importances"
    axes.set(title=f"{target.upper()}: {title}", xlabel="decrease of mean squared error")


def main():
    results = json.loads(RESULTS.read_text())["results"]
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    draw_correlated(axes[0], results)
    draw_coverage(axes[1], results)
    figure.savefig(ROOT / "images" / "importance_linear.png", dpi=100)
    targets = [t for t in ("nox", "co") if entries(results, f"turbine {t} importance retrain")]
    figure, axes = plt.subplots(len(targets), 2, figsize=(10, 4.2 * len(targets)), squeeze=False,
                                layout="constrained")
    for row, target in zip(axes, targets, strict=True):
        draw_bars(row[0], results, "importance", target)
        draw_bars(row[1], results, "shapley", target)
    axes[0, 0].legend()
    figure.savefig(ROOT / "images" / "importance_turbine.png", dpi=100)


if __name__ == "__main__":
    main()
