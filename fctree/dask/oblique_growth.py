"""Boosting oblique trees on shards, as the client sees it: what it keeps of the rounds."""

from fctree.dask.oblique_lead import ObliqueLead
from fctree.dask.oblique_team import ObliqueMember
from fctree.dask.team import Team
from fctree.dask.team_growth import TeamGrowth
from fctree.ensembles.trees import ObliqueTrees


class ObliqueGrowth(TeamGrowth):
    """A fit on shards, from the partitions to the trees."""

    def __init__(self, client, plan, kinds, samples):
        super().__init__(client, plan, samples)
        self.kinds = kinds
        self.chosen = []

    def _submit(self, samples):
        return samples.build(self.plan)

    def _assemble(self, shards):
        return Team(self.client, ObliqueLead, self.plan, shards, member=ObliqueMember)

    def _so_far(self):
        return self.first(len(self.trees)) if self.trees else None

    def grow(self):
        """One round: keeps its tree; the losses behind it, in a list."""
        grown = self.team.call("grow", len(self.trees), self.kinds)
        self.trees.append(grown.tree)
        self.chosen.append(grown.kind)
        self.kinds = grown.kinds
        return [grown.losses]

    def first(self, n):
        """The first n trees as `ObliqueTrees`."""
        return ObliqueTrees.concatenate([ObliqueTrees(**tree) for tree in self.trees[:n]])
