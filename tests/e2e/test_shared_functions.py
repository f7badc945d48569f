"""Functions that serve several shapes: one text for all of them, the same results, at no more than is allowed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import onnx
import pytest

import codegen
from codegen import pipeline
from codegen.emit import sharing
from codegen.emit.functions import PLACE, told_view
from codegen.emit.render import render_kernel
from codegen.emit.sharing import shared
from codegen.host import WARNINGS
from codegen.ir.program import KernelFn, Program
from codegen.pipeline import Options, compile_file
from codegen.process import check_program
from codegen.report.profile import Profile
from codegen.target import load_target
from tests.contract.test_clean_c import idle
from tests.support.networks import FloatNet, network_path, quantized
from tests.support.shared import shared_dir
from tests.support.tools import require_board, require_tool

CHIPS = ("cortex-m4", "cortex-m55", "cortex-m3", "cortex-m0plus", "rv32imc")
MCUNET = "mcunet_vww_80"
MOST_CODE = 40 * 1024
"""Bytes of code and read-only data without weights, on a Cortex-M4."""


def many_shapes() -> onnx.ModelProto:
    """Pointwise and depthwise layers of many widths and channels, some of them odd, and of windows of 3, 5 and 7."""
    net = FloatNet("many_shapes", (4, 20, 20))
    x = net.x
    for channels, kernel, stride in (
        (18, 3, 1),
        (21, 3, 2),
        (32, 3, 1),
        (40, 5, 1),
        (48, 7, 2),
        (64, 7, 1),
        (30, 5, 2),
    ):
        x = net.relu6(net.conv(x, channels, 1))
        x = net.relu6(net.conv(x, channels, kernel, stride, groups=channels))
        x = net.add(net.conv(x, channels, 1), x)
    return net.model(net.classify(x, 3))


def groups_of(program: Program) -> dict[str, list[KernelFn]]:
    """The shapes that each shared function serves."""
    found: dict[str, list[KernelFn]] = {}
    for fn in program.functions:
        if fn.shape is not None:
            found.setdefault(fn.code, []).append(fn)
    return found


def text_of(fn: KernelFn) -> str:
    """The function as it is spelled for one of its shapes."""
    assert fn.shape
    return render_kernel(told_view(replace(fn, symbol="one"), "net", dict.fromkeys(fn.shape.numbers, "int32_t")))


@pytest.mark.parametrize("chip", CHIPS)
def test_a_function_is_spelled_alike_for_each_of_its_shapes(chip: str) -> None:
    program = compile_file(network_path(MCUNET), Options(target=chip)).program
    groups = groups_of(program)
    assert groups
    for code, fns in groups.items():
        assert fns[0].symbol == code
        assert len(fns) > 1
        assert len({text_of(fn) for fn in fns}) == 1
        assert idle(text_of(fns[0])) == []
        for fn in fns:
            assert fn.shape
            for name, value in fn.shape.numbers.items():
                place = name.removeprefix(PLACE)
                assert value == (fn.offsets[place] if name.startswith(PLACE) else getattr(fn.context, name))
            same = [o for o in fns if o.shape and dict(o.shape.numbers) == dict(fn.shape.numbers)]
            assert len(same) == 1, "two shapes that are told the same are one"


def as_lowered(program: Program) -> Program:
    """The program with a function for each shape."""
    plain = {fn.symbol: replace(fn, shape=None) for fn in program.functions}
    groups = tuple(
        replace(group, calls=tuple(replace(call, fn=plain[call.fn.symbol]) for call in group.calls))
        for group in program.groups
    )
    return replace(program, functions=tuple(plain.values()), groups=groups)


def test_nothing_is_shared_where_no_instruction_may_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    program = as_lowered(compile_file(network_path(MCUNET), Options(target="cortex-m4")).program)
    assert shared(program, "armv7em", 0.0) is program
    monkeypatch.setattr(sharing, "_WORTH", 1 << 30)
    assert shared(program, "armv7em", 1e12) is program


def test_with_less_to_spare_fewer_shapes_are_told() -> None:
    program = as_lowered(compile_file(network_path(MCUNET), Options(target="cortex-m4")).program)

    def told(instructions: float) -> int:
        return sum(fn.shape is not None for fn in shared(program, "armv7em", instructions).functions)

    assert 2 <= told(3e6) < told(8e6) < told(1e9)


@pytest.mark.parametrize("chip", [*CHIPS, "generic"])
def test_every_tensor_is_equal_on_shapes_of_all_kinds(chip: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever could be shared is, whatever it costs."""
    if chip != "generic":
        require_board(chip)
    monkeypatch.setattr(sharing, "_SPARE", 1e9)
    monkeypatch.setattr(sharing, "_WORTH", -(1 << 30))
    path = quantized("many_shapes", many_shapes)
    assert groups_of(compile_file(path, Options(target=chip)).program)
    for mode in ("single", "tflite"):
        found = codegen.verify(path, target=chip, requant=mode, samples=2)
        assert found.equal, found.first_difference and found.first_difference.text()


