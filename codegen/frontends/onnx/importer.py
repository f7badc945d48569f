"""From an ONNX model to the Graph: read as real numbers, then settled.

Decides: that the problems of both steps are reported together, in the model's order.
"""

from __future__ import annotations

from pathlib import Path

from codegen.errors import ModelRejected, OptionBad
from codegen.frontends.onnx.reader import read_model
from codegen.frontends.onnx.real.importer import RealReader
from codegen.frontends.shapes import Given
from codegen.frontends.vocabulary import HOUSE, Vocabulary
from codegen.ir.graph import Graph
from codegen.ir.quant import ALL_MODES, Mode
from codegen.settle.borders import Borders, IoLayout, IoType
from codegen.settle.walk import run_walk


def import_onnx(
    path: Path,
    *,
    mode: Mode,
    io_type: IoType = "quantized",
    io_layout: IoLayout = "nhwc",
    shapes: Given | None = None,
    known: Vocabulary = HOUSE,
    by_image: bool = True,
) -> Graph:
    """The Graph of an ONNX model: integers where it is quantized, real numbers elsewhere.

    Args:
        path: the model's file; external data is read from its folder and below.
        mode: the arithmetic of every requantization.
        io_type: "quantized" drops QuantizeLinear and DequantizeLinear at the borders; "model" keeps them.
        io_layout: "nhwc" makes inputs and outputs of four axes NHWC; "model" leaves them.
        shapes: of inputs with open dimensions; an open first dimension is 1 without being named.
        known: operators that join the house's own.
        by_image: whether a batch is cut into images where that saves memory.

    Raises:
        ModelRejected: LAM-IMPORT-001, with every problem of the model.
        CompileError: LAM-IMPORT-002 .. 030, when the file cannot be read at all.
    """
    if mode not in ALL_MODES or io_type not in ("quantized", "model") or io_layout not in ("nhwc", "model"):
        raise OptionBad(f"mode {mode}, io_type {io_type}, io_layout {io_layout}")
    model = read_model(Path(path))
    reader = RealReader(model, shapes, known)
    graph = reader.graph()
    borders = Borders(io_type, io_layout)
    walk = run_walk(graph, mode, borders, known.rules, by_image=by_image)
    problems = walk.with_those_of(reader.problems)
    if problems and not model.quantized:
        problems = [*{e.text(): e for e in (*problems, *reader.unknown())}.values()]
    if problems:
        raise ModelRejected(problems, where=str(path))
    return walk.graph()
