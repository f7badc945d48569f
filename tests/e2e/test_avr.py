"""Networks for a chip whose int has 16 bits, built as its firmware is; simavr runs their self-tests."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest

from codegen.emit import fill_pattern
from codegen.errors import ModelRejected, OptionBad
from codegen.golden.interface import graph_ports
from codegen.ir.quant import DType, TensorType
from codegen.pipeline import Options, compile_file
from codegen.preprocess import load_preprocess
from codegen.process import check_program, run_program
from codegen.verbs.camera import with_camera
from tests.e2e.projects import DIGITS, NETWORKS, TINY, Project, build, compiled, run, written
from tests.support.shared import ROOT
from tests.support.simavr import on_simavr
from tests.support.tools import require_tool

FLAGS = ("-mmcu=atmega2560", "-std=gnu99", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wundef", "-Werror")
_MAIN = """
#include <avr/io.h>
int NAME_selftest(void);
static void say(const char *text)
{
    for (; *text != 0; text++) {
        while ((UCSR0A & (1 << UDRE0)) == 0) {
        }
        UDR0 = (uint8_t)*text;
    }
}
int main(void)
{
    UCSR0B = 1 << TXEN0;
    say(NAME_selftest() == 0 ? "all vectors right\\n" : "wrong\\n");
    for (;;) {
    }
}
"""


def self_test(made: Project, folder: Path, level: str) -> str:
    """What the self-test says on the chip."""
    require_tool("avr-gcc")
    main = folder / "main.c"
    main.write_text(_MAIN.replace("NAME", made.name))
    sources = [*made.sources, made.folder / "test" / "selftest.c", main]
    program = build("avr-gcc", (level,), sources, folder / "p.elf", includes=made.includes, warnings=FLAGS)
    return on_simavr(program)


SERVED = ("residual", "conv_chain", "pulled")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("requant", ["single", "tflite"])
@pytest.mark.parametrize("network", SERVED)
def test_an_int_of_16_bits_gives_the_same_bits(network: str, requant: str, tmp_path: Path) -> None:
    made = written(tmp_path / network, compiled(network, requant, target="avr"))
    assert "all vectors right" in self_test(made, tmp_path, "-Os" if requant == "single" else "-O2")


def test_weights_stay_in_program_memory(tmp_path: Path) -> None:
    require_tool("avr-gcc", "avr-size")
    made = written(tmp_path / "p", compile_file(DIGITS, Options(target="avr", name="digits")))
    weights = made.folder / "src" / "digits_weights.c"
    built = build("avr-gcc", ("-Os", "-c"), [weights], tmp_path / "w.o", includes=made.includes, warnings=FLAGS)
    sizes = check_program(["avr-size", "-A", built], timeout_s=60).stdout.decode()
    rows = {line.split()[0]: int(line.split()[1]) for line in sizes.splitlines() if line.startswith(".")}
    flash = sum(size for name, size in rows.items() if name.startswith(".progmem"))
    assert flash == made.compiled.program.packed_bytes
    assert rows[".data"] + rows[".bss"] == 0


_CAMERA = """
#include <avr/io.h>
#include "digits_preprocess.h"
#include "lam_crc32.h"
static digits_preprocess_t pre;
static uint8_t line[3][DIGITS_PREPROCESS_LINE_BYTES];
static uint32_t state = 1;
static int8_t row[8];
static uint32_t crc;
static void fill(uint8_t *to)
{
    for (int i = 0; i < DIGITS_PREPROCESS_LINE_BYTES; i++) {
        state = state * 1664525u + 1013904223u;
        to[i] = (uint8_t)(state >> 24);
    }
}
int main(void)
{
    const char *said = "wrong\\n";
    UCSR0B = 1 << TXEN0;
    digits_preprocess_begin(&pre, 0);
    for (int y = 0; y < DIGITS_PREPROCESS_HEIGHT; y++) {
        fill(line[0]);
        fill(line[1 + y % 2]); /* colours are those of the even lines */
        (void)digits_preprocess_line(&pre, LINES);
        while (digits_preprocess_row(&pre, row) == LAM_OK) {
            crc = lam_crc32(crc, row, sizeof(row));
        }
    }
    if (crc == EXPECTED) {
        said = "vectors right\\n";
    }
    for (; *said != 0; said++) {
        while ((UCSR0A & (1 << UDRE0)) == 0) {
        }
        UDR0 = (uint8_t)*said;
    }
    for (;;) {
    }
}
"""


@pytest.mark.parametrize("kind", ["nv12", "bayer_grbg"])
def test_lines_of_a_camera_become_the_same_rows(kind: str, tmp_path: Path) -> None:
    """Tables in program memory, sums of an int of 16 bits; a second plane has a line for each two of the first."""
    require_tool("avr-gcc")
    table, size = tmp_path / "camera.toml", (19, 22)
    keys = f'format = "{kind}"\nsize = {list(size)}\nresize = [8, 8]\nkeep_aspect = true\ncolor = "gray"\n'
    table.write_text(f'[preprocess]\n{keys}divide = 255\nlayout = "NHWC->NCHW"\n')
    options = Options(target="avr", name="digits", vectors=0)
    made = written(tmp_path / "p", with_camera(compile_file(DIGITS, options), table, options))
    how, ports = load_preprocess(table), graph_ports(made.compiled.imported)[0]
    (drawn,) = fill_pattern(1, [TensorType((size[0], 2, size[1]), DType.U8)])
    planes = [drawn[:, 0], drawn[0::2, 1]] if kind == "nv12" else [drawn[:, 0]]
    frame = np.concatenate([plane.reshape(-1) for plane in planes])
    golden = ports[0].to_network(how.apply(frame, ports[0].model_shape, ports[0].model_dtype))
    main = tmp_path / "main.c"
    lines = "line[0], line[1]" if kind == "nv12" else "line[0]"
    main.write_text(_CAMERA.replace("EXPECTED", f"{zlib.crc32(golden.tobytes())}u").replace("LINES", lines))
    sources = [*made.sources, main]
    program = build("avr-gcc", ("-Os",), sources, tmp_path / "p.elf", includes=made.includes, warnings=FLAGS)
    assert "vectors right" in on_simavr(program)


def test_every_header_of_the_runtime_is_right_for_an_int_of_16_bits(tmp_path: Path) -> None:
    headers = sorted(path.name for path in (ROOT / "runtime_c" / "include").glob("lam_*.h"))
    headers.remove("lam_anchors.h")  # it refuses a double of 32 bits, which is what AVR has
    source = tmp_path / "all.c"
    source.write_text("".join(f'#include "{name}"\n' for name in ("lam_avr.h", *headers)))
    build("avr-gcc", ("-c",), [source], tmp_path / "x.o", includes=[f"-I{ROOT / 'runtime_c/include'}"], warnings=FLAGS)


def test_the_same_c_runs_on_the_host(tmp_path: Path) -> None:
    require_tool("gcc")
    made = written(tmp_path / "p", compile_file(TINY, Options(target="avr", name="tiny")))
    sources = [*made.sources, made.folder / "test" / "selftest.c", made.folder / "test" / "main.c"]
    assert (
        run(build("gcc", ("-O1",), sources, tmp_path / "p.out", includes=made.includes)) == "tiny: all vectors right\n"
    )


def test_other_targets_c_refuses_an_int_of_16_bits(tmp_path: Path) -> None:
    require_tool("avr-gcc")
    made = written(tmp_path / "p", compile_file(TINY, Options(target="generic", name="tiny")))
    assert "runtime/lam_avr.h" not in made.compiled.files
    assert not any(b"LAM_FLASH" in data for data in made.compiled.files.values())
    argv = ["avr-gcc", "-mmcu=atmega2560", "-std=gnu99", "-c", *made.includes, str(made.sources[0])]
    assert b"int_has_32_bits" in run_program([*argv, "-o", str(tmp_path / "x.o")], timeout_s=60).stderr
    strict = written(tmp_path / "q", compile_file(TINY, Options(target="avr", name="tiny")))
    argv = ["avr-gcc", "-mmcu=atmega2560", "-std=c99", "-c", *strict.includes, str(strict.sources[0])]
    assert b"gnu mode" in run_program([*argv, "-o", str(tmp_path / "x.o")], timeout_s=60).stderr


def test_what_the_chip_has_no_kernels_for_is_refused() -> None:
    with pytest.raises(OptionBad, match="blob"):
        compile_file(TINY, Options(target="avr", weights="blob"))
    with pytest.raises(ModelRejected):
        NETWORKS["digits_as_trained"](Options(target="avr"))


def test_the_arduino_library_has_the_layout_that_arduino_asks_for(tmp_path: Path) -> None:
    made = written(tmp_path / "p", compile_file(DIGITS, Options(name="digits", package=("arduino",))))
    library = made.folder / "arduino" / "digits"
    said = dict(line.split("=", 1) for line in (library / "library.properties").read_text().splitlines())
    asked = "name version author maintainer sentence paragraph category url architectures includes"
    assert list(said) == asked.split()
    assert said["name"] == library.name == "digits"
    assert said["version"].count(".") == 2
    assert (library / "src" / said["includes"]).is_file()
    assert all(path.parent == library / "src" for path in library.rglob("*.[ch]"))
