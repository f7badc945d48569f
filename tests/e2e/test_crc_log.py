"""The log of a self-test on the host, on emulated chips and on an AVR: right ones, and faults that it has to find."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.emulator import build_and_run
from codegen.errors import BoardRefused, LogIncomplete
from codegen.pipeline import Compiled, Options, compile_file
from codegen.process import check_program, run_program
from codegen.target import load_target
from codegen.verbs.crc_log import read_crc_log
from codegen.verbs.verify_log import LogCheck, judged
from tests.e2e.projects import DIGITS, NETWORKS, SANITIZE, TINY, Project, build, compiled, written
from tests.e2e.test_avr import FLAGS as AVR_FLAGS
from tests.support.simavr import on_simavr
from tests.support.tools import require_board, require_tool

_MAIN = """
#include <stdint.h>
{head}
void put(char sign);
int NAME_selftest(void);
void put(char sign)
{{
    {put}
}}
{weights}
int main(void)
{{
    {begin}
    const int result = NAME_selftest();
    put('\\n'); /* what a UART sends when main ends may be lost */
    return result == 0 ? 0 : 1;
}}
"""
_STDIO = ("#include <stdio.h>", "(void)fputc(sign, stdout);")
_BOARD = ('#include "lam_board.h"', "const char text[2] = {sign, 0}; lam_board_puts(text);")
_BLOB = """
#include "HEADER"
LAM_ALIGNED(16) static uint8_t weights[UPPER_WEIGHTS_SIZE];
const uint8_t *NAME_selftest_weights = weights;
"""
_READ = '(void)fread(weights, 1, sizeof(weights), fopen("weights.bin", "rb"));'


def main_of(made: Project, folder: Path, sink: tuple[str, str], *, begin: str = "") -> Path:
    """A firmware of the self-test alone."""
    blob = made.blob is not None
    text = _MAIN.format(
        head=sink[0], put=sink[1], weights=_BLOB if blob else "", begin=begin or (_READ if blob else "")
    )
    path = folder / "main.c"
    words = {"NAME": made.name, "UPPER": made.upper, "HEADER": f"{made.name}.h"}
    path.write_text(re.sub("NAME|UPPER|HEADER", lambda found: words[found[0]], text))
    return path


def macros(made: Project) -> list[str]:
    return [f"-D{made.upper}_TRACE", f"-D{made.upper}_SELFTEST_PUT=put"]


def on_host(made: Project, *flags: str, compiler: str = "gcc") -> Path:
    """The file with what the self-test says on this machine."""
    folder = made.folder.parent
    sources = [*made.sources, made.folder / "test" / "selftest.c", main_of(made, folder, _STDIO)]
    given = ("-O0", *flags, *macros(made))
    program = build(compiler, given, sources, folder / "log.out", includes=made.includes)
    log = folder / "board.log"
    log.write_bytes(run_program([str(program)], cwd=made.folder, timeout_s=240).stdout)
    return log


def check(made: Compiled, log: Path) -> LogCheck:
    return judged(made, read_crc_log(log), str(log))


def counted(made: Compiled, vectors: int = 2) -> int:
    """How many checksums a whole log has."""
    program = made.program
    rows = sum(1 for tensor in program.tensors if made.shadow.rows[tensor.value])
    inputs = 0 if program.streamed else len(program.inputs)
    return vectors * (2 if program.states else 1) * (inputs + rows + len(program.outputs))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("weights", ["c", "blob"])
@pytest.mark.parametrize("network", NETWORKS)
def test_a_right_log_is_right(network: str, weights: str, tmp_path: Path) -> None:
    made = written(tmp_path / network, compiled(network, weights=weights))
    compiler, flags = ("clang", SANITIZE) if weights == "blob" else ("gcc", ())
    require_tool(compiler)
    found = check(made.compiled, on_host(made, *flags, compiler=compiler))
    assert (found.equal, found.self_test, found.missing, found.damaged, found.starts) == (True, 0, 0, 0, 1)
    assert found.tensors_checked == counted(made.compiled)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("target", ["gap8-like", "gap8-cores"])
def test_kernels_in_a_scratchpad_are_traced_too(target: str, tmp_path: Path) -> None:
    require_tool("gcc")
    made = written(tmp_path / "net", compile_file(DIGITS, Options(target=target, name="digits")))
    assert check(made.compiled, on_host(made, "-DLAM_DMA_SYNC")).tensors_checked == counted(made.compiled)


def test_rows_that_are_pushed_are_traced_too(tmp_path: Path) -> None:
    require_tool("gcc")
    made = written(tmp_path / "net", compile_file(TINY, Options(name="tiny", stream_input=True)))
    assert check(made.compiled, on_host(made)).tensors_checked == counted(made.compiled)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("chip", ["cortex-m4", "rv32imc", "ppc32"])
def test_an_emulated_chip_says_the_same(chip: str, tmp_path: Path) -> None:
    require_board(chip)
    made = written(tmp_path / "net", compile_file(DIGITS, Options(target=chip, name="digits")))
    sources = [*made.sources, made.folder / "test" / "selftest.c", main_of(made, tmp_path, _BOARD)]
    includes = [made.folder / part for part in ("include", "runtime", "src")]
    defines = {"DIGITS_TRACE": None, "DIGITS_SELFTEST_PUT": "put"}
    target = load_target(chip)
    done = build_and_run(target, sources, includes, defines, timeout_s=300, workdir=tmp_path / "build")
    log = tmp_path / "board.log"
    log.write_bytes(done.console)
    found = check(made.compiled, log)
    assert found.equal
    assert found.tensors_checked == counted(made.compiled)


_UART = ("#include <avr/io.h>", "while ((UCSR0A & (1 << UDRE0)) == 0) {} UDR0 = (uint8_t)sign;")


def test_a_chip_with_8_kb_says_the_same(tmp_path: Path) -> None:
    require_tool("avr-gcc", "simavr")
    made = written(tmp_path / "net", compile_file(DIGITS, Options(target="avr", name="digits")))
    main = main_of(made, tmp_path, _UART, begin="UCSR0B = 1 << TXEN0;")
    sources = [*made.sources, made.folder / "test" / "selftest.c", main]
    flags = ("-Os", *macros(made))
    program = build("avr-gcc", flags, sources, tmp_path / "p.elf", includes=made.includes, warnings=AVR_FLAGS)
    log = tmp_path / "board.log"
    log.write_text(on_simavr(program))
    found = check(made.compiled, log)
    assert (found.equal, found.self_test) == (True, 0)
    assert found.tensors_checked == counted(made.compiled)


def sabotage_kernel(made: Project, number: int) -> str:
    """One bit of the kernel's results is wrong; the first tensor that it makes."""
    program = made.compiled.program
    functions = list(dict.fromkeys(call.fn.code for group in program.groups for call in group.calls))
    symbol = f"{made.name}_{functions[number % len(functions)]}"
    path = made.folder / "src" / f"{made.name}_layers.c"
    text = path.read_text()
    head = re.search(rf"^void {symbol}\(([^)]*)\)", text, re.MULTILINE)
    assert head, symbol
    taken = ", ".join(re.findall(r"(\w+)(?=,|$)", head[1]))
    y = re.findall(r"(\w+)(?=,|$)", head[1])[1]
    text = text.replace(f"void {symbol}(", f"static void right_{symbol}(", 1)
    text += f"\nvoid {symbol}({head[1]})\n{{\n    right_{symbol}({taken});\n    *(uint8_t *){y} ^= 1u;\n}}\n"
    path.write_text(text)
    calls = [call for group in program.groups for call in group.calls]
    return min(
        (t.index, t.value)
        for t in program.tensors
        for call in calls
        if f"{made.name}_{call.fn.code}" == symbol and t.value == call.outputs[0].value
    )[1]


