"""Overhead of a fit on Dask: two processes of one thread against one process of two threads.

The cluster is local, on loopback. Models are compared byte for byte; bytes are those of the
sums that the second worker sends to the first, as pickle writes them, against the formula of
docs/algorithms/distributed.md.

    python benchmarks/bench_dask.py --rows 1000000 --features 28 --rounds 10
"""

import argparse
import pickle
import time

from boosting_data import simulate_boosting
from two_workers import run

import fctree


def bytes_of_levels(bin_thresholds, depth):
    """Bytes of the histograms that one worker sends for one tree, by level."""
    n_features = len(bin_thresholds)
    n_groups = (n_features + 7) // 8
    bounds = [n_features * g // n_groups for g in range(n_groups + 1)]
    cells = sum(
        max(len(t) for t in bin_thresholds[first:last]) + 2
        for first, last in zip(bounds[:-1], bounds[1:], strict=True)
    )
    return [64 * max(1, 2 ** (level - 1)) * cells for level in range(depth)]


def count_answers():
    """Makes the second worker count the bytes that it sends to the first."""
    from fctree.dask.collective import Collective

    send, Collective.counted = Collective.send, 0

    def send_and_count(self, rank, arrays):
        if self.rank == 1:
            Collective.counted += len(pickle.dumps(arrays))
        send(self, rank, arrays)

    Collective.send = send_and_count


def answered():
    from fctree.dask.collective import Collective

    return Collective.counted


def measure(args, client):
    import dask.array as da

    from fctree.dask import DaskSymmetricBoostingRegressor

    X, y = simulate_boosting(args.rows, args.features, 0)
    params = {"max_iter": args.rounds, "max_bins": args.bins, "random_state": 0}
    rows = -(-args.rows // 2)
    chunks = client.persist([da.from_array(X, chunks=(rows, -1)), da.from_array(y, chunks=rows)])
    seconds = {"local": [], "dask": []}
    DaskSymmetricBoostingRegressor(**{**params, "max_iter": 1}).fit(*chunks)  # connections
    for _ in range(args.repeats):
        start = time.perf_counter()
        local = fctree.SymmetricBoostingRegressor(**params, n_jobs=2).fit(X, y)
        seconds["local"].append(time.perf_counter() - start)
        start = time.perf_counter()
        model = DaskSymmetricBoostingRegressor(**params).fit(*chunks)
        seconds["dask"].append(time.perf_counter() - start)
    client.run(count_answers)
    DaskSymmetricBoostingRegressor(**{**params, "max_iter": 2}).fit(*chunks)
    two_rounds = sum(client.run(answered).values())
    DaskSymmetricBoostingRegressor(**{**params, "max_iter": 6}).fit(*chunks)
    six_rounds = sum(client.run(answered).values()) - two_rounds
    same = model.trees_.leaf_values.tobytes() == local.trees_.leaf_values.tobytes()
    by_level = bytes_of_levels(local.bin_thresholds_, model.max_depth)
    return {
        "rows": args.rows,
        "features": args.features,
        "rounds": args.rounds,
        "seconds": {name: min(values) for name, values in seconds.items()},
        "ratio": min(seconds["dask"]) / min(seconds["local"]),
        "same_model": same,
        "bytes_of_a_round": (six_rounds - two_rounds) / 4,
        "bytes_by_formula": sum(by_level),
        "bytes_of_levels": by_level,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--bins", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=2)
    run(parser, "bench_dask", measure)


if __name__ == "__main__":
    main()
