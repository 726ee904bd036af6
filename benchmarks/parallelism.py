"""Efficiency with more threads, simulated from the tasks of real fits and predictions.

A fit with `n_jobs` threads runs its loops one task after the other and writes the processor time
of each task (`FCTREE_TASK_LOG`, native/core/task_log.hpp). Tasks are then given in order to the first
thread that is free, as the core does it; all that is outside of loops is serial. Threads
without work look out for the next loop for a while, then they sleep: where too few are awake a loop takes some time to
wake more, else less, as the further phases of a loop do. Efficiency is
the time of all these tasks on one thread over the threads' number times their time. A fit that is given one thread has
less to do: how many times as fast these threads are is said of that. What is not simulated: starting threads, once a
call, and the caches and memory that they share.

python benchmarks/parallelism.py
"""

import argparse
import collections
import heapq
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from joblib import effective_n_jobs
from report import add_arguments, print_markdown, write_json
from sklearn.utils import check_X_y

from fctree import CurvatureBoostingRegressor, CurvatureForestRegressor, SymmetricBoostingRegressor

NAME = "parallelism"
PREDICTIONS = 10  # one after the other: of them a server makes many
CALLS = 3
THREADS = (2, 4, 8, 16, 64)
WAKING_S = 10e-6  # for a loop to reach threads that sleep
TURNING_S = 2e-6  # for a loop or a phase to reach threads that look out for it
LINGERING_S = 16e-6  # for which they do: 64 looks (native/core/team.hpp) on a free core

# Model, parameters, rows, features, and whether its fit or its prediction is meant.
CASES = {
    "symmetric boosting, 1,000,000 x 28": (
        SymmetricBoostingRegressor, {"max_iter": 50}, 1_000_000, 28, "fit"),
    "symmetric boosting, 100,000 x 50": (
        SymmetricBoostingRegressor, {"max_iter": 100}, 100_000, 50, "fit"),
    "curvature boosting, 20,000 x 20": (
        CurvatureBoostingRegressor, {"max_iter": 30}, 20_000, 20, "fit"),
    "curvature boosting, 300,000 x 28": (
        CurvatureBoostingRegressor, {"max_iter": 50}, 300_000, 28, "fit"),
    "curvature forest, 20,000 x 20": (
        CurvatureForestRegressor, {"n_estimators": 100, "max_depth": 3}, 20_000, 20, "fit"),
    "symmetric boosting, prediction of 100,000 x 28": (
        SymmetricBoostingRegressor, {"max_iter": 100}, 100_000, 28, "predict"),
    "curvature boosting, prediction of 100,000 x 28": (
        CurvatureBoostingRegressor, {"max_iter": 100}, 100_000, 28, "predict"),
}


class Loop(NamedTuple):
    """A parallel loop: where it is, the threads that it may use, whether it is a further phase of the one
    before, the serial seconds since that, and the seconds of its tasks."""

    task: str
    most: int
    follows: bool
    before: float
    seconds: np.ndarray


def times(loops, n_threads):
    """Seconds that each loop takes."""
    now, found = 0.0, []
    idle_since = [-1.0] * (n_threads - 1)  # of the threads beside the one that opens loops
    for loop in loops:
        now += loop.before
        n_helpers = min(n_threads, loop.most, len(loop.seconds)) - 1
        if n_helpers < 1:
            found.append(float(loop.seconds.sum()))
            now += found[-1]
            continue
        n_awake = sum(now - since < LINGERING_S for since in idle_since)
        start = now + (TURNING_S if loop.follows or n_awake >= n_helpers else WAKING_S)
        free = [start] * (n_helpers + 1)
        for seconds in loop.seconds:
            heapq.heapreplace(free, free[0] + seconds)
        free.sort()
        found.append(free[-1] - now)
        now = free[-1]
        idle_since = sorted(idle_since)[:len(idle_since) - n_helpers] + free[:-1]
    return found


def prepared(case, n_threads, quick):
    """The model and data of a case; the model is fitted if its prediction is meant."""
    model, params, n, d, method = CASES[case]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n // 10 if quick else n, d))
    y = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + X[:, 3] + 0.3 * rng.normal(size=len(X))
    model = model(**params, random_state=0, n_jobs=n_threads)
    return (model.fit(X[:5_000], y[:5_000]) if method == "predict" else model), X, y


def measure(file):
    """Prints, in a child process, the processor seconds of the call on what is in this file."""
    with open(file, "rb") as stream:
        model, X, y = pickle.load(stream)
    check_X_y(X[:2], y[:2])  # scikit-learn looks for libraries of tables once in a process
    effective_n_jobs(2)
    start = time.process_time()
    if hasattr(model, "n_features_in_"):
        for _ in range(PREDICTIONS):
            model.predict(X)
    else:
        model.fit(X, y)
    print(time.process_time() - start)


