"""Settings that every test shares.

Hypothesis runs without a deadline (a shared machine may stall for a second) and with few
examples a test: the strategies build whole training tables, and one table visits many
nodes. In continuous integration the examples are a fixed list, so that a red build is
red again on the next machine; builds with sanitizers, which are slow, take the first of them.
"""

import importlib
import os
import signal
import sys
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("local", deadline=None, max_examples=40)
hypothesis.settings.register_profile("ci", deadline=None, max_examples=40, derandomize=True)
hypothesis.settings.register_profile("sanitized", deadline=None, max_examples=12, derandomize=True)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=1000)
hypothesis.settings.load_profile(
    "sanitized" if os.environ.get("FCTREE_SANITIZED") else "ci" if os.environ.get("CI") else "local")

# A test that draws must not look for a screen. Set before matplotlib is first imported.
os.environ.setdefault("MPLBACKEND", "Agg")

# scikit-learn skips its check of array-API input unless SciPy was imported with this set.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# A shell starts background jobs with interrupts ignored, and what tests start would inherit that:
# the tests that interrupt a fit would wait for ever.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def benchmark_module(monkeypatch):
    """benchmark_module("league") imports benchmarks/league.py, which imports its neighbours."""
    folder = Path(__file__).resolve().parent.parent / "benchmarks"
    monkeypatch.syspath_prepend(str(folder / "reproduce"))
    monkeypatch.syspath_prepend(str(folder))
    return importlib.import_module


@pytest.fixture(autouse=True)
def closed_figures():
    """Pictures that tests leave open are closed."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="session", autouse=True)
def outside_the_source_tree(tmp_path_factory):
    """Processes that tests start import what is installed, not the folder they start in."""
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("working_directory"))
    yield
    os.chdir(before)
