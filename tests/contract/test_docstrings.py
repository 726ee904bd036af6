"""Examples of docstrings give what they show."""

import doctest
import importlib
import pkgutil

import fctree
import pytest

MODULES = sorted(module.name for module in pkgutil.walk_packages(fctree.__path__, "fctree.") if "._native" not in module.name)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.filterwarnings("ignore")
def test_examples(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:  # dask, torch: another run has them
        pytest.skip(str(error))
    found = doctest.testmod(module)
    assert found.failed == 0
