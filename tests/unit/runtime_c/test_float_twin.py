"""The C of runtime_c/include/lam_f32*.h equals codegen/float32/ bit for bit, in every build and on emulated chips.

A NaN equals any other; -0 and +0 differ.  Long runs over many more inputs: benchmarks/float_functions.py.
"""

from __future__ import annotations

import math
import platform
import subprocess
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import float32
from codegen.emulator import build_and_run
from codegen.float32 import storage
from codegen.ops.float32.sums import add_product
from codegen.resources import resource_dir
from codegen.target import load_target
from tests.support.float_activations import PLAIN
from tests.support.tools import require_tool

HERE = Path(__file__).parent
INCLUDE = resource_dir("runtime_c") / "include"
STRICT = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-align -Wundef -Wdouble-promotion -Werror"
Floats = np.ndarray[Any, np.dtype[np.float32]]
Bits = np.ndarray[Any, np.dtype[np.uint32]]

LOW, HIGH = np.int64(0xFFFF), np.int64(16)


def _third(x: Floats, y: Floats) -> Floats:
    """As the driver has it."""
    return ((x.view(np.uint32) + y.view(np.uint32)) ^ np.uint32(0x40000000)).view(np.float32)


def _flushed(x: Floats, y: Floats) -> Floats:
    acc = _third(x, y).copy()
    add_product(acc, x, y, sums="flushed")
    return acc


ONE = {
    **float32.FUNCTIONS,
    "sqrt": np.sqrt,
    "whole_root": np.sqrt,
    "through_f16": lambda x: storage.from_f16(storage.to_f16(x)),
    "low_as_f16": lambda x: storage.from_f16((x.view(np.uint32) & np.uint32(0xFFFF)).astype(np.uint16)),
    "through_bf16": storage.as_bfloat16,
    "s32_low": lambda x: (storage.to_integer(x, np.int32).astype(np.int64) & LOW).astype(np.float32),
    "s32_high": lambda x: (storage.to_integer(x, np.int32).astype(np.int64) >> HIGH).astype(np.float32),
    "u32_low": lambda x: (storage.to_integer(x, np.uint32).astype(np.int64) & LOW).astype(np.float32),
    "u32_high": lambda x: (storage.to_integer(x, np.uint32).astype(np.int64) >> HIGH).astype(np.float32),
    "as_s8": lambda x: storage.to_integer(x, np.int8).astype(np.float32),
    "as_u8": lambda x: storage.to_integer(x, np.uint8).astype(np.float32),
    "as_s16": lambda x: storage.to_integer(x, np.int16).astype(np.float32),
    "as_u16": lambda x: storage.to_integer(x, np.uint16).astype(np.float32),
}
TWO = {
    **float32.FUNCTIONS_OF_TWO,
    "product_and_sum": lambda x, y: x * y + x,
    "fused_rest": lambda x, y: float32.fma(x, y, -(x * y)),
    "whole_rest": lambda x, y: float32.fma(x, y, -(x * y)),
    "fused": lambda x, y: float32.fma(x, y, _third(x, y)),
    "whole_fused": lambda x, y: float32.fma(x, y, _third(x, y)),
    "flushed_third": _flushed,
}
EDGES = np.ravel(
    [
        [0x00000000, 0x00000001, 0x00000002, 0x007FFFFF, 0x00800000, 0x00800001, 0x33800000, 0x3F7FFFFF, 0x3F800000],
        [0x3F800001, 0x3F000000, 0x3FC00000, 0x40000000, 0x40400000, 0x40490FDB, 0x42B17217, 0x42B17218, 0x42CFF1B4],
        [0x42CFF1B5, 0x4AFFFFFF, 0x4B000001, 0x4B800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x3F7FFFFE],
        [0x32000000, 0x32800000, 0x33000000, 0x40C00000, 0x41300000, 0x41680000, 0x41900000, 0x42E00000, 0x43800000],
    ]
).astype(np.uint32)
BOTH_SIGNS = np.concatenate([EDGES, EDGES | np.uint32(1 << 31)])
COUNT = 2000

