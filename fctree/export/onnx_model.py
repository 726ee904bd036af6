"""ONNX models of fitted models."""

from __future__ import annotations

from typing import Any

import numpy as np

from fctree._version import __version__
from fctree.export.description import Description, describe
from fctree.export.graph import IR_VERSION, OPSETS, OWN_NAMES, Graph, import_onnx
from fctree.export.links import labels_of


def to_onnx(model: Any, *, dtype: Any = np.float32) -> Any:
    """Convert a fitted model to ONNX.

    Regressors have the output ``variable`` (n_samples, n_outputs), classifiers ``label`` (n_samples,) and
    ``probabilities`` (n_samples, n_classes). The input is ``X`` (n_samples, n_features). A model with
    categories has instead one input (n_samples, 1) per column, with the name of the column: text for text
    categories (the empty string is a missing value), else numbers.

    Parameters
    ----------
    model : fitted estimator
        A tree, forest, boosting or soft tree model.
    dtype : numpy.float32 or numpy.float64, or its name, default=numpy.float32
        Type of numeric inputs and outputs. Computations are in float64 in both cases: a float32 model
        returns the rounded result of `predict` for the same float32 inputs. Numeric categories are rounded
        to this type.

    Returns
    -------
    model : onnx.ModelProto
        Model with opset 21 and version 5 of ``ai.onnx.ml``, for ONNX Runtime 1.22 or later.

    Raises
    ------
    ImportError
        Without the library onnx.
    ValueError
        For another `dtype`; for a column with text and numbers, or with empty strings and missing values;
        for numeric categories that `dtype` cannot distinguish, or text that is not valid Unicode; for a
        model with categories and a column whose name is empty or that of an output; for class labels
        outside the range of int64; and for soft trees with ``routing="erf"`` in float64, which runtimes
        cannot compute.
    TypeError
        If the model is of another kind.
    NotFittedError
        If it has not been fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree import CurvatureTreeRegressor
    >>> from fctree.datasets import make_ridge_relu
    >>> from fctree.export import to_onnx
    >>> X, y = make_ridge_relu(n_samples=500, random_state=0)
    >>> model = to_onnx(CurvatureTreeRegressor().fit(X, y))  # doctest: +SKIP
    """
    known = [kind for kind in (np.float32, np.float64) if np.dtype(kind) == dtype]
    if len(known) != 1 or dtype is None:  # None equals float64
        raise ValueError(f"dtype must be numpy.float32 or numpy.float64, got {dtype!r}")
    dtype = known[0]
    described = describe(model)
    helper = import_onnx("onnx.helper")
    inputs = _inputs(helper, described, dtype)
    graph = Graph()
    names = [one.name for one in inputs]
    outputs = write_outputs(graph, described, names, dtype, dtype)
    nodes = list(graph.nodes)
    values = _outputs(helper, described, dtype)
    for computed, value in zip(outputs, values, strict=True):
        nodes.append(helper.make_node("Identity", [computed], [value.name]))
    return helper.make_model(
        helper.make_graph(nodes, type(model).__name__, inputs, values, graph.constants),
        opset_imports=[helper.make_opsetid(*domain) for domain in OPSETS.items()],
        ir_version=IR_VERSION,
        producer_name="fctree",
        producer_version=__version__,
    )


def write_outputs(graph: Graph, described: Description, inputs: list[str], dtype: Any,
                  dtype_out: Any, *, raw_scores: bool = False) -> list[str]:  # fmt: skip
    """Write the computation of a model; returns outputs as `Link.onnx`, in `dtype_out`.

    ``dtype`` and ``dtype_out`` are the types of inputs and of outputs that are numbers.
    """
    if dtype_out is np.float64 and getattr(described.scores, "is_single_precision", False):
        raise ValueError(
            'routing="erf" cannot be computed in float64 by ONNX Runtime: use dtype=numpy.float32, '
            "or to_c"
        )
    features = described.table.onnx(graph, inputs, dtype)
    sums = described.scores.onnx(graph, features)
    *label, numbers = described.link.onnx(graph, sums, raw_scores)
    return [*label, numbers if dtype_out is np.float64 else graph.cast(numbers, dtype_out)]


def _inputs(helper, described, dtype):
    table = described.table
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    if not table.categories:
        return [helper.make_tensor_value_info("X", number, [None, table.n_columns])]
    taken = sorted({"variable", "label", "probabilities", ""} & set(table.names))
    taken += [name for name in table.names if name.startswith(OWN_NAMES)]
    if taken:
        raise ValueError(f"columns {taken} have the names of outputs or of other tensors, or none: rename them before fit")
    text = helper.np_dtype_to_tensor_dtype(np.dtype(object))
    return [
        helper.make_tensor_value_info(name, text if table.holds_text(column) else number, [None, 1])
        for column, name in enumerate(table.names)
    ]


def _outputs(helper, described, dtype):
    link = described.link
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    shape = [None, link.n_predictions]
    if link.classes is None:
        return [helper.make_tensor_value_info("variable", number, shape)]
    labels = labels_of(link.classes)
    kind = np.dtype(object) if labels.dtype.kind == "U" else labels.dtype
    label = helper.np_dtype_to_tensor_dtype(kind)
    return [
        helper.make_tensor_value_info("label", label, [None]),
        helper.make_tensor_value_info("probabilities", number, shape),
    ]
