"""Work that is spread over the workers of a Dask cluster: one task a model.

A task depends on the data and its own argument alone, so one that is lost with its worker is
run again with the same result. The data are sent to every worker once.
"""

from fctree._threads import one_thread

# A call that loses its data again and again is given up.
_MOST_LOSSES = 5


class Workers:
    """Functions on data that every worker of a `distributed.Client` holds.

    TypeError for anything else, ValueError for an asynchronous client, whose results cannot be waited for.
    """

    def __init__(self, client):
        self.client = _check_client(client)
        self._values = {}
        self._held = {}

    @property
    def n_threads(self):
        """Tasks that run at a time."""
        return max(1, sum(self.client.nthreads().values()))

    def keep(self, name, value):
        """Puts a value where tasks find it under a name; it is sent when one first needs it."""
        self._values[name] = value
        self._held.pop(name, None)

    def each(self, function, names, items):
        """``function(*values of the names, item)`` for every item, in order, as they are done.

        Linear algebra runs on one thread in a task, and a worker has as many tasks at a time as it has
        threads. RuntimeError where workers are lost more than a few times.
        """
        from fctree.dask.cluster import WorkerLost, gather

        items, futures, n_done, losses = list(items), [], 0, 0
        while n_done < len(items):
            if not futures:
                held = [self._hold(name) for name in names]
                futures = [
                    self.client.submit(_on_one_thread, function, *held, item, pure=False)
                    for item in items[n_done:]
                ]
            try:
                (found,) = gather(self.client, futures[:1])
            except WorkerLost as error:
                losses += 1
                if losses > _MOST_LOSSES:
                    raise RuntimeError(f"workers were lost {losses} times: {error}") from error
                # What was scattered went with them: it is sent again.
                self._held, futures = {}, []
                continue
            futures, n_done = futures[1:], n_done + 1
            yield found

    def _hold(self, name):
        if name not in self._held:
            self._held[name] = self.client.scatter(
                self._values[name], broadcast=True, hash=False
            )
        return self._held[name]


def _check_client(client):
    try:
        from distributed import Client
    except ImportError:
        Client = ()
    if not isinstance(client, Client):
        raise TypeError(f"client must be a distributed.Client or None, got {client!r}")
    if client.asynchronous:
        raise ValueError("client must not be asynchronous: its results are waited for")
    return client


def _on_one_thread(function, *args):
    with one_thread():
        return function(*args)
