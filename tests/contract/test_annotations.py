"""The public functions, classes, methods and properties say the types of what they take and give.

mypy checks the types themselves (pyproject.toml configures it, .ci/run runs it).
"""

import inspect

import pytest

import fctree

SPECIAL = {"__init__", "__len__", "__getitem__", "__call__"}
MODULES = (
    fctree, fctree.callbacks, fctree.kernels, fctree.inspection, fctree.datasets, fctree.export,
)


def functions_of(value):
    """A function itself, or what fctree defines in a class and its bases that users call."""
    if inspect.isfunction(value):
        yield inspect.unwrap(value)
    for base in getattr(value, "__mro__", ()):
        if not base.__module__.startswith("fctree"):
            continue
        for name, member in vars(base).items():
            if name.startswith("_") and name not in SPECIAL:
                continue
            if isinstance(member, property):
                yield member.fget
            member = getattr(member, "__func__", member)
            if inspect.isfunction(member):
                yield inspect.unwrap(member)


def public_functions():
    found = {}
    for module in MODULES:
        for name in module.__all__:
            for function in functions_of(getattr(module, name)):
                if "<" not in function.__code__.co_filename:  # not those that dataclasses make
                    found[f"{function.__module__}.{function.__qualname__}"] = function
    return found


def test_there_are_public_functions():
    names = public_functions()
    assert len(names) > 100
    assert "fctree.oblique.regressor.TreeRegressor.fit" in names


@pytest.mark.parametrize("name, function", sorted(public_functions().items()))
def test_public_functions_are_annotated(name, function):
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    missing = [p.name for p in parameters if p.annotation is p.empty]
    assert not missing
    assert signature.return_annotation is not signature.empty


def test_hints_of_penalties_are_what_is_accepted():
    one = inspect.signature(fctree.TreeNTKRegressor).parameters["alpha"]
    assert one.annotation == "float"  # a string is refused
    for search in (fctree.TreeNTKRegressorCV, fctree.TreeNTKClassifierCV):
        for name in ("alphas", "depths", "scales"):  # an iterator is refused
            assert "Iterable" not in inspect.signature(search).parameters[name].annotation
