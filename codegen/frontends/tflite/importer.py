"""From a TFLite model to the Graph: read as real numbers, which integers may hold, then settled.

Decides: that the problems of both steps are reported together, in the model's order.
"""

from __future__ import annotations

from pathlib import Path

from codegen.errors import CompileError, ModelRejected, OptionBad
from codegen.frontends.tflite.reader import Subgraph, Tensor, read_model
from codegen.frontends.tflite.real.importer import RealReader
from codegen.frontends.tflite.records import tensor_quant
from codegen.frontends.tflite.tensors import free_name
from codegen.frontends.vocabulary import HOUSE, Vocabulary
from codegen.ir.graph import Graph
from codegen.ir.quant import ALL_MODES, Mode, Quant
from codegen.settle.borders import Borders
from codegen.settle.walk import run_walk

Port = tuple[str, tuple[int, ...], str, Quant | None]
_REAL = ("float16", "float32", "float64", "bfloat16")
_INTEGERS = frozenset(("int8", "uint8", "int16"))
_PRODUCTS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def import_tflite(
    path: Path, *, mode: Mode, io_type: str = "quantized", known: Vocabulary = HOUSE, by_image: bool = True
) -> Graph:
    """The Graph of a TFLite model; tensors keep the model's own order of axes.

    Args:
        path: the model's file.
        mode: the arithmetic of every requantization; `tflite` is TFLite's own.
        io_type: "quantized" drops QUANTIZE and DEQUANTIZE at the borders; "model" keeps them.
        known: operators that join the house's own.
        by_image: whether a batch is cut into images where that saves memory.

    Raises:
        ModelRejected: LAM-IMPORT-001, with every problem of the model.
        CompileError: LAM-IMPORT-002 .. 030, when the file cannot be read at all.
    """
    if mode not in ALL_MODES or io_type not in ("quantized", "model"):
        raise OptionBad(f"mode {mode}, io_type {io_type}")
    model = read_model(path)
    reader = RealReader(model, known, whole=True)
    graph, borders = reader.graph(), Borders("model" if io_type == "model" else "quantized")
    walk = run_walk(graph, mode, borders, known.tflite_rules, by_image=by_image)
    problems = walk.with_those_of(reader.problems)
    if problems:
        raise ModelRejected(problems, where=str(path))
    others = ", ".join(
        f"'{graph.name}'" if graph.name else "one without a name" for graph in model.subgraphs[1:] if graph.outputs
    )
    if others:
        walk.ctx.note(f"the file holds several networks: '{model.name}', its first, is compiled, not {others}")
    return walk.graph()


def read_ports(path: Path) -> tuple[list[Port], list[Port]]:
    """Name, shape, element type (as numpy names it) and meaning of each input and output, named as in the Graph."""
    graph = read_model(path).subgraphs[0]
    names: set[str] = set()
    inputs = [_port(graph.tensors[i], names) for i in graph.inputs]
    return inputs, [_port(graph.tensors[i], names) for i in graph.outputs]


def has_uint8_weights(path: Path) -> bool:
    """Whether a product of the model has weights of the older uint8 scheme."""
    graph = read_model(path).subgraphs[0]
    places = [n.inputs[1] for n in graph.nodes if n.op_type in _PRODUCTS and len(n.inputs) > 1]
    return any(graph.tensors[i].kind == "uint8" for i in places if i >= 0)


def is_float_model(graph: Subgraph) -> bool:
    """Whether it computes with real numbers and nothing in it is quantized."""
    kinds = {t.kind for t in graph.tensors if t.scale.size}
    return any(t.kind in _REAL for t in graph.tensors) and not kinds & _INTEGERS


def _port(tensor: Tensor, names: set[str]) -> Port:
    name = free_name(tensor, names)
    names.add(name)
    return name, tensor.shape, tensor.kind, _meaning(tensor)


def _meaning(tensor: Tensor) -> Quant | None:
    """Scale and zero point, None where they make no sense: another runtime may run the model all the same."""
    try:
        return tensor_quant(tensor)
    except CompileError:
        return None
