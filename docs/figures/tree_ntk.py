"""Draw `docs/images/tree_ntk.png`: reproductions of the papers' figures.

Kernel value by angle (Kanoh and Sugiyama 2023, figure 7), convergence of finite ensembles' kernels (figure
6), training curves of the infinite kernel and of the empirical kernel of 1,024 trees (2022, figure 4, which trains
finite ensembles; `docs/figures/soft_trees.py` does that); time by depth and mean accuracies on the UCI sets by depth, of perfect trees (2022, figure 7) and of decision lists
(2023, figure 8), from `bench_gram.json` and `tree_ntk_uci.json` in `benchmarks/results`.
"""

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from fctree.kernels import empirical_tree_ntk, gradient_flow, tree_ntk, tree_ntk_path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT.parent / "benchmarks" / "results"
DEPTHS = (2, 4, 8, 16, 64)


def circle(angles):
    return np.column_stack([np.cos(angles), np.sin(angles)])


def draw_angles(axes):
    """Perfect trees degenerate with depth, decision lists do not."""
    angles = np.linspace(0, np.pi, 200)
    for architecture, style in (("perfect", "-"), ("decision_list", "--")):
        path = tree_ntk_path(circle([0.0]), circle(angles), depths=DEPTHS,
                             architecture=architecture)
        for k, depth in enumerate(DEPTHS):
            values = path[k, 0] / path[k, 0, 0]
            axes.plot(np.degrees(angles), values, style, color=f"C{k}", label=f"depth {depth}"
                      if style == "-" else None)
    axes.set(xlabel="angle between the samples", ylabel="kernel / its largest value",
             title="perfect trees (solid), decision lists (dashed)")
    axes.legend(fontsize=7)


def draw_convergence(axes):
    """Root mean square distance of finite ensembles' kernels from the limit."""
    X = circle(np.linspace(0, np.pi, 7))
    sizes = 4 ** np.arange(2, 7)
    for architecture in ("perfect", "oblivious", "decision_list"):
        limit = tree_ntk(X, depth=5, architecture=architecture)
        errors = [np.sqrt(np.mean([
            np.mean((empirical_tree_ntk(X, n_trees=int(m), depth=5, architecture=architecture,
                                        random_state=s) / limit.max() - limit / limit.max()) ** 2)
            for s in range(10)])) for m in sizes]
        axes.loglog(sizes, errors, "o-", label=architecture)
    axes.loglog(sizes, 2 / np.sqrt(sizes), "k:", label="1 / sqrt(M)")
    axes.set(xlabel="trees M", ylabel="relative error", title="finite ensembles, depth 5")
    axes.legend(fontsize=7)


def draw_training(axes):
    """Predictions of 5 test samples under gradient flow, by the infinite and by a finite ensemble's kernel."""
    rng = np.random.default_rng(0)
    X, X_test = rng.standard_normal((10, 5)), rng.standard_normal((5, 5))
    y = rng.standard_normal(10)
    times = np.linspace(0, 100, 200)
    K, K_test = tree_ntk(X), tree_ntk(X_test, X)
    flow = gradient_flow(K, K_test, y, learning_rate=0.1, times=times)
    axes.plot(times, flow, "-")
    finite = empirical_tree_ntk(np.vstack([X, X_test]), n_trees=1024, random_state=1)
    axes.set_prop_cycle(None)
    axes.plot(times, gradient_flow(finite[:10, :10], finite[10:, :10], y, learning_rate=0.1,
                                   times=times), ":")
    axes.set(xlabel="steps", ylabel="prediction",
             title="training: infinite (solid), kernel of 1,024 trees (dotted)")


def draw_time(axes):
    """Nanoseconds an entry of the Gram matrix takes, by depth."""
    rows = json.loads((RESULTS / "bench_gram.json").read_text())["results"]["depth"]
    n = max(row["n"] for row in rows)
    depths = [row["depth"] for row in rows if row["n"] == n]
    for kernel in ("tree_ntk", "relu_ntk"):
        axes.plot(depths, [row[kernel] for row in rows if row["n"] == n], "o-", label=kernel)
    axes.set(xlabel="depth", ylabel="ns an entry", title=f"time, {n:,} samples")
    axes.legend(fontsize=7)


def mean_accuracy(entries, hits_of):
    """Mean over the sets of the accuracies, one a depth."""
    hits = [np.array(hits_of(entry).split(), int) / entry["n_tested"] for entry in entries]
    return np.mean(hits, axis=0)


def draw_accuracy(axes, done):
    """Perfect trees, by depth and scale."""
    entries = [e for e in done.values() if "perfect" in e]
    for scale in entries[0]["perfect"]:
        axes.plot(range(1, 30), mean_accuracy(entries, lambda e, s=scale: e["perfect"][s]),
                  label=f"scale {scale}")
    axes.set(xlabel="depth", ylabel="mean accuracy",
             title=f"perfect trees, {len(entries)} UCI sets")
    axes.legend(fontsize=6, ncol=2)


def draw_lists(axes, done):
    """Decision lists against perfect trees, by depth up to 128 and infinite."""
    entries = [e for e in done.values() if "lists" in e]
    depths = ("2", "4", "8", "16", "32", "64", "128", "∞")
    for k, scale in enumerate(entries[0]["lists"]["perfect"]):
        for kind, style in (("decision_list", "-"), ("perfect", "--")):
            accuracy = mean_accuracy(entries, lambda e, t=kind, s=scale: e["lists"][t][s])
            axes.plot(depths[:len(accuracy)], accuracy, style, color=f"C{k}",
                      label=f"scale {scale}" if kind == "decision_list" else None)
    axes.set(xlabel="depth", ylabel="mean accuracy",
             title=f"decision lists (solid), perfect (dashed), {len(entries)} sets")
    axes.legend(fontsize=6, ncol=2)


def main():
    figure, axes = plt.subplots(2, 3, figsize=(15, 7.5))
    draw_angles(axes[0, 0])
    draw_convergence(axes[0, 1])
    draw_training(axes[0, 2])
    draw_time(axes[1, 0])
    done = json.loads((RESULTS / "tree_ntk_uci.json").read_text())["results"]
    draw_accuracy(axes[1, 1], done)
    draw_lists(axes[1, 2], done)
    figure.tight_layout()
    figure.savefig(ROOT / "images" / "tree_ntk.png", dpi=110)


if __name__ == "__main__":
    main()
