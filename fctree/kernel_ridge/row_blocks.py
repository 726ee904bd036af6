"""Blocks of rows computed on several threads, with results in the order of the blocks.

The blocks and every call of a BLAS inside them are the same for any number of threads, so sums over
the blocks are too, where the caller holds the BLAS to one thread (`threadpool_limits`).
"""

from collections import deque
from concurrent.futures import ThreadPoolExecutor


def in_order(task, items, n_threads):
    """Yields ``task(item)`` for all items; an interrupt waits for those under way only."""
    if n_threads == 1:
        yield from map(task, items)
        return
    pool = ThreadPoolExecutor(n_threads)
    waiting = deque()
    try:
        for item in items:
            waiting.append(pool.submit(task, item))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def cut(n, size):
    """Slices of at most `size` of ``range(n)``."""
    return [slice(begin, min(begin + size, n)) for begin in range(0, n, size)]
