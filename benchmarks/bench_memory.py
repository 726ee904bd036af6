"""Peak memory of fits of wide and square tables, beyond the table itself.

    python bench_memory.py

Each fit runs in a process of its own with default parameters but few rounds, which take what many
take; `allowed` is the limit of docs/results/memory.md: three times the table's bytes as float64 and
200 MB, the table itself not counted. A fit that raises MemoryError before it allocates keeps the
promise too.
"""

import argparse
import json
import time

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import fctree
import numpy as np
from peak_memory import answer_of_child, peak_of_call
from report import add_arguments, print_markdown, write_json

NAME = "bench_memory"
SHAPES = ((500, 20_000), (500, 100_000), (4_000, 3_000))
FEW = {"max_iter": 2, "n_estimators": 2, "max_epochs": 1}
MB = 1e6

# Label: class, number of classes or outputs, parameters.
FITS = {
    "symmetric boosting": ("SymmetricBoostingRegressor", 1, {}),
    "symmetric boosting, 3 classes": ("SymmetricBoostingClassifier", 3, {}),
    "symmetric boosting, 10 classes": ("SymmetricBoostingClassifier", 10, {}),
    "symmetric boosting, 5 outputs": ("SymmetricBoostingRegressor", 5, {}),
    "curvature boosting": ("CurvatureBoostingRegressor", 1, {}),
    "curvature boosting, 3 classes": ("CurvatureBoostingClassifier", 3, {}),
    "curvature boosting, max_coef=3": ("CurvatureBoostingRegressor", 1, {"max_coef": 3}),
    "curvature tree": ("CurvatureTreeRegressor", 1, {}),
    "curvature tree, alpha=loo": ("CurvatureTreeRegressor", 1, {"alpha": "loo"}),
    "curvature tree, max_coef=3": ("CurvatureTreeRegressor", 1, {"max_coef": 3}),
    "curvature tree, 3 classes": ("CurvatureTreeClassifier", 3, {}),
    "curvature forest": ("CurvatureForestRegressor", 1, {}),
    "curvature forest, 3 classes, 2 threads": ("CurvatureForestClassifier", 3, {"n_jobs": 2}),
    "FC-ODT": ("FCODTRegressor", 1, {}),
    "FC-ODT, 3 classes": ("FCODTClassifier", 3, {}),
    "soft trees": ("SoftTreeRegressor", 1, {}),
    "soft trees, 3 classes": ("SoftTreeClassifier", 3, {}),
    "tree kernel": ("TreeNTKRegressor", 1, {}),
}


def measure(label, n, d, dtype=np.float64, noise=0.0):
    """Bytes of the table and of the fit beyond it, and seconds; or the error."""
    name, n_outputs, parameters = FITS[label]
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d), dtype=dtype)
    y = X[:, 0] if n_outputs == 1 else np.ascontiguousarray(X[:, :n_outputs])
    if noise:
        y = y + noise * random.standard_normal(y.shape)
    if name.endswith("Classifier"):
        y = np.arange(n) % n_outputs
    estimator = getattr(fctree, name)()
    few = {name: value for name, value in FEW.items() if name in estimator.get_params()}
    estimator.set_params(**few, **parameters)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    # Libraries are loaded before the measured fit.
    getattr(fctree, name)(**few).fit(X[:60, :4].copy(), y[:60])
    begin = time.perf_counter()
    outcome = []

    def fit():
        try:
            estimator.fit(X, y)
        except MemoryError as error:
            outcome.append(str(error))

    extra = peak_of_call(fit)
    return {"fit": label, "n": n, "d": d, "noise": noise, "table": X.nbytes, "extra": extra,
            "allowed": 3 * X.nbytes + 200 * 10**6, "seconds": time.perf_counter() - begin,
            "refused": outcome[0] if outcome else None}


def in_child(label, n, d, timeout):
    return {"fit": label, "n": n, "d": d,
            **answer_of_child(__file__, "--fit", label, "--shape", n, d, timeout=timeout)}


def shape_name(n, d):
    return f"{n:,} x {d:,}"


def cell(found):
    if "error" in found:
        return found["error"]
    text = f"{found['extra'] / MB:.0f}"
    if found["refused"]:
        return f"MemoryError ({text})"
    return text if found["extra"] <= found["allowed"] else f"**{text}**"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser, NAME)
    parser.add_argument("--fit", choices=tuple(FITS), help="measure one fit here and print JSON")
    parser.add_argument("--shape", type=int, nargs=2, metavar=("N", "D"))
    parser.add_argument("--float32", action="store_true", help="a table of float32, with --fit")
    parser.add_argument("--noise", type=float, default=0.0, help="of targets, with --fit")
    parser.add_argument("--only", default="", help="fits whose labels contain this")
    parser.add_argument("--timeout", type=float, default=600)
    options = parser.parse_args()
    if options.fit:
        dtype = np.float32 if options.float32 else np.float64
        print(json.dumps(measure(options.fit, *options.shape, dtype, options.noise)))
        return
    shapes = [(300, 8_000)] if options.quick else [options.shape] if options.shape else SHAPES
    found, rows = [], []
    for label in FITS:
        if options.only in label:
            of_label = []
            for n, d in shapes:
                of_label.append(in_child(label, n, d, options.timeout))
                print(of_label[-1], flush=True)
            found += of_label
            rows.append([label, *map(cell, of_label)])
    rows.append(["allowed", *(f"{(24 * n * d + 2e8) / MB:.0f}" for n, d in shapes)])
    print_markdown("Megabytes at the peak of a fit, the table itself not counted:",
                   ["", *(shape_name(*shape) for shape in shapes)], rows)
    if not options.only:
        write_json(options.json, NAME, found, options.quick)


if __name__ == "__main__":
    main()
