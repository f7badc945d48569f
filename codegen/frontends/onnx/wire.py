"""A look at the protobuf bytes before they are parsed.

Decides: that the outer structure of the file is whole, and that it holds no more nodes, tensors and names than a
network has.  Parsing first would let a small file of many empty messages take all memory.  Nesting deeper than 100
levels is refused by the protobuf library itself.
"""

from __future__ import annotations

from collections import Counter

from codegen.errors import ModelTooLarge, ModelUnreadable
from codegen.frontends.wire import BYTES, MAX_FIELDS, fields

_MODEL_GRAPH = 7
_GRAPH_NODE = 1
_MODEL_FIELDS = 64
_TEXT_HEAD = 64
_OTHER_KINDS = (
    (0, b"version https://git-lfs", "a Git LFS pointer, the model itself was not fetched", "run `git lfs pull`"),
    (4, b"TFL3", "a TFLite model", "this is the ONNX reader: give the file its ending .tflite"),
    (
        0,
        b"PK\x03\x04",
        "a zip archive",
        "give modules of PyTorch to codegen.from_torch, or torch.export.save them as .pt2",
    ),
    (0, b"\x89HDF", "an HDF5 file", "export Keras models to ONNX first, for example with tf2onnx"),
)


def check_structure(data: bytes, where: str) -> None:
    """Refuse what is cut off, is not a model, or has too many parts.

    Raises:
        ModelUnreadable: LAM-IMPORT-003.
        ModelTooLarge: LAM-IMPORT-004.
    """
    _check_kind(data, where)
    counts: Counter[str] = Counter()
    graphs = 0
    for number, wire, start, stop in fields(data, 0, len(data), where):
        _count(counts, "parts of the model", where)
        if number > _MODEL_FIELDS:
            raise ModelUnreadable(f"no ONNX model: field {number} at byte {start}", where=where)
        if number == _MODEL_GRAPH and wire == BYTES:
            graphs += 1
            _check_graph(data, start, stop, counts, where)
    if graphs != 1:
        raise ModelUnreadable("the file holds no graph" if graphs == 0 else "the file holds two graphs", where=where)


def _check_kind(data: bytes, where: str) -> None:
    """Name the files that are taken for a model most often."""
    if not data:
        raise ModelUnreadable("the file is empty", where=where, hint="export or download the model again")
    for offset, signature, what, hint in _OTHER_KINDS:
        if data.startswith(signature, offset):
            raise ModelUnreadable(f"the file is {what}", where=where, hint=hint)
    head = data[:_TEXT_HEAD]
    if all(32 <= byte < 127 or byte in b"\t\n\r" for byte in head):
        raise ModelUnreadable("the file is text", where=where, hint="an ONNX model is binary: check the path")


def _check_graph(data: bytes, start: int, stop: int, counts: Counter[str], where: str) -> None:
    for number, wire, first, last in fields(data, start, stop, where):
        _count(counts, "nodes, constants and names in the graph", where)
        if number == _GRAPH_NODE and wire == BYTES:
            for _ in fields(data, first, last, where):
                _count(counts, "inputs, outputs and attributes of nodes", where)


def _count(counts: Counter[str], what: str, where: str) -> None:
    counts[what] += 1
    if counts[what] > MAX_FIELDS:
        raise ModelTooLarge(f"more than {MAX_FIELDS} {what}", where=where)