BUILDS = {
    "gcc-O0": "gcc -std=c99 -O0",
    "gcc-ubsan": "gcc -std=c99 -O1 -fsanitize=undefined -fno-sanitize-recover=all",
    "clang": "clang -std=c99 -O2",
    "gcc-scaled-f16": "gcc -std=c99 -O2 -DLAM_F32_SCALED_F16=1",
}
X86_BUILDS = {
    "gcc-fma": "gcc -std=gnu11 -O3 -march=native -ffp-contract=fast",
    "gcc-m32": "gcc -std=gnu11 -O2 -m32 -msse2 -mfpmath=sse",
}
if platform.machine() in ("x86_64", "AMD64"):
    BUILDS |= X86_BUILDS
BOARDS = ("cortex-m4", "cortex-m3", "cortex-m0plus", "rv32imc", "esp32p4", "ppc32")


def names(folder: Path) -> None:
    """The list of functions, as the driver includes it."""
    lines = [f"LAM_ONE({name})" for name in ONE] + [f"LAM_TWO({name})" for name in TWO]
    (folder / "float_names.h").write_text("\n".join(lines) + "\n")


def results(x: Floats, y: Floats) -> dict[str, Floats]:
    """What codegen.float32 returns."""
    with np.errstate(all="ignore"):
        found = {name: function(x) for name, function in ONE.items()}
        return found | {name: function(x, y) for name, function in TWO.items()}


def plain_bits(x: Floats) -> Bits:
    """The bits, with one NaN for all."""
    return np.where(np.isnan(x), np.uint32(0x7FC00000), x.view(np.uint32))


@cache
def pairs() -> Floats:
    """Edges with edges, all sizes of numbers, those where functions have their shapes, and the bits of each float16."""
    rng = np.random.default_rng(7)
    edges = np.stack(np.meshgrid(BOTH_SIGNS, BOTH_SIGNS), axis=-1).reshape(-1, 2).view(np.float32)
    every = rng.integers(0, 2**32, (60_000, 2), dtype=np.uint32).view(np.float32)
    near = rng.normal(0, 4, (60_000, 2)).astype(np.float32)
    ones = (1 + rng.normal(0, 0.01, (20_000, 2))).astype(np.float32)
    halves = np.arange(1 << 16, dtype=np.uint32).view(np.float32)
    return np.concatenate([edges, every, near, ones, np.stack([halves, halves], axis=-1)])


@cache
def expected() -> dict[str, Floats]:
    return results(pairs()[:, 0].copy(), pairs()[:, 1].copy())


@pytest.mark.one_in(6)
@pytest.mark.parametrize("build", BUILDS)
def test_c_equals_numpy(build: str, tmp_path: Path) -> None:
    compiler, *flags = BUILDS[build].split()
    require_tool(compiler)
    names(tmp_path)
    program = tmp_path / "driver"
    command = [compiler, *flags, *STRICT.split(), f"-I{INCLUDE}", f"-I{tmp_path}", str(HERE / "float_driver.c")]
    built = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True, timeout=120, check=False)
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([str(program)], input=pairs().tobytes(), capture_output=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr.decode()[:2000]
    got = np.frombuffer(ran.stdout, np.float32).reshape(len(expected()), -1)
    for row, (name, wanted) in zip(got, expected().items(), strict=True):
        wrong = np.flatnonzero(plain_bits(row) != plain_bits(wanted))
        assert wrong.size == 0, f"{name}{pairs()[wrong[0]]}: {wrong.size} differ, C {row[wrong[0]]}, {wanted[wrong[0]]}"


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", BOARDS)
def test_c_equals_numpy_on_a_chip(name: str, tmp_path: Path) -> None:
    target = load_target(name)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.toolchain.size, target.board.emulator[0])
    names(tmp_path)
    defines = {"LAM_ON_BOARD": None, "COUNT": f"{COUNT}u", "EDGES": ",".join(f"{edge}u" for edge in BOTH_SIGNS)}
    ran = build_and_run(
        target, [HERE / "float_driver.c"], [INCLUDE, tmp_path], defines, timeout_s=120, workdir=tmp_path / "build"
    )
    assert ran.exit_code == 0, ran.console[:2000]
    i = np.arange(BOTH_SIGNS.size**2 + COUNT, dtype=np.uint32)
    x, y = i * np.uint32(2654435761), (i * np.uint32(2246822519)) ^ (i << np.uint32(7))
    x[: BOTH_SIGNS.size**2] = np.tile(BOTH_SIGNS, BOTH_SIGNS.size)
    y[: BOTH_SIGNS.size**2] = np.repeat(BOTH_SIGNS, BOTH_SIGNS.size)
    wanted = results(x.view(np.float32), y.view(np.float32))
    sums = {f: int(np.sum(plain_bits(v) * (2 * i + 1), dtype=np.uint32)) for f, v in wanted.items()}
    assert dict(zip(wanted, map(int, ran.console.split()), strict=True)) == sums


