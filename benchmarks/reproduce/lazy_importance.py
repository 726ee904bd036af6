"""LazyVI beside early stopping, for tree kernels: figure 4 of the paper on variable importance.

    python benchmarks/reproduce/lazy_importance.py

LazyVI (Gao, Stevens, Raskutti and Willett, 2022) linearises a model at its fit and computes the reduced model by one ridge
regression of the residuals on the replaced data, its penalty chosen by cross-validation. For a kernel model the
linearisation is exact: the update is f + K(., X) (K + λ)⁻¹ (y - f(X)). Two designs, 2,000 samples each: two correlated
features of six, and a hundred features (sections 5.2 and 5.3); the same parts, kernel and full model for all methods.

1 minute on one core.
"""

import argparse
import contextlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import importance_data as designs
import numpy as np
from fctree import TreeNTKRegressor
from fctree.inspection import variable_importance
from fctree.inspection.kernel_flow import TreeKernelFlow
from report import RESULTS, print_table, write_json
from scipy.linalg import eigh
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits
from tqdm import tqdm
from variable_importance import full_model_as_trained

NAME = "lazy_importance"
N_SAMPLES = 2000
PENALTIES = np.logspace(-3, 3, 20)
N_FOLDS = 3
DESIGNS = {
    **{f"rho = {rho}": lambda seed, rho=rho: designs.correlated(rho, seed, N_SAMPLES)
       for rho in (0.0, 0.5, 0.8)},
    "100 features": lambda seed: designs.high_dimensional(seed, N_SAMPLES),
}
METHODS = ("early_stopping", "lazy", "retrain", "dropout")


def ridge_path(K, residuals):
    """Coefficients (K + λ)⁻¹ r for all penalties, (n, n_penalties)."""
    values, vectors = eigh(K)
    return vectors @ ((vectors.T @ residuals)[:, None] / (values[:, None] + PENALTIES))


class LazyKernel(TreeKernelFlow):
    """A tree kernel's flow, continued by one ridge regression of its residuals."""

    def continue_fit(self, train, validation):
        kernel = self.estimator._fitted_kernel()
        X = np.ascontiguousarray(train.X)
        K, residuals = kernel.gram(X), self._residuals(train)[:, 0]
        losses = np.zeros(len(PENALTIES))
        for kept, held in KFold(N_FOLDS).split(X):
            path = ridge_path(K[np.ix_(kept, kept)], residuals[kept])
            losses += np.mean((residuals[held, None] - K[np.ix_(held, kept)] @ path) ** 2, axis=0)
        chosen = ridge_path(K, residuals)[:, [losses.argmin()]]
        table = self.terms[0][0]  # of the full model: no values are missing
        self.terms = [*self.terms, (table, X, np.ascontiguousarray(chosen))]
        self.n_iter_ = 1
        return self


def importance(method, design, seed):
    """(truth, importance of the first feature, processor seconds)."""
    X, y, truth = DESIGNS[design](seed)
    model = TreeNTKRegressor(alpha=1e-3, scale=0.1, depth=2)
    begun = time.process_time()
    is_lazy = method == "lazy"
    with full_model_as_trained() if is_lazy else contextlib.nullcontext():
        result = variable_importance(
            LazyKernel(model) if is_lazy else model, X, y, groups=[0],
            method="early_stopping" if is_lazy else method, random_state=seed, n_jobs=1)
    return truth[0], result.importances[0], time.process_time() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=int, default=10, help="data sets of each design")
    parser.add_argument("--json", type=Path, default=RESULTS / f"{NAME}.json")
    arguments = parser.parse_args()
    results = {}
    with threadpool_limits(1):
        for design in tqdm(DESIGNS):
            for method in METHODS:
                found = np.array([importance(method, design, seed) for seed in range(arguments.sets)])
                truth, values, seconds = found.T
                results.setdefault(design, {"true": float(truth[0])})[method] = {
                    "mean": float(values.mean()), "deviation": float(values.std()),
                    "root mean square error": float(np.sqrt(np.mean((values - truth) ** 2))),
                    "processor seconds": float(seconds.mean())}
    print_table("importance of the first feature", ("design", "method", "mean", "sd", "rmse", "seconds"),
                [(design, method, *entry[method].values()) for design, entry in results.items()
                 for method in METHODS])
    write_json(arguments.json, NAME, results)


if __name__ == "__main__":
    main()
