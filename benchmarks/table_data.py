"""Tables with categories: the real ones of a folder given by `--data`, and simulated ones."""

from pathlib import Path

import numpy as np
import pandas as pd

# The file of each real table, and its categories: "all" columns, those of "text", or by name.
REAL_TABLES = {
    "car": ("classification/pmlb_car_evaluation", "indicators"),
    "nursery": ("classification/pmlb_nursery", "all"),
    "flare": ("classification/pmlb_flare", "all"),
    "solar_flare": ("classification/pmlb_solar_flare_2", "all"),
    "connect_4": ("classification/pmlb_connect_4", "all"),
    "dna": ("classification/pmlb_dna", []),
    "kddcup": ("classification/pmlb_kddcup", ["Atr-1", "Atr-2", "Atr-3"]),
    "mushroom": ("classification/mushroom", "text"),
    "credit_approval": ("classification/credit_approval", "text"),
    "churn": (
        "classification/pmlb_churn",
        ["state", "area code", "phone number", "international plan", "voice mail plan"],
    ),
    "diamonds": ("regression/diamonds", "text"),
}
_CAR = ("buying_price", "maintenance_price", "doors", "persons", "luggage_boot_size", "safety")
DRAWN_TABLES = ("many levels", "two categories interact", "slopes", "drift", "noise", "houses")


def read_table(folder, name, max_rows):
    """A real table, at most so many of its rows drawn at random.

    Returns
    -------
    X : DataFrame
        Categories are columns of text, None where missing.
    y : ndarray
        Class numbers, or float targets (the logarithm of diamonds' prices).
    """
    file, kind = REAL_TABLES[name]
    table = pd.read_csv(Path(folder) / f"{file}.csv.gz", na_values="?")
    y, X = table.iloc[:, -1], table.iloc[:, :-1]
    if kind == "indicators":
        X = _from_indicators(X)
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[:max_rows])
    X, y = X.iloc[rows].reset_index(drop=True), y.iloc[rows]
    if name == "diamonds":
        return _with_text(X, _text_columns(X)), np.log(y.to_numpy(dtype=float))
    y = pd.factorize(y, sort=True)[0]
    frequent = np.bincount(y)[y] >= 10  # every fold needs every class
    columns = kind if isinstance(kind, list) else _text_columns(X) if kind == "text" else list(X)
    X = _with_text(X[frequent].reset_index(drop=True), columns)
    return X, pd.factorize(y[frequent], sort=True)[0]


def as_taken(X, form):
    """The table as a program takes it: categories of pandas, or text without missing values."""
    X = X.copy()
    for name in X.columns[[dtype.kind not in "fiub" for dtype in X.dtypes]]:
        if form == "category":
            values, counts = np.unique(X[name].dropna().astype(str), return_counts=True)
            kept = values[np.argsort(-counts, kind="stable")[:250]]  # its bins are 255
            X[name] = X[name].where(X[name].isin(kept), None).astype("category")
        elif form == "catboost":
            X[name] = X[name].astype(object).where(X[name].notna(), "missing").astype(str)
    return X


def _text_columns(X):
    return [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]


def _with_text(X, columns):
    """The table with these columns as text."""
    X = X.copy()
    for name in columns:
        values = X[name].astype(object)
        X[name] = values.where(values.isna(), values.astype(str)).where(values.notna(), None)
    return X


def _from_indicators(X):
    """The categories of car, whose file has an indicator for each."""
    columns = {}
    for prefix in _CAR:
        names = [name for name in X if name.startswith(f"{prefix}_")]
        values = np.array([name.removeprefix(f"{prefix}_") for name in names], dtype=object)
        columns[prefix] = values[X[names].to_numpy().argmax(axis=1)]
    return pd.DataFrame(columns)


def draw_table(name, n):
    """A simulated regression table, `DRAWN_TABLES` says which; noise of deviation 0.7."""
    rng = np.random.default_rng(0)
    if name == "houses":
        return draw_houses(rng, n)
    x = rng.normal(size=(n, 3))
    place, group = rng.integers(0, 300, n), rng.integers(0, 20, n)
    identity = rng.integers(0, 1000, n)  # says nothing
    of_place, of_pair = rng.normal(size=300), 1.5 * rng.normal(size=(20, 20))
    if name == "drift":  # rare levels at first are frequent ones at last
        place = (300 * rng.beta(1.0 + 3.0 * np.arange(n) / n, 2.0)).astype(int)
    truth = {
        "many levels": of_place[place] + 0.5 * x[:, 0],
        "two categories interact": of_pair[place % 20, group] + 0.5 * x[:, 0],
        "slopes": of_place[place % 30] * x[:, 0] + x[:, 1],
        "drift": of_place[place] + 0.5 * x[:, 0],
        "noise": x[:, 0] + x[:, 1] * x[:, 2],
    }[name]
    shown = {"two categories interact": place % 20, "slopes": place % 30}.get(name, place)
    X = pd.DataFrame(x, columns=["p", "q", "r"])
    for column, values in (("place", shown), ("group", group), ("identity", identity)):
        X[column] = np.array([f"{column} {value}" for value in values], dtype=object)
    X.loc[rng.random(n) < 0.1, "q"] = np.nan
    return X, truth + 0.7 * rng.normal(size=n)


def draw_houses(rng, n):
    """Prices of houses in thousands: 36 numbers, of which four say something, and 43 columns of
    text of 2 to 25 levels, some correlated with the quality and four with missing values."""
    area, quality = np.exp(rng.normal(7.3, 0.3, n)), rng.integers(1, 11, n)
    year, size = rng.integers(1900, 2010, n), rng.normal(size=n)
    X = {"area": area, "quality": quality.astype(float), "year": year.astype(float)}
    for j in range(33):
        X[f"n{j}"] = 0.5 * size + rng.normal(size=n) if j < 8 else rng.exponential(size=n)
    log_price = 11.0 + 0.45 * np.log(area / 1500) + 0.09 * quality + 0.002 * (year - 1960)
    for j in range(43):
        n_levels = (2, 3, 4, 5, 6, 8, 10, 15, 25)[j % 9]
        levels = rng.choice(n_levels, n, p=rng.dirichlet(np.full(n_levels, 0.5)))
        if j % 5 == 0:
            levels = (quality / 11 + 0.15 * rng.normal(size=n)) * n_levels
            levels = np.clip(levels.astype(int), 0, n_levels - 1)
        X[f"c{j}"] = np.array([f"level {level}" for level in levels], dtype=object)
        if j < 16:
            log_price += 0.04 * rng.normal(size=n_levels)[levels]
    X = pd.DataFrame(X)
    for j in (3, 9, 12, 20):
        X.loc[rng.random(n) < 0.3, f"c{j}"] = None
    for j in (1, 5):
        X.loc[rng.random(n) < 0.15, f"n{j}"] = np.nan
    log_price += 0.03 * size * (quality > 6) + 0.1 * rng.normal(size=n)
    return X, np.exp(log_price) / 1000


def draw_wide_table(n, n_columns=10, n_levels=10_000, seed=0):
    """Columns of many levels as text and a target, to time encoding with."""
    rng = np.random.default_rng(seed)
    names = np.array([f"level {number}" for number in range(n_levels)], dtype=object)
    codes = rng.integers(0, n_levels, (n, n_columns))
    X = pd.DataFrame({f"c{j}": names[codes[:, j]] for j in range(n_columns)})
    return X, rng.normal(size=n_levels)[codes[:, 0]] + rng.normal(size=n)
