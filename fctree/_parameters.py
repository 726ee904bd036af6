"""Parameters of estimators: set by name, and documented once for the classes that share them."""

import re
from functools import update_wrapper
from inspect import cleandoc
from types import FunctionType


def set_parameters(estimator, arguments):
    """Set the parameters of an estimator from the ``locals()`` of its constructor."""
    vars(estimator).update({k: v for k, v in arguments.items() if k not in ("self", "__class__")})


def with_own_name(cls):
    """Give a class that inherits its constructor one with its own name, so that errors about arguments name the class."""
    init = cls.__init__
    if "__init__" in vars(cls) or not (isinstance(init, FunctionType) and init.__module__.startswith("fctree.")):
        return
    own = FunctionType(init.__code__, init.__globals__, init.__name__, init.__defaults__, init.__closure__)
    own.__kwdefaults__ = init.__kwdefaults__
    update_wrapper(own, init).__qualname__ = f"{cls.__name__}.__init__"
    cls.__init__ = own


def fitted_attributes(estimator):
    """The attributes that are not parameters, by name."""
    params = estimator.get_params(deep=False)
    return {name: value for name, value in vars(estimator).items() if name not in params}


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
