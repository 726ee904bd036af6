"""Overhead of boosted oblique trees on Dask: two processes of one thread against one of two threads.

The cluster is local, on loopback. Models differ by where they may cut (docs/algorithms/distributed.md): their
scores on rows of another seed are compared.

    python benchmarks/bench_dask_oblique.py --rows 300000 --features 28 --rounds 4
"""

import argparse
import time

from boosting_data import simulate_boosting
from two_workers import run

import fctree


def measure(args, client):
    import dask.array as da

    from fctree.dask import DaskCurvatureBoostingRegressor

    X, y = simulate_boosting(args.rows, args.features, 0)
    X_test, y_test = simulate_boosting(20_000, args.features, 1)
    params = {"max_iter": args.rounds, "random_state": 0, "step_depth": args.step_depth or None}
    rows = -(-args.rows // 2)
    chunks = client.persist([da.from_array(X, chunks=(rows, -1)), da.from_array(y, chunks=rows)])
    DaskCurvatureBoostingRegressor(**{**params, "max_iter": 1}).fit(X[:2000], y[:2000])  # imports
    start = time.perf_counter()
    DaskCurvatureBoostingRegressor(**{**params, "max_iter": 1}).fit(*chunks)
    first_round = time.perf_counter() - start
    seconds = {"local": [], "dask": []}
    for _ in range(args.repeats):
        start = time.perf_counter()
        local = fctree.CurvatureBoostingRegressor(**params, n_jobs=2).fit(X, y)
        seconds["local"].append(time.perf_counter() - start)
        start = time.perf_counter()
        model = DaskCurvatureBoostingRegressor(**params).fit(*chunks)
        seconds["dask"].append(time.perf_counter() - start)
    least = {name: min(values) for name, values in seconds.items()}
    return {
        "rows": args.rows,
        "features": args.features,
        "rounds": args.rounds,
        "step_depth": params["step_depth"],
        "seconds": least,
        "seconds_of_one_round": first_round,
        "ratio": least["dask"] / least["local"],
        "r2": {"local": local.score(X_test, y_test), "dask": model.score(X_test, y_test)},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--step-depth", type=int, default=8, help="0: no step trees")
    run(parser, "bench_dask_oblique", measure)


if __name__ == "__main__":
    main()
