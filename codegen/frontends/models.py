"""Which reader a model's file wants, and which arithmetic is the file's own.

Decides: that a Caffe network is known by its ending, that TFLite models are computed as TFLite computes them unless
told otherwise, ONNX models as their metadata say, where somebody has said it there, and that a format's reader, and the
packages that it needs, are loaded when there is such a file.  A model's numbers may be anything, signalling NaNs too:
what comes of them is looked at by value, and numpy's warnings would be about the file and not about this program.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from codegen.errors import CompileError
from codegen.frontends.files import is_caffe, is_tflite, read_model_file
from codegen.frontends.labels import LABEL_KEYS, listed
from codegen.frontends.shapes import Given, Shapes
from codegen.frontends.survey import Survey
from codegen.frontends.vocabulary import HOUSE, Vocabulary
from codegen.ir.graph import Graph
from codegen.ir.labels import Labels
from codegen.ir.quant import ALL_MODES, DType, Mode, Quant
from codegen.ir.real import RealGraph

REQUANT_KEY = "lamina.requant"
"""Metadata of an ONNX model: the requantization mode that the network was made for."""


@np.errstate(all="ignore")
def import_model(
    path: Path,
    *,
    mode: Mode,
    io_type: str,
    io_layout: str,
    shapes: Given | None = None,
    known: Vocabulary = HOUSE,
    by_image: bool = True,
) -> Graph:
    """The Graph of a model's file; arguments and errors as of `import_onnx`, `import_tflite` and `import_caffe`.

    A TFLite model has every size; shapes that are given for its inputs must be those.
    """
    if is_tflite(path):
        from codegen.frontends.tflite import import_tflite

        graph = import_tflite(path, mode=mode, io_type=io_type, known=known, by_image=by_image)
        Shapes({i.name: i.model_shape for i in graph.inputs}, shapes or {})
        return replace(graph, labels=carried_labels(path))
    graph = _plain_importer(path)(
        path,
        mode=mode,
        io_type="model" if io_type == "model" else "quantized",
        io_layout="model" if io_layout == "model" else "nhwc",
        shapes=shapes,
        known=known,
        by_image=by_image,
    )
    return replace(graph, labels=carried_labels(path))


def _plain_importer(path: Path) -> Callable[..., Graph]:
    """The function that imports a file whose integers, if any, are ONNX's."""
    if is_caffe(path):
        from codegen.frontends.caffe import import_caffe

        return import_caffe
    from codegen.frontends.onnx import import_onnx

    return import_onnx


@np.errstate(all="ignore")
def read_real(path: Path, *, shapes: Given | None = None, known: Vocabulary = HOUSE) -> RealGraph:
    """The RealGraph of a model's file, quantized or not; errors as of the formats' own readers."""
    if is_tflite(path):
        from codegen.frontends.tflite.real import read_real as read_tflite

        return read_tflite(path, shapes=shapes, known=known)
    if is_caffe(path):
        from codegen.frontends.caffe.real import read_real as read_caffe

        return read_caffe(path, shapes=shapes)
    from codegen.frontends.onnx.real import read_real as read_onnx

    return read_onnx(path, shapes=shapes, known=known)


def is_onnx(path: Path) -> bool:
    """Whether the file is taken for an ONNX model: it is nothing else."""
    return not is_tflite(path) and not is_caffe(path)


def model_digest(path: Path) -> bytes:
    """SHA-256 of a model's file, and of the weights of a Caffe network behind it; LAM-IMPORT-002 and -004."""
    digest = hashlib.sha256(read_model_file(path))
    if is_caffe(path):
        from codegen.frontends.caffe import weights_beside

        weights = weights_beside(path)
        digest.update(read_model_file(weights) if weights.exists() else b"")
    return digest.digest()


def real_bytes(graph: RealGraph, metadata: Mapping[str, str] | None = None) -> bytes:
    """A RealGraph as an ONNX file; errors as of `model_bytes`."""
    from codegen.frontends.onnx.writer import model_bytes

    return model_bytes(graph, metadata)


@np.errstate(all="ignore")
def survey_model(path: Path, *, mode: Mode, shapes: Given | None = None, known: Vocabulary = HOUSE) -> Survey:
    """Every problem of a model's file that cannot be imported, and what can be read of it."""
    if is_tflite(path):
        from codegen.frontends.tflite.survey import survey_tflite

        return survey_tflite(path, mode=mode, known=known)
    if is_caffe(path):
        from codegen.frontends.caffe.survey import survey_caffe

        return survey_caffe(path, mode=mode, shapes=shapes, known=known)
    from codegen.frontends.onnx.survey import survey_onnx

    return survey_onnx(path, mode=mode, shapes=shapes, known=known)


def metadata_of(path: Path) -> dict[str, str]:
    """The entries of an ONNX model's metadata; models of other formats have none that anybody reads."""
    if not is_onnx(path):
        return {}
    from codegen.frontends.onnx import metadata_of as of_onnx

    return of_onnx(path)


def carried_labels(path: Path) -> tuple[Labels, ...]:
    """Each list of labels that the file carries beside its network; an empty one is of an entry that cannot be read."""
    try:
        data = read_model_file(path)
        if is_tflite(path):
            from codegen.frontends.tflite import archived_labels

            return archived_labels(data)
        entries = metadata_of(path) if any(_as_stored(key) in data for key in LABEL_KEYS) else {}
    except CompileError:
        return ()  # the reader says what is wrong with the file
    return tuple(listed(entries[key]) for key in LABEL_KEYS if key in entries)


def _as_stored(key: str) -> bytes:
    """The bytes with which an entry of metadata begins."""
    return b"\n" + bytes([len(key)]) + key.encode()


def label_entries(path: Path) -> dict[str, str]:
    """The file's labels as metadata of an ONNX model that is made of it."""
    found = [labels for labels in dict.fromkeys(carried_labels(path)) if labels]
    return dict(zip(LABEL_KEYS, map(json.dumps, found), strict=False)) if len(found) <= len(LABEL_KEYS) else {}


def stored_inputs(path: Path) -> dict[str, tuple[DType, Quant]]:
    """What an ONNX model's own QuantizeLinear nodes say of its inputs."""
    if not is_onnx(path):
        return {}
    from codegen.frontends.onnx import stored_inputs as of_onnx

    return of_onnx(path)


def has_integer_kernels(path: Path) -> bool:
    """Whether a node of an ONNX model multiplies integers itself, as QLinearConv does."""
    if not is_onnx(path):
        return False
    from codegen.frontends.onnx import has_integer_kernels as of_onnx

    return of_onnx(path)


def has_bfloat16(path: Path) -> bool:
    """Whether tensors of an ONNX model are of bfloat16."""
    if not is_onnx(path):
        return False
    from codegen.frontends.onnx import has_bfloat16 as of_onnx

    return of_onnx(path)


def own_mode(path: Path) -> Mode | None:
    """The requantization mode that the file's format implies, or its metadata name; None leaves it to the target."""
    if is_tflite(path):
        return "tflite"
    try:
        said = metadata_of(path).get(REQUANT_KEY) if REQUANT_KEY.encode() in read_model_file(path) else None
    except CompileError:
        return None  # the reader says what is wrong with the file
    return next((mode for mode in ALL_MODES if mode == said), None)
