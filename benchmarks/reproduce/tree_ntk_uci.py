"""The tables of the tree NTK papers on 90 UCI sets, computed again.

    python benchmarks/reproduce/tree_ntk_uci.py --data FOLDER/uci90 --tables FOLDER/paper_tables

For each set, kernel regression with alpha 1e-8 on one-hot targets, the largest output wins, the
hits of the four folds' test sets pooled. Seven experiments:

  perfect  Kanoh and Sugiyama 2022, tables 2 to 4: perfect trees, depths 1 to 29, eight scales, for
           each scale the best accuracy over the depths
  peers    the same tables' columns for the rectifier network's kernel (depths 1 to 29) and the
           Gaussian kernel (30 widths)
  halved   the rectifier network's column again, as the program that the paper used scales it: without
           the factor 2 a layer, so that each layer halves the kernel and the penalty weighs twice as
           much; up to 29 hidden layers
  lists    Kanoh and Sugiyama 2023, figure 8: perfect trees and decision lists, depths 2 to 128 and
           infinite, six scales, accuracies averaged over the sets
  learned  `TreeNTKClassifierCV` on the same folds, without and with `feature_learning=3`: all
           parameters are chosen from the training samples of each fold, where the papers' are the
           best on the test samples
  chosen   the rectifier network's kernel, its depth and penalty chosen in that way too
  boosting gradient boosting (2023, appendix C.2) with one of the paper's 81 settings: 100 trees of depth 4,
           learning rate .1, subsamples of .8; one seed

Two cores took 4.5 hours for perfect trees and 6.6 with peers and lists.
Each set's result is written when it is done; a second call goes on where the first ended. The tables are
printed by `tree_ntk_tables.py`.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
import pandas as pd
from fctree import TreeNTKClassifierCV
from fctree.kernel_ridge.solvers import solve_with_errors
from fctree.kernel_ridge.spectrum import Spectrum
from fctree.kernels import relu_ntk, tree_ntk_path
from report import RESULTS, write_json
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics.pairwise import rbf_kernel
from tqdm import tqdm

NAME = "tree_ntk_uci"
ALPHA = 1e-8
SCALES = (0.5, 1, 2, 4, 8, 16, 32, 64)
DEPTHS = tuple(range(1, 30))
LIST_SCALES = (1, 2, 4, 8, 16, 32)
LIST_DEPTHS = (2, 4, 8, 16, 32, 64, 128)
GAMMAS = tuple(np.concatenate([np.arange(1, 11) / 100, np.arange(2, 11) / 10,
                               np.arange(2, 11), [20, 30]]).tolist())
EXPERIMENTS = ("perfect", "peers", "halved", "lists", "learned", "chosen", "boosting")
N_HALVED = 30  # layers of weights
ROUNDS = 3
PATH_BYTES = 2**30


class UCISet:
    """One set: samples, one-hot targets, and the four folds' (train, test) rows."""

    def __init__(self, folder, name):
        frame = pd.read_csv(folder / f"{name}.csv.gz")
        self.X = np.ascontiguousarray(frame.iloc[:, :-1].to_numpy(np.float64))
        self.labels = frame.iloc[:, -1].to_numpy(int)
        self.targets = np.eye(self.labels.max() + 1)[self.labels]
        rows = pd.read_csv(folder / f"{name}.folds.csv.gz").set_index(["split", "role"])["indices"]
        self.folds = [tuple(np.array(rows[f"fold{k}", role].split(), int)
                            for role in ("train", "test")) for k in range(4)]
        self.n_tested = sum(len(test) for _, test in self.folds)

    def hits(self, K):
        """The number of pooled test samples that kernel regression with K gets right."""
        hits = 0
        for train, test in self.folds:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # singular to rounding: said in the docs
                system = K.take(train, axis=0).take(train, axis=1)
                solution = solve_with_errors(system, self.targets[train], ALPHA)[0]
            outputs = K[np.ix_(test, train)] @ solution
            hits += int(np.sum(outputs.argmax(axis=1) == self.labels[test]))
        return hits


def as_text(hits):
    """Numbers of hits in one line of the results: one number a line would bury the reader."""
    return " ".join(map(str, hits))


def accuracies(entry, text):
    """Shares from the numbers of hits."""
    return np.array(text.split(), int) / entry["n_tested"]


