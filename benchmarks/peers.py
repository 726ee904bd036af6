"""The boosting programs that benchmarks compare: their estimators, and their words for what all of them have.

A library is imported when its estimator is made, so one that is missing costs one row of a table.
"""

from dataclasses import dataclass, field
from importlib import import_module


@dataclass(frozen=True)
class Library:
    """Where a program's estimators are, and its words; None for what it has no word for."""

    module: str
    prefix: str  # of its estimators' names
    rounds: str
    depth: str
    bins: str
    threads: str | None = "n_jobs"
    seed: str = "random_state"
    by_leaves: bool = False  # grows leaf by leaf: a depth is as many leaves as such a tree has, less one
    fixed: dict = field(default_factory=dict)


LIBRARIES = {
    "fctree": Library("fctree", "SymmetricBoosting", "max_iter", "max_depth", "max_bins"),
    "CatBoost": Library("catboost", "CatBoost", "iterations", "depth", "border_count", "thread_count", "random_seed",
                        fixed={"verbose": False, "allow_writing_files": False}),
    "LightGBM": Library("lightgbm", "LGBM", "n_estimators", "num_leaves", "max_bin", by_leaves=True,
                        fixed={"verbose": -1}),
    "XGBoost": Library("xgboost", "XGB", "n_estimators", "max_depth", "max_bin"),
    "HistGradientBoosting": Library("sklearn.ensemble", "HistGradientBoosting", "max_iter", "max_leaf_nodes", "max_bins",
                                    threads=None, by_leaves=True),
}


def peer(name, classifies=False, *, rounds=None, depth=None, bins=None, threads=1, seed=0, **options):
    """An unfitted estimator of a program; what is None stays at its default."""
    library = LIBRARIES[name]
    if depth is not None and library.by_leaves:
        depth = 2**depth - 1
    settings = {library.rounds: rounds, library.depth: depth, library.bins: bins, library.threads: threads,
                library.seed: seed, **options}
    settings = {word: value for word, value in settings.items() if word is not None and value is not None}
    kind = getattr(import_module(library.module), library.prefix + ("Classifier" if classifies else "Regressor"))
    return kind(**library.fixed, **settings)


def usable(names, make):
    """Split names of programs into those that `make(name)` makes and the reasons why a library is missing for others."""
    found, reasons = [], {}
    for name in names:
        try:
            make(name)
        except ImportError as error:
            reasons[name] = f"not installed ({error})"
        else:
            found.append(name)
    return found, reasons
