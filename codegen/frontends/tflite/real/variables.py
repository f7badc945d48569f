"""VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, CALL_ONCE, and tensors that an operator keeps for itself: states.

Operators run in the file's order: READ_VARIABLE gives what the last ASSIGN_VARIABLE before it assigned or, without one
in this run, what the run before left.  Decides: what a variable holds before anything was assigned, and after a reset.
As in TFLite Micro that is the zero point of what is assigned, in every byte, unless CALL_ONCE runs a subgraph that
assigns constants.
Source: tflite-micro, micro_resource_variable.cc, kernels/assign_variable.cc, kernels/read_variable.cc,
kernels/call_once.cc, and micro_interpreter_graph.cc for variable tensors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codegen.errors import InputMissing, VariableUnsupported
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.reader import Subgraph, Tensor
from codegen.frontends.tflite.real.context import RealContext, Table
from codegen.frontends.tflite.records import stored_of
from codegen.frontends.tflite.variables import Key, handles_of
from codegen.ir.quant import Array, TensorType
from codegen.ir.real import RealValue
from codegen.settle.builder import check_size
from codegen.settle.tflite.records import DTYPES, kind_of

_KINDS = ("float32", "int8", "uint8", "int16", "int32")


def var_handle(ctx: RealContext, node: TfliteNode) -> None:
    """The name of a variable: nothing is computed."""
    ctx.result(node)


def read_variable(ctx: RealContext, node: TfliteNode) -> None:
    """READ_VARIABLE."""
    key, tensor = _key(ctx, node), ctx.result(node)
    if key not in ctx.variables.now:
        initial = ctx.variables.initial.get(key)
        _begin(ctx, node, key, tensor, _first_content(ctx, node, key) if initial is None else initial)
    ctx.bind(node, ctx.as_it_is(node, ctx.variables.now[key], stored_of(tensor, node.where)))


def assign_variable(ctx: RealContext, node: TfliteNode) -> None:
    """ASSIGN_VARIABLE."""
    key, tensor = _key(ctx, node), ctx.tensor(node, 1)
    _check_kind(tensor, node)
    _assign(ctx, node, key, ctx.value(node, 1))


def call_once(ctx: RealContext, node: TfliteNode) -> None:
    """CALL_ONCE: variables begin as the constants that its subgraph assigns."""
    index, graphs = int(node.options_of("CallOnceOptions").InitSubgraphIndex()), ctx.variables.graphs
    if not 0 < index < len(graphs):
        raise VariableUnsupported(f"it runs subgraph {index} of {len(graphs)}", where=node.where)
    for key, tensor in _assigned(graphs[index], node):
        if tensor.problem is not None:
            raise tensor.problem
        if tensor.data is None:
            raise VariableUnsupported(f"'{tensor.name}', which it assigns, is no constant", where=node.where)
        if key in ctx.variables.now:
            raise VariableUnsupported(f"the variable '{key[1]}' is used before it", where=node.where)
        _check_kind(tensor, node)
        ctx.variables.initial[key] = tensor.data


def held(ctx: RealContext, node: TfliteNode, index: int) -> str:
    """The value of a variable tensor that the operator keeps for itself, as it is at this point of the run.

    Before the first run it is the zero point if it is int8, else zero.
    """
    tensor = ctx.tensor(node, index)
    key = ("tensor", tensor.name)
    if not tensor.is_variable:
        raise VariableUnsupported(f"input '{tensor.name}' is no variable tensor", where=node.where)
    if key not in ctx.variables.now:
        if tensor.kind != "float32":
            _check_kind(tensor, node)
        check_size(TensorType(tensor.shape, DTYPES[tensor.kind]))
        zero = int(tensor.zero_point[0]) if tensor.kind == "int8" and tensor.zero_point.size else 0
        _begin(ctx, node, key, tensor, np.full(tensor.shape, zero, tensor.kind))
    return ctx.variables.now[key]


def renew(ctx: RealContext, node: TfliteNode, index: int, value: str) -> None:
    """Say what a variable tensor holds once the operator has run."""
    _assign(ctx, node, ("tensor", ctx.tensor(node, index).name), value)


def _key(ctx: RealContext, node: TfliteNode) -> Key:
    """The variable that the first input names."""
    place = ctx.tensor(node, 0).index
    if place not in ctx.variables.handles:
        raise InputMissing("its first input is not the result of VAR_HANDLE", where=node.where)
    return ctx.variables.handles[place]


def _begin(ctx: RealContext, node: TfliteNode, key: Key, tensor: Tensor, initial: Array) -> None:
    """Make the state as which the run finds a variable."""
    if key[0] != "tensor":
        _check_kind(tensor, node)
    if (initial.shape, initial.dtype.name) != (tensor.shape, tensor.kind):
        found = f"the variable '{key[1]}' begins as {initial.dtype.name}{list(initial.shape)}"
        raise VariableUnsupported(f"{found} and is read as {tensor.kind}{list(tensor.shape)}", where=node.where)
    value = ctx.builder.state(key[1] or "variable", initial, stored_of(tensor, node.where))
    ctx.variables.states[key] = ctx.variables.now[key] = value


def _assign(ctx: RealContext, node: TfliteNode, key: Key, value: str) -> None:
    now, found = ctx.variables.now, ctx.builder.values[value]
    if key in now:
        known = ctx.builder.values[now[key]]
        if (known.type.shape, kind_of(known)) != (found.type.shape, kind_of(found)):
            raise VariableUnsupported(
                f"the variable '{key[1]}' is {_spoken(known)}, assigned is {_spoken(found)}", where=node.where
            )
    now[key] = value
    if key in ctx.variables.states:
        ctx.builder.becomes(ctx.variables.states[key], value)


def _spoken(value: RealValue) -> str:
    """Element type and shape of a variable."""
    return f"{DTYPES[kind_of(value)].value}{list(value.type.shape)}"


def _first_content(ctx: RealContext, node: TfliteNode, key: Key) -> Array:
    """What TFLite Micro fills a variable's memory with: the zero point of what the network assigns, byte by byte."""
    for own, tensor in _assigned(ctx.graph, node, constant=False):
        if own == key:
            _check_kind(tensor, node)
            check_size(TensorType(tensor.shape, DTYPES[tensor.kind]))
            kind = np.dtype(tensor.kind)
            fill = int(tensor.zero_point[0]) & 0xFF if tensor.zero_point.size else 0
            raw = np.full(int(np.prod(tensor.shape)) * kind.itemsize, fill, np.uint8)
            return raw.view(kind).reshape(tensor.shape)
    raise VariableUnsupported(f"nothing assigns the variable '{key[1]}'", where=node.where)


