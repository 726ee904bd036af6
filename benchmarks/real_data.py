"""Read the real tables that the benchmarks take from a folder given by `--data`.

The folder holds `libsvm/`, `regression/` and `classification/` with gzip CSV files: a header
row, the target in the last column, missing values empty. Nothing of it belongs to the project.
"""

from pathlib import Path

import numpy as np
import pandas as pd

# One file for each set: cpu_small and california_housing of `regression/` are cpusmall and
# cadata of `libsvm/`, and abalone is there with its sexes as numbers.
REGRESSION_SETS = (
    "libsvm/abalone", "libsvm/bodyfat", "libsvm/cadata", "libsvm/cpusmall", "libsvm/mg",
    "libsvm/space_ga", "regression/airfoil", "regression/concrete", "regression/cpu_act",
    "regression/diamonds", "regression/energy_cooling", "regression/energy_heating",
    "regression/gas_turbine_2015_co", "regression/gas_turbine_2015_nox", "regression/kin8nm",
    "regression/protein_casp", "regression/wine_red",
)


def short_name(name):
    """`libsvm/abalone` -> `abalone`."""
    return name.rsplit("/", 1)[-1]


def available(folder, names):
    """Split names into those whose file exists below the folder and those without one."""
    present = [name for name in names if (Path(folder) / f"{name}.csv.gz").is_file()]
    return present, [name for name in names if name not in present]


def choose(names, wanted):
    """The names whose full or short form is wanted; all of them if `wanted` is None."""
    if wanted is None:
        return list(names)
    unknown = [w for w in wanted if not any(w in (n, short_name(n)) for n in names)]
    if unknown:
        raise SystemExit(f"unknown data sets: {', '.join(unknown)}; known: {', '.join(names)}")
    return [n for n in names if n in wanted or short_name(n) in wanted]


def classification_sets(folder, prefix=""):
    """Names of the classification tables whose file name starts with the prefix."""
    files = sorted((Path(folder) / "classification").glob(f"{prefix}*.csv.gz"))
    return [f"classification/{file.name.removesuffix('.csv.gz')}" for file in files]


def manifest_sets(folder, part):
    """Names of the tables of one part, such as `regression`, in MANIFEST.csv's order."""
    files = pd.read_csv(Path(folder) / "MANIFEST.csv")["file"]
    return [name.removesuffix(".csv.gz") for name in files if name.startswith(f"{part}/")]


def load_table(folder, name, max_rows=None, seed=0, keep_missing=False):
    """Read one table as numbers.

    Columns of text become one indicator a category; missing numbers become the column's median
    unless they are kept as NaN.

    Parameters
    ----------
    folder : path
    name : str
        Such as `libsvm/abalone`.
    max_rows : int or None
        Draw that many rows at random, the same ones for the same seed.

    Returns
    -------
    (X (n, d) float64, y (n,): float64, or object where the target is text)
    """
    frame = pd.read_csv(Path(folder) / f"{name}.csv.gz")
    if max_rows is not None and len(frame) > max_rows:
        rows = np.random.default_rng(seed).choice(len(frame), max_rows, replace=False)
        frame = frame.iloc[np.sort(rows)]
    target = frame.iloc[:, -1]
    features = frame.iloc[:, :-1]
    text = [c for c in features if not pd.api.types.is_numeric_dtype(features[c])]
    features = pd.get_dummies(features, columns=text, dtype=float)
    if not keep_missing:
        features = features.fillna(features.median(numeric_only=True))
    y = target.to_numpy(float if pd.api.types.is_numeric_dtype(target) else object)
    return np.ascontiguousarray(features.to_numpy(float)), y