@pytest.mark.parametrize("chip", CHIPS)
def test_shared_functions_compile_without_a_warning(chip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "_SPARE", 1e9)
    monkeypatch.setattr(sharing, "_WORTH", -(1 << 30))
    tools = load_target(chip).toolchain
    assert tools
    require_tool(tools.cc)
    made = codegen.compile_model(quantized("many_shapes", many_shapes), chip, tmp_path / "net").path
    includes = [f"-I{made / folder}" for folder in ("include", "runtime", "src")]
    for source in (made / "src").glob("*.c"):
        flags = [*tools.cflags, "-O2", *WARNINGS, "-Wvla", "-Wcast-align", "-Wshadow"]
        check_program([tools.cc, *flags, *includes, "-c", source, "-o", tmp_path / "made.o"], timeout_s=120)


def test_functions_that_differ_in_nothing_they_are_told_stay_apart(tmp_path: Path) -> None:
    """Two layers of one shape whose parameters differ: a struct of no members would be no C."""
    model = shared_dir() / "models" / "mlperf_tiny_onnx" / "resnet8_qdq_sym.onnx"
    project = codegen.compile_model(model, "generic", tmp_path / "project", requant="ort")
    assert "_told = {}" not in (project.path / "src" / "resnet8_qdq_sym.c").read_text(encoding="utf-8")
    require_tool("cc")
    out = tmp_path / "made.o"
    includes = [f"-I{project.path / folder}" for folder in ("include", "runtime", "src")]
    source = project.path / "src" / "resnet8_qdq_sym.c"
    check_program(["cc", "-std=c99", "-Werror", *includes, "-c", source, "-o", out], timeout_s=120)


def test_a_blob_of_weights_serves_shared_functions(tmp_path: Path) -> None:
    require_board("cortex-m4")
    assert codegen.verify(network_path(MCUNET), target="cortex-m4", weights="blob", samples=1).equal


def test_inspect_says_which_shapes_have_one_function() -> None:
    found = codegen.inspect(network_path(MCUNET), target="cortex-m4")
    said = [row.form for row in found.layers if "one function for" in row.form]
    assert said
    assert all("told " in form for form in said)


def measured(chip: str, path: Path) -> Profile:
    require_board(chip)
    return codegen.profile(path, chip)


def code_of(found: Profile) -> int:
    """Code and read-only data without weights."""
    assert None not in (found.text_bytes, found.rodata_bytes, found.weights_bytes)
    return (found.text_bytes or 0) + (found.rodata_bytes or 0) - (found.weights_bytes or 0)


@pytest.mark.slow
@pytest.mark.parametrize("chip", [chip for chip in CHIPS if chip != "cortex-m55"])
@pytest.mark.parametrize("name", [MCUNET])
def test_sharing_saves_code_for_less_than_a_hundredth_of_the_instructions(
    name: str, chip: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = measured(chip, network_path(name))
    monkeypatch.setattr(pipeline, "shared", lambda program, *_: program)
    plain = measured(chip, network_path(name))
    assert told.instructions is not None
    assert plain.instructions is not None
    assert told.instructions <= 1.01 * plain.instructions
    assert code_of(told) <= 0.97 * code_of(plain)


@pytest.mark.slow
def test_a_deep_network_stays_within_its_limit() -> None:
    found = measured("cortex-m4", network_path(MCUNET))
    assert code_of(found) <= MOST_CODE
