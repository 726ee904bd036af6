"""Fuzzing in a process that may die: by hand for hours, from the tests for a bounded time.

python tests/fuzz/soak.py model_files --seconds 3600 --seed 7
python tests/fuzz/soak.py hostile_calls --first 1234 --cases 1     # one case again
"""

import argparse
import contextlib
import faulthandler
import importlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import numpy as np

KINDS = ("model_files", "hostile_calls", "hostile_methods")
SECONDS_A_CASE = 10  # of processor time, of which a busy machine takes nothing away
_SECONDS_STUCK = 120  # by the clock: a case that waits for what does not come
_BYTES = 8 * 2**30  # of address space: what asks for more gets a MemoryError


def run_cases(kind, seed, first, last, until):
    """In the child: a line with each case's number before it runs, and one for each failure."""
    module = importlib.import_module(f"fuzz.{kind}")
    getattr(module, "prepare", int)()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, last):
            if time.time() > until:
                break
            print("case", number, flush=True)
            _watch(SECONDS_A_CASE)
            try:
                # What an estimator prints is not of interest here.
                with contextlib.redirect_stdout(sys.stderr):
                    module.run_case(np.random.default_rng([seed, number]), folder)
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                text = f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"
                print("failure", number, text.replace("\n", " ")[:500], flush=True)
            finally:
                _watch(0)
    print("done", flush=True)


def _watch(seconds):
    """Ends the process, with a traceback, after so much processor time; 0 stops watching."""
    if seconds:
        faulthandler.dump_traceback_later(_SECONDS_STUCK, exit=True)
    else:
        faulthandler.cancel_dump_traceback_later()
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def fuzz(kind, *, seed=0, first=0, cases=10**9, seconds=10**9):
    """Runs cases until their number or the time is up; returns how many ran and the failures.

    A case that ends the process, or runs longer than 10 s, is a failure, and the next process goes
    on behind it.
    """
    last, until = first + cases, time.time() + seconds
    at, failures = first, []
    while at < last and time.time() < until:
        command = [sys.executable, os.path.abspath(__file__), kind, "--child", "--seed", str(seed),
                   "--first", str(at), "--cases", str(last - at), "--seconds",
                   str(until - time.time())]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        lines = done.stdout.splitlines()
        failures += [line for line in lines if line.startswith("failure")]
        numbers = [int(line.split()[1]) for line in lines if line.startswith("case")]
        if not numbers:
            failures.append(f"no case was run: {done.stderr[-2000:]}")
            break
        at = numbers[-1] + 1
        if done.returncode != 0:
            what = f"the process ended with {done.returncode}"
            failures.append(f"failure {numbers[-1]} {what}: {done.stderr[:3000]}")
        elif lines[-1] == "done":
            break
    return at - first, failures


def _limit_memory():
    if os.environ.get("FCTREE_SANITIZED"):
        return  # sanitizers reserve address space that they never use
    with contextlib.suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=10**9)
    parser.add_argument("--child", action="store_true")
    options = parser.parse_args()
    if options.child:
        faulthandler.enable()
        if hasattr(signal, "setitimer"):
            faulthandler.register(signal.SIGPROF, chain=True)  # the signal ends the process then
        _limit_memory()
        last = options.first + options.cases
        run_cases(options.kind, options.seed, options.first, last, time.time() + options.seconds)
        return
    n_cases, failures = fuzz(options.kind, seed=options.seed, first=options.first,
                             cases=options.cases, seconds=options.seconds)
    print(*failures, f"{n_cases} cases, {len(failures)} failures", sep="\n")
    sys.exit(bool(failures))


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    main()
