"""A Dask cluster of two processes of one thread on this machine, for benchmarks of fits on Dask."""

import json
import os
from pathlib import Path

# Workers have the allocator as Dask sets it, and cannot start again for other settings.
os.environ["FCTREE_BENCHMARK_PLAIN_ALLOCATOR"] = "1"

from report import RESULTS, write_json  # noqa: E402


def run(parser, name, measure):
    """Print and write what ``measure(arguments, client)`` finds, with the parser's and these arguments."""
    parser.add_argument("--features", type=int, default=28)
    parser.add_argument("--json", type=Path, default=RESULTS / f"{name}.json", metavar="FILE",
                        help="where the results are written (default: %(default)s)")
    args = parser.parse_args()

    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster,
        Client(cluster) as client,
    ):
        found = measure(args, client)
    print(json.dumps(found, indent=2))
    write_json(args.json, name, found)
