"""Blocks of rows computed on several threads, with results in the order of the blocks.

The blocks and every call of a BLAS inside them are the same for any number of threads, so sums over
the blocks are too, where the caller holds the BLAS to one thread (`threadpool_limits`).
"""

from collections import deque
from concurrent.futures import ThreadPoolExecutor


def in_order(task, items, n_threads):
    """Yields ``task(item)`` for all items; an interrupt leaves those under way to their threads."""
    if n_threads == 1:
        yield from map(task, items)
        return
    pool = ThreadPoolExecutor(n_threads)
    waiting, wait = deque(), True
    try:
        for item in items:
            waiting.append(pool.submit(task, item))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except KeyboardInterrupt:
        wait = False
        raise
    finally:
        pool.shutdown(wait=wait, cancel_futures=True)


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