def test_functions_are_what_they_are_called() -> None:
    """Against float64, where they have their shapes; benchmarks/float_functions.py measures over all inputs."""
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(0, 3, 50_000), rng.uniform(-1, 1, 50_000)]).astype(np.float32)
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        known: dict[str, Any] = {f"a{f}": getattr(np, f"arc{f}") for f in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
        known |= {"sigmoid": lambda v: 1 / (1 + np.exp(-v)), "erf": np.vectorize(math.erf)}
        known |= {name: np.vectorize(one) for name, one in PLAIN.items()}
        for name, function in float32.FUNCTIONS.items():
            got, wanted = function(x), (known.get(name) or getattr(np, name))(wide)
            ulps = np.abs(got - wanted) / np.spacing(np.abs(wanted).astype(np.float32))
            assert np.nanmax(ulps) <= 1, name
            assert np.array_equal(np.isnan(got), np.isnan(wanted)), name


def test_the_pairs_can_tell_a_fused_multiply_add() -> None:
    with np.errstate(all="ignore"):
        x, y = pairs().T.astype(np.float64)
        fused = (x * y + x).astype(np.float32)
    assert np.count_nonzero(plain_bits(fused) != plain_bits(expected()["product_and_sum"])) > 1000


def test_power_is_that_of_float64() -> None:
    rng = np.random.default_rng(5)
    x = np.abs(np.concatenate([rng.normal(0, 10, 50_000), 1 + rng.normal(0, 1e-4, 50_000)]).astype(np.float32))
    y = np.concatenate([rng.normal(0, 10, 50_000), rng.normal(0, 1e5, 50_000)]).astype(np.float32)
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.float64), y.astype(np.float64))
        normal = (wanted > 1.2e-38) & (wanted < 3.4e38)
        assert np.count_nonzero(normal) > 90_000
        ulps = np.abs(float32.power(x, y) - wanted)[normal] / np.spacing(wanted[normal].astype(np.float32))
    assert ulps.max() <= 1


def test_power_has_the_special_cases_of_ieee_754() -> None:
    """All pairs of edges, as the C library's pow has them in float64."""
    ends = np.float32([0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 1e30, -1e30, 16777215, np.inf, -np.inf, np.nan])
    x, y = (part.reshape(-1) for part in np.meshgrid(ends, ends))
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    assert np.array_equal(plain_bits(float32.power(x, y)), plain_bits(wanted))


