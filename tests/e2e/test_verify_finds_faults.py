"""`verify` is worth what it finds: faults are put into the generated C, on the host and on chips, and must be named."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import codegen.verbs.verify
from codegen.api import verify
from codegen.golden.compare import Difference
from codegen.pipeline import Compiled, Options, compile_file
from codegen.target import load_target
from codegen.toolkit import Toolkit
from codegen.verbs.verify import VerifyResult
from tests.e2e.projects import DIGITS
from tests.support.tools import require_tool

TARGETS = ("host", "cortex-m4", "ppc32")
Change = Callable[[str], str]


def verify_changed(target: str, file: str, change: Change, monkeypatch: pytest.MonkeyPatch) -> VerifyResult:
    """What `verify` says of a project in which one file was changed after it was generated."""
    board, toolchain = load_target(target).board, load_target(target).toolchain
    if board and toolchain:
        require_tool(toolchain.cc, board.emulator[0])

    def compile_changed(model: Path, options: Options, toolkit: Toolkit) -> Compiled:
        made = compile_file(model, options, toolkit)
        before = made.files[file].decode("ascii")
        after = change(before)
        assert after != before
        return replace(made, files={**made.files, file: after.encode("ascii")})

    monkeypatch.setattr(codegen.verbs.verify, "compile_file", compile_changed)
    return verify(DIGITS, target=target, samples=2)


def other_weight(text: str) -> str:
    """The first weight of the first layer is another."""
    before, mark, after = text.partition("{ /* weights */")
    return before + mark + re.sub(r"0x[0-9a-f]+|-?\d+", lambda found: _other(found[0]), after, count=1)


def _other(number: str) -> str:
    """Another number of the same kind: a packed word with other bits, or a weight."""
    if number.startswith("0x"):
        return f"0x{int(number, 16) ^ 0x55:08x}"
    return "-77" if number != "-77" else "77"


def scribble(text: str) -> str:
    """Everything in the arena is damaged after the last layer."""
    last = text.rindex("return LAM_OK;")
    loop = "for (int32_t i = 0; i < DIGITS_QDQ_ARENA_SIZE; i++) {\n        net->arena[i] ^= 1;\n    }\n    "
    return text[:last] + loop + text[last:]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("target", TARGETS)
def test_a_wrong_weight_is_found_and_the_first_wrong_element_named(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = compile_file(DIGITS, Options(target=target)).program.tensors[0].value
    result = verify_changed(target, "src/digits_qdq_weights.c", other_weight, monkeypatch)
    assert not result.equal
    found = result.first_difference
    assert isinstance(found, Difference)
    assert found.tensor == first
    assert found.expected != found.actual
    assert 0 < found.count < found.elements


@pytest.mark.one_in(3)
@pytest.mark.parametrize("target", TARGETS)
def test_an_output_that_is_damaged_after_it_was_made_is_found(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = verify_changed(target, "src/digits_qdq.c", scribble, monkeypatch)
    assert not result.equal
    assert result.first_difference is not None
