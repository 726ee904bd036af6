"""Pictures that tests leave open are closed."""

import sys

import pytest


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