def tree_hits(data, depths, scale, architecture, n_jobs):
    """Hits at each depth; a few depths' matrices are held at a time."""
    together = max(1, int(PATH_BYTES // (8 * len(data.X) ** 2)))
    result = []
    for start in range(0, len(depths), together):
        matrices = tree_ntk_path(data.X, depths=depths[start:start + together], scale=scale,
                                 architecture=architecture, n_jobs=n_jobs)
        result += [data.hits(K) for K in matrices]
    return as_text(result)


def run_perfect(data, n_jobs):
    return {str(scale): tree_hits(data, DEPTHS, scale, "perfect", n_jobs)
            for scale in SCALES}


def run_peers(data, n_jobs):
    relu = [data.hits(relu_ntk(data.X, depth=depth, n_jobs=n_jobs)) for depth in DEPTHS]
    rbf = [data.hits(rbf_kernel(data.X, gamma=gamma)) for gamma in GAMMAS]
    return {"relu_ntk": as_text(relu), "rbf": as_text(rbf)}


def halved_relu_path(X):
    """The rectifier network's kernels of 1, 2, .. layers of weights, each layer without its factor 2.

    In the arithmetic of a direct NumPy program, whose rounding decides ties between equal rows.
    """
    covariance = X @ X.T
    kernel = np.zeros_like(covariance)
    for _ in range(N_HALVED):
        kernel += covariance
        yield kernel
        norms = np.diag(covariance)
        lengths = np.maximum(np.sqrt(np.outer(norms, norms)), 1e-9)
        cosine = np.clip(covariance / lengths, -1, 1)
        open_angle = np.pi - np.arccos(cosine)
        covariance = (cosine * open_angle + np.sqrt(1 - cosine**2)) * lengths / 2 / np.pi
        kernel = kernel * open_angle / 2 / np.pi


def run_halved(data, n_jobs):
    return as_text([data.hits(K) for K in halved_relu_path(data.X)])


def run_lists(data, n_jobs):
    result = {"perfect": {}, "decision_list": {}}
    for scale in LIST_SCALES:
        result["perfect"][str(scale)] = tree_hits(data, LIST_DEPTHS, scale, "perfect", n_jobs)
        result["decision_list"][str(scale)] = tree_hits(
            data, (*LIST_DEPTHS, np.inf), scale, "decision_list", n_jobs)
    return result


def run_learned(data, n_jobs):
    """Hits without and with learned features, and in how many folds a metric was kept."""
    result = {"plain": 0, "learned": 0, "kept": 0}
    for train, test in data.folds:
        X, labels = data.X[train], data.labels[train]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learned = TreeNTKClassifierCV(feature_learning=ROUNDS, n_jobs=n_jobs).fit(X, labels)
            plain = learned
            if learned.feature_matrix_ is not None:  # the search is the same: only its choice again
                plain = TreeNTKClassifierCV(alphas=[learned.alpha_], depths=[learned.depth_],
                                            scales=[learned.scale_], n_jobs=n_jobs).fit(X, labels)
        for name, model in (("plain", plain), ("learned", learned)):
            result[name] += int(np.sum(model.predict(data.X[test]) == data.labels[test]))
        result["kept"] += plain is not learned
    return result


def run_chosen(data, n_jobs):
    """Hits of the rectifier network's kernel with the classifier's search: leave-one-out accuracy."""
    search = TreeNTKClassifierCV()
    kernels = [relu_ntk(data.X, depth=depth, n_jobs=n_jobs) for depth in search.depths]
    hits = 0
    for train, test in data.folds:
        targets, best = data.targets[train], (-1.0, None)
        for K in kernels:
            spectrum = Spectrum(K[np.ix_(train, train)], targets, None)
            for alpha in search.alphas:
                left_out = spectrum.left_out(targets, alpha).argmax(axis=1)
                share = np.mean(left_out == data.labels[train])
                if share > best[0]:
                    best = share, K[np.ix_(test, train)] @ spectrum.dual_coef(alpha)
        hits += int(np.sum(best[1].argmax(axis=1) == data.labels[test]))
    return hits


def run_boosting(data, _n_jobs):
    """Hits of scikit-learn's gradient boosting."""
    hits = 0
    for train, test in data.folds:
        model = GradientBoostingClassifier(max_depth=4, subsample=0.8, random_state=0)
        hits += int(np.sum(model.fit(data.X[train], data.labels[train]).predict(data.X[test]) == data.labels[test]))
    return hits


RUN = {"perfect": run_perfect, "peers": run_peers, "halved": run_halved, "lists": run_lists,
       "learned": run_learned, "chosen": run_chosen, "boosting": run_boosting}


def compute(names, arguments, done):
    """Adds to `done` what is missing, and writes after each set."""
    remaining = [(name, experiment) for name in names for experiment in arguments.only
            if experiment not in done.get(name, {})]
    bar = tqdm(remaining, disable=not remaining)
    for name, experiment in bar:
        bar.set_description(f"{experiment} {name}")
        data = UCISet(arguments.data, name)
        start = time.perf_counter()
        entry = done.setdefault(name, {"n_tested": data.n_tested, "seconds": {}})
        entry[experiment] = RUN[experiment](data, arguments.n_jobs)
        entry["seconds"][experiment] = time.perf_counter() - start
        write_json(arguments.json, NAME, done)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the 90 sets and folds")
    parser.add_argument("--tables", type=Path, required=True, help="folder with tntk_uci90.csv")
    parser.add_argument("--max-samples", type=int, default=None, help="skip larger sets")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="only these, in this order")
    parser.add_argument("--only", nargs="+", choices=EXPERIMENTS, default=list(EXPERIMENTS))
    parser.add_argument("--n-jobs", type=int, default=-1)
    parser.add_argument("--json", type=Path, default=RESULTS / f"{NAME}.json")
    arguments = parser.parse_args()
    table = pd.read_csv(arguments.tables / "tntk_uci90.csv")
    if arguments.max_samples is not None:
        table = table[table.n_samples <= arguments.max_samples]
    done = json.loads(arguments.json.read_text())["results"] if arguments.json.exists() else {}
    compute(arguments.sets or table.name, arguments, done)


if __name__ == "__main__":
    main()
