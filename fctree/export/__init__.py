"""Fitted models for other programs: ONNX, and C without dependencies.

`to_onnx` and `to_c` take every tree, forest, boosting model and soft tree; `register_skl2onnx`
lets skl2onnx convert pipelines that contain them; `to_sql` writes an expression for databases,
`to_treelite` takes symmetric boosting.
"""

from fctree.export.c_model import to_c
from fctree.export.onnx_model import to_onnx
from fctree.export.pipelines import register_skl2onnx
from fctree.export.sql import to_sql
from fctree.export.treelite_model import to_treelite

__all__ = ["register_skl2onnx", "to_c", "to_onnx", "to_sql", "to_treelite"]
