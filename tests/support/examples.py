"""Models of the examples of plug-ins, made by their own scripts, once a run."""

from __future__ import annotations

import importlib.util
import tempfile
from functools import cache
from pathlib import Path

import onnx

from codegen.resources import resource_dir

_KEPT = tempfile.TemporaryDirectory(prefix="lamina-examples-")


@cache
def example_model(name: str) -> Path:
    """The model of examples/plugins/NAME."""
    script = resource_dir("examples") / "plugins" / name / "make_model.py"
    spec = importlib.util.spec_from_file_location(f"make_{name}_model", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path = Path(_KEPT.name) / f"{name}.onnx"
    onnx.save(module.model(), path)
    return path
