"""From a Caffe network to the Graph: read as real numbers, then settled.

Decides: that the problems of both steps are reported together, in the network's order.
"""

from __future__ import annotations

from pathlib import Path

from codegen.errors import ModelRejected, OptionBad
from codegen.frontends.caffe.real.importer import RealReader
from codegen.frontends.shapes import Given
from codegen.frontends.vocabulary import HOUSE, Vocabulary
from codegen.ir.graph import Graph
from codegen.ir.quant import ALL_MODES, Mode
from codegen.settle.borders import Borders, IoLayout, IoType
from codegen.settle.walk import run_walk


def import_caffe(
    path: Path,
    *,
    mode: Mode,
    io_type: IoType = "quantized",
    io_layout: IoLayout = "nhwc",
    shapes: Given | None = None,
    known: Vocabulary = HOUSE,
    by_image: bool = True,
) -> Graph:
    """The Graph of a Caffe network, which computes with real numbers.

    Args:
        path: the prototxt; its weights lie beside it.
        mode: the arithmetic of every requantization; there is none here.
        io_type: as of `import_onnx`.
        io_layout: "nhwc" makes inputs and outputs of four axes NHWC; "model" leaves them.
        shapes: of inputs, which go before those of the file.
        known: rules that join the house's own.
        by_image: whether a batch is cut into images where that saves memory.

    Raises:
        ModelRejected: LAM-IMPORT-001, with every problem of the network.
        CompileError: LAM-IMPORT-002 .. 065, when the files cannot be read at all.
    """
    if mode not in ALL_MODES or io_type not in ("quantized", "model") or io_layout not in ("nhwc", "model"):
        raise OptionBad(f"mode {mode}, io_type {io_type}, io_layout {io_layout}")
    reader = RealReader(path, shapes)
    graph, borders = reader.graph().live(), Borders(io_type, io_layout)
    walk = run_walk(graph, mode, borders, known.rules, by_image=by_image)
    problems = walk.with_those_of(reader.problems)
    if problems:
        raise ModelRejected(problems, where=str(path))
    return walk.graph()
