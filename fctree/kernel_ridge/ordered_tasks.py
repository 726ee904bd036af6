"""Blocks of rows computed on several threads, with results in the order of the blocks.

The blocks and every call of a BLAS inside them are the same for any number of threads, so sums over
the blocks are too, where the caller holds the BLAS to one thread (`one_blas_thread`).
"""

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock


def in_order(task, items, n_threads):
    """Yields ``task(item)`` for all items; an interrupt leaves those under way to their threads."""
    if n_threads == 1:
        yield from map(task, items)
        return
    pool = ThreadPoolExecutor(n_threads)
    waiting, wait = deque(), True
    try:
        for item in items:
            waiting.append(_started(pool, task, item))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except KeyboardInterrupt:
        wait = False
        raise
    finally:
        pool.shutdown(wait=wait, cancel_futures=True)


def _started(pool, task, item):
    """The future of ``task(item)`` in another thread, or here where the system starts none."""
    future, claim = Future(), Lock()

    def run():
        if not claim.acquire(blocking=False):
            return
        try:
            future.set_result(task(item))
        except BaseException as error:
            future.set_exception(error)

    try:
        pool.submit(run)
    except RuntimeError:  # it is in the queue all the same
        run()
    return future


def for_each(task, items, n_threads):
    """Calls ``task(item)`` for all items, as `in_order` does."""
    for _ in in_order(task, items, n_threads):
        pass


def in_background(function, *arguments):
    """``function(*arguments)``, of a function that lets other threads go on: an interrupt leaves it to its thread."""
    [result] = in_order(lambda _: function(*arguments), [None], 2)
    return result


def cut(n, size):
    """Slices of at most `size` of ``range(n)``."""
    return [slice(begin, min(begin + size, n)) for begin in range(0, n, size)]
