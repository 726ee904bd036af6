"""Sums over workers: the same bytes on all, for any number of them."""

import numpy as np
import pytest

pytest.importorskip("distributed")

from distributed import Client, LocalCluster  # noqa: E402

from fctree.dask.collective import Collective, listen  # noqa: E402
from fctree.dask.row_blocks import cut_into_runs  # noqa: E402

N_ROWS = 64 * 24


def reduce_three_times(addresses, run, data):
    """What a worker gets, as bytes, of small and of large arrays, and of no blocks."""
    found = []
    integers, numbers, blocks = data
    with Collective("fit", addresses) as collective:
        for scale in (1, 1000, 1):
            sums = np.repeat(integers[collective.rank], scale)
            largest = np.repeat(numbers[collective.rank], scale)
            values = np.array([
                blocks[begin : begin + size].sum() for begin, size in run.pieces
            ])[:, np.newaxis] if run is not None else np.zeros((1, 1))
            pieces = np.zeros((0, 2), np.int64) if run is None else run.pieces
            collective.reduce(sums, largest, (pieces, values, len(blocks)))
            found.append((sums.tobytes(), largest.tobytes(), values[0].tobytes()))
    return found


@pytest.mark.parametrize("n_workers", [1, 2, 3, 4, 5, 7])
def test_all_workers_have_the_same(n_workers):
    rng = np.random.default_rng(0)
    integers = rng.integers(-(2**40), 2**40, size=(n_workers, 20))
    numbers = rng.normal(size=(n_workers, 20))
    runs = cut_into_runs(N_ROWS, max(1, n_workers - 1))  # the last worker has no blocks
    blocks = rng.integers(0, 100, size=runs[0].n_blocks).astype(np.float64)
    cluster = LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=None
    )
    with cluster, Client(cluster) as client:
        client.wait_for_workers(n_workers, timeout=60)
        client.run(listen)
        addresses = sorted(client.nthreads())
        futures = [
            client.submit(
                reduce_three_times, addresses, runs[i] if i < len(runs) else None,
                (integers, numbers, blocks), workers=[address], pure=False,
            )
            for i, address in enumerate(addresses)
        ]
        found = client.gather(futures)
    for scale, of_all in zip((1, 1000, 1), zip(*found, strict=True), strict=True):
        assert len(set(of_all)) == 1
        sums, largest, total = of_all[0]
        assert sums == np.repeat(integers.sum(axis=0), scale).tobytes()
        assert largest == np.repeat(numbers.max(axis=0), scale).tobytes()
        assert total == np.array([blocks.sum()]).tobytes()
