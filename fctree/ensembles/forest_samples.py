"""Samples that forests are grown on and judged by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fctree._training.target_units import TargetUnits
from fctree._typing import FloatArray


@dataclass(frozen=True)
class ForestSamples:
    """The samples of a fit: encoded features (n, d), targets (n, n_outputs), positive weights or None for 1 each, and the
    units of the targets."""

    X: FloatArray
    targets: FloatArray
    weight: FloatArray | None
    units: TargetUnits

    def __len__(self):
        return len(self.X)

    @property
    def in_units(self):
        """Targets as the core takes them."""
        unit = self.units.of_outputs
        return self.targets if np.all(unit == 1.0) else self.targets / unit


def judged_samples(scores, weight):
    """The samples that `oob_score_` is of, those that have scores and count, and their weights."""
    judged = ~np.isnan(scores[:, 0])
    if weight is None:
        return judged, None
    judged &= weight > 0.0
    return judged, weight[judged]
