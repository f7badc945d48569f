"""The commands that a report tells: read again, they say the options that the report was made with."""

from __future__ import annotations

import shlex
from dataclasses import fields, replace
from typing import Any

import pytest

from codegen.cli.compile_command import command
from codegen.options import Options
from codegen.verbs.report.spelled import spelled

SAID: dict[str, Any] = {
    "requant": "tflite",
    "weights": "blob",
    "io_layout": "model",
    "io_type": "model",
    "name": "net",
    "goal": "memory",
    "arena_limit": 4096,
    "stream_input": True,
    "input_outside": True,
    "max_recompute": 12.5,
    "model_version": "it's 2",
    "package": ("cmake", "rust"),
    "float_sums": "fused",
    "float_weights": "s4",
    "shapes": (("the input", (1, 3, 8, 8)), ("y", (2,))),
    "weights_buffer": 4096,
    "pinned": ("conv*",),
    "mapped": ("a b", "c"),
}
LEFT_OUT = {"target", "labels", "vectors"}


def _read(words: tuple[str, ...]) -> dict[str, Any]:
    context = command.make_context("compile", shlex.split(" ".join(("m.onnx", "-o", "out", *words))))
    return context.params


def test_every_option_is_tried() -> None:
    assert SAID.keys() | LEFT_OUT == {f.name for f in fields(Options)}


@pytest.mark.parametrize("name", SAID)
def test_an_option_is_read_as_it_was(name: str) -> None:
    options = replace(Options(), **{name: SAID[name]})
    given = _read(spelled(options))
    assert replace(Options(), **{name: given[name]}) == options


def test_what_has_its_default_is_not_said() -> None:
    assert spelled(Options(target="cortex-m4", labels=("a",), vectors=7)) == ()


def test_what_is_said_besides_wins() -> None:
    options = Options(goal="memory", stream_input=True)
    assert spelled(options, ("--goal", "speed")) == ("--stream-input", "--goal", "speed")
