"""Converters for skl2onnx, so that it converts pipelines with models of fctree."""

from __future__ import annotations

import numpy as np

from fctree.export.description import FAMILIES, describe
from fctree.export.graph import Graph, import_onnx
from fctree.export.onnx_model import write_outputs
from fctree.persistence.registry import ESTIMATORS

_ML_OPSET = 3  # the latest that skl2onnx writes
# Calibration, stacking and others set raw_scores where they use decision_function.
_CLASSIFIER_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "raw_scores": [True, False],
}


def register_skl2onnx() -> None:
    """Register the estimators with skl2onnx.

    Afterwards `skl2onnx.to_onnx` and `skl2onnx.convert_sklearn` convert pipelines, searches and ensembles
    of scikit-learn that contain them. The input has to be one numeric tensor, so encode categories in the
    pipeline. With the option ``raw_scores`` a classifier returns the scores of `decision_function` instead
    of probabilities (-s and s for two classes), as other converters of skl2onnx do.

    Raises
    ------
    ImportError
        Without the libraries skl2onnx and onnx.
    """
    update_registered_converter = import_onnx("skl2onnx").update_registered_converter
    shapes = import_onnx("skl2onnx.common.shape_calculator")
    known = (entry.cls for entry in ESTIMATORS.values())
    for estimator in (cls for cls in known if issubclass(cls, tuple(FAMILIES))):
        classifies = "Classifier" in estimator.__name__
        update_registered_converter(
            estimator,
            f"Fctree{estimator.__name__}",
            shapes.calculate_linear_classifier_output_shapes if classifies else _regressor_shapes,
            _convert,
            options=_CLASSIFIER_OPTIONS if classifies else None,
        )


def _regressor_shapes(operator):
    """The type and shape of a regressor's output: those of the input if it is of real numbers."""
    types = import_onnx("skl2onnx.common.data_types")
    source = operator.inputs[0].type
    real = (types.FloatTensorType, types.DoubleTensorType)
    kind = type(source) if isinstance(source, real) else types.FloatTensorType
    rows = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type = kind([rows, operator.raw_operator.n_outputs_])


def _convert(scope, operator, container):
    """Write a model as a part of the graph of a pipeline."""
    model = operator.raw_operator
    described = describe(model)
    if described.table.categories:
        columns = ", ".join(map(repr, described.table.categories))
        raise ValueError(
            f"{type(model).__name__} has learned categories from the columns {columns}: encode them "
            "in the pipeline, or convert the model alone by fctree.export.to_onnx"
        )
    types = import_onnx("skl2onnx.common.data_types")
    graph = Graph(ml_opset=_ML_OPSET)
    source = graph.cast("X", np.float64)
    wide = isinstance(operator.outputs[-1].type, types.DoubleTensorType)
    raw_scores = described.link.classes is not None and (
        container.get_options(model, {"raw_scores": False})["raw_scores"]
    )
    outputs = write_outputs(
        graph, described, [source], np.float64, np.float64 if wide else np.float32,
        raw_scores=raw_scores,
    )  # fmt: skip
    names = {"X": operator.inputs[0].full_name}
    for computed, output in zip(outputs, operator.outputs, strict=True):
        names[computed] = output.full_name
    _copy(scope, container, graph, names)


def _copy(scope, container, graph, names):
    """Copy nodes and constants under names of their own; `names` has those that are given."""
    attribute_value = import_onnx("onnx.helper").get_attribute_value

    def renamed(name):
        return names.setdefault(name, scope.get_unique_variable_name(f"fctree/{name}"))

    for constant in graph.constants:
        content = list(constant.string_data) or constant
        shape = list(constant.dims)
        container.add_initializer(renamed(constant.name), constant.data_type, shape, content)
    for node in graph.nodes:
        container.add_node(
            node.op_type,
            [renamed(name) for name in node.input],
            [renamed(name) for name in node.output],
            op_domain=node.domain,
            op_version=_ML_OPSET if node.domain else None,
            name=scope.get_unique_operator_name(f"fctree_{node.op_type}"),
            **{one.name: attribute_value(one) for one in node.attribute},
        )
