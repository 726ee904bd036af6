"""Steps on all shards of a boosting fit of oblique trees, and how their answers are joined."""

from dataclasses import dataclass

import numpy as np

from fctree.dask.placement import result_of
from fctree.dask.row_blocks import join
from fctree.dask.state import recall
from fctree.dask.team import Member


@dataclass
class Sums:
    """Sums over some blocks: a row of `values` for each of `pieces` (`row_blocks`)."""

    pieces: np.ndarray
    values: np.ndarray
    n_blocks: int

    def joined(self, others):
        parts = [(sums.pieces, sums.values) for sums in (self, *others)]
        return Sums(*join(parts, self.n_blocks), self.n_blocks)

    def answer(self):
        """The sum over all blocks."""
        return self.values[0]


@dataclass
class Largest:
    """The largest values over some rows."""

    values: np.ndarray

    def joined(self, others):
        return Largest(np.max([self.values, *(other.values for other in others)], axis=0))

    def answer(self):
        return self.values


@dataclass
class Totals:
    """Sums of integers over some rows, exact in any order."""

    values: np.ndarray

    def joined(self, others):
        return Totals(sum((other.values for other in others), self.values))

    def answer(self):
        return self.values


class Each(list):
    """Answers as they are, ``(shard's name, answer)``."""

    def joined(self, others):
        return Each(sum(others, self))

    def answer(self):
        """In the order of the rows."""
        return [found for _, found in sorted(self, key=lambda pair: pair[0])]


def join_answers(answers):
    """One answer of several to the same step; tuples are joined place by place."""
    if isinstance(answers[0], tuple):
        return tuple(join_answers(list(of_place)) for of_place in zip(*answers, strict=True))
    return answers[0].joined(answers[1:])


class ObliqueMember(Member):
    """A worker's part in a fit of oblique trees."""

    def answer(self, order):
        """The joined answers of all shards of some samples to the last of some steps.

        `order` is ``(samples, steps)``, steps are a method of `ObliqueShard` and its arguments.
        """
        self._check()
        calls = [member.answer(order) for member in self.below]
        samples, steps = order
        answers = []
        if samples in self.shards:
            name = self.shards[samples]
            shard = recall(self.plan.fit, name, "built")
            for method, arguments in steps:
                found = shard.step(method, arguments)
            if not isinstance(found, (Sums, Largest, Totals, tuple)):
                found = Each([(name, found)])
            answers.append(found)
        answers += [result_of(call, self._check) for call in calls]
        answers = [found for found in answers if found is not None]
        return join_answers(answers) if answers else None