def _assigned(graph: Subgraph, node: TfliteNode, *, constant: bool = True) -> Iterator[tuple[Key, Tensor]]:
    """The variables that a subgraph assigns, and by which tensors; `constant`: it may do nothing else."""
    handles = handles_of(graph)
    for inner in graph.nodes:
        if inner.op_type == "ASSIGN_VARIABLE":
            if len(inner.inputs) != 2 or inner.inputs[0] not in handles or inner.inputs[1] < 0:
                raise InputMissing(f"'{inner.name}' lacks a variable or a value", where=node.where)
            yield handles[inner.inputs[0]], graph.tensors[inner.inputs[1]]
        elif constant and inner.op_type != "VAR_HANDLE":
            found = f"the subgraph that it runs has {inner.op_type}; it may assign constants only"
            raise VariableUnsupported(found, where=node.where)


def _check_kind(tensor: Tensor, node: TfliteNode) -> None:
    if tensor.kind not in _KINDS:
        hint = "quantize the whole model: full-integer post-training quantization"
        raise VariableUnsupported(f"a variable of type {tensor.kind} ('{tensor.name}')", where=node.where, hint=hint)


TRANSLATORS: Table = {
    "ASSIGN_VARIABLE": assign_variable,
    "CALL_ONCE": call_once,
    "READ_VARIABLE": read_variable,
    "VAR_HANDLE": var_handle,
}
