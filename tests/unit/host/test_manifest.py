"""A project's manifest.json: a sound one is read, a damaged one refused before anything is built."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest

from codegen.errors import CompileError
from codegen.host import read_manifest
from codegen.pipeline import Options, compile_file
from tests.support.shared import ROOT

DELETED = object()
SOUND: dict[str, Any] = json.loads(
    compile_file(ROOT / "examples" / "tiny" / "tiny_qdq.onnx", Options(target="cortex-m4")).files["manifest.json"]
)
DAMAGE: tuple[tuple[tuple[str | int, ...], object], ...] = (
    *(((key,), DELETED) for key in ("name", "target", "inputs", "outputs", "tensors", "plan", "arena_align", "cores")),
    *(((key,), None) for key in ("name", "inputs", "tensors", "plan", "cores", "streamed", "states")),
    *((("name",), name) for name in ("", "../../tmp/x", "a b", "x\n", 3, [], "X -o /tmp/x")),
    *((("cores",), number) for number in (0, -1, 10**9, 1.5, "2")),
    *((("arena_align",), number) for number in (0, 3, -16, 1 << 40)),
    *((("plan", "memories", 0, "bytes"), number) for number in (-1, 1 << 62, "1", None)),
    (("plan", "memories"), []),
    (("plan", "memories", 0, "memory"), "x); system("),
    *((("inputs", 0, key), "nonsense") for key in ("dtype", "scale", "perm")),
    (("inputs", 0, "shape"), 3),
    (("inputs", 0), 7),
    (("outputs", 0, "tensor"), DELETED),
    (("tensors", 0, "dtype"), "s7"),
    (("tensors", 0, "shape"), ["x"]),
    (("weights_file",), "../../etc/passwd"),
    (("tool",), "other"),
)


def folder_with(text: str | bytes, folder: Path) -> Path:
    (folder / "manifest.json").write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def test_a_sound_manifest_is_read(tmp_path: Path) -> None:
    assert read_manifest(folder_with(json.dumps(SOUND), tmp_path)) == SOUND


@pytest.mark.parametrize(("place", "value"), DAMAGE, ids=lambda x: "deleted" if x is DELETED else str(x)[:40])
def test_a_damaged_manifest_is_refused(place: tuple[str | int, ...], value: object, tmp_path: Path) -> None:
    manifest = copy.deepcopy(SOUND)
    *way, last = place
    inner: Any = manifest
    for key in way:
        inner = inner[key]
    if value is DELETED:
        del inner[last]
    else:
        inner[last] = value
    with pytest.raises(CompileError) as error:
        read_manifest(folder_with(json.dumps(manifest), tmp_path))
    assert error.value.code == "LAM-HOST-001"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "[" * 100000, "1" * 5000, '{"tool": "lamina"}', b"\xff\xfe", "null", '{"tool": NaN}']
)
def test_what_is_no_manifest_is_refused(text: str | bytes, tmp_path: Path) -> None:
    with pytest.raises(CompileError) as error:
        read_manifest(folder_with(text, tmp_path))
    assert error.value.code == "LAM-HOST-001"


def test_a_manifest_that_is_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "manifest.json")
    with pytest.raises(CompileError) as error:
        read_manifest(tmp_path)
    assert error.value.code == "LAM-API-020"
    with pytest.raises(CompileError) as error:
        read_manifest(tmp_path / "none")
    assert error.value.code == "LAM-HOST-001"
