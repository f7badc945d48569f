"""From a file to a checked model: bytes, protobuf, functions inlined, old operator sets raised.

Decides: what is read at all, with limits on every size before anything is parsed or expanded.  Leaves the meaning of
the operators to the importers; older spellings that the version converter cannot raise are read there too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped,unused-ignore]
from onnx import inliner, version_converter
from onnx.checker import ValidationError
from onnx.shape_inference import InferenceError

from codegen.errors import (
    CompileError,
    ExternalDataMissing,
    FunctionBad,
    FunctionTwice,
    ModelUnreadable,
    OpsetUnsupported,
    TrainingUnsupported,
    first_line,
)
from codegen.frontends.files import MAX_FILE_BYTES, read_model_file
from codegen.frontends.onnx.nodes import DEFAULT_DOMAINS, ML_DOMAIN, TRAINING_DOMAIN, OnnxNode, tensors_in, text_of
from codegen.frontends.onnx.structure import Structure, read_structure
from codegen.frontends.onnx.tensors import is_unread, load_external
from codegen.frontends.onnx.wire import check_structure
from codegen.frontends.wire import MAX_FIELDS
from codegen.records import record

RAISED_OPSET = 13
_CONVERTED_WRONGLY = {"Hardmax"}
"""Operators that mean something else in operator set 13, which onnx's converter passes on as they are."""
_FunctionId = tuple[str, str, str]
"""Domain, name and overload."""
_ONNX_ERRORS = (RuntimeError, ValueError, InferenceError, ValidationError)
"""What the onnx package says of a model that contradicts itself."""

_QUANTIZED_OPS = frozenset(
    ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger", "QGemm")
)


@record(eq=False)
class Model:
    """What the importers walk.  `problems` are the mistakes found so far, `notes` what the user should know.

    `quantized` is False for a float model, which has nothing to import; `proto` is what the structure was read from.
    """

    name: str
    opset: int
    structure: Structure
    problems: tuple[CompileError, ...]
    notes: tuple[str, ...]
    quantized: bool
    proto: Any


def read_model(path: Path) -> Model:
    """The model in `path`, its functions inlined and its operator set raised where that can be done.

    Args:
        path: the model's file.

    Raises:
        ModelMissing: LAM-IMPORT-002.
        ModelUnreadable: LAM-IMPORT-003.
        ModelTooLarge: LAM-IMPORT-004.
        OpsetUnsupported: LAM-IMPORT-026, and TrainingUnsupported LAM-IMPORT-075.
        FunctionBad: LAM-IMPORT-027, and FunctionTwice LAM-IMPORT-033.
    """
    proto = _parse(path)
    problems = _load_externals(proto, path.parent)
    opset = _opset(proto, path)
    proto = _inlined(proto, path)
    structure = read_structure(proto.graph)
    quantized = any(_is_quantized(n) for n in structure.nodes)
    notes: tuple[str, ...] = ()
    if opset < RAISED_OPSET and quantized and not structure.problems and not problems:
        proto, opset, notes = _raised(proto, opset)
        structure = read_structure(proto.graph)
    return Model(
        structure.name or path.stem, opset, structure, (*problems, *structure.problems), notes, quantized, proto
    )


def _parse(path: Path) -> Any:
    data = read_model_file(path, MAX_FILE_BYTES)
    check_structure(data, str(path))
    try:
        return onnx.ModelProto.FromString(data)
    except DecodeError as error:
        raise ModelUnreadable(f"no ONNX model: {error}", where=str(path)) from error


def _load_externals(proto: Any, folder: Path) -> list[CompileError]:
    """Read every tensor kept in another file; what cannot be read is a problem of the model, a missing file once."""
    nodes = (*proto.graph.node, *(n for f in proto.functions for n in f.node))
    problems: list[CompileError] = []
    left = MAX_FILE_BYTES
    for where, tensor in tensors_in(nodes, proto.graph.initializer):
        if is_unread(tensor):
            try:
                left -= load_external(tensor, folder, where, left)
            except CompileError as error:
                is_told = isinstance(error, ExternalDataMissing) and error.found in [p.found for p in problems]
                problems += [] if is_told else [error]
    return problems


