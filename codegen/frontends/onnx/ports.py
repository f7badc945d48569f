"""What a model's own QuantizeLinear nodes say of its inputs, and its metadata, without importing it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from onnx import TensorProto

from codegen.errors import CompileError
from codegen.frontends.onnx.nodes import OnnxNode, text_of
from codegen.frontends.onnx.reader import read_model
from codegen.frontends.onnx.structure import Structure
from codegen.frontends.onnx.tensors import decode
from codegen.ir.quant import Array, DType, Quant

_MULTIPLIES = re.compile(r"QLinear(Conv|MatMul)|QGemm|QAttention|(Conv|MatMul)Integer|MatMulIntegerToFloat|Dynamic.*")


def stored_inputs(path: Path) -> dict[str, tuple[DType, Quant]]:
    """Element type, scale and zero point of each input that a QuantizeLinear reads; empty for what cannot be read."""
    try:
        structure = read_model(path).structure
        names = {text_of(i.name) for i in structure.inputs}
        readers = [n for n in structure.nodes if n.op_type == "QuantizeLinear" and n.inputs[0] in names]
        return {n.inputs[0]: _stored(n, structure) for n in reversed(readers)}
    except (CompileError, KeyError, IndexError, ValueError, AssertionError):
        return {}  # for advice only: whoever runs the model reports what is wrong with it


def has_integer_kernels(path: Path) -> bool:
    """Whether a node of the model multiplies integers itself, as QLinearConv does; False for what cannot be read."""
    try:
        return any(_MULTIPLIES.fullmatch(n.op_type) for n in read_model(path).structure.nodes)
    except CompileError:
        return False  # as above


def has_bfloat16(path: Path) -> bool:
    """Whether inputs, outputs or constants of the model are of bfloat16, or a Cast is to it; False as above."""
    try:
        graph = read_model(path).proto.graph
    except CompileError:
        return False
    kinds = {info.type.tensor_type.elem_type for info in (*graph.input, *graph.output)}
    kinds.update(tensor.data_type for tensor in graph.initializer)
    attributes = [a for node in graph.node for a in node.attribute]
    kinds.update(a.t.data_type for a in attributes if a.HasField("t"))
    kinds.update(a.i for a in attributes if a.name == "to")
    return TensorProto.BFLOAT16 in kinds


def metadata_of(path: Path) -> dict[str, str]:
    """A model's metadata; errors as of `read_model`."""
    return {text_of(entry.key): text_of(entry.value) for entry in read_model(path).proto.metadata_props}


def _stored(node: OnnxNode, structure: Structure) -> tuple[DType, Quant]:
    scale, zero = (_constant(name, structure) for name in node.inputs[1:3])
    return DType.of(zero), Quant(float(scale.reshape(-1)[0]), int(zero.reshape(-1)[0]))


def _constant(name: str, structure: Structure) -> Array:
    array = decode(structure.initializers[name], f"constant '{name}'")
    return np.asarray(array)
