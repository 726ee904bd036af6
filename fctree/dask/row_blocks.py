"""Rows in blocks of fixed length, runs of which lie on the workers, and sums over all of them.

A sum goes along a binary tree over the blocks (``native/core/block_sums.hpp``): workers give the
sums of the largest nodes of the tree that they hold all of, and these are joined here. So a sum is the
same bytes whatever the workers, and the order in which their answers come, are.
"""

from dataclasses import dataclass

import numpy as np

# Blocks are of at least the first number of rows, and for many rows there are about so many: few
# enough to be sent, if need be, and enough to be spread.
_LEAST_ROWS = 64
_USUAL_ROWS = 4096
_FEW_BLOCKS = 64
_MOST_BLOCKS = 1024
# A run may end this part of its length earlier or later, where fewer pieces are to be sent.
_SLACK = 1 / 16


@dataclass(frozen=True)
class Run:
    """Blocks first .. end - 1 of all, and the pieces (n, 2) of the tree that they are."""

    first: int
    end: int
    n_blocks: int  # of all runs
    block_rows: int
    pieces: np.ndarray

    @property
    def native(self):
        """The run as the core takes it."""
        n_here = self.end - self.first
        return self.block_rows, self.first, n_here, self.n_blocks, self.pieces.tolist()

    def none(self):
        """None of the blocks."""
        return Run(0, 0, self.n_blocks, self.block_rows, self.pieces[:0])

    def rows(self, n_rows):
        """The first row, and the one after the last."""
        return self.first * self.block_rows, min(n_rows, self.end * self.block_rows)


def rows_of_a_block(n_rows):
    """The length of the blocks that so many rows are cut into."""
    usual = min(_USUAL_ROWS, -(-n_rows // _FEW_BLOCKS))
    return max(_LEAST_ROWS, usual, -(-n_rows // _MOST_BLOCKS))


def cut_into_runs(n_rows, n_runs):
    """At most `n_runs` runs of about the same length that hold all rows, in order."""
    block_rows = rows_of_a_block(n_rows)
    n_blocks = -(-n_rows // block_rows)
    n_runs = min(n_runs, n_blocks)
    slack = int(n_blocks / n_runs * _SLACK)
    ends = [_most_even(n_blocks * i // n_runs, slack) for i in range(1, n_runs)]
    bounds = [0, *ends, n_blocks]
    return [
        Run(first, end, n_blocks, block_rows, _pieces(first, end, n_blocks))
        for first, end in zip(bounds[:-1], bounds[1:], strict=True)
    ]


def _most_even(number, slack):
    """The number nearby that can be halved most often."""
    nearby = range(max(1, number - slack), number + slack + 1)
    return max(nearby, key=lambda n: (n & -n, -abs(n - number)))


def _pieces(first, end, n_blocks):
    """The largest nodes of the tree inside first .. end, those at its end beyond all blocks."""
    pieces = []
    while first < end:
        size = first & -first if first else 1 << (n_blocks - 1).bit_length()
        while first + size > end and not (end == n_blocks and first + size // 2 < end):
            size //= 2
        pieces.append((first, size))
        first += size
    return np.array(pieces, dtype=np.int64)


def join_sums(parts, n_blocks):
    """The sum over all blocks, of ``(pieces, sums)`` with a row of sums a piece.

    `parts` are those of some or all runs. Where some are missing the result is the pieces that
    they make, and their sums.
    """
    known = {}
    for pieces, sums in parts:
        for (begin, size), values in zip(pieces, sums, strict=True):
            known[int(size), int(begin)] = values
    if not known:
        return parts[0]
    size = 1
    whole = 1 << max(n_blocks - 1, 0).bit_length()
    while size < whole:
        for begin in [at for of_size, at in sorted(known) if of_size == size]:
            if begin % (2 * size):
                continue
            right = known.get((size, begin + size))
            if right is None and begin + size < n_blocks:
                continue
            left = known.pop((size, begin))
            known.pop((size, begin + size), None)
            known[2 * size, begin] = left if right is None else left + right
        size *= 2
    order = sorted(known, key=lambda key: key[1])
    pieces = np.array([(begin, size) for size, begin in order], dtype=np.int64)
    return pieces, np.stack([known[key] for key in order])
