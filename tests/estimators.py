"""All public estimators, found by what they are, for tests that run through them."""

import inspect

import fctree
from sklearn.base import BaseEstimator, is_classifier

# Small fits: a case takes milliseconds.
SMALL = {
    "max_iter": 3,
    "n_estimators": 3,
    "max_epochs": 2,
    "n_trees": 2,
    "depth": 2,
    "max_depth": 2,
    "max_bins": 16,
    "step_depth": 2,
    "posterior_samples": 0,
    "n_components": 5,
    "depths": (1, 2),
    "scales": (1.0,),
    "alphas": (0.1, 1.0),
    "random_state": 0,
}


def public_estimators():
    """Every estimator class in ``fctree.__all__``, by name."""
    public = {name: getattr(fctree, name) for name in fctree.__all__}
    return {
        name: cls
        for name, cls in sorted(public.items())
        if inspect.isclass(cls) and issubclass(cls, BaseEstimator)
    }


def small(cls, **parameters):
    """An unfitted estimator with few trees, rounds and levels."""
    names = cls().get_params(deep=False).keys()
    return cls(**{name: value for name, value in {**SMALL, **parameters}.items() if name in names})


def classifies(cls):
    """Whether the estimator predicts classes."""
    return is_classifier(cls())
