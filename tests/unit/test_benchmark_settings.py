"""Settings of one task of a benchmark do not reach another."""

import importlib
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parent.parent.parent / "benchmarks" / "reproduce"


@pytest.fixture
def benchmark_module(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.syspath_prepend(str(FOLDER.parent))
    return importlib.import_module("tree_ensemble_layer")


def test_fixed_settings_stay_in_their_task(benchmark_module):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = (X[:, 0] > 0).astype(int)
    before = {name: dict(first) for name, (_, first, _) in benchmark_module.METHODS.items()}
    _, settings = benchmark_module.tune("CART", X, y, seed=0, n_draws=1, fixed={"max_depth": 1})
    assert settings == {"max_depth": 1}
    assert {name: dict(first) for name, (_, first, _) in benchmark_module.METHODS.items()} == before


def test_shared_settings_are_read_only(benchmark_module):
    for _, first, _ in benchmark_module.METHODS.values():
        with pytest.raises(TypeError):
            first["depth"] = 4
