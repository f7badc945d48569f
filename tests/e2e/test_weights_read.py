"""Weights read into a buffer by the firmware's hooks: late, in another order, failing; every tensor equals golden."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.emit import array_lines, write_project
from codegen.errors import CompileError
from codegen.golden.interface import made_rows
from codegen.golden.interpreter import run_graph
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.quant import DType
from codegen.ir.shape import Window
from codegen.ir.verify import IrError
from codegen.ops import Conv2D
from codegen.options import LEAST_BUFFER
from codegen.pipeline import Compiled, Options, compile_file, compile_graph
from codegen.prove import prove
from codegen.target import load_target
from tests.e2e.projects import DIGITS, HOST_C, SANITIZE, build, host_macros, random_feeds, require_build, run, written
from tests.e2e.reads import BEGINNING, numbers_of
from tests.support.graphs import HALF, Sketch, conv_chain, residual, spread_requant
from tests.support.networks import network_path
from tests.support.real import model_path
from tests.support.shared import ROOT, shared_dir
from tests.support.tools import require_tool


def depthwise() -> Graph:
    """A convolution, a depthwise one with padding, and one of an odd number of channels."""
    sketch = Sketch("depthwise", seed=4)
    y = sketch.conv(sketch.input((1, 9, 7, 6)), 50)
    rng = np.random.default_rng(8)
    w, b = rng.integers(-128, 128, (50, 3, 3, 1)).astype(np.int8), rng.integers(-99, 99, 50).astype(np.int32)
    side = Window(3, 1, 1, 1)
    op = Conv2D(side, side, 50, 0, spread_requant("single", w, DType.S8), DType.S8, HALF)
    y = sketch.apply(op, y, sketch.const(w), sketch.const(b))
    return sketch.graph(sketch.conv(y, 37))


GRAPHS: dict[str, Callable[[], Graph]] = {"residual": residual, "conv_chain": conv_chain, "depthwise": depthwise}
EMULATED = (
    ("cortex-m4", ("arm-none-eabi-gcc", "qemu-system-arm")),
    ("rv32imc", ("riscv64-unknown-elf-gcc", "qemu-system-riscv32")),
)
TARGETS = ("host", "generic", "cortex-m4", "cortex-m55")


def least(graph: Graph, **options: object) -> int:
    """The least buffer that a network can be read through, as its refusal says."""
    said = ""
    try:
        through(graph, LEAST_BUFFER, **options)
    except CompileError as error:
        said = str(error)
    found = re.search(r"--weights-buffer (\d+)", said)
    return int(found[1]) if found else LEAST_BUFFER


def through(graph: Graph, buffer: int, **options: object) -> Compiled:
    chosen = Options(weights_buffer=buffer, vectors=1, **options)  # type: ignore[arg-type]
    return compile_graph(graph, load_target(chosen.target), chosen)


def check(made: Compiled, folder: Path) -> None:
    """Every tensor of the C, on reads as bad as may be, is golden's."""
    write_project(folder, made.files)
    with Network(folder, trace=True, flags=("-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all")) as net:
        for feeds in random_feeds(made, 1):
            golden = run_graph(made.graph, feeds)
            outputs, tensors = net.trace_raw(feeds)
            wrong = [n for n, x in tensors.items() if not np.array_equal(x, made_rows(golden[n], made.shadow.rows[n]))]
            assert wrong + [n for n, x in outputs.items() if not np.array_equal(x, golden[n])] == []


@pytest.mark.one_in(12)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("network", GRAPHS)
def test_every_tensor_equals_golden(network: str, target: str, tmp_path: Path) -> None:
    graph = GRAPHS[network]()
    smallest = least(graph, target=target)
    for goal, buffer in (("balanced", smallest), ("memory", 3 * smallest)):
        made = through(graph, buffer, target=target, goal=goal)
        weights = made.program.weights
        assert weights is not None
        assert weights.bytes <= buffer
        assert made.program.arena_bytes == weights.offset + weights.bytes
        check(made, tmp_path / goal)


def test_slices_of_every_kind_are_met() -> None:
    """Packed in a row and copied, made in place, cut out of the input; the last one over the one before it."""
    made = through(depthwise(), least(depthwise(), target="generic"), target="generic")
    sliced = [call.slices for group in made.program.groups for call in group.calls if call.slices]
    assert any(s.gathered for s in sliced)
    assert any(s.staged and not s.gathered for s in sliced)
    assert any(s.last % s.step for s in sliced)
    dense = Sketch("dense", seed=1)
    made = through(dense.graph(dense.dense(dense.input((1, 64)), 40)), 512, target="generic")
    assert made.program.groups[0].calls[0].slices is not None
    assert made.program.groups[0].calls[0].slices.staged is None
    assert not any("copy_pieces" in str(text) for text in made.files.values())


