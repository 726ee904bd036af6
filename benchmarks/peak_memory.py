"""Peak memory of one fit over the memory of its input, in a process of its own.

Run as a script it fits one method of a family (`oblique_methods.py`, `boosting_peers.py`) and
prints JSON; `measure_in_child` does that from another program, with the allocator's default
settings. Linux lets a process reset the high-water mark of its memory, so what importing and
generating data took at their peak does not hide what the fit takes; elsewhere `ru_maxrss`
serves, which can only be too low.
"""

import argparse
import ctypes
import gc
import json
import platform
import resource
import subprocess
import sys
from pathlib import Path

from environment import plain_environment


def _trim_heap():
    """Give freed memory back, so that the fit's own allocations count."""
    gc.collect()
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


def _reset_peak():
    """True if the high-water mark could be reset."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _status_bytes(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def peak_of_call(call):
    """Bytes that the process held at the peak of the call beyond those before it."""
    _trim_heap()
    if _reset_peak():
        before = _status_bytes("VmRSS")
        call()
        return _status_bytes("VmHWM") - before
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    call()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024


def oblique_family(method):
    """(depth -> estimator, (n, d, seed) -> X, y) of the oblique benchmarks."""
    from oblique_methods import FCODT_TREES, LITERAL_TREES, PEER_TREES
    from simulated_data import simulate

    factory = {**FCODT_TREES, **LITERAL_TREES, **PEER_TREES}[method]
    return factory, lambda n, d, seed: simulate("sim1", n, d, seed)[:2]


def boosting_family(method):
    """Estimators and data of the boosting benchmarks; the peak is reached within the first rounds."""
    from boosting_data import simulate_boosting
    from boosting_peers import PROGRAMS, SLOW_PROGRAMS, Settings

    build = {**PROGRAMS, **SLOW_PROGRAMS}[method].build
    return lambda depth: build(Settings(rounds=20, depth=depth)), simulate_boosting


FAMILIES = {"oblique": oblique_family, "boosting": boosting_family}


def measure(family, method, n_samples, n_features, depth):
    """Peak of the fit over the input, in bytes and relative to the input's own bytes."""
    factory, simulate = FAMILIES[family](method)
    # Libraries are loaded and threads started before the measured fit.
    factory(2).fit(*simulate(500, n_features, seed=1))
    X, y = simulate(n_samples, n_features, seed=0)
    estimator = factory(depth)
    extra = peak_of_call(lambda: estimator.fit(X, y))
    return {"method": method, "n": n_samples, "d": n_features, "depth": depth,
            "input_bytes": X.nbytes + y.nbytes, "extra_bytes": extra,
            "extra_over_input": extra / (X.nbytes + y.nbytes)}


def answer_of_child(script, *arguments, timeout=600):
    """The JSON that a script prints last in a fresh process; a dict with `error` if that fails."""
    command = [sys.executable, "-W", "ignore", script, *map(str, arguments)]
    try:
        child = subprocess.run(command, env=plain_environment(), capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"error": f"more than {timeout} s"}
    if child.returncode != 0:
        last_line = (child.stderr.strip().splitlines() or ["no message"])[-1]
        return {"error": f"{child.returncode}: {last_line[:200]}"}
    return json.loads(child.stdout.strip().splitlines()[-1])


def measure_in_child(method, n_samples, n_features, depth, family="oblique"):
    """`measure` in a fresh process; a dict with `error` if that fails."""
    return {"method": method, **answer_of_child(
        __file__, "--method", method, "--n", n_samples, "--d", n_features, "--depth", depth, "--family", family)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--family", choices=tuple(FAMILIES), default="oblique")
    parser.add_argument("--method", required=True)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--d", type=int, default=50)
    parser.add_argument("--depth", type=int, default=6)
    arguments = parser.parse_args()
    print(json.dumps(measure(arguments.family, arguments.method, arguments.n, arguments.d,
                             arguments.depth)))


if __name__ == "__main__":
    main()
