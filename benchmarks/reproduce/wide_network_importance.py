"""The paper on variable importance with its wide networks: sections 5.2 and 5.6.

    python benchmarks/reproduce/wide_network_importance.py

Sun and Raskutti (2025): fully connected networks of ReLU, 2,048 wide, in the parametrisation of their theory (standard
normal weights, each layer divided by the root of its fan-in, as in Jacot et al. 2018), so that the tangent kernel
hardly moves while they are trained. Here in torch, by stochastic gradient descent without momentum, an epoch a round, as
a `fctree.inspection.RoundByRound`; importance of the first of two correlated features of six, 5,000 samples a set.

  2_layers         one hidden layer, as in the paper's section 5.1: 3 minutes on one core
  3_layers         two hidden layers, as in its section 5.2: one set, since one takes minutes
  3_layers_of_512  the same with narrower layers, 2 minutes

Beside the importances: how far the weights are from their start, relative to their norm, after the full model's training.
Each result is written when it is there; a second call goes on where the first ended. With `--published` as many sets as the
paper has are run with its two hidden layers: 13 hours on one core.
"""

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import importance_data as designs
import numpy as np
import torch
from fctree.inspection import RoundByRound, Samples, variable_importance
from report import RESULTS, print_table, write_json
from tqdm import tqdm

NAME = "wide_network_importance"
BIAS = 0.1  # deviation of the biases, as in Jacot et al.
BATCH = 128
LEARNING_RATE = 1.0
NETWORKS = {"2_layers": (2048,), "3_layers": (2048, 2048), "3_layers_of_512": (512, 512)}  # hidden widths
RHOS = (0.0, 0.5, 0.8, 1.0)
# Network, method, correlations, sets.
PLAN = (
    ("2_layers", "early_stopping", RHOS, 10),
    ("2_layers", "retrain", (0.0, 0.5, 0.8), 4),
    ("2_layers", "dropout", (0.0, 0.5, 0.8), 4),
    ("3_layers_of_512", "early_stopping", (0.0, 0.5, 0.8), 2),
    ("3_layers", "early_stopping", (0.5,), 1),
)
PUBLISHED = (
    ("3_layers", "early_stopping", RHOS, 100),
    ("3_layers", "dropout", RHOS, 10),
)


class WideNetwork(RoundByRound):
    """Fully connected ReLU network in the tangent kernel's parametrisation; a round is an epoch.

    Parameters
    ----------
    widths : tuple of int
        Units of the hidden layers.
    seed : int
        Of the start and of the order of samples.
    """

    def __init__(self, widths, seed):
        super().__init__(max_iter=500, n_iter_no_change=10, tol=1e-3)
        self.widths, self.seed = widths, seed

    def start(self, train):
        """Draw standard normal weights."""
        self.rng = np.random.default_rng(self.seed)
        sizes = (train.X.shape[1], *self.widths, 1)
        self.weights = [torch.from_numpy(self.rng.standard_normal(shape, dtype=np.float32)).requires_grad_()
                        for a, b in zip(sizes, sizes[1:], strict=False) for shape in ((a, b), (b,))]
        self.at_start = [weight.detach().clone() for weight in self.weights]

    def outputs(self, X):
        """The network's values, (n_samples,)."""
        for layer in range(len(self.weights) // 2):
            weight, bias = self.weights[2 * layer:2 * layer + 2]
            X = (X.relu() * np.sqrt(2.0) if layer else X) @ weight / np.sqrt(len(weight)) + BIAS * bias
        return X[:, 0]

    def train_round(self, train):
        """One epoch."""
        X, y = (torch.from_numpy(part.astype(np.float32)) for part in (train.X, train.y))
        for rows in torch.from_numpy(self.rng.permutation(len(X))).split(BATCH):
            loss = 0.5 * (self.outputs(X[rows]) - y[rows]).square().mean()
            gradients = torch.autograd.grad(loss, self.weights)
            with torch.no_grad():
                for weight, gradient in zip(self.weights, gradients, strict=True):
                    weight -= LEARNING_RATE * gradient

    def predict(self, X):
        """Values for each sample."""
        with torch.no_grad():
            return self.outputs(torch.from_numpy(X.astype(np.float32))).numpy().astype(float)

    def moved(self):
        """Distance of the weights from their start over their norm there."""
        return float(np.sqrt(sum(float((a - b).detach().square().sum()) for a, b in
                                 zip(self.weights, self.at_start, strict=True))
                             / sum(float(b.square().sum()) for b in self.at_start)))


def run(key):
    """Stored results for a key ``network method rho seed``."""
    network, method, rho, seed = key.split()
    X, y, truth = designs.correlated(float(rho), int(seed))
    begun = time.process_time()
    result = variable_importance(WideNetwork(NETWORKS[network], int(seed)), X, y, groups=[0], method=method,
                                 random_state=int(seed), n_jobs=1)
    low, high = result.confidence_interval[0]
    return {"truth": truth[0], "importance": float(result.importances[0]), "stderr": float(result.stderr[0]),
            "covers": bool(low <= truth[0] <= high), "n_iter": int(result.n_iter[0]),
            "full_n_iter": int(result.full_n_iter), "full_score": float(result.full_score),
            "processor seconds": time.process_time() - begun}


def run_movement(network):
    """The distance that a full model's weights move, relative to their norm."""
    X, y, _ = designs.correlated(0.5, 0)
    train, validation = (Samples(X[rows], y[rows]) for rows in (slice(0, 2812), slice(2812, 3750)))
    return {"moved": WideNetwork(NETWORKS[network], 0).fit(train, validation).moved()}


def keys(plan):
    """Keys of all results, in the order of the plan."""
    return [f"{network} {method} {rho} {seed}" for network, method, rhos, sets in plan
            for seed in range(sets) for rho in rhos] + [f"{network} moved" for network in ("2_layers", "3_layers_of_512")]


def show(done):
    rows = []
    for network, method in dict.fromkeys(row[:2] for row in (*PLAN, *PUBLISHED)):
        for rho in RHOS:
            found = [json.loads(done[key]) for key in done if key.startswith(f"{network} {method} {rho} ")]
            if found:
                error = np.array([e["importance"] - e["truth"] for e in found])
                means = [float(np.mean([e[name] for e in found])) for name in
                         ("importance", "stderr", "covers", "n_iter", "full_n_iter", "processor seconds")]
                rows.append((f"{network}, rho {rho}", method, len(found), found[0]["truth"], *means[:1],
                             float(error.std()), *means[1:]))
    print_table("importance of the first feature", ("", "method", "sets", "truth", "mean", "sd", "stderr", "covers",
                                                    "rounds", "rounds of the full model", "seconds"), rows)
    print_table("distance of the weights from their start, of their norm", ("", "moved"),
                [(key, json.loads(done[key])["moved"]) for key in done if key.endswith(" moved")])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--published", action="store_true", help="as many sets as the paper has")
    parser.add_argument("--json", type=Path, default=RESULTS / f"{NAME}.json")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    done = json.loads(arguments.json.read_text())["results"] if arguments.json.exists() else {}
    plan = PLAN + PUBLISHED if arguments.published else PLAN
    for key in tqdm([key for key in dict.fromkeys(keys(plan)) if key not in done and key.split()[0] in arguments.networks]):
        done[key] = json.dumps(run_movement(key.split()[0]) if key.endswith(" moved") else run(key))
        write_json(arguments.json, NAME, done)
    show(done)


if __name__ == "__main__":
    main()
