"""Allowed outcomes of a call: a result, or one of three errors (or no GPU); and checks of results."""

import warnings

import numpy as np

ALLOWED = (ValueError, TypeError, MemoryError)


class Refused:
    """In place of a result: the call raised an error that it may raise."""

    def __init__(self, error):
        self.error = error

    def __bool__(self):
        return False


def outcome(function, *arguments, **keywords):
    """The result of a call, or Refused; and its warnings."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            return function(*arguments, **keywords), given
        except ALLOWED as error:
            return Refused(error), given
        except RuntimeError as error:
            if "CUDA cannot be used" not in str(error):
                raise
            return Refused(error), given


def is_finite(values):
    """Whether numbers are; labels of other kinds always are."""
    values = np.asarray(values)
    return values.dtype.kind not in "fc" or bool(np.all(np.isfinite(values)))


PREDICTIONS = ("predict", "decision_function", "predict_proba", "apply", "reachable_leaves")


def check_predictions(model, X, *, must_accept, warned=False):
    """Calls every method that predicts for ``X``.

    Parameters
    ----------
    X : samples, finite or missing
    must_accept : bool
        Whether an error is a failure: for the data that the model was fitted on.
    warned : bool
        Whether a warning was given before, in the fit.
    """
    for name in PREDICTIONS:
        if not hasattr(model, name):
            continue
        result, given = outcome(getattr(model, name), X)
        if isinstance(result, Refused):
            assert not must_accept, f"{name} refuses the training data: {result.error!r}"
            continue
        result = np.asarray(result)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        assert len(result) == n, f"{name} has {len(result)} rows for {n} samples"
        silent = not given and not warned
        assert is_finite(result) or not silent, f"{name} is not finite, without a warning"
        if name == "predict_proba" and is_finite(result):
            assert np.all((result >= 0) & (result <= 1)), "probabilities are outside of [0, 1]"
            sums = result.sum(axis=1)
            assert np.allclose(sums, 1.0, atol=1e-6), f"probabilities sum to {sums}"
