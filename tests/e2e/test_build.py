"""Networks from calls: those of the tests' models rebuilt by calls compile to the same bytes, file by file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.errors import CompileError
from codegen.frontends import read_real
from codegen.frontends.models import own_mode
from codegen.options import Options
from codegen.pipeline import Compiled, compile_file
from codegen.resources import resource_dir
from tests.support.rebuilt import rebuilt
from tests.support.shared import ROOT, shared_dir

SHARED = ROOT.parent / "shared" / "models"
MODELS = sorted(SHARED.rglob("*.onnx")) if SHARED.is_dir() else []
EXAMPLES = sorted(resource_dir("examples").rglob("*.onnx"))


def files_of(path: Path, options: Options) -> tuple[dict[str, bytes], dict[str, bytes]] | None:
    """The C of a file, and that of the network rebuilt by calls; None where both are refused alike.

    Numbers are float32 once they are read: that a file held them in 16 bits is not known of what is called.
    """
    options = replace(options, name="rebuilt", requant=options.requant or own_mode(path))
    if holds_halves(path):
        options = replace(options, float_weights="f32")
    digest = hashlib.sha256(path.read_bytes()).digest()
    given = outcome(lambda: compile_file(path, options))
    made = outcome(lambda: rebuilt(read_real(path)).compiled(options, digest))
    if isinstance(given, str) or isinstance(made, str):
        assert given == made, path
        return None
    return given, made


def holds_halves(path: Path) -> bool:
    """Whether the file is read, and holds floats of 16 bits."""
    try:
        return bool(read_real(path).halves)
    except CompileError:
        return False


def outcome(compiled: Callable[[], Compiled]) -> dict[str, bytes] | str:
    """The files, or the refusal."""
    try:
        return dict(compiled().files)
    except CompileError as error:
        return str(error)


def check(paths: Sequence[Path], target: str = "host") -> int:
    """How many were the same."""
    same = 0
    for path in paths:
        found = files_of(path, Options(target=target, vectors=1))
        if found is not None:
            given, made = found
            differing = [name for name in given if given[name] != made.get(name)]
            assert not differing, path
            assert len(given) == len(made), path
            same += 1
    return same


@pytest.mark.parametrize("target", ["host", "cortex-m4"])
def test_the_examples_rebuilt_by_calls_are_the_same_bytes(target: str) -> None:
    assert check(EXAMPLES, target) >= 2


def test_small_files_rebuilt_by_calls_are_the_same_bytes() -> None:
    shared_dir()
    smallest = sorted(MODELS, key=lambda path: (path.stat().st_size, path))
    assert check(smallest[5:300:60]) >= 3


PARTS = 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_file_rebuilt_by_calls_is_the_same_bytes(part: int) -> None:
    """All ONNX files beside the checkout; those that are refused are refused in both ways."""
    shared_dir()
    assert check(MODELS[part::PARTS]) > 20