@pytest.mark.parametrize("flags", ["-std=c99 -ffreestanding -DLAM_FREESTANDING", "-x c++ -std=c++11"])
def test_every_header_stands_alone(flags: str, tmp_path: Path) -> None:
    require_tool("gcc", "g++")
    headers = sorted(path.name for path in INCLUDE.glob("lam_f32*.h"))
    assert len(headers) >= 13
    for header in headers:
        source = tmp_path / f"{header}.c"
        source.write_text(f'#include "{header}"\n#include "{header}"\ntypedef int not_empty;\n')
        command = ["gcc", *flags.split(), *STRICT.split(), f"-I{INCLUDE}", "-fsyntax-only", str(source)]
        built = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert built.returncode == 0, built.stderr


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("-ffast-math", "results are defined to the bit"),
        ("-ffinite-math-only", "infinities and NaN are values"),
        ("-m32 -mno-sse", "float is computed in a wider type"),
    ],
)
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="these are flags for x86")
def test_a_build_that_changes_results_is_refused(flags: str, message: str, tmp_path: Path) -> None:
    require_tool("gcc")
    source = tmp_path / "refused.c"
    source.write_text('#include "lam_f32.h"\n')
    command = ["gcc", "-std=c99", *flags.split(), f"-I{INCLUDE}", "-fsyntax-only", str(source)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert built.returncode != 0
    assert message in built.stderr


@pytest.mark.parametrize("shape", [(), (0,), (3, 1, 2)])
def test_functions_keep_the_shape(shape: tuple[int, ...]) -> None:
    for function in float32.FUNCTIONS.values():
        assert function(np.full(shape, 0.25, np.float32)).shape == shape


def around_bfloat16() -> Floats:
    """Each of the 2^16 numbers that bfloat16 holds, what lies next to it, and what lies about the middle of two."""
    upper = np.arange(1 << 16, dtype=np.uint32)[:, None] << np.uint32(16)
    return np.ravel(upper | np.uint32([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF])).view(np.float32)


def test_what_bfloat16_holds_stays_and_what_is_too_large_is_infinite() -> None:
    every = around_bfloat16().reshape(-1, 6)
    known = ~np.isnan(every[:, 0])
    assert np.array_equal(storage.as_bfloat16(every[known, 0]).view(np.uint32), every[known, 0].view(np.uint32))
    assert np.array_equal(storage.to_bf16(every[known, 0]), every[known, 0].view(np.uint32) >> 16)
    assert np.isnan(storage.as_bfloat16(every[np.isnan(every)])).all()
    most = np.uint32([0x7F7F7FFF, 0x7F7F8000, 0xFF7F7FFF, 0xFF7F8000]).view(np.float32)
    assert storage.to_bf16(most).tolist() == [0x7F7F, 0x7F80, 0xFF7F, 0xFF80]


def test_bfloat16_is_the_nearest() -> None:
    """Against both neighbours in float64; of two that are as near, the even one."""
    x = np.concatenate([pairs()[:, 0], around_bfloat16()])
    x = x[np.abs(x) < 3e38]
    got = storage.to_bf16(x)
    away = [np.abs(storage.from_bf16(got + np.uint16(step)).astype(np.float64) - x) for step in (0, 1, -1 & 0xFFFF)]
    inner = (got & 0x7FFF) != 0
    assert np.all((away[0] <= away[1]) & (~inner | (away[0] <= away[2])))
    ties = inner & ((away[0] == away[1]) | (away[0] == away[2]))
    assert np.count_nonzero(got[ties] & 1) == 0


def test_integers_saturate_and_nan_is_none() -> None:
    x = np.float32([np.nan, np.inf, -np.inf, 127.99, 128, -128.99, -129, 0.99, -0.99, 3e9])
    assert storage.to_integer(x, np.int8).tolist() == [0, 127, -128, 127, 127, -128, -128, 0, 0, 127]
    assert storage.to_integer(x, np.uint32).tolist() == [0, 2**32 - 1, 0, 127, 128, 0, 0, 0, 0, 3_000_000_000]


def test_a_fused_multiply_add_is_rounded_once() -> None:
    """Against exact rational numbers."""
    rng = np.random.default_rng(11)
    x, y, z = rng.normal(0, 1, (3, 3000)).astype(np.float32)
    z[::2] = -(x * y)[::2] * (1 + np.float32(2e-7))
    for a, b, c, got in zip(x, y, z, float32.fma(x, y, z), strict=True):
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        near = [np.nextafter(got, np.float32(end)) for end in (-np.inf, np.inf)]
        assert all(abs(exact - Fraction(float(got))) <= abs(exact - Fraction(float(one))) for one in near)
