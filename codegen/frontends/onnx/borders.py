"""The inputs of a model as its file declares them."""

from __future__ import annotations

from typing import Any

from codegen.frontends.onnx.nodes import text_of
from codegen.frontends.shapes import Declared


def declared_shape(info: Any) -> Declared | None:
    """An input's dimensions as the model has them; a size below 1 is an open one, as -1 of some exporters."""
    if not info.type.tensor_type.HasField("shape"):
        return None
    return [
        int(d.dim_value) if d.HasField("dim_value") and d.dim_value > 0 else text_of(d.dim_param)
        for d in info.type.tensor_type.shape.dim
    ]
