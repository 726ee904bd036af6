"""The one operation that the workers of a fit share: each brings arrays, all get their combination.

Workers exchange what they have in pairs: with their neighbour, then pair with pair, fours with fours:
after log2 W exchanges all have the same. Messages go over connections of ``distributed`` itself, from
worker to worker, with its security, and not through the scheduler.
"""

import asyncio
import threading
from collections import deque
from queue import SimpleQueue

import numpy as np
from distributed import get_worker
from distributed.comm import connect
from distributed.protocol import Serialize, to_serialize

from fctree.dask.row_blocks import join_sums

_OPERATION = "fctree_collective"
# Arrays of more bytes than this are sent by themselves, without being packed.
_LARGE = 1 << 16

_INBOXES = {}
_ENDED = deque(maxlen=1000)  # fits that were broken off, to which some may yet come
_LOCK = threading.Lock()


class PeerLost(RuntimeError):
    """A worker of the fit has gone, or the fit was ended."""


class Inbox:
    """Messages of other workers to this one for a fit, in the order they were sent."""

    def __init__(self):
        self.queues = {}
        self.lock = threading.Lock()
        self.is_closed = False
        self.losses = []  # of the rounds of the fit

    def of(self, rank):
        """The messages of one worker; the last is None, where it is gone or the fit is ended."""
        with self.lock:
            if rank not in self.queues:
                self.queues[rank] = SimpleQueue()
                if self.is_closed:
                    self.queues[rank].put(None)
            return self.queues[rank]

    def close(self):
        """Ends all waiting for messages."""
        with self.lock:
            self.is_closed = True
            for queue in self.queues.values():
                queue.put(None)


def _inbox(address, fit):
    with _LOCK:
        if (address, fit) in _ENDED:
            raise PeerLost("the fit was ended")
        return _INBOXES.setdefault((address, fit), Inbox())


async def _receive(comm, fit, rank, to):
    """Takes the messages of one worker of a fit, as long as it is there."""
    try:
        queue = _inbox(to, fit).of(rank)
    except PeerLost:
        await comm.close()
        return "dont-reply"
    try:
        while True:
            queue.put(await comm.read())
    except OSError:
        queue.put(None)
    return "dont-reply"


def listen(dask_worker):
    """Makes a worker take the messages of others."""
    dask_worker.handlers[_OPERATION] = _receive


def end_fit(fit, dask_worker):
    """Ends and forgets what this worker has of a fit."""
    key = dask_worker.address, fit
    with _LOCK:
        _ENDED.append(key)
        if key in _INBOXES:
            _INBOXES.pop(key).close()


def losses_since(fit, first, dask_worker):
    """Losses of the rounds after the first ones, while a fit runs."""
    with _LOCK:
        inbox = _INBOXES.get((dask_worker.address, fit))
    return inbox.losses[first:] if inbox is not None else []


def _packed(array):
    return array.tobytes() if array.nbytes < _LARGE else to_serialize(array.copy())


def _unpacked(part, dtype):
    if isinstance(part, bytes):
        return np.frombuffer(part, dtype=dtype)
    return part.data if isinstance(part, Serialize) else part


class Link:
    """A connection to another worker, on which one message is written after the other."""

    def __init__(self):
        self.lock = asyncio.Lock()
        self.comm = None


class Collective:
    """A worker's place among those of a fit; use as a context."""

    def __init__(self, fit, addresses):
        self.worker = get_worker()
        self.fit = fit
        self.addresses = addresses
        self.rank = addresses.index(self.worker.address)
        self.inbox = _inbox(self.worker.address, fit)
        self.links = {}

    @property
    def size(self):
        """Number of workers."""
        return len(self.addresses)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        with _LOCK:
            _INBOXES.pop((self.worker.address, self.fit), None)
        self._run(self._close())

    def _run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.worker.loop.asyncio_loop)

    async def _close(self):
        for link in self.links.values():
            async with link.lock:
                if link.comm is not None:
                    await link.comm.close()

    async def _connect(self, rank):
        address = self.addresses[rank]
        comm = await connect(address, **self.worker.security.get_connection_args("worker"))
        await comm.write(
            {"op": _OPERATION, "fit": self.fit, "rank": self.rank, "to": address, "reply": False}
        )
        return comm

    async def _send(self, rank, message):
        link = self.links.setdefault(rank, Link())
        try:
            async with link.lock:
                if link.comm is None:
                    link.comm = await self._connect(rank)
                await link.comm.write(message)
        except BaseException:
            self.inbox.close()
            raise

    def tell(self, iteration, train_loss, eval_loss):
        """Takes note of a round."""
        self.inbox.losses.append((train_loss, eval_loss))

    def send(self, rank, arrays):
        """Sends copies of some arrays."""
        message = [_packed(array) for array in arrays]
        self._run(self._send(rank, message))

    def receive(self, rank, like):
        """The arrays that a worker has sent, flat, of the types of these; or `PeerLost`."""
        message = self.inbox.of(rank).get()
        if message is None:
            raise PeerLost(f"{self.addresses[rank]} is gone, or the fit was ended")
        return [_unpacked(part, array.dtype) for part, array in zip(message, like, strict=True)]

    def _steps(self):
        """With whom to exchange, in order: ``(rank, what to do)``.

        Of a number that is no power of two, some pairs of neighbours are as one.
        """
        size = 1 << (len(self.addresses).bit_length() - 1)
        n_pairs = len(self.addresses) - size
        if self.rank < 2 * n_pairs:
            if self.rank % 2:
                return [(self.rank - 1, "give"), (self.rank - 1, "accept")]
            own, steps, last = self.rank // 2, [(self.rank + 1, "take")], [(self.rank + 1, "give")]
        else:
            own, steps, last = self.rank - n_pairs, [], []
        partners = [own ^ 1 << bit for bit in range(size.bit_length() - 1)]
        ranks = [2 * p if p < n_pairs else p + n_pairs for p in partners]
        return steps + [(rank, "exchange") for rank in ranks] + last

    def reduce(self, sums, largest, blocks):
        """Combines arrays with those of all others, in place.

        ``sums`` (int64) are added up, of ``largest`` (float64) the largest of each is taken. ``blocks`` are
        ``(pieces, values, n_blocks)``: sums over blocks of rows (`row_blocks`), a row a piece, or one row
        that does not count without pieces; afterwards the first row is the sum over all blocks.
        """
        if self.inbox.is_closed:
            raise PeerLost("the fit was ended")
        pieces, values, n_blocks = blocks
        width = values.shape[1]
        total, values = values[0], values[: len(pieces)]
        if width and len(self.addresses) == 1:
            pieces, values = join_sums([(pieces, values)], n_blocks)
        for rank, does in self._steps():
            arrays = [sums, largest, pieces, values]
            if does in ("give", "exchange"):
                self.send(rank, arrays)
            if does == "give":
                continue
            theirs = self.receive(rank, arrays)
            if does == "accept":
                sums[:], largest[:] = theirs[:2]
            else:
                np.add(sums, theirs[0], out=sums)
                np.maximum(largest, theirs[1], out=largest)
            if width:
                parts = [] if does == "accept" else [(pieces, values)]
                parts.append((theirs[2].reshape(-1, 2), theirs[3].reshape(-1, width)))
                pieces, values = join_sums(parts, n_blocks)
        if width:
            total[:] = values[0]
