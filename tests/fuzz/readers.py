"""What is fuzzed: each reader as a function of bytes, which answers with ids or says that it accepts.

A refusal is a `CompileError` whose id is not LAM-INTERNAL-001.  Any other exception leaves the function: a fault.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from codegen.errors import CompileError, InternalFault
from codegen.frontends import import_model, own_mode, read_real
from codegen.ir.verify import verify_graph
from codegen.passes import simplify
from codegen.preprocess import load_preprocess, read_npz
from codegen.quantizer.config import QuantConfig
from codegen.quantizer.foreign.load import load_config
from codegen.target import load_target

ACCEPTED = "accepted"
_MOST_MACS = 10**8


def _model(path: Path) -> None:
    """A model is imported, and the passes are run over what has been imported."""
    graph = import_model(path, mode=own_mode(path) or "single", io_type="quantized", io_layout="nhwc")
    verify_graph(graph)
    verify_graph(simplify(graph))


def _real(path: Path) -> None:
    """A model becomes a RealGraph whose nodes are in order and say the types that its values have."""
    graph = read_real(path)
    known = {v.name for v in graph.values.values() if v.data is not None}
    known |= {*graph.inputs, *(state.value for state in graph.states)}
    for node in graph.nodes:
        found = node.op.infer([graph.type(name) for name in node.inputs])
        if found[: len(node.outputs)] != tuple(graph.type(name) for name in node.outputs):
            raise InternalFault(f"types of {node.where}")
        if not known.issuperset(node.inputs):
            raise InternalFault(f"inputs of {node.where}")
        known.update(node.outputs)
    if not known.issuperset([*graph.outputs, *(state.next for state in graph.states)]):
        raise InternalFault("outputs that nothing writes")


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "onnx": (".onnx", _model),
    "tflite": (".tflite", _model),
    "onnx-real": (".onnx", _real),
    "tflite-real": (".tflite", _real),
    "target": (".toml", load_target),
    "config": (".toml", load_preprocess),
    "quantizer": (".toml", QuantConfig.load),
    "foreign": (".table", load_config),
    "arrays": (".npz", read_npz),
}
"""Reader by name: the suffix of its files, and what reads one."""


def read(reader: str, data: bytes) -> str:
    """The ids with which a reader refuses these bytes, or `accepted`."""
    suffix, function = READERS[reader]
    with tempfile.TemporaryDirectory(prefix="lamina-fuzz-", dir=_fast_folder()) as folder:
        path = Path(folder) / f"m{suffix}"
        path.write_bytes(data)
        try:
            function(path)
        except InternalFault:
            raise
        except CompileError as error:
            return " ".join(sorted({problem.code for problem in error.problems()}))
    return ACCEPTED


def _fast_folder() -> str | None:
    """A folder in memory where the system has one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
