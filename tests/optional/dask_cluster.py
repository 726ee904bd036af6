"""Clusters of processes with one thread each, for the tests of ``fctree.dask``."""

from contextlib import contextmanager

import pytest

pytest.importorskip("distributed")

import dask  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402
from distributed.utils import get_mp_context  # noqa: E402

# Workers are copies of a process that has imported everything, which takes longer than most tests.
dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
get_mp_context().set_forkserver_preload(["pytest", "distributed", "dask.dataframe", "fctree.dask"])


@contextmanager
def processes(n_workers):
    """A client of worker processes on loopback, without a dashboard."""
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            host="127.0.0.1",
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(n_workers, timeout=60)
        yield client


@pytest.fixture(scope="module", autouse=True)
def client():
    """The smallest cluster on which rows are in different places."""
    with processes(2) as client:
        yield client


@pytest.fixture
def client_of_a_test():
    """A cluster a test: a worker that was killed may take long to come back, or not come."""
    with processes(2) as client:
        yield client