def sabotage_weights(made: Project, number: int) -> tuple[str, str]:
    """A bias is another one in the image; the layer, and the tensor that it makes."""
    program = made.compiled.program
    chosen = [p for p in program.params if "bias" in p.offsets][number]
    path = made.folder / "src" / f"{made.name}_weights.c"
    start = path.read_text().index(f" {made.name}_p{program.params.index(chosen)} = {{")
    text = path.read_text()
    at = re.compile(r"/\* bias \*/\s+(-?\d+)").search(text, start)
    assert at
    path.write_text(text[: at.start(1)] + str(int(at[1]) ^ 0x7FFF) + text[at.end(1) :])
    calls = (call for group in program.groups for call in group.calls)
    return chosen.name, next(call.outputs[0].value for call in calls if call.params is chosen)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("network", ["digits", "residual"])
def test_a_broken_kernel_is_named(network: str, number: int, tmp_path: Path) -> None:
    require_tool("gcc")
    made = written(tmp_path / network, compiled(network))
    tensor = sabotage_kernel(made, number)
    found = check(made.compiled, on_host(made))
    assert found.first_difference
    assert (found.first_difference.kind, found.first_difference.tensor) == ("tensor", tensor)
    assert found.first_difference.layer == made.compiled.graph.producers[tensor].name
    assert not found.wrong_weights
    assert "what it wrote is not" in found.first_difference.meaning


