"""ONNX files by hand: the only place of the tests that puts one together.

Networks of tests are made by calls of `codegen.build.Net`.  A file by hand is for what calls cannot say or would hide:
a spelling (what ONNX Runtime answers must be of the operator as the file has it, not of what our reader made of it),
damage, an unknown operator, a version, names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from codegen.ir.quant import Array
from tests.support.outsider import ort_session

Port = onnx.ValueInfoProto
Outputs = Sequence[str | Port]
Constants = Mapping[str, Any] | Sequence[onnx.TensorProto]


def port(name: str, shape: Sequence[int | str] | None = None, kind: int = TensorProto.FLOAT) -> Port:
    """An input or output of a graph; of any shape where none is given."""
    return helper.make_tensor_value_info(name, kind, shape)


def ports_of(feeds: Mapping[str, Array]) -> list[Port]:
    """Inputs as wide as what they are fed."""
    return [port(name, x.shape, helper.np_dtype_to_tensor_dtype(x.dtype)) for name, x in feeds.items()]


def onnx_graph(
    nodes: Sequence[Any],
    inputs: Sequence[Port],
    outputs: Outputs,
    constants: Constants = (),
    name: str = "g",
) -> onnx.GraphProto:
    """A graph; outputs of which only the name is given have no type."""
    named = constants.items() if isinstance(constants, Mapping) else ()
    known = [numpy_helper.from_array(np.asarray(array), key) for key, array in named] or list(constants)
    given = [Port(name=one) if isinstance(one, str) else one for one in outputs]
    return helper.make_graph(list(nodes), name, list(inputs), given, known)


def onnx_model(
    nodes: Sequence[Any],
    inputs: Sequence[Port],
    outputs: Outputs,
    constants: Constants = (),
    *,
    sets: Mapping[str, int] | int = 17,
    name: str = "g",
    **words: Any,
) -> onnx.ModelProto:
    """A model of an operator set, or of the `sets` of several domains; `words` go to onnx's `make_model`."""
    opsets = [helper.make_opsetid(*one) for one in ({"": sets} if isinstance(sets, int) else sets).items()]
    graph = onnx_graph(nodes, inputs, outputs, constants, name)
    return helper.make_model(graph, opset_imports=opsets, **{"ir_version": 8, **words})


def by_onnxruntime(operator: str, *operands: Array | None, sets: int = 18, **attributes: Any) -> Array:
    """The first result of one operator of ONNX Runtime; None is an operand that is left out."""
    feeds = {f"x{i}": x for i, x in enumerate(operands) if x is not None}
    names = ["" if x is None else f"x{i}" for i, x in enumerate(operands)]
    node = helper.make_node(operator, names, ["y"], **attributes)
    session = ort_session(onnx_model([node], ports_of(feeds), ["y"], sets=sets))
    return np.asarray(session.run(None, feeds)[0])
