"""Models whose every name is hostile, and their twins with harmless names in the same places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from codegen.ir.graph import Graph
from tests.support.shared import ROOT
from tests.support.tflite_models import Model

CODE = " extern int system(const char *); int pwned = 1; #define return abort() "
NAMES = (
    f"*\\{CODE}\\*",
    f"*/{CODE}/*",
    f"*\\\n{CODE}/*",
    f"*??/\n/{CODE}/??/\n*",
    f"*{chr(0x202E)}/\r\n{CODE}//\\",
    "` | </text><script>alert(1)</script> --> ]]> <![CDATA[ | `" + "\n\n# Title\n    code\n",
    "${ENV{HOME}} $<TARGET_FILE:x> ]==] ]]\n)\nexecute_process(COMMAND touch pwned)\n#[[",
    "\x1b]0;pwned\x07\x1b[2J\x9b2J\x00\r\x08" + "\"; '); drop %s%n {{ m.name }} {% raw %} //",
)
"""What ends comments, strings, cells, spans, elements and lines, in one of the files or on a terminal."""
Rename = Callable[[str], str]


def renaming(stem: str) -> Rename:
    """Every name becomes `stem` and a number, the same name the same one."""
    known: dict[str, str] = {}
    return lambda name: known.setdefault(name, f"{stem}{len(known)}") if name else name


def onnx_named(stem: str) -> bytes:
    """The example network with these names for nodes, tensors, the graph, documentation and metadata."""
    model = onnx.load(ROOT / "examples" / "tiny" / "tiny_qdq.onnx")
    rename = renaming(stem)
    model.producer_name = model.producer_version = model.domain = model.doc_string = stem
    model.metadata_props.add(key=stem, value=stem)
    graph = model.graph
    graph.name = graph.doc_string = stem
    for item in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        item.name, item.doc_string = rename(item.name), stem
    for node in graph.node:
        node.name, node.doc_string = rename(node.name), stem
        node.input[:], node.output[:] = map(rename, node.input), map(rename, node.output)
        for attribute in node.attribute:
            attribute.doc_string = stem
    return bytes(model.SerializeToString())


def tflite_named(stem: str) -> bytes:
    """A network with a variable, with these names for tensors, the graph and the variable."""
    model = Model()
    rename = renaming(stem)
    x = model.input((1, 6, 5, 2), "int8", 0.5, 3)
    handle = model.tensor((1,), "resource")
    model.op("VAR_HANDLE", [], [handle], "VarHandleOptions", Container=stem, SharedName=stem)
    kept = model.tensor((1, 6, 5, 2), "int8", 0.5, 3)
    model.op("READ_VARIABLE", [handle], [kept])
    total = model.output((1, 6, 5, 2), "int8", 0.25, -3)
    model.op("ADD", [x, kept], [total], "AddOptions")
    model.op("ASSIGN_VARIABLE", [handle, x], [])
    weights = model.const(np.arange(36, dtype=np.int8).reshape(2, 3, 3, 2), [0.1, 0.2], [0, 0])
    bias = model.const(np.array([5, -5], np.int32), [0.025, 0.05], [0, 0])
    y = model.output((1, 4, 3, 2), "int8", 0.7, 1)
    model.op("CONV_2D", [total, weights, bias], [y], "Conv2DOptions", Padding=1, StrideW=1, StrideH=1)
    model.graph.name = stem
    for tensor in model.graph.tensors:
        tensor.name = rename(tensor.name)
    return described(model.bytes(), stem)


def described(data: bytes, stem: str) -> bytes:
    """The TFLite file with a description, metadata and a signature of this text, where LiteRT can write them."""
    try:
        import flatbuffers
        from ai_edge_litert import schema_py_generated as schema
    except ImportError:
        return data
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(data, 0))
    metadata, signature, entry = schema.MetadataT(), schema.SignatureDefT(), schema.TensorMapT()
    metadata.name = signature.signatureKey = entry.name = model.description = stem
    metadata.buffer, entry.tensorIndex = 0, model.subgraphs[0].inputs[0]
    signature.inputs, model.metadata, model.signatureDefs = [entry], [metadata], [signature]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def graph_named(graph: Graph, stem: str) -> Graph:
    """The graph with these names for values, nodes, interfaces and states."""
    found: Graph = _renamed(graph, renaming(stem), stem)
    return replace(found, name=graph.name)


def _renamed(item: Any, rename: Rename, stem: str) -> Any:
    if isinstance(item, str):
        return rename(item)
    if isinstance(item, tuple):
        return tuple(_renamed(i, rename, stem) for i in item)
    if isinstance(item, Mapping):
        return {rename(k): _renamed(v, rename, stem) for k, v in item.items()}
    if not is_dataclass(item) or isinstance(item, type) or type(item).__module__ != "codegen.ir.graph":
        return item
    kept = ("model_dtype",)
    changes = {f.name: _renamed(getattr(item, f.name), rename, stem) for f in fields(item) if f.name not in kept}
    return replace(item, **changes)


def written(data: bytes, folder: Path, name: str) -> Path:
    """The model as a file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(data)
    return path