def _opset(proto: Any, path: Path) -> int:
    versions = [int(o.version) for o in proto.opset_import if text_of(o.domain) in DEFAULT_DOMAINS]
    newest = onnx.defs.onnx_opset_version()
    if not versions and any(text_of(o.domain) == ML_DOMAIN for o in proto.opset_import):
        return int(newest)
    if not versions and any(text_of(o.domain) == TRAINING_DOMAIN for o in proto.opset_import):
        raise TrainingUnsupported.of(f"operators of {TRAINING_DOMAIN}", str(path))
    if not versions:
        raise OpsetUnsupported("the model names no operator set", where=str(path))
    if not 1 <= max(versions) <= newest:
        raise OpsetUnsupported(f"operator set {max(versions)}, known are 1 .. {newest}", where=str(path))
    return max(versions)


def _is_quantized(node: OnnxNode) -> bool:
    return node.op_type in _QUANTIZED_OPS or node.op_type.startswith("QLinear")


def _inlined(proto: Any, path: Path) -> Any:
    """The model without functions of its own."""
    if not proto.functions:
        return proto
    ids = [(text_of(f.domain), text_of(f.name), text_of(f.overload)) for f in proto.functions]
    twice = next((name for name, count in Counter(ids).items() if count > 1), None)
    if twice is not None:
        raise FunctionTwice(f"two functions '{twice[1]}' of domain '{twice[0]}'", where=str(path))
    bodies = dict(zip(ids, (f.node for f in proto.functions), strict=True))
    sizes: dict[_FunctionId, int] = {}
    total = sum(_expanded(_key(n), bodies, sizes, (), str(path)) for n in proto.graph.node)
    if total > MAX_FIELDS:
        raise FunctionBad(f"inlined, the model has {total} nodes, at most {MAX_FIELDS} are read", where=str(path))
    try:
        return inliner.inline_local_functions(proto)
    except _ONNX_ERRORS as error:
        raise FunctionBad(f"a function cannot be inlined: {first_line(error)}", where=str(path)) from error


def _key(node: Any) -> _FunctionId:
    return text_of(node.domain), text_of(node.op_type), text_of(node.overload)


def _expanded(
    key: _FunctionId,
    bodies: Mapping[_FunctionId, Any],
    sizes: dict[_FunctionId, int],
    callers: tuple[_FunctionId, ...],
    where: str,
) -> int:
    """Nodes that one call becomes when inlined."""
    if key not in bodies:
        return 1
    if key in callers:
        raise FunctionBad(f"function '{key[1]}' calls itself", where=where)
    if len(callers) > 100:
        raise FunctionBad(f"functions nested deeper than 100, at '{key[1]}'", where=where)
    if key not in sizes:
        sizes[key] = sum(_expanded(_key(n), bodies, sizes, (*callers, key), where) for n in bodies[key])
    return sizes[key]


def _raised(proto: Any, opset: int) -> tuple[Any, int, tuple[str, ...]]:
    """The model in operator set 13, or as it is when the converter has no rule for it."""
    if any(text_of(n.domain) not in DEFAULT_DOMAINS for n in proto.graph.node):
        return proto, opset, (f"operator set {opset} is read as it is: the model has operators of other domains",)
    wrong = sorted({text_of(n.op_type) for n in proto.graph.node} & _CONVERTED_WRONGLY)
    if wrong:
        return proto, opset, (f"operator set {opset} is read as it is: no converter knows its {wrong[0]}",)
    try:
        raised = version_converter.convert_version(proto, RAISED_OPSET)
    except (*_ONNX_ERRORS, version_converter.ConvertError) as error:
        return proto, opset, (f"operator set {opset} is read as it is: {first_line(error)}",)
    return raised, RAISED_OPSET, (f"operator set {opset} was raised to {RAISED_OPSET}",)