@pytest.mark.parametrize(("target", "tools"), EMULATED)
def test_the_emulated_chip_reads_its_weights(target: str, tools: tuple[str, ...]) -> None:
    require_tool(*tools)
    found = codegen.verify(DIGITS, target=target, weights_buffer=4096, samples=1)
    assert found.equal, found.first_difference


def test_a_layer_that_sums_four_channels_at_a_time_sums_fewer_where_the_buffer_is_smaller(tmp_path: Path) -> None:
    sketch = Sketch("dense", seed=1)
    graph = sketch.graph(sketch.dense(sketch.input((1, 1000)), 24))
    wide, narrow = (through(graph, size, target="cortex-m4") for size in (8192, 2500))
    kernels = [made.program.groups[0].calls[0].fn.kernel for made in (wide, narrow)]
    assert kernels[0] == "dsp_dense" != kernels[1]
    check(narrow, tmp_path)
    found = least(graph, target="cortex-m4")
    assert 1000 < found < 1200
    assert through(graph, found, target="cortex-m4").program.weights is not None
    with pytest.raises(CompileError, match="LAM-SCHEDULE-306"):
        through(graph, found - 16, target="cortex-m4")


@pytest.mark.parametrize("buffer", [4096, 16384])
def test_resnet8_equals_golden(buffer: int) -> None:
    found = codegen.verify(model_path("resnet8_qdq"), weights_buffer=buffer, samples=1)
    assert found.equal, found.first_difference


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "buffer"),
    [
        ("tflite", 16384),
        *(pytest.param(*p, marks=pytest.mark.slow) for p in (("tflite", 4096), ("onnx", 4096), ("onnx", 16384))),
    ],
)
def test_mobilenet_v2_equals_golden(model: str, buffer: int) -> None:
    path = shared_dir() / "models" / "tflite" / "mobilenet_v2_int8.tflite"
    path = path if model == "tflite" else network_path("mobilenet_v2_1.0_224")
    found = codegen.verify(path, weights_buffer=buffer, samples=1)
    assert found.equal, found.first_difference


def test_rows_that_are_pushed_find_their_weights() -> None:
    found = codegen.verify(model_path("resnet8_qdq"), weights_buffer=6000, stream_input=True, samples=1)
    assert found.equal, found.first_difference


def test_most_reads_begin_before_they_are_needed() -> None:
    weights = compile_file(model_path("resnet8_qdq"), Options(weights_buffer=4096, vectors=0)).program.weights
    assert weights is not None
    assert sum(read.after < read.use for read in weights.reads) > 0.9 * len(weights.reads)
    assert weights.under_way > 1


def test_the_arena_grows_by_the_buffer_and_no_more() -> None:
    for network, buffer in (("resnet8_qdq", 4096), ("resnet8_qdq", 16384), ("kws_qdq", 4096)):
        plain, read = (compile_file(model_path(network), Options(weights_buffer=b, vectors=0)) for b in (None, buffer))
        assert read.program.arena_bytes <= plain.program.arena_bytes + buffer
        assert read.program.weights is not None


def test_the_smallest_plan_may_have_a_smaller_buffer() -> None:
    plain, small = (
        compile_file(model_path("kws_qdq"), Options(target="cortex-m4", weights_buffer=16384, vectors=0, goal=goal))
        for goal in ("balanced", "memory")
    )
    assert small.program.weights is not None
    assert small.program.weights.bytes < 16384 // 2
    assert small.program.arena_bytes < 0.7 * plain.program.arena_bytes


