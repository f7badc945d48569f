"""Models of the examples of plug-ins, made by their own scripts, once a run; and the example that tests spoil."""

from __future__ import annotations

import importlib.util
import tempfile
from functools import cache
from pathlib import Path

import onnx

from codegen.resources import resource_dir

MEDIAN = resource_dir("examples") / "plugins" / "median"
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


def spoiled(folder: Path, old: str, new: str, file: str = "median_ops.py") -> Path:
    """The plug-in in a copy of its folder, one of whose files now says something else."""
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new), encoding="utf-8")
    return folder / "median_ops.py"
