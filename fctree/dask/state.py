"""What a worker remembers between the steps of a fit.

The arrays that the steps work on stay in the worker's memory, under the number of the fit. They
are no results of tasks, so nothing is copied from step to step, and a worker that is lost takes
them with it: a step that does not find the state that it was made for says so (`StateLost`), and
the state is built again, under another number, from the partitions and the trees so far.
"""

from distributed import get_worker

_STATES = {}


class StateLost(RuntimeError):
    """A step of a fit came to a worker that does not hold the state it continues."""


def remember(fit, name, state):
    """Keeps a state under a fit's number and a name."""
    _STATES[fit, name] = state


def recall(fit, name, stage):
    """The state if it has come exactly as far as `stage`."""
    state = _STATES.get((fit, name))
    if state is None or state.stage != stage:
        raise StateLost(f"{name} is not at {stage} on this worker")
    return state


def forget(fit):
    """Drops all states of fits whose number begins like this."""
    for key in [key for key in _STATES if key[0].startswith(fit)]:
        del _STATES[key]


def threads_here():
    """Threads that a task may use: a fit runs one task at a time on a worker."""
    return get_worker().state.nthreads
