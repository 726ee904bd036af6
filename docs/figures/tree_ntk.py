"""Draws `docs/images/tree_ntk.png`: the papers' figures again.

Kernel value by angle (Kanoh and Sugiyama 2023, figure 7), convergence of finite ensembles (figure
6), training of a finite ensemble against the kernel's prediction (2022, figure 4), and the mean
accuracy on the UCI sets by depth (2022, figure 7), the last from
`benchmarks/results/tree_ntk_uci.json` if it is there.
"""

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from fctree.kernels import empirical_tree_ntk, gradient_flow, tree_ntk, tree_ntk_path

ROOT = Path(__file__).resolve().parent.parent
UCI = ROOT.parent / "benchmarks" / "results" / "tree_ntk_uci.json"
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
    """Predictions of 5 test samples while an infinite ensemble is trained."""
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


def draw_accuracy(axes):
    """Mean accuracy over the sets that have been computed."""
    done = json.loads(UCI.read_text())["results"]
    entries = [e for e in done.values() if "perfect" in e]
    for scale in entries[0]["perfect"]:
        hits = [np.array(e["perfect"][scale].split(), int) / e["n_tested"] for e in entries]
        axes.plot(range(1, 30), np.mean(hits, axis=0), label=f"scale {scale}")
    axes.set(xlabel="depth", ylabel="mean accuracy", title=f"{len(entries)} UCI sets")
    axes.legend(fontsize=6, ncol=2)


def main():
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.5))
    draw_angles(axes[0, 0])
    draw_convergence(axes[0, 1])
    draw_training(axes[1, 0])
    if UCI.exists():
        draw_accuracy(axes[1, 1])
    figure.tight_layout()
    figure.savefig(ROOT / "images" / "tree_ntk.png", dpi=110)


if __name__ == "__main__":
    main()
