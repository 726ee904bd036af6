"""Ranges of parameters that replace scikit-learn's private ones in versions that lack them."""

import functools
import inspect
from numbers import Integral, Real

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state


class InvalidParameterError(ValueError, TypeError):
    """A parameter out of its range."""


class Interval:
    """The numbers of a type between two others (None: no bound)."""

    def __init__(self, type, left, right, *, closed):
        self.type = type
        self.left, self.right = left, right
        self.closed = closed

    def has(self, value):
        """Whether the value is inside."""
        if not isinstance(value, self.type) or value != value:
            return False
        left = -np.inf if self.left is None else self.left
        right = np.inf if self.right is None else self.right
        above = value >= left if self.closed in ("left", "both") else value > left
        return bool(above and (value <= right if self.closed in ("right", "both") else value < right))

    def __str__(self):
        kind = "an int" if self.type is Integral else "a float"
        left = "[" if self.closed in ("left", "both") else "("
        right = "]" if self.closed in ("right", "both") else ")"
        bounds = ["-inf" if self.left is None else self.left, "inf" if self.right is None else self.right]
        return f"{kind} in the range {left}{bounds[0]}, {bounds[1]}{right}"


class Options:
    """Some values of a type."""

    def __init__(self, type, options):
        self.type = type
        self.options = options

    def has(self, value):
        """Whether the value is inside."""
        return isinstance(value, self.type) and value in self.options

    def __str__(self):
        return f"a {self.type.__name__} among {{{', '.join(map(repr, self.options))}}}"


class StrOptions(Options):
    """Some strings."""

    def __init__(self, options):
        super().__init__(str, options)


class RealNotInt(Real):
    """Numbers that are no integers."""


RealNotInt.register(float)


def _succeeds(check, value):
    try:
        check(value)
    except (ValueError, TypeError):
        return False
    return True


_NAMED = {
    "array-like": lambda value: hasattr(value, "__len__") and not isinstance(value, str),
    "boolean": lambda value: isinstance(value, (bool, np.bool_)),
    "random_state": lambda value: _succeeds(check_random_state, value),
    "verbose": lambda value: isinstance(value, (int, np.integer, np.bool_)) and value >= 0,
    "cv_object": lambda value: value is None or _succeeds(check_cv, value),
}


def _satisfies(value, constraint):
    if constraint is None:
        return value is None
    if constraint is callable:
        return callable(value)
    if isinstance(constraint, str):
        return _NAMED[constraint](value)
    return isinstance(value, constraint) if isinstance(constraint, type) else constraint.has(value)


def _check(constraints, values, owner):
    for name, value in values.items():
        allowed = constraints.get(name, "no_validation")
        if isinstance(allowed, str) or any(_satisfies(value, each) for each in allowed):
            continue
        texts = [each.__name__ if isinstance(each, type) else str(each) for each in allowed]
        raise InvalidParameterError(
            f"The {name!r} parameter of {owner} must be {' or '.join(texts)}. Got {value!r} instead."
        )


def validate_parameters(estimator):
    """Check an estimator's parameters against its ``_parameter_constraints``."""
    values = estimator.get_params(deep=False)
    _check(estimator._parameter_constraints, values, type(estimator).__name__)


def _fit_context(*, prefer_skip_nested_validation):
    """Check the parameters first, as scikit-learn's of this name does."""

    def decorate(fit):
        @functools.wraps(fit)
        def checked(estimator, *args, **kwargs):
            validate_parameters(estimator)
            return fit(estimator, *args, **kwargs)

        return checked

    return decorate


def _validate_params(constraints, *, prefer_skip_nested_validation):
    """Decorate a function so that its arguments are checked first."""

    def decorate(function):
        signature = inspect.signature(function)

        @functools.wraps(function)
        def checked(*args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            _check(constraints, bound.arguments, function.__qualname__)
            return function(*args, **kwargs)

        return checked

    return decorate
