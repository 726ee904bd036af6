"""A small convolutional network with a tree ensemble layer, or with dense layers, on digits.

    pip install ".[torch]" && python examples/soft_tree_digits.py

The same convolutions, then either two dense layers or one narrow dense layer, batch normalisation and twenty
small soft trees. Prints parameters, test loss and test accuracy over a few starts: after table 4 of Hazimeh et al. (2020),
in miniature, on the 8 x 8 digits that come with scikit-learn.
"""

import argparse
import time

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

from fctree.torch import TreeEnsembleLayer


def convolutions(n_filters=16):
    return [
        nn.Conv2d(1, n_filters, 3, padding=1), nn.ReLU(),
        nn.Conv2d(n_filters, n_filters, 3), nn.ReLU(),
        nn.MaxPool2d(2), nn.Dropout(0.25), nn.Flatten(),
        nn.BatchNorm1d(9 * n_filters),
    ]  # fmt: skip


def dense_network(width=256):
    return nn.Sequential(
        *convolutions(), nn.Linear(144, width), nn.ReLU(), nn.Dropout(0.25), nn.Linear(width, 10)
    )


def tree_network(width=32):
    return nn.Sequential(
        *convolutions(), nn.Linear(144, width), nn.ReLU(), nn.BatchNorm1d(width),
        TreeEnsembleLayer(width, 10, n_trees=20, depth=2, gamma=2.0),
    )  # fmt: skip


def load(seed):
    X, y = load_digits(return_X_y=True)
    images = (X / 16.0).reshape(-1, 1, 8, 8).astype(np.float32)
    parts = train_test_split(images, y, test_size=0.3, stratify=y, random_state=seed)
    return [torch.from_numpy(part) for part in parts]


def train(network, images, labels, epochs, batch_size=64):
    optimizer = torch.optim.Adam(network.parameters(), lr=0.002)
    network.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(images)).split(batch_size):
            if len(rows) < 2:
                continue  # batch normalisation needs two
            optimizer.zero_grad()
            nn.functional.cross_entropy(network(images[rows]), labels[rows]).backward()
            optimizer.step()


@torch.no_grad()
def test(network, images, labels):
    network.eval()
    scores = network(images)
    loss = nn.functional.cross_entropy(scores, labels).item()
    return loss, (scores.argmax(dim=1) == labels).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--starts", type=int, default=5)
    args = parser.parse_args()
    for name, make in (("dense", dense_network), ("trees", tree_network)):
        found, seconds = [], 0.0
        for seed in range(args.starts):
            torch.manual_seed(seed)
            X_train, X_test, y_train, y_test = load(seed)
            network = make()
            start = time.perf_counter()
            train(network, X_train, y_train, args.epochs)
            seconds += time.perf_counter() - start
            found.append(test(network, X_test, y_test))
        size = sum(p.numel() for p in network.parameters())
        loss, accuracy = np.array(found).T
        print(f"{name}: {size:,} parameters, test loss {loss.mean():.4f} ± "
              f"{loss.std(ddof=1) / np.sqrt(len(loss)) if len(loss) > 1 else 0:.4f}, "
              f"accuracy {accuracy.mean():.4f}, {seconds / args.starts:.1f} s a training")


if __name__ == "__main__":
    main()
