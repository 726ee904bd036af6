"""The workers of a fit as a team: a step runs on all of them and comes back as one answer.

Every worker has a `Member`, an actor of Dask: calls of its methods go from worker to worker, about
a millisecond each way and back, and not through the scheduler. The members are a tree: a call
goes down from the first one, each works on its own rows meanwhile, and the answers are merged on
the way up, so that nobody receives more than a few.
"""

from functools import reduce

import numpy as np

from fctree.dask.placement import Watch, WorkerLost, result_of, settle
from fctree.dask.state import StateLost, recall, remember

_FAN_IN = 3  # members that answer to one


def _add(total, part):
    if isinstance(total, np.ndarray) and total.flags.writeable:
        return np.add(total, part, out=total)
    return total + part


def merge(answers):
    """One answer of several: each is ``(sums, largest)``, tuples of arrays or numbers.

    The former are added up, in place, of the latter the largest are taken; None is no answer.
    """
    answers = [answer for answer in answers if answer is not None]
    if not answers:
        return None
    sums, largest = zip(*answers, strict=True)
    return (
        tuple(reduce(_add, of_place) for of_place in zip(*sums, strict=True)),
        tuple(reduce(np.maximum, of_place) for of_place in zip(*largest, strict=True)),
    )


class Member:
    """A worker's part in a fit; `shards` are the names of its shards, by what they are for."""

    stage = "member"

    def __init__(self, plan, number, shards, below):
        self.plan = plan
        self.name = f"member-{number}"
        self.shards = shards
        self.below = below
        remember(plan.fit, self.name, self)

    def _check(self):
        # Dask does not tell a member that one below it is lost: the client does, by `forget`.
        recall(self.plan.fit, self.name, self.stage)

    def run(self, samples, step, *args):
        """The merged answers of ``step(plan, shard's name, *args)`` on all shards of `samples`."""
        return self.answer((samples, step, args))

    def answer(self, order):
        """The same; one argument, because Dask packs each by itself."""
        self._check()
        calls = [member.answer(order) for member in self.below]
        samples, step, args = order
        answers = []
        if samples in self.shards:
            answers.append(step(self.plan, self.shards[samples], *args))
        return merge(answers + [result_of(call, self._check) for call in calls])


class Team:
    """The members on these workers, as the client sees them; the first is a `lead`,
    the others are of the class `member`.

    `shards` are a worker's address and the names of its shards, for each member.
    """

    def __init__(self, client, lead, plan, shards, member=Member):
        self.client = client
        self.workers = [worker for worker, _ in shards]
        self.members = [None] * len(shards)
        for number in reversed(range(len(shards))):
            worker, names = shards[number]
            first = _FAN_IN * number + 1
            self.members[number] = client.submit(
                member if number else lead,
                plan,
                number,
                names,
                self.members[first : first + _FAN_IN],
                workers=[worker],
                actor=True,
                pure=False,
                priority=10,  # they are made while shards are
            )
        self.lead = None

    def close(self):
        """Lets Dask forget the members."""
        self.client.cancel(self.members)

    def call(self, method, *args):
        """What a method of the lead returns, or `WorkerLost`."""
        try:
            if self.lead is None:
                settle(self.client, self.members, self.workers)
                self.lead = self.members[0].result()
            watch = Watch(self.client, self.workers)
            return result_of(getattr(self.lead, method)(*args), watch.check)
        except Exception as error:
            lost = any(member.status != "finished" for member in self.members)
            if lost or isinstance(error, (StateLost, OSError)):
                raise WorkerLost(str(error)) from error
            raise
