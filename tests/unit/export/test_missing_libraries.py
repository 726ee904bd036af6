"""Exporting says which library is missing, and to C needs none."""

import sys

import numpy as np
import pytest
from fctree import CurvatureTreeRegressor
from fctree.export import register_skl2onnx, to_c, to_onnx, to_treelite


def fitted():
    X = np.random.default_rng(0).standard_normal((60, 3))
    return CurvatureTreeRegressor().fit(X, X[:, 0])


@pytest.mark.parametrize("module, call", [
    ("onnx", lambda: to_onnx(fitted())),
    ("skl2onnx", register_skl2onnx),
    ("treelite", lambda: to_treelite(fitted())),
])
def test_a_missing_library_is_named(module, call, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"needs {module}: pip install ({module}|'\.\[onnx\]')"):
        call()


def test_c_needs_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert "void predict(const double *x, double *out)" in to_c(fitted())
