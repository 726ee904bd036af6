"""ONNX graphs while they are written: nodes, and arrays as constants."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

OPSETS = {"": 21, "ai.onnx.ml": 5}  # the second is the first one with trees in float64
IR_VERSION = 10
OWN_NAMES = "fctree:"  # begin so


def import_onnx(name: str = "onnx") -> Any:
    """Import a module that exporting to ONNX needs; `import_library` of the extra."""
    return import_library(name, "'.[onnx]'")


def import_library(name: str, source: str) -> Any:
    """Import a module of a library that exporting needs, or raise ImportError with what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            f"this export needs {name.partition('.')[0]}: pip install {source}"
        ) from error


class Graph:
    """Nodes in the order of their computation. Values are called by the names of tensors.

    Arithmetic is in float64 whatever the types of inputs and outputs: trees decide as in `predict`, and
    sums lose nothing. ``ml_opset`` is the version of ``ai.onnx.ml``, at least 3.
    """

    def __init__(self, ml_opset: int = OPSETS["ai.onnx.ml"]) -> None:
        self.ml_opset = ml_opset
        self._onnx = import_onnx()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator, *inputs, n_outputs=1, domain="", **attributes):
        """Add a node; returns the name of its output, a list of them where `n_outputs` is above 1.

        Inputs are names of tensors, and arrays, which become constants; attributes that are arrays become
        tensors.
        """
        names = [one if isinstance(one, str) else self._constant(one) for one in inputs]
        outputs = [f"{OWN_NAMES}{operator}/{len(self.nodes)}/{k}" for k in range(n_outputs)]
        tensors = {
            key: self._onnx.numpy_helper.from_array(value, key)
            for key, value in attributes.items()
            if isinstance(value, np.ndarray)
        }
        self.nodes.append(
            self._onnx.helper.make_node(
                operator, names, outputs, domain=domain, **{**attributes, **tensors}
            )
        )
        return outputs if n_outputs > 1 else outputs[0]

    def _constant(self, values):
        array = np.asarray(values)
        if array.dtype.kind in "OU":
            array = array.astype(object)
        self.constants.append(
            self._onnx.numpy_helper.from_array(array, f"{OWN_NAMES}constant/{len(self.constants)}")
        )
        return self.constants[-1].name

    def cast(self, x, dtype):
        """Convert to a type of NumPy."""
        tensor = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.add("Cast", x, to=tensor)

    def zeros(self, x, n_columns, dtype=np.float64):
        """Zeros of shape (n_samples, n_columns), or (n_samples,) for None; `x` has the samples."""
        shape = self.add("Shape", x, start=0, end=1)
        if n_columns is not None:
            shape = self.add("Concat", shape, np.array([n_columns]), axis=0)
        return self.add("ConstantOfShape", shape, value=np.zeros(1, dtype=dtype))
