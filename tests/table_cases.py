"""Tables with categories for tests: the same values in every container, and every family."""

import numpy as np
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTClassifier,
    FCODTRegressor,
    SoftTreeClassifier,
    SoftTreeRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    TreeNTKClassifier,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
)

REGRESSORS = {
    "symmetric": SymmetricBoostingRegressor(max_iter=8, random_state=0),
    "tree": CurvatureTreeRegressor(max_depth=2),
    "fcodt": FCODTRegressor(max_depth=2, min_samples_leaf=10),
    "boosting": CurvatureBoostingRegressor(max_iter=4, random_state=0),
    "forest": CurvatureForestRegressor(n_estimators=3, random_state=0),
    "soft": SoftTreeRegressor(max_epochs=3, random_state=0),
    "kernel": TreeNTKRegressor(alpha=1.0),
    "kernel, searched": TreeNTKRegressorCV(alphas=(1.0,), depths=(1, 2), scales=(1.0,)),
}
CLASSIFIERS = {
    "symmetric": SymmetricBoostingClassifier(max_iter=8, random_state=0),
    "tree": CurvatureTreeClassifier(max_depth=2),
    "fcodt": FCODTClassifier(max_depth=2, min_samples_leaf=10),
    "boosting": CurvatureBoostingClassifier(max_iter=4, random_state=0),
    "forest": CurvatureForestClassifier(n_estimators=3, random_state=0),
    "soft": SoftTreeClassifier(max_epochs=3, random_state=0),
    "kernel": TreeNTKClassifier(alpha=1.0),
}
NAMES = ["age", "city", "size", "member"]


def mixed_columns(n_samples=240, n_cities=30, seed=0):
    """Columns with missing values, by name, and targets that depend on all of them."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40.0, 10.0, n_samples)
    city = rng.integers(0, n_cities, n_samples)
    size = rng.integers(0, 3, n_samples)
    member = rng.random(n_samples) < 0.5
    effect = rng.normal(size=n_cities)
    y = 0.1 * age + effect[city] + (size == 1) + 0.5 * member
    y += 0.3 * rng.normal(size=n_samples)
    age[rng.random(n_samples) < 0.1] = np.nan
    cities = np.array([f"city {number:02}" for number in city], dtype=object)
    cities[rng.random(n_samples) < 0.05] = None
    sizes = np.array(["small", "medium", "large"], dtype=object)[size]
    return dict(zip(NAMES, (age, cities, sizes, member), strict=True)), y


def as_objects(columns):
    """A NumPy array of objects."""
    return np.stack([np.asarray(column, dtype=object) for column in columns.values()], axis=1)


def as_pandas(columns):
    """A data frame of pandas with text in columns of objects."""
    import pandas as pd

    return pd.DataFrame(columns)


def as_categorical(columns):
    """A data frame of pandas with columns of categories, one of them never seen."""
    frame = as_pandas(columns)
    for name in ("city", "size"):
        frame[name] = frame[name].astype("category").cat.add_categories("never seen")
    return frame


def as_polars(columns):
    """A data frame of polars with null for missing values."""
    import polars as pl

    age = [None if np.isnan(value) else value for value in columns["age"]]
    return pl.DataFrame(
        {
            "age": pl.Series(age, dtype=pl.Float64),
            "city": pl.Series(list(columns["city"]), dtype=pl.String),
            "size": pl.Series(list(columns["size"])).cast(pl.Categorical),
            "member": columns["member"],
        }
    )


def as_arrow(columns):
    """A table of pyarrow, text as a dictionary and as it is."""
    import pyarrow as pa

    age = [None if np.isnan(value) else float(value) for value in columns["age"]]
    return pa.table(
        {
            "age": pa.array(age, pa.float64()),
            "city": pa.array(list(columns["city"])),
            "size": pa.array(list(columns["size"])).dictionary_encode(),
            "member": pa.array(columns["member"]),
        }
    )


CONTAINERS = {
    "objects": as_objects,
    "pandas": as_pandas,
    "categorical": as_categorical,
    "polars": as_polars,
    "pyarrow": as_arrow,
    "pyarrow batch": lambda columns: as_arrow(columns).combine_chunks().to_batches()[0],
}
