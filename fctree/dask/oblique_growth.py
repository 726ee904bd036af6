"""Boosting oblique trees on shards, as the client sees it: what it keeps of the rounds."""

import uuid
from dataclasses import replace

from fctree.dask.oblique_lead import ObliqueLead
from fctree.dask.oblique_team import ObliqueMember
from fctree.dask.placement import gather
from fctree.dask.state import forget
from fctree.dask.team import Team
from fctree.ensembles.trees import ObliqueTrees


class ObliqueGrowth:
    """A fit on shards, from the partitions to the trees."""

    def __init__(self, client, plan, kinds, samples):
        self.client = client
        self.name = uuid.uuid4().hex
        self.n_builds = 0
        self.plan = plan
        self.kinds = kinds
        self.samples = [each for each in samples if each is not None]
        self.team = None
        self.start = None
        self.trees, self.chosen = [], []
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
            futures += samples.build(self.plan)
            for worker, name in samples.shards():
                shards.setdefault(worker, {})[samples.name] = name
        self.team = Team(
            self.client, ObliqueLead, self.plan, list(shards.items()), member=ObliqueMember
        )
        gather(self.client, futures, self.team.workers)
        trees = self.first(len(self.trees)) if self.trees else None
        self.start, losses = self.team.call("begin", self.start, trees)
        return losses

    def grow(self):
        """One round: keeps its tree; the losses behind it, in a list."""
        grown = self.team.call("grow", len(self.trees), self.kinds)
        self.trees.append(grown.tree)
        self.chosen.append(grown.kind)
        self.kinds = grown.kinds
        return [grown.losses]

    def grow_anew(self):
        """The round that was lost, on shards made from the partitions and the trees so far."""
        self._build()
        return self.grow()

    def first(self, n):
        """The first n trees as `ObliqueTrees`."""
        return ObliqueTrees.concatenate([ObliqueTrees(**tree) for tree in self.trees[:n]])

    def close(self):
        """Lets the workers forget the fit, and ends what they still do for it."""
        if self.team is not None:
            self.client.run(forget, self.name, on_error="ignore")
            self.team.close()
            self.team = None
