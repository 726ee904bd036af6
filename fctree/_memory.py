"""A check that an array fits into memory, made before it is allocated."""

import os

import numpy as np


def available_memory():
    """Bytes that can be allocated without swapping, or None if unknown."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def check_memory(what, shape, dtype, remedy):
    """Raise MemoryError, with the size of `what` and a remedy, before an allocation that cannot fit."""
    needed = float(np.dtype(dtype).itemsize)
    for length in shape:
        needed *= length
    free = available_memory()
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} of shape {tuple(shape)} takes {needed / 2**30:.1f} GiB and "
            f"{free / 2**30:.1f} GiB of memory are free: {remedy}"
        )
