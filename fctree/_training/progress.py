"""Progress of a fit: nothing, a progress bar, or lines of rounds."""

import sys
from contextlib import contextmanager

import numpy as np
from tqdm.auto import tqdm

# A terminal of 80 columns cuts the end of a line: it must not be the losses.
_LOSSES_FIRST = "{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}{postfix} [{elapsed}<{remaining}, {rate_fmt}] {desc}"


class ProgressBar(tqdm):
    """A bar that is shown where `verbose` is true and there is a stream for it; it starts no thread."""

    monitor_interval = 0

    def __init__(self, verbose, **options):
        super().__init__(disable=not verbose or sys.stderr is None, **options)


@contextmanager
def progress_listener(verbose, n_rounds, title, unit="tree"):
    """A function to call after each round, or None where nothing is to be shown.

    ``verbose=1`` is a progress bar with the losses and metrics by name, 2 a line for each round, more one for every so many.
    """
    verbose = int(verbose)
    if verbose <= 0:
        yield None
        return
    if verbose > 1:
        every = verbose if verbose > 2 else 1

        def write(iteration, *scores):
            if (iteration + 1) % every == 0:
                # A line is one write: Ctrl-C, or another writer, may come between two.
                print(f"[{iteration + 1}] {_text(*scores)}\n", end="", flush=True)

        yield write
        return
    with ProgressBar(True, total=n_rounds, desc=title, unit=unit, bar_format=_LOSSES_FIRST) as bar:

        def show(iteration, *scores):
            bar.set_postfix_str(_text(*scores), refresh=False)
            bar.update()

        yield show


def _text(train, eval_, metrics=None):
    losses = {"train loss": train} if np.isnan(eval_) else {"train loss": train, "validation loss": eval_}
    return ", ".join(f"{name} {value:.6g}" for name, value in (losses | (metrics or {})).items())
