"""Put the process in the state that fair timing needs.

Every benchmark script imports this module first, before anything that imports NumPy:

1. `OPENBLAS_CORETYPE` and `OPENBLAS_L2_SIZE` are dropped: some shells export a core type
   that halves the speed of OpenBLAS, and OpenBLAS reads both once, when it is loaded.
2. glibc is told to keep freed memory. Else large temporaries are returned to the system and
   faulted in again at each call, and a comparison of two programs is one of page faults.
   glibc reads these settings when the process starts, so the script starts itself again.

The thread pools are the third concern: OpenMP's and OpenBLAS's threads spin for a while after
their work and would slow down whoever is timed next; `measure.py` waits them out.
"""

import os
import platform
import sys
import warnings
from importlib import metadata
from pathlib import Path

DROPPED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
# MMAP_MAX_ = 0 keeps large blocks in the heap in every glibc; the older ones ignore a
# MMAP_THRESHOLD_ above 32 MiB.
KEEP_FREED_MEMORY = {
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 40),
    "MALLOC_MMAP_MAX_": "0",
}
# Set for the child processes whose memory is measured: the allocator's defaults hold there.
PLAIN = "FCTREE_BENCHMARK_PLAIN_ALLOCATOR"
PACKAGES = (
    "fctree", "numpy", "scipy", "scikit-learn", "treeple", "linear-tree", "ydf",
    "lightgbm", "catboost", "xgboost", "shap", "onnxruntime", "pandas", "matplotlib",
    "torch", "interpret-core", "perpetual", "chimeraboost", "fast-model-trees", "xrfm", "pytabkit", "cubist", "pystreed",
    "gosdt",
)


def _is_benchmark_script():
    """True if the running program lies in this folder: only then may it be started again."""
    main_file = getattr(sys.modules.get("__main__"), "__file__", None)
    if main_file is None:
        return False
    return Path(main_file).resolve().parent == Path(__file__).resolve().parent


def prepare_process():
    """Drop and set the environment variables above; start again if glibc has to see them."""
    if not _is_benchmark_script() or os.environ.get(PLAIN) == "1":
        return
    if "numpy" in sys.modules:
        raise RuntimeError("import environment before numpy: OpenBLAS has read its settings")
    for name in DROPPED:
        os.environ.pop(name, None)
    missing = {k: v for k, v in KEEP_FREED_MEMORY.items() if os.environ.get(k) != v}
    if missing and platform.libc_ver()[0] == "glibc":
        os.environ.update(missing)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    # The peers' own deprecation warnings would bury the tables.
    warnings.filterwarnings("ignore")
    os.environ.setdefault("PYTHONWARNINGS", "ignore")  # for worker processes


def plain_environment():
    """Environment for a child process whose memory is measured: the allocator's defaults."""
    kept = {k: v for k, v in os.environ.items() if k not in DROPPED and k not in KEEP_FREED_MEMORY}
    return {**kept, PLAIN: "1"}


def _cpu_model():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _usable_cores():
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _fctree_config():
    """The result of `fctree.show_config`, without printing."""
    import contextlib
    import io

    try:
        import fctree
    except ImportError as error:
        return f"not installed: {error}"
    with contextlib.redirect_stdout(io.StringIO()):
        return {k: str(v) for k, v in fctree.show_config().items()}


def machine_facts():
    """The conditions of the measurement: processor, cores, load, versions."""
    from threadpoolctl import threadpool_info

    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    blas = [
        {k: info.get(k) for k in ("internal_api", "version", "architecture", "num_threads")}
        for info in threadpool_info()
    ]
    return {
        "cpu": _cpu_model(),
        "cores": _usable_cores(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load_average": [round(v, 2) for v in os.getloadavg()],
        "system": f"{platform.system()} {platform.machine()}",
        "versions": versions,
        "thread_pools": blas,
        "fctree_config": _fctree_config(),
    }


prepare_process()
