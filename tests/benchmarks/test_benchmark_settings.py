"""Settings of one task of a benchmark do not reach another."""

import numpy as np
import pytest


@pytest.fixture
def layer(benchmark_module):
    return benchmark_module("tree_ensemble_layer")


def test_fixed_settings_stay_in_their_task(layer):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = (X[:, 0] > 0).astype(int)
    before = {name: dict(first) for name, (_, first, _) in layer.METHODS.items()}
    _, settings = layer.tune("CART", X, y, seed=0, n_draws=1, fixed={"max_depth": 1})
    assert settings == {"max_depth": 1}
    assert {name: dict(first) for name, (_, first, _) in layer.METHODS.items()} == before


def test_shared_settings_are_read_only(layer):
    for _, first, _ in layer.METHODS.values():
        with pytest.raises(TypeError):
            first["depth"] = 4


def test_lazy_importance_is_that_of_its_kernel(benchmark_module, monkeypatch):
    lazy = benchmark_module("lazy_importance")
    monkeypatch.setitem(lazy.DESIGNS, "small", lambda seed: lazy.designs.correlated(0.0, seed, 300))
    truth, found, _ = lazy.importance("lazy", "small", 0)
    assert found == pytest.approx(truth, rel=0.3)
