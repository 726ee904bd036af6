"""Time several programs fairly in one process.

The programs take turns, so that a change of the machine's pace meets all of them alike, and
ratios of medians are what to read. Before each timed call the process sleeps for a moment:
idle threads of OpenMP and OpenBLAS spin before they sleep and would take a core from the
next program. A short call is then made once untimed: waking an idle core and its threads can
take milliseconds on a virtual machine, which is not what is to be compared.
"""

import time
from dataclasses import dataclass, field

import numpy as np

SETTLE_SECONDS = 0.06
BATCH_SECONDS = 0.01
SHORT_SECONDS = 0.3  # calls below are made once untimed before each timed one


@dataclass
class Timing:
    """Seconds of each timed call of one program."""

    seconds: list = field(default_factory=list)
    error: str | None = None

    @property
    def median(self):
        return float(np.median(self.seconds)) if self.seconds else float("nan")

    @property
    def best(self):
        return min(self.seconds) if self.seconds else float("nan")

    def as_dict(self):
        if self.error is not None:
            return {"error": self.error}
        return {"median_s": self.median, "best_s": self.best, "repeats": len(self.seconds)}


def time_once(call, settle=SETTLE_SECONDS):
    """Seconds of one call and its result, after the thread pools have come to rest."""
    time.sleep(settle)
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def time_best_of_batch(call):
    """Seconds of one call, calls shorter than 10 ms averaged over a batch."""
    time_once(call)
    first, _ = time_once(call, settle=0.0)
    count = max(1, int(BATCH_SECONDS / max(first, 1e-7)))
    if count == 1:
        return first
    elapsed, _ = time_once(lambda: [call() for _ in range(count)], settle=0.0)
    return elapsed / count


def interleave(calls, repeats=5, slow_seconds=2.0, batch=False):
    """Time the calls in turns.

    Parameters
    ----------
    calls : dict of str to callable
    repeats : int
        Timed rounds after one warm-up round.
    slow_seconds : float
        A call whose warm-up takes longer is not repeated: the warm-up is its measurement.
    batch : bool
        Average calls shorter than 10 ms over a batch (for prediction).

    Returns
    -------
    (dict of str to Timing, dict of str to the last result of each call)
    """
    timings = {name: Timing() for name in calls}
    results = {}
    first_seconds = {}
    active = []
    for name, call in calls.items():
        try:
            seconds, results[name] = time_once(call)
        except Exception as error:  # a peer that fails is reported in the table
            timings[name].error = f"{type(error).__name__}: {error}"[:200]
            continue
        first_seconds[name] = seconds
        if seconds > slow_seconds:
            timings[name].seconds.append(seconds)
        else:
            active.append(name)
    for round_number in range(repeats):
        shift = round_number % max(1, len(active))
        for name in active[shift:] + active[:shift]:
            if batch:
                seconds = time_best_of_batch(calls[name])
            else:
                if first_seconds[name] < SHORT_SECONDS:
                    time_once(calls[name])
                    seconds, results[name] = time_once(calls[name], settle=0.0)
                else:
                    seconds, results[name] = time_once(calls[name])
            timings[name].seconds.append(seconds)
    return timings, results


def time_gram(X, repeats=5):
    """Timing of `X.T @ X` into reused memory: the unit of the fit times.

    NumPy sends `X.T @ X` to syrk and the product with a copy to gemm; for thin matrices the
    second can be the faster one. The unit is the first, as anyone would write it.
    """
    gram = np.empty((X.shape[1], X.shape[1]))
    twin = X.copy()
    calls = {
        "X.T @ X": lambda: np.matmul(X.T, X, out=gram),
        "X.T @ copy of X": lambda: np.matmul(X.T, twin, out=gram),
    }
    timings, _ = interleave(calls, repeats=repeats, batch=True)
    return timings["X.T @ X"], timings["X.T @ copy of X"]