def recorded(case, n_threads, quick):
    """The loops of a call, and all its processor seconds: the least of each task over several calls, which all
    have the same tasks, since other programs on the machine lengthen now one and now another."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "case")
        with open(file, "wb") as stream:
            pickle.dump(prepared(case, n_threads, quick), stream)
        calls = [logged(file, os.path.join(folder, str(i))) for i in range(CALLS)]
    loops = [alike[0]._replace(before=min(loop.before for loop in alike),
                               seconds=np.min([loop.seconds for loop in alike], axis=0))
             for alike in zip(*(found for found, _ in calls), strict=True)]
    serial = min(seconds - sum(loop.seconds.sum() for loop in found) for found, seconds in calls)
    return loops, max(serial, 0.0) + sum(loop.seconds.sum() for loop in loops)


def logged(file, log):
    """The loops of one call, and all its processor seconds.

    To look at the clock takes as long as a short task: that is not counted.
    """
    done = subprocess.run([sys.executable, __file__, "--child", file], check=True, text=True,
                          stdout=subprocess.PIPE, env={**os.environ, "FCTREE_TASK_LOG": log})
    with open(log) as stream:
        lines = [line.split() for line in stream]
    loops, all_seconds = [], float(done.stdout)
    for line in lines:
        if len(line) == 2:  # the loops of a module follow
            looking, of_log = map(float, line)
            all_seconds -= of_log
            is_first = True
            continue
        task, most, follows, before, *found = line
        seconds = np.array(found, dtype=float)
        counted = np.maximum(seconds - looking, 0.0)
        before = 0.0 if is_first else max(float(before) - looking, 0.0)  # not from the start of the process
        loops.append(Loop(task, int(most), follows == "1", before, counted))
        all_seconds -= seconds.sum() - counted.sum() + looking
        is_first = False
    return loops, all_seconds


def simulate(case, n_threads, quick):
    """Work, critical path and time on these threads, in seconds."""
    loops, seconds = recorded(case, n_threads, quick)
    serial = max(0.0, seconds - sum(loop.seconds.sum() for loop in loops))
    return {
        "work": seconds,
        "serial": serial,
        "critical path": serial + sum(loop.seconds.max() for loop in loops if len(loop.seconds)),
        "time": serial + sum(times(loops, n_threads)),
    }


def print_loops(case, n_threads, quick):
    """The loops that hold these threads longest: seconds on them, work, longest task, serial seconds
    before them, place."""
    loops, _ = recorded(case, n_threads, quick)
    sums = collections.defaultdict(lambda: np.zeros(4))
    for loop, until_done in zip(loops, times(loops, n_threads), strict=True):
        if len(loop.seconds):
            seconds = until_done, loop.seconds.sum(), loop.seconds.max(), loop.before
            sums[loop.task] += seconds
    places = subprocess.run(["c++filt", "-t"], input="\n".join(sums), text=True, check=True,
                            stdout=subprocess.PIPE).stdout.splitlines()
    for place, found in sorted(zip(places, sums.values(), strict=True),
                               key=lambda found: -found[1][0])[:12]:
        print(*(f"{seconds:8.4f}" for seconds in found), "", place[:150])


def main():
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--only", default="", help="cases with this text in their name")
    parser.add_argument("--loops", type=int, metavar="THREADS",
                        help="print the loops that keep so many threads busy longest instead")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, nargs="+", default=THREADS)
    args = parser.parse_args()
    if args.child:
        measure(args.child)
        return
    results = {}
    for case in (name for name in CASES if args.only in name):
        if args.loops:
            print(case)
            print_loops(case, args.loops, args.quick)
            continue
        alone = simulate(case, 1, args.quick)["work"]
        found = {str(t): simulate(case, t, args.quick) for t in args.threads}
        for threads, values in found.items():
            values["efficiency"] = values["work"] / (int(threads) * values["time"])
            values["speedup"] = alone / values["time"]
        results[case] = found
        print(case, {t: round(v["efficiency"], 3) for t, v in found.items()}, flush=True)
    if args.loops:
        return
    for title, name in (("Efficiency", "efficiency"), ("Times as fast as one thread", "speedup")):
        print_markdown(
            title, ["case", *(f"{t} threads" for t in args.threads)],
            [[case, *(f"{found[str(t)][name]:.2f}" for t in args.threads)]
             for case, found in results.items()])
    if args.only and os.path.exists(args.json):  # the other cases stay
        with open(args.json) as stream:
            results = {**json.load(stream)["results"], **results}
    write_json(args.json, NAME, results, quick=args.quick)


if __name__ == "__main__":
    main()
