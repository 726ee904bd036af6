"""Training that ended worse than it began."""

from sklearn.exceptions import ConvergenceWarning

from fctree._warnings import warn

# Of the loss before training. Losses of an epoch are means over its steps, and a few gross errors in small
# batches can leave them a little above.
_CLEARLY_ABOVE = 1.5


def warn_if_diverged(start, end):
    """Warn if the training loss ended clearly above that of the constant model before training. An infinite or NaN
    end counts as above; a NaN start means that losses are unknown."""
    if start != start or end <= _CLEARLY_ABOVE * start:
        return
    warn(
        f"training diverged: the training loss is {end:.3g} at the end, and was {start:.3g} before; lower "
        "learning_rate",
        ConvergenceWarning,
    )
