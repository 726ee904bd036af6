"""Many classes that are mixtures of Gaussians: scikit-learn's make_classification with 10 to 30 classes, default settings.

    python many_classes.py

20 features, 12 of them informative and 3 their combinations, 3 % of the labels drawn anew; two folds of 1,500 training rows,
one thread. Log-loss on the other fold, and seconds of processor time for a fit.
"""

import argparse
import time

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from peers import peer
from report import add_arguments, print_markdown, warn_if_busy, write_json
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from fctree import CurvatureBoostingClassifier, CurvatureForestClassifier

NAME = "many_classes"
PROGRAMS = {
    "curvature boosting": lambda: CurvatureBoostingClassifier(random_state=0, n_jobs=1),
    "curvature forest": lambda: CurvatureForestClassifier(random_state=0, n_jobs=1),
    "CatBoost": lambda: peer("CatBoost", True),
    "LightGBM": lambda: peer("LightGBM", True),
    "random forest": lambda: RandomForestClassifier(random_state=0, n_jobs=1),
}
CLASSES = (10, 14, 18, 22, 26, 30)


def table(n_classes, n_clusters, n_rows):
    return make_classification(
        n_rows, 20, n_informative=12, n_redundant=3, n_classes=n_classes, n_clusters_per_class=n_clusters,
        flip_y=0.03, random_state=n_classes)


def measured(program, X, y):
    """Mean log-loss and seconds of the folds' fits."""
    losses, seconds = [], []
    for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
        model, start = PROGRAMS[program](), time.process_time()
        model.fit(X[train], y[train])
        seconds.append(time.process_time() - start)
        losses.append(log_loss(y[test], model.predict_proba(X[test])))
    return {"log-loss": np.mean(losses), "fit": np.mean(seconds)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    arguments = parser.parse_args()
    warn_if_busy()
    results = {}
    for n_classes in CLASSES[:1] if arguments.quick else CLASSES:
        for n_clusters in (1, 2):
            X, y = table(n_classes, n_clusters, 600 if arguments.quick else 3000)
            name = f"{n_classes} classes, {n_clusters} cluster{'s' * (n_clusters > 1)} each"
            results[name] = {program: measured(program, X, y) for program in PROGRAMS}
            print(name, *(f"{program} {of['log-loss']:.3f}" for program, of in results[name].items()), flush=True)
    columns = [*PROGRAMS, "curvature boosting, s", "CatBoost, s"]
    print_markdown("log-loss, and seconds of a fit", ["", *columns], [
        [name, *(f"{of[program]['log-loss']:.3f}" for program in PROGRAMS),
         *(f"{of[program]['fit']:.1f}" for program in ("curvature boosting", "CatBoost"))]
        for name, of in results.items()])
    write_json(arguments.json, NAME, results, quick=arguments.quick)


if __name__ == "__main__":
    main()