def test_a_limit_of_the_arena_counts_the_buffer() -> None:
    path = model_path("resnet8_qdq")
    free = compile_file(path, Options(weights_buffer=4096, vectors=0, goal="memory")).program
    held = compile_file(path, Options(weights_buffer=4096, vectors=0, arena_limit=free.arena_bytes + 512)).program
    assert held.arena_bytes <= free.arena_bytes + 512
    with pytest.raises(CompileError, match="LAM-SCHEDULE-303"):
        compile_file(path, Options(weights_buffer=4096, vectors=0, arena_limit=free.arena_bytes // 2))
    with pytest.raises(CompileError, match="LAM-SCHEDULE-303"):
        compile_file(path, Options(weights_buffer=4096, vectors=0, arena_limit=4096))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("change", ["begins sooner", "is left out", "is shorter", "takes what is in use"])
def test_the_shadow_run_refuses_reads_that_are_wrong(change: str) -> None:
    program = through(depthwise(), least(depthwise(), target="generic"), target="generic").program
    assert program.weights is not None
    refused = 0
    for k, read in enumerate(program.weights.reads):
        others = list(program.weights.reads)
        if change == "begins sooner" and read.after > 0:
            others[k] = replace(read, after=read.after - 1)
            others[:k] = [replace(r, after=min(r.after, read.after - 1)) for r in others[:k]]
        elif change == "is left out":
            del others[k]
        elif change == "is shorter":
            others[k] = replace(read, bytes=read.bytes - 1)
        elif change == "takes what is in use" and read.after < read.use:
            others[k] = replace(read, offset=others[k - 1].offset)
        else:
            continue
        with pytest.raises(IrError):
            prove(replace(program, weights=replace(program.weights, reads=tuple(others))))
        refused += 1
    assert refused > 3


_MAIN = (
    BEGINNING
    + """static int asked, stop_at = -1;

#ifdef {upper}_HOOK
int NET(_hook)(const NET(_t) *one, int32_t layer)
{{
    LAM_UNUSED(one);
    LAM_UNUSED(layer);
    return asked++ == stop_at;
}}
#endif

static int open_reads(void)
{{
    int found = 0;
    for (int32_t i = 0; i < LAM_HOST_READS; i++) {{
        found += lam_host_reads[i].state != 0;
    }}
    return found;
}}

static int right(lam_status status)
{{
    return status == LAM_OK && open_reads() == 0 && memcmp(NET(_output)(&net, 0), y, sizeof(y)) == 0;
}}

static lam_status go(void)
{{
    memcpy(NET(_input)(&net, 0), x, sizeof(x));
    asked = 0;
    return NET(_run)(&net);
}}

int main(void)
{{
    NET(_memory) memory = APPLY(BIG(_MEMORY), (arena, &flash));
    int32_t reads = 0, calls;
    int failed = NET(_init)(&net, &memory) != LAM_OK;
    failed += !right(go());
    calls = asked;
    for (lam_status status = LAM_ERROR_WEIGHTS_READ; status == LAM_ERROR_WEIGHTS_READ; reads++) {{
        flash.reads_left = reads;
        status = go();
        failed += open_reads() != 0 || !(status == LAM_ERROR_WEIGHTS_READ || right(status));
        flash.reads_left = -1;
        failed += !right(go());
    }}
    for (stop_at = 0; stop_at < calls; stop_at++) {{
        failed += go() != LAM_STOPPED || open_reads() != 0;
        if (stop_at % 2 != 0) {{
            stop_at += 2 * calls; /* a run that is given up, then one that nobody stops */
            failed += !right(go());
            stop_at -= 2 * calls;
            continue;
        }}
#ifdef {upper}_HOOK
        failed += !right(NET(_resume)(&net));
#endif
    }}
    flash.reads_left = 0;
    failed += NET(_init)(&net, &memory) != LAM_ERROR_WEIGHTS_READ || NET(_run)(&net) != LAM_ERROR_NOT_READY;
    flash.reads_left = -1;
    failed += NET(_init)(&net, &memory) != LAM_OK || open_reads() != 0;
    printf("%d %d %d\\n", failed, (int)reads, (int)calls);
    return 0;
}}
"""
)


def main_file(made: Compiled, folder: Path) -> Path:
    path = folder / "main.c"
    path.write_text(_MAIN.format(**numbers_of(made)))
    return path


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("network", "hook", "compiler"),
    [
        ("residual", True, "gcc"),
        ("conv_chain", True, "clang"),
        ("conv_chain", False, "gcc"),
        ("depthwise", True, "clang"),
    ],
)
def test_failed_reads_and_stops_leave_nothing_under_way(
    network: str, hook: bool, compiler: str, tmp_path: Path
) -> None:
    require_build(compiler, SANITIZE, tmp_path)
    made = written(tmp_path / "project", through(GRAPHS[network](), 2 * least(GRAPHS[network]())))
    flags = ["-O0", *SANITIZE, *host_macros(made), *([f"-D{made.upper}_HOOK"] if hook else [])]
    sources = [main_file(made.compiled, tmp_path), *made.sources]
    includes = [f"-I{HOST_C}", *made.includes]
    failed, reads, calls = map(int, run(build(compiler, flags, sources, tmp_path / "x", includes=includes)).split())
    weights = made.compiled.program.weights
    assert weights is not None
    assert failed == 0
    assert reads == len(weights.reads) + 1
    assert (calls > 2) == hook


def test_the_self_test_reads_its_weights_too(tmp_path: Path) -> None:
    require_build("gcc", SANITIZE, tmp_path)
    made = written(tmp_path / "project", through(depthwise(), 2048))
    tests = sorted((made.folder / "test").glob("*.c"))
    program = build("gcc", ["-O0", *SANITIZE], [*made.sources, *tests], tmp_path / "x", includes=made.includes)
    assert "all vectors right" in run(program, str(made.folder / "weights.bin"))


_CHECK = """#include <stdio.h>
#include <stdlib.h>
#include LAM_HOST_HEADER
#include "lam_host_reads.h"

static uint8_t arena[BIG(_ARENA_SIZE)] BIG(_ARENA_ALIGNED), buffer[512] LAM_ALIGNED(16);
static NET(_t) net;

/* Each argument is a blob: the status of the check and of init, and the output's sum where it was taken. */
int main(int argc, char **argv)
{
    static uint8_t bytes[1 << 20];
    for (int i = 1; i < argc; i++) {
        lam_host_flash flash = { bytes, 0, -1 };
        NET(_memory) memory = APPLY(BIG(_MEMORY), (arena, &flash));
        FILE *file = fopen(argv[i], "rb");
        lam_status checked, taken;
        uint32_t sum = 0;
        if (file == NULL) {
            return 2;
        }
        flash.size = fread(bytes, 1, sizeof(bytes), file);
        (void)fclose(file);
        checked = NET(_check_weights)(&flash, buffer, sizeof(buffer));
        taken = NET(_init)(&net, &memory);
        if (taken == LAM_OK) {
            memset(NET(_input)(&net, 0), 3, BIG(_INPUT0_BYTES));
            if (NET(_run)(&net) != LAM_OK) {
                return 3;
            }
            sum = lam_crc32(0, NET(_output)(&net, 0), BIG(_OUTPUT0_BYTES));
        } else if (NET(_run)(&net) != LAM_ERROR_NOT_READY) {
            return 4;
        }
        printf("%d %d %u\\n", (int)checked, (int)taken, (unsigned)sum);
    }
    return 0;
}
"""


def damaged(blob: bytes, count: int) -> Sequence[bytes]:
    """Blobs with a byte changed, cut short, made of noise, of another length."""
    rng = np.random.default_rng(2)
    found = []
    for k in range(count):
        data = bytearray(blob)
        at = int(rng.integers(0, 64 if k % 2 else len(blob)))
        if k % 5 == 0:
            data = data[:at]
        elif k % 5 == 1:
            data = bytearray(rng.integers(0, 256, len(blob), np.uint8).tobytes())
        else:
            data[at] ^= 1 << int(rng.integers(0, 8))
        found.append(bytes(data))
    return found


_PIECES = """#include <stdio.h>
#include LAM_HOST_HEADER
#include "lam_host_reads.h"

/* Checks a right blob through buffers of all sizes, which are not left, and through ones off their boundary. */
int main(void)
{
    LAM_ALIGNED(16) static const uint8_t blob[] = { BLOB };
    LAM_ALIGNED(16) static uint8_t buffer[sizeof(blob) + 32];
    lam_host_flash flash = { blob, sizeof(blob), -1 };
    int failed = 0;
    for (size_t size = 0; size <= sizeof(blob) + 16; size++) {
        const lam_status expected = size < 64 ? LAM_ERROR_REGION_SIZE : LAM_OK;
        memset(buffer, 0x33, sizeof(buffer));
        failed += NET(_check_weights)(&flash, buffer, size) != expected;
        for (size_t i = size; i < sizeof(buffer); i++) {
            failed += buffer[i] != 0x33;
        }
    }
    memset(buffer, 0x33, sizeof(buffer));
    for (size_t at = 1; at < 16; at++) {
        failed += NET(_check_weights)(&flash, buffer + at, 128) != LAM_ERROR_WEIGHTS_ALIGN;
    }
    for (size_t i = 0; i < sizeof(buffer); i++) {
        failed += buffer[i] != 0x33;
    }
    printf("%d\\n", failed);
    return 0;
}
"""


def test_a_check_reads_at_multiples_of_16_through_a_buffer_of_any_size(tmp_path: Path) -> None:
    require_build("gcc", SANITIZE, tmp_path)
    made = written(tmp_path / "project", through(residual(), 1024))
    assert made.blob is not None
    main = tmp_path / "main.c"
    main.write_text(_PIECES.replace("BLOB", "\n".join(array_lines(np.frombuffer(made.blob, np.uint8)))))
    flags = ["-O0", *SANITIZE, *host_macros(made)]
    program = build("gcc", flags, [main, *made.sources], tmp_path / "x", includes=[f"-I{HOST_C}", *made.includes])
    assert run(program).split() == ["0"]


def test_an_arena_that_weights_are_read_into_is_aligned_for_them(tmp_path: Path) -> None:
    text = (ROOT / "targets" / "chips" / "reference" / "generic.toml").read_text(encoding="utf-8")
    chip = tmp_path / "board.toml"
    chip.write_text(text.replace("\n\n[[", "\narena_align = 4\n\n[[", 1), encoding="utf-8")
    plain, read = (compile_file(DIGITS, Options(target=str(chip), weights_buffer=b, vectors=0)) for b in (0, 2048))
    assert (plain.manifest["arena_align"], read.manifest["arena_align"]) == (4, 16)


def test_three_hundred_random_blobs_and_those_of_other_options_are_refused(tmp_path: Path) -> None:
    require_build("gcc", SANITIZE, tmp_path)
    made = written(tmp_path / "project", through(residual("single", 0), 1024))
    again = through(residual("single", 1), 1024)
    others = [through(residual(mode), 1024, requant=mode) for mode in ("tflite", "ort")]
    others += [through(residual(), 2048), through(conv_chain(), 2048), through(residual(), 1024, target="generic")]
    assert made.blob is not None
    blobs = [
        made.blob,
        *damaged(made.blob, 300),
        *(o.files["weights.bin"] for o in others),
        again.files["weights.bin"],
        made.blob,
    ]
    paths = []
    for k, data in enumerate(blobs):
        paths.append(tmp_path / f"{k}.bin")
        paths[-1].write_bytes(data)
    main = tmp_path / "main.c"
    main.write_text(_CHECK)
    flags = ["-O0", *SANITIZE, *host_macros(made), "-include", "lam_crc32.h"]
    program = build("gcc", flags, [main, *made.sources], tmp_path / "x", includes=[f"-I{HOST_C}", *made.includes])
    lines = [line.split() for line in run(program, *map(str, paths)).splitlines()]
    assert all(checked == taken for checked, taken, _ in lines)
    accepted = [k for k, (checked, *_) in enumerate(lines) if checked == "0"]
    same = {k for k, data in enumerate(blobs) if data == made.blob}
    assert set(accepted) == same | {len(blobs) - 2}
    assert lines[0] == lines[-1] != lines[-2]
    assert len({checked for checked, *_ in lines}) > 6


def test_pinned_layers_are_read_once_and_equal_golden(tmp_path: Path) -> None:
    """A name and a pattern; in the C, in the shadow run, in what inspect says, and in the arena."""
    for network, names in (("depthwise", ("n1_*",)), ("conv_chain", ("n0_conv2d", "n4*"))):
        graph = GRAPHS[network]()
        plain, made = (through(graph, 1 << 12, target="generic", pinned=p) for p in ((), names))
        weights, before = made.program.weights, plain.program.weights
        assert weights is not None
        assert before is not None
        kept = sum(read.bytes for read in weights.pinned)
        assert 0 < kept <= made.program.arena_bytes - weights.offset - weights.bytes
        assert sum(r.bytes for r in weights.reads) <= sum(r.bytes for r in before.reads) - kept + 16 * len(before.reads)
        check(made, tmp_path / network)
    found = codegen.inspect(DIGITS, weights_buffer=4096, pinned=("stem", "res*"))
    ways = {row.name: row.weights_way for row in found.layers}
    assert ways["stem"] == ways["residual_first"] == "pinned"
    assert ways["depthwise"] == "read"
    assert ways["pool"] == ""
    assert {row.weights_way for row in codegen.inspect(DIGITS).layers} == {""}


def test_a_chip_says_that_its_flash_is_not_mapped(tmp_path: Path) -> None:
    """Its buffer is the one that --weights-buffer would ask for, which counts where it is given."""
    chip = tmp_path / "board.toml"
    text = (ROOT / "targets" / "chips" / "reference" / "generic.toml").read_text(encoding="utf-8")
    chip.write_text(f"{text}\n[weights]\nbuffer_bytes = 4096\n", encoding="utf-8")
    read, asked, mapped, pinned = (
        compile_file(DIGITS, Options(target=str(chip), vectors=0, **options))  # type: ignore[arg-type]
        for options in ({}, {"weights_buffer": 2048}, {"weights_buffer": 0}, {"pinned": ("stem",)})
    )
    sizes = [made.manifest["weights_buffer_bytes"] for made in (read, asked, mapped)]
    assert sizes == [
        compile_file(DIGITS, Options(target="generic", weights_buffer=b)).manifest["weights_buffer_bytes"]
        for b in (4096, 2048, 0)
    ]
    assert sizes[0] > sizes[1] > 0
    assert sizes[2] is None
    assert "weights.bin" in read.files
    assert "weights.bin" not in mapped.files
    assert pinned.manifest["weights_pinned_bytes"]
    chip.write_text(f"{text}\n[weights]\nbuffer_bytes = 255\n", encoding="utf-8")
    with pytest.raises(CompileError, match=r"LAM-TARGET-005 .*weights\.buffer_bytes: 255 is less than 256"):
        compile_file(DIGITS, Options(target=str(chip)))
    chip.write_text(f"{text}\n[weights]\nbuffer_bytes = 4096\n", encoding="utf-8")
    found = codegen.inspect(DIGITS, target=str(chip))
    assert {row.weights_way for row in found.layers} >= {"read"}
    assert codegen.verify(DIGITS, target=str(chip), samples=1).equal


def test_a_network_with_pinned_weights_shares_no_memory_in_turn(tmp_path: Path) -> None:
    made = [
        written(tmp_path / "a", through(depthwise(), 2048, pinned=("n0*",))),
        written(tmp_path / "b", through(residual(), 2048)),
    ]
    linked = codegen.link([m.folder for m in made], tmp_path / "shared")
    assert linked.memories[0].one_bytes >= sum(m.compiled.program.arena_bytes for m in made)


def test_the_least_buffer_that_a_refusal_names_works() -> None:
    path = model_path("resnet8_qdq")
    with pytest.raises(CompileError, match="LAM-SCHEDULE-306") as refused:
        compile_file(path, Options(weights_buffer=LEAST_BUFFER, vectors=0))
    found = re.search(r"--weights-buffer (\d+)", str(refused.value))
    assert found is not None
    compile_file(path, Options(weights_buffer=int(found[1]), vectors=0))
    with pytest.raises(CompileError, match="LAM-SCHEDULE-306"):
        compile_file(path, Options(weights_buffer=int(found[1]) - 16, vectors=0))


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"weights_buffer": LEAST_BUFFER - 1}, "LAM-IMPORT-030"),
        ({"weights_buffer": 9_999_999_999_999}, "LAM-IMPORT-030"),
        ({"weights_buffer": "4K"}, "LAM-IMPORT-030"),
        ({"weights_buffer": 4096, "target": "gap8-like"}, "LAM-IMPORT-030"),
        ({"weights_buffer": 4096, "target": "avr"}, "LAM-IMPORT-030 weights_buffer: 4096 .*leave weights_buffer out"),
        ({"weights": "blob", "target": "avr"}, "LAM-IMPORT-030 weights: 'blob' .*leave weights out"),
        ({"pinned": ("stem",)}, "LAM-IMPORT-030"),
        ({"weights_buffer": 4096, "pinned": ("steam",)}, "LAM-IMPORT-030"),
        ({"weights_buffer": 4096, "pinned": ("*",)}, "LAM-IMPORT-030"),
        ({"weights_buffer": 4096, "package": ("rust",)}, "LAM-EMIT-008 .*leave the buffer out"),
    ],
)
def test_what_has_no_buffer_is_refused(options: dict[str, object], code: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=code):
        codegen.compile_model(DIGITS, out=tmp_path / "x", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("weights", ["c", "blob"])
def test_an_ordinary_project_has_nothing_of_it(weights: str) -> None:
    files = compile_file(DIGITS, Options(weights=weights)).files
    words = (b"fetch", b"slice", b"_read_weights", b"copy_pieces", b"WEIGHTS_BUFFER")
    sources = [data for path, data in files.items() if path.startswith(("src/", "include/"))]
    assert not [word for word in words for data in sources if word in data]
