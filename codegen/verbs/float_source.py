"""The float network of a model's file, as the quantizer takes it.

Decides: that a network in TFLite's form is written with the channels first, as the file that will be written has it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from codegen.errors import AlreadyQuantized, NothingToQuantize, TensorUnknown
from codegen.frontends import Vocabulary, is_tflite, read_real, real_bytes
from codegen.ir.real import RealGraph
from codegen.options import Options
from codegen.quantizer.places import is_quantized
from codegen.quantizer.rewrite.exact import rewritten
from codegen.quantizer.rewrite.recurrence import check_spelled
from codegen.verbs.sources import shown


def float_graph(path: Path, options: Options, known: Vocabulary) -> RealGraph:
    """The float network of a file, as ONNX has it, with what changes nothing rewritten; errors as of `given_graph`."""
    return rewritten(given_graph(path, options, known))


def given_graph(path: Path, options: Options, known: Vocabulary) -> RealGraph:
    """The float network of a file, as ONNX has it.

    Raises:
        AlreadyQuantized: LAM-QUANT-020.
        NothingToQuantize: LAM-QUANT-021.
    """
    graph = read_real(path, shapes=dict(options.shapes), known=known)
    if is_quantized(graph):
        raise AlreadyQuantized("its tensors are integers already", where=shown(path))
    if not any(graph.type(name).is_real for node in graph.nodes for name in node.outputs):
        raise NothingToQuantize("it computes no real numbers", where=shown(path))
    return _as_onnx(graph, known) if is_tflite(path) else graph


def _as_onnx(graph: RealGraph, known: Vocabulary) -> RealGraph:
    """The same network with the channels first, as the file that will be written has it."""
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        path = Path(folder) / "float.onnx"
        path.write_bytes(real_bytes(graph))
        return read_real(path, known=known)


def kept_real(graph: RealGraph, names: Sequence[str]) -> frozenset[str]:
    """Nodes and tensors that stay real.

    Raises:
        TensorUnknown: LAM-QUANT-024, for names that the model does not have.
        RecurrenceNotSpelled: LAM-QUANT-029.
    """
    known = {node.name for node in graph.nodes} | set(graph.values)
    for name in names:
        if name not in known:
            raise TensorUnknown(f"no node and no tensor '{name}'", where="keep_float")
    check_spelled(graph, names)
    return frozenset(names)
