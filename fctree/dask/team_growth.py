"""A fit on shards, as the client sees it: its team, and what is done when workers are lost."""

import uuid
from dataclasses import replace

from fctree.dask.placement import gather
from fctree.dask.state import forget


class TeamGrowth:
    """What the client does for any kind of tree.

    A kind has _submit(samples), which builds shards and returns their futures; _assemble(shards), the
    team of their workers; _so_far(), the trees as the lead takes them; and grow().
    """

    def __init__(self, client, plan, samples):
        self.client = client
        self.name = uuid.uuid4().hex
        self.n_builds = 0
        self.plan = plan
        self.samples = [each for each in samples if each is not None]
        self.team = None
        self.start = None
        self.trees = []
        self.losses = 0

    def begin(self):
        """Shards, what is known before the first round, and the losses there."""
        self.start = None
        return self._build()

    def _build(self):
        """Shards after the trees so far, and a team of their workers; the losses there.

        Under a new number: what is left of an attempt that failed does not know it.
        """
        self.close()
        self.n_builds += 1
        self.plan = replace(self.plan, fit=f"{self.name}-{self.n_builds}")
        futures, shards = [], {}
        for samples in self.samples:
            futures += self._submit(samples)
            for worker, name in samples.shards():
                shards.setdefault(worker, {})[samples.name] = name
        self.team = self._assemble(list(shards.items()))
        gather(self.client, futures, self.team.workers)
        self.start, losses = self.team.call("begin", self.start, self._so_far())
        return losses

    def grow_anew(self):
        """The rounds that were lost, on shards made from the partitions and the trees so far."""
        self._build()
        return self.grow()

    def close(self):
        """Lets the workers forget the fit, and ends what they still do for it."""
        if self.team is not None:
            self.client.run(forget, self.name, on_error="ignore")
            self.team.close()
            self.team = None
