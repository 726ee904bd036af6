"""Parameters of estimators: set by name, and documented once for the classes that share them."""

import re
from functools import update_wrapper
from inspect import cleandoc, getmembers, isfunction
from types import FunctionType


def set_parameters(estimator, arguments):
    """Set the parameters of an estimator from the ``locals()`` of its constructor."""
    vars(estimator).update({k: v for k, v in arguments.items() if k not in ("self", "__class__")})


def fitted_attributes(estimator):
    """The attributes that are not parameters, by name."""
    params = estimator.get_params(deep=False)
    return {name: value for name, value in vars(estimator).items() if name not in params}


def own_methods(cls):
    """Make public methods that an estimator inherits from fctree its own, with the same code.

    Python's errors of wrong arguments then name the estimator instead of a class of its making.
    """
    for name, function in getmembers(cls, isfunction):
        inherited = name not in vars(cls) and function.__module__.partition(".")[0] == "fctree"
        if name.startswith("_") or not inherited or hasattr(function, "__wrapped__"):
            continue
        parts = function.__code__, function.__globals__, name, function.__defaults__, function.__closure__
        method = update_wrapper(FunctionType(*parts), function)
        del method.__wrapped__
        method.__kwdefaults__ = function.__kwdefaults__
        method.__module__, method.__qualname__ = cls.__module__, f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)


def shares_documentation(source):
    """Decorate a class or a function that documents entries with "As in `source`.".

    Its docstring then has the entries of the source in their place; KeyError for one that the source lacks.
    """
    entries = {}
    for block in re.split(r"\n(?=\S)", cleandoc(source.__doc__ or "")):
        names = block.partition("\n")[0].partition(" : ")[0].split(", ")
        if all(name.isidentifier() for name in names):
            entries |= dict.fromkeys(names, block.rstrip())

    def expand(match):
        names = (name.strip() for name in match[1].split(","))
        return "\n".join(dict.fromkeys(entries[name] for name in names))

    def decorate(documented):
        if documented.__doc__:  # none where Python runs with -OO
            reference = rf"^(\S.*)\n    As in `{source.__name__}`\.$"
            documented.__doc__ = re.sub(reference, expand, cleandoc(documented.__doc__), flags=re.M)
        return documented

    return decorate
