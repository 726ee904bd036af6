"""A cluster of two processes with one thread each, for the tests of ``fctree.dask``."""

from contextlib import contextmanager

import pytest

pytest.importorskip("distributed")

from distributed import Client, LocalCluster  # noqa: E402


@contextmanager
def two_processes():
    """A client of two worker processes on loopback, without a dashboard."""
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            host="127.0.0.1",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
