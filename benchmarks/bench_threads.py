"""Seconds of fits and predictions by the number of threads, of fctree and of the known boosting programs.

Programs take turns, numbers of threads one after the other:

symmetric   fits of the boosting programs, with the settings of `bench_boosting.py`
ensembles   fits of curvature boosting and of a curvature forest
predict     predictions of 100,000 rows

`parallelism.py` simulates the same cases of fctree's for numbers of threads that a machine does not have.

python benchmarks/bench_threads.py --threads 1 2 4 8 16
"""

import argparse
from functools import partial

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import joblib
import numpy as np
from boosting_data import simulate_boosting
from boosting_peers import FCTREE, PROGRAMS, Settings, installed
from measure import interleave
from report import add_arguments, print_markdown, warn_if_busy, write_json

from fctree import CurvatureBoostingRegressor, CurvatureForestRegressor

NAME = "bench_threads"
SIZES = {(100_000, 50): 100, (1_000_000, 28): 50}  # rounds
ENSEMBLES = {
    "curvature boosting, 20,000 x 20, 100 rounds": (
        CurvatureBoostingRegressor(max_iter=100, random_state=0), 20_000, 20),
    "curvature boosting, 300,000 x 28, 10 rounds": (
        CurvatureBoostingRegressor(max_iter=10, random_state=0), 300_000, 28),
    "curvature forest, 20,000 x 20, 100 trees of depth 3": (
        CurvatureForestRegressor(n_estimators=100, max_depth=3, random_state=0), 20_000, 20),
}
REPEATS, SLOW_SECONDS = 1, 0.7  # longer calls are made once


def best_seconds(calls, batch=False):
    """The least seconds of each call, by name."""
    timings, _ = interleave(calls, REPEATS, SLOW_SECONDS, batch)
    return {name: timing.best for name, timing in timings.items()}


def tabulate(title, found):
    """Seconds by program and threads, printed and as a record."""
    names = list(next(iter(found.values())))
    print_markdown(f"{title}: seconds", ["program", *(f"{t} threads" for t in found), "speed-up"],
                   [[name, *(of[name] for of in found.values()),
                     next(iter(found.values()))[name] / min(of[name] for of in found.values())] for name in names])
    return {"title": title, "seconds": {name: {str(t): of[name] for t, of in found.items()} for name in names}}


def run_symmetric(programs, threads, quick):
    for (n, d), rounds in SIZES.items():
        X, y = simulate_boosting(n // 20 if quick else n, d, seed=0)

        def fit(program, n_threads, X=X, y=y, rounds=rounds):
            return program.build(Settings(rounds=rounds, threads=n_threads)).fit(X, y)

        yield tabulate(f"fit, {n:,} x {d}, {rounds} rounds", {
            t: best_seconds({name: partial(fit, program, t) for name, program in programs.items()})
            for t in threads})


def run_ensembles(_programs, threads, quick):
    for title, (model, n, d) in ENSEMBLES.items():
        X, y = simulate_boosting(n // 10 if quick else n, d, seed=0)

        def fit(n_threads, model=model, X=X, y=y):
            return model.set_params(n_jobs=n_threads).fit(X, y)

        yield tabulate(f"fit, {title}", {t: best_seconds({FCTREE: partial(fit, t)}) for t in threads})


def run_predict(programs, threads, _quick):
    X, y = simulate_boosting(100_000, 28, seed=0)
    settings = Settings(rounds=100, threads=max(threads))
    models = {name: program.build(settings).fit(X[:20_000], y[:20_000]) for name, program in programs.items()}
    curvature = CurvatureBoostingRegressor(random_state=0, n_jobs=max(threads)).fit(X[:5000], y[:5000])

    def calls(n_threads):
        found = {name: partial(programs[name].predict, model, X, n_threads) for name, model in models.items()}
        return {**found, "fctree, curvature boosting": lambda: curvature.set_params(n_jobs=n_threads).predict(X)}

    yield tabulate("prediction, 100,000 x 28, 100 rounds", {t: best_seconds(calls(t), batch=True) for t in threads})


PARTS = {"symmetric": run_symmetric, "ensembles": run_ensembles, "predict": run_predict}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_arguments(parser, NAME)
    most = joblib.cpu_count()
    parser.add_argument("--threads", type=int, nargs="+",
                        default=sorted({most, *(int(t) for t in 2 ** np.arange(8) if t <= most)}))
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS))
    arguments = parser.parse_args()
    warn_if_busy()
    # HistGradientBoosting takes all threads that OpenMP offers, or one.
    programs, reasons = installed({name: PROGRAMS[name] for name in (FCTREE, "CatBoost", "LightGBM", "XGBoost hist")})
    print(*(f"{name}: {reason}" for name, reason in reasons.items()), sep="\n")
    results = {"threads": arguments.threads, "missing": reasons, "tables": []}
    for part in arguments.only:
        for table in PARTS[part](programs, arguments.threads, arguments.quick):
            results["tables"].append(table)
            write_json(arguments.json, NAME, results, arguments.quick)


if __name__ == "__main__":
    main()