@pytest.mark.parametrize(("network", "number"), [("digits", 0), ("digits", 1), ("residual", 0), ("residual", 1)])
def test_broken_weights_are_named(network: str, number: int, tmp_path: Path) -> None:
    require_tool("gcc")
    made = written(tmp_path / network, compiled(network))
    layer, tensor = sabotage_weights(made, number)
    found = check(made.compiled, on_host(made))
    assert found.wrong_weights == (layer,)
    assert found.first_difference
    assert found.first_difference.tensor == tensor
    assert "weights in the board's memory" in found.first_difference.meaning


def test_weights_that_init_refuses_are_named_by_their_layer(tmp_path: Path) -> None:
    require_tool("gcc")
    made = written(tmp_path / "net", compiled("digits", weights="blob"))
    blob = bytearray((made.folder / "weights.bin").read_bytes())
    second = made.compiled.program.params[1]
    blob[64 + second.offset] ^= 1
    (made.folder / "weights.bin").write_bytes(blob)
    found = check(made.compiled, on_host(made))
    assert (found.wrong_weights, found.tensors_checked, found.self_test) == ((second.name,), 0, -1)


def test_an_arena_that_lies_wrong_is_said_by_its_status(tmp_path: Path) -> None:
    require_tool("gcc")
    made = written(tmp_path / "net", compiled("digits"))
    path = made.folder / "test" / "selftest.c"
    path.write_text(
        path.read_text()
        .replace("_MEMORY(ARENA)", "_MEMORY(ARENA); memory.arena++")
        .replace(f"const {made.name}_memory", f"{made.name}_memory")
    )
    with pytest.raises(BoardRefused, match="LAM_ERROR_ARENA_ALIGN"):
        check(made.compiled, on_host(made))


def test_a_board_that_stops_says_in_which_layer(tmp_path: Path) -> None:
    require_tool("gcc")
    made = written(tmp_path / "net", compiled("digits"))
    path = made.folder / "src" / f"{made.name}_layers.c"
    kernel = made.compiled.program.groups[-1].calls[-1].fn.code
    text = re.sub(
        rf"(?m)^(void {made.name}_{kernel}\([^)]*\)\n{{)", r"#include <stdlib.h>\n\1\n    exit(3);", path.read_text()
    )
    assert text != path.read_text()
    path.write_text(text)
    layer = made.compiled.program.groups[-1].calls[-1].node.name
    with pytest.raises(LogIncomplete, match=re.escape(f"of layer {layer} ")):
        check(made.compiled, on_host(made))


def test_it_costs_nothing_when_it_is_off(tmp_path: Path) -> None:
    """Neither in the network, which does not know of it, nor in the self-test."""
    require_tool("gcc", "nm")
    made = written(tmp_path / "net", compiled("digits"))
    assert not any("SELFTEST_PUT" in path.read_text() for path in (*made.sources, *made.folder.rglob("*.h")))
    object_file = build(
        "gcc", ("-c", "-Os"), [made.folder / "test" / "selftest.c"], tmp_path / "s.o", includes=made.includes
    )
    names = check_program(["nm", str(object_file)], timeout_s=60).stdout.decode()
    assert not re.search("log_|put_|traced|rows_left", names)


def test_the_trace_has_to_be_on(tmp_path: Path) -> None:
    require_tool("gcc")
    made = written(tmp_path / "net", compiled("digits"))
    argv = ["gcc", "-c", *made.includes, f"-D{made.upper}_SELFTEST_PUT=put", str(made.folder / "test" / "selftest.c")]
    assert (
        f"needs -D{made.upper}_TRACE".encode() in run_program([*argv, "-o", str(tmp_path / "x.o")], timeout_s=60).stderr
    )
