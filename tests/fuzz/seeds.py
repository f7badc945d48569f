"""Sound files of each reader, to start from: the examples, a model of each operator, and small real models."""

from __future__ import annotations

import contextlib
import io
import re

import numpy as np
import pytest

from tests.e2e.fuzz_models import sources, tflite_sources
from tests.support.foreign_files import FILES
from tests.support.node_tests import forms, node_tests
from tests.support.shared import ROOT, shared_dir
from tests.support.tflite_real_cases import CASES

_LARGEST = 120_000
"""Bytes of a model that is still quickly read a thousand times."""


def seeds(reader: str) -> list[bytes]:
    """Files that the reader accepts, or refuses with reason; the same ones in the same order each time."""
    return [data for data in _SEEDS[reader]() if len(data) <= _LARGEST]


def _onnx() -> list[bytes]:
    found = [path.read_bytes() for path in sources()]
    with contextlib.suppress(pytest.skip.Exception):
        folder = shared_dir() / "models" / "dialects"
        found += [path.read_bytes() for path in sorted(folder.glob("*.onnx"))[::9]]
    return found


def _onnx_real() -> list[bytes]:
    """The models of the reader onnx, and one of ONNX's own tests for each operator, in the forms of its parameters."""
    first = {case.model.graph.node[-1].op_type: case for case in reversed(node_tests().values())}
    return _onnx() + [model.SerializeToString() for case in first.values() for model in list(forms(case))[1:]]


def _tflite() -> list[bytes]:
    return list(tflite_sources().values())


def _tflite_real() -> list[bytes]:
    return [*(make().data for make in CASES.values()), *_tflite()]


def _targets() -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "targets" / "chips").rglob("*.toml"))]


def _configs() -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "benchmarks" / "configs").glob("*.toml"))]


def _quantizers() -> list[bytes]:
    """The files that the page shows."""
    page = (ROOT / "docs" / "quantizer.md").read_text()
    return [block.encode() for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL)]


def _foreign() -> list[bytes]:
    return [text.encode() for text in FILES.values()]


def _arrays() -> list[bytes]:
    found = []
    for save in (np.savez, np.savez_compressed):
        for shape in ((2, 3), (1,), ()):
            file = io.BytesIO()
            save(file, x=np.ones(shape, np.int8), y=np.arange(3), w=np.ones(shape, np.float32))
            found.append(file.getvalue())
    return found


_SEEDS = {
    "onnx": _onnx,
    "onnx-real": _onnx_real,
    "tflite": _tflite,
    "tflite-real": _tflite_real,
    "target": _targets,
    "config": _configs,
    "quantizer": _quantizers,
    "foreign": _foreign,
    "arrays": _arrays,
}
