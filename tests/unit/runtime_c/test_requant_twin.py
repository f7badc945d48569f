"""The C of runtime_c/include/lam_requant*.h and lam_crc32.h equals codegen/fixedpoint.py, bit for bit, in every build.

The records of `_cases` go through one driver program per build; every function sees at least 100 000 of them, a good
part on or next to a rounding tie.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from codegen import fixedpoint as fp
from codegen.ir.quant import ROUNDINGS

HERE = Path(__file__).parent
INCLUDE = HERE.parents[2] / "runtime_c" / "include"
HEADERS = (
    "lam_base.h",
    "lam_requant.h",
    "lam_requant_fast.h",
    "lam_requant_ort.h",
    "lam_requant_rounded.h",
    "lam_crc32.h",
)
STRICT = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-align -Wundef -Werror"
RECORD = np.dtype(
    [("acc", "i8"), ("multiplier", "i4"), ("shift", "i4"), ("zp", "i4"), ("low", "i4"), ("high", "i4"), ("scale", "f4")]
)
N = 100_000
Records = np.ndarray[Any, np.dtype[np.void]]

X86 = platform.machine() in ("x86_64", "AMD64")
BUILDS = {
    "O0": "-std=c99 -O0",
    "Os": "-std=c99 -Os",
    "O3": "-std=c99 -O3",
    "gnu11-native-contract": "-std=gnu11 -O3 -march=native -ffp-contract=fast",
    "ubsan": "-std=c99 -O1 -g -fsanitize=undefined -fno-sanitize-recover=all",
    "no-long-product": "-std=c99 -O2 -fsanitize=undefined -fno-sanitize-recover=all -DLAM_NO_LONG_PRODUCT",
    "riscv": "-std=c99 -O2 -fsanitize=undefined -fno-sanitize-recover=all -D__riscv",
    "m32": "-std=c99 -O2 -m32",
    "m32-ubsan": "-std=c99 -O1 -m32 -fsanitize=undefined -fno-sanitize-recover=all",
}
X86_BUILDS = {
    "gnu11-fma": "-std=gnu11 -O3 -mfma -ffp-contract=fast",
    "gnu11-m32-fma": "-std=gnu11 -O3 -m32 -mfma -msse2 -mfpmath=sse -ffp-contract=fast",
    "gnu11-m32-x87": "-std=gnu11 -O3 -m32 -mno-sse -ffp-contract=fast",
}
GCC_X86_BUILDS = {
    "gnu11-x87": "-std=gnu11 -O3 -mfpmath=387 -ffp-contract=fast",
    "gnu11-x87-unsafe": "-std=gnu11 -O3 -mfpmath=387 -funsafe-math-optimizations",
}
CLANG_BUILDS = {
    # every arithmetic surprise, defined or not; shifting bits out of an unsigned value is meant
    "integer": "-std=c99 -O1 -fsanitize=undefined,integer -fno-sanitize=unsigned-shift-base -fno-sanitize-recover=all",
}


def _builds() -> Iterator[Any]:
    for compiler, own in (("gcc", GCC_X86_BUILDS if X86 else {}), ("clang", CLANG_BUILDS)):
        for name, flags in {**BUILDS, **(X86_BUILDS if X86 else {}), **own}.items():
            yield pytest.param(compiler, flags, id=f"{compiler}-{name}")


def _missing(reason: str) -> NoReturn:
    """Skip; but on CI, where everything is installed, a missing tool is a failure."""
    if os.environ.get("CI"):
        pytest.fail(f"required on CI: {reason}")
    pytest.skip(reason)


def _compile(
    compiler: str, flags: str, sources: list[Path], output: Path | None = None
) -> subprocess.CompletedProcess[str]:
    target = ["-o", str(output)] if output else ["-fsyntax-only"]
    command = [compiler, *flags.split(), *STRICT.split(), "-I", str(INCLUDE), *map(str, sources), *target]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def _require(compiler: str, flags: str, folder: Path) -> None:
    """Skip unless the compiler exists and links and this machine runs a trivial program with these flags."""
    if shutil.which(compiler) is None:
        _missing(f"{compiler} is not installed")
    probe = folder / "probe.c"
    probe.write_text('#include <stdio.h>\nint main(void)\n{\n    return puts("") == EOF;\n}\n')
    if _compile(compiler, flags, [probe], folder / "probe").returncode != 0:
        _missing(f"{compiler} {flags} does not link a trivial program")
    if "-mfma" in flags and " fma " not in Path("/proc/cpuinfo").read_text().replace("\n", " "):
        _missing("this processor has no fused multiply-add")


# Records


def _records(count: int) -> Records:
    records = np.zeros(count, RECORD)
    records["high"], records["low"] = fp.INT32_MAX, fp.INT32_MIN
    return records


def _spread(rng: np.random.Generator, count: int, bits: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Signed values of up to `bits` bits: half of them uniform, half uniform in magnitude, some at the extremes."""
    top = (1 << (bits - 1)) - 1
    values = rng.integers(-top - 1, top, count, endpoint=True)
    magnitude = rng.integers(0, bits, count)
    values = np.where(rng.random(count) < 0.5, values >> magnitude, values)
    edges = np.array([0, 1, -1, top, top - 1, -top, -top - 1, top // 2, -(top // 2) - 1])
    return np.where(rng.random(count) < 0.05, rng.choice(edges, count), values)


def _multipliers(rng: np.random.Generator, count: int, bits: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Mantissas of `bits` bits, a quarter of them powers of two (exact ties), and the extremes."""
    least = 1 << (bits - 1)
    values = rng.integers(least, 2 * least, count)
    return np.where(
        rng.random(count) < 0.3, rng.choice(np.array([least, least, least, 0, 2 * least - 1, least + 1]), count), values
    )


def _ties(
    rng: np.random.Generator, acc: np.ndarray[Any, Any], scale: np.ndarray[Any, Any], bits: int
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Replace half the accumulators by the one nearest to (k + 1/2) / scale, give or take one."""
    wanted = rng.integers(-300, 300, acc.size) + 0.5
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        near = np.rint(wanted / scale)
    top = 2.0 ** (bits - 1) - 1
    usable = np.isfinite(near) & (np.abs(near) < top - 2) & (rng.random(acc.size) < 0.5)
    return np.where(usable, np.where(usable, near, 0).astype(np.int64) + rng.integers(-1, 2, acc.size), acc)


def _outputs(rng: np.random.Generator, records: Records) -> None:
    """Zero points and bounds of every output type, a third of them narrowed as a fused activation does."""
    kinds = np.array(
        [(-128, 127), (-128, 127), (0, 255), (-32768, 32767), (0, 65535), (-8, 7), (fp.INT32_MIN, fp.INT32_MAX)]
    )
    low, high = kinds[rng.integers(0, len(kinds), records.size)].T
    zp = np.where(high == fp.INT32_MAX, 0, np.clip(rng.integers(-32768, 65536, records.size), low, high))
    narrowed = (rng.random(records.size) < 0.3) & (high != fp.INT32_MAX)
    records["zp"], records["low"] = zp, np.where(narrowed, zp, low)
    records["high"] = np.where(narrowed, np.minimum(high, zp + 6 * 20), high)


def _single(seed: int, least_shift: int) -> Records:
    rng, records = np.random.default_rng(seed), _records(N)
    shift = rng.integers(least_shift, 63, N)
    multiplier = _multipliers(rng, N, 31)
    records["acc"] = _ties(rng, _spread(rng, N, 32), multiplier / 2.0**shift, 32)
    records["multiplier"], records["shift"] = multiplier, shift
    _outputs(rng, records)
    return records


def _single_64(seed: int = 3, bits: int = 15) -> Records:
    rng, records = np.random.default_rng(seed), _records(N)
    shift = rng.integers(1, 63, N)
    multiplier = _multipliers(rng, N, bits)
    records["acc"] = _ties(rng, _spread(rng, N, 63 - bits), multiplier / 2.0**shift, 63 - bits)
    records["multiplier"], records["shift"] = multiplier, shift
    _outputs(rng, records)
    return records


def _tflite() -> Records:
    rng, records = np.random.default_rng(4), _records(N)
    exponent = rng.integers(-31, 31, N)
    multiplier = _multipliers(rng, N, 31)
    acc = _ties(rng, _spread(rng, N, 32), multiplier * 2.0 ** (exponent - 31), 32)
    records["acc"] = acc >> np.maximum(exponent, 0)
    records["multiplier"], records["shift"] = multiplier, exponent
    _outputs(rng, records)
    return records


def _float(seed: int = 5, bits: int = 32) -> Records:
    """Half the scales are chosen so that the float32 product is a tie that the exact product is not."""
    rng, records = np.random.default_rng(seed), _records(N)
    acc = _spread(rng, N, bits)
    scale = np.exp2(rng.uniform(-40, 10, N))
    wanted = rng.integers(-130, 130, N) + 0.5
    tie = (acc != 0) & (rng.random(N) < 0.5)
    records["scale"] = np.where(tie, np.abs(wanted / np.where(acc == 0, 1, acc)), scale)
    records["scale"][:6] = [0.0, 3.4e38, 1e-45, 1.0, 0.5, 2.0**-31]
    records["acc"] = acc
    _outputs(rng, records)
    wide = records["high"] == fp.INT32_MAX
    records["low"][wide], records["high"][wide] = -(2**22), 2**22
    return records


def _pairs() -> Records:
    rng, records = np.random.default_rng(6), _records(N)
    records["acc"], records["multiplier"] = _spread(rng, N, 32), _spread(rng, N, 32)
    records["acc"][:4] = records["multiplier"][:4] = fp.INT32_MIN
    records["shift"] = rng.integers(0, 32, N)
    _outputs(rng, records)
    return records


def _byte_outputs(rng: np.random.Generator, records: Records) -> None:
    """Zero points and bounds of bytes, a third of them narrowed."""
    signed = rng.random(records.size) < 0.5
    low, high = np.where(signed, -128, 0), np.where(signed, 127, 255)
    records["zp"] = rng.integers(low, high, endpoint=True)
    narrowed = rng.random(records.size) < 0.3
    records["low"], records["high"] = np.where(narrowed, records["zp"], low), high


def _fast_single() -> Records:
    records = _single(8, 33)
    records["multiplier"][records["multiplier"] == 0] = 1 << 30
    _byte_outputs(np.random.default_rng(9), records)
    return records


def _fast_tflite() -> Records:
    """Accumulators below 2^30, exponents below 0, a good part next to a tie of the first or the second rounding."""
    rng, records = np.random.default_rng(10), _records(N)
    exponent = rng.integers(-31, -1, N, endpoint=True)
    multiplier = _multipliers(rng, N, 31)
    multiplier[multiplier == 0] = 1 << 30
    records["acc"] = _ties(
        rng, np.clip(_spread(rng, N, 31), 1 - (1 << 30), None), multiplier * 2.0 ** (exponent - 31), 31
    )
    records["multiplier"], records["shift"] = multiplier, exponent
    _byte_outputs(rng, records)
    return records


def _powers() -> Records:
    """Accumulators of 32 bits, less the ends, by powers of two: most of them next to a half, or on it."""
    rng, records = np.random.default_rng(11), _records(N)
    shift = rng.integers(2, 31, N, endpoint=True)
    acc = _ties(rng, _spread(rng, N, 32), 2.0**-shift, 32)
    records["acc"] = np.clip(acc, 2 - 2**31, 2**31 - 2)
    records["multiplier"], records["shift"] = 1 << 30, shift + 30
    _byte_outputs(rng, records)
    return records


def _fast_low() -> Records:
    """Of the same those whose least output is the zero point."""
    records = _fast_tflite()
    records["low"] = records["zp"]
    return records


def _fast_any() -> Records:
    """Exponents up to 8, with accumulators that fit behind their shift; small ones are near ties too."""
    rng, records = np.random.default_rng(11), _records(N)
    exponent = rng.integers(-31, 8, N, endpoint=True)
    multiplier = _multipliers(rng, N, 31)
    multiplier[multiplier == 0] = 1 << 30
    acc = _ties(rng, _spread(rng, N, 30), multiplier * 2.0 ** (exponent - 31), 30)
    records["acc"] = np.clip(acc, 1 - (1 << 29), None) >> np.maximum(exponent, 0)
    records["multiplier"], records["shift"] = multiplier, exponent
    _byte_outputs(rng, records)
    return records


def _lines() -> Records:
    """Sums of 30 bits, and addends whose last byte is a shift."""
    rng, records = np.random.default_rng(12), _records(N)
    records["acc"], records["multiplier"] = _spread(rng, N, 31), _multipliers(rng, N, 31)
    records["shift"] = (_spread(rng, N, 30) & ~255) | rng.integers(0, 30, N, endpoint=True)
    return records


def _lined(records: Records) -> np.ndarray[Any, Any]:
    high = (records["acc"].astype(np.int64) * records["multiplier"]) >> 32
    return (high + records["shift"]) >> (records["shift"] & 255)


def _less(records: Records, shift: np.ndarray[Any, Any]) -> Records:
    """The records with the shift that the C function takes."""
    changed = records.copy()
    changed["shift"] = shift
    return changed


def _crc() -> Records:
    rng, records = np.random.default_rng(7), _records(N)
    records["acc"], records["multiplier"] = _spread(rng, N, 64), _spread(rng, N, 32)
    records["shift"] = rng.integers(0, RECORD.itemsize, N, endpoint=True)
    return records


def _zlib(r: Records) -> list[int]:
    seeds = r["multiplier"].astype(np.uint32)
    sums = [zlib.crc32(one.tobytes()[: one["shift"]], int(seed)) for one, seed in zip(r, seeds, strict=True)]
    return [total - (1 << 32) if total >> 31 else total for total in sums]


def _block() -> Records:
    records = _records(256)
    records["acc"] = np.arange(256)
    return records


@cache
def _cases() -> tuple[tuple[str, int, Records, np.ndarray[Any, Any]], ...]:
    """(C function, its number in the driver, records, what codegen.fixedpoint returns for them)."""

    def step(function: Any, r: Records) -> Any:
        return function(r["acc"], r["multiplier"], r["shift"], r["zp"], r["low"], r["high"])

    def scaled(function: Any, r: Records) -> Any:
        return function(r["acc"], r["multiplier"], r["shift"], 0, fp.INT32_MIN, fp.INT32_MAX)

    single, high, single_64, tflite = _single(1, 1), _single(2, 33), _single_64(), _tflite()
    longer, wide_floats = _single_64(17, 25), _float(18, 48)
    floats, pairs, crc, block = _float(), _pairs(), _crc(), _block()
    fast_single, fast_tflite, powers = _fast_single(), _fast_tflite(), _powers()
    fast_low, fast_any, lines = _fast_low(), _fast_any(), _lines()

    def rounded(r: Records, rounding: str) -> Any:
        return fp.requantize_rounded(r["acc"], r["multiplier"], r["shift"], r["zp"], r["low"], r["high"], rounding)

    doubled = fp.saturating_rounding_doubling_high_mul(fast_tflite["acc"], fast_tflite["multiplier"])
    shift = -fast_tflite["shift"]
    return (
        ("lam_requant_single_q", 0, single, step(fp.requantize_single, single)),
        ("lam_requant_single", 1, single, scaled(fp.requantize_single, single)),
        ("lam_requant_single_high_q", 2, high, step(fp.requantize_single, high)),
        ("lam_requant_single_high", 3, high, scaled(fp.requantize_single, high)),
        ("lam_requant_single_64_q", 4, single_64, step(fp.requantize_single_64, single_64)),
        ("lam_requant_single_64", 5, single_64, scaled(fp.requantize_single_64, single_64)),
        ("lam_requant_tflite_q", 6, tflite, step(fp.requantize_tflite, tflite)),
        ("lam_requant_tflite", 7, tflite, scaled(fp.requantize_tflite, tflite)),
        (
            "lam_requant_ort_q",
            8,
            floats,
            fp.requantize_ort(floats["acc"], floats["scale"], floats["zp"], floats["low"], floats["high"]),
        ),
        (
            "lam_rounding_doubling_high_mul",
            9,
            pairs,
            fp.saturating_rounding_doubling_high_mul(pairs["acc"], pairs["multiplier"]),
        ),
        ("lam_rounding_divide_by_pot", 10, pairs, fp.rounding_divide_by_pot(pairs["acc"], pairs["shift"])),
        ("lam_clamp_i32", 11, pairs, fp.saturate(pairs["acc"], pairs["low"], pairs["high"])),
        ("lam_crc32", 12, crc, np.array(_zlib(crc))),
        (
            "lam_requant_ort_q in a loop",
            13,
            block,
            fp.requantize_ort(block["acc"] * 3 - 200, 0.0859375, -3, -128, 127),
        ),
        ("lam_high_product", 14, fast_single, (fast_single["acc"] * fast_single["multiplier"].astype(np.int64)) >> 32),
        (
            "lam_twice_single",
            15,
            _less(fast_single, fast_single["shift"] - 33),
            step(fp.requantize_single, fast_single),
        ),
        ("lam_twice_tflite", 16, _less(fast_tflite, shift - 1), step(fp.requantize_tflite, fast_tflite)),
        ("lam_high_product_rounded", 17, fast_tflite, doubled),
        ("lam_twice_low", 31, _less(fast_low, shift - 1), step(fp.requantize_tflite, fast_low)),
        ("lam_twice_any", 32, _less(fast_any, -fast_any["shift"] - 1), step(fp.requantize_tflite, fast_any)),
        ("lam_high_product_doubled", 33, fast_tflite, doubled),
        (
            "lam_divided_away",
            18,
            _less(fast_tflite, shift - 1),
            fp.rounding_divide_by_pot(fast_tflite["acc"], shift),
        ),
        ("lam_halved_s8", 19, pairs, fp.saturate(pairs["acc"] >> 1, -128, 127)),
        ("lam_halved_u8", 20, pairs, fp.saturate(pairs["acc"] >> 1, 0, 255)),
        ("lam_halved_u7", 21, pairs, fp.saturate(pairs["acc"] >> 1, 0, 127)),
        ("lam_lined", 34, lines, _lined(lines)),
        ("lam_saturated_s8", 35, pairs, fp.saturate(pairs["acc"], -128, 127)),
        ("lam_saturated_u8", 36, pairs, fp.saturate(pairs["acc"], 0, 255)),
        ("lam_saturated_u7", 37, pairs, fp.saturate(pairs["acc"], 0, 127)),
        ("lam_requant_single_64_q, longer multipliers", 4, longer, step(fp.requantize_single_64, longer)),
        (
            "lam_requant_ort_64_q",
            22,
            wide_floats,
            fp.requantize_ort(
                wide_floats["acc"], wide_floats["scale"], wide_floats["zp"], wide_floats["low"], wide_floats["high"]
            ),
        ),
        *(
            (f"lam_requant_rounded_q, {how}, {kind}", 23 + i, r, rounded(r, how))
            for i, how in enumerate(ROUNDINGS)
            for kind, r in (("32 bits", single), ("longer multipliers", longer))
        ),
        *(
            (f"lam_twice_rounded, {how}", 27 + i, _less(powers, powers["shift"] - 31), rounded(powers, how))
            for i, how in enumerate(ROUNDINGS)
        ),
    )


# Tests


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("compiler", "flags"), list(_builds()))
def test_c_equals_numpy(compiler: str, flags: str, tmp_path: Path) -> None:
    _require(compiler, flags, tmp_path)
    program = tmp_path / "driver"
    built = _compile(compiler, flags, [HERE / "requant_driver.c"], program)
    assert built.returncode == 0, built.stderr
    data = b"".join(
        np.array([number, records.size], np.int32).tobytes() + records.tobytes() for _, number, records, _ in _cases()
    )
    ran = subprocess.run([str(program)], input=data, capture_output=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr.decode()[:2000]
    results = np.frombuffer(ran.stdout, np.int32)
    for name, _, records, expected in _cases():
        got, results = results[: expected.size], results[expected.size :]
        wrong = np.flatnonzero(got != expected)
        assert wrong.size == 0, f"{name}: {wrong.size} differ, first {records[wrong[0]]}: C {got[wrong[0]]}, " + str(
            expected[wrong[0]]
        )
    assert results.size == 0


def test_float_records_can_tell_a_fused_multiply_add() -> None:
    """Rounding the exact product instead of the float32 one would change results: the records have teeth."""
    _, _, r, expected = next(case for case in _cases() if case[0] == "lam_requant_ort_q")
    exact = r["acc"].astype(np.float32).astype(np.float64) * r["scale"].astype(np.float64)
    fused = np.rint(np.clip(exact, r["low"] - r["zp"], r["high"] - r["zp"])).astype(np.int64) + r["zp"]
    assert np.count_nonzero(fused != expected) > 1000


def test_records_reach_the_ties() -> None:
    single = next(case for case in _cases() if case[0] == "lam_requant_single_q")[2]
    product = single["acc"] * single["multiplier"].astype(np.int64)
    rest = product & ((np.int64(1) << single["shift"].astype(np.int64)) - 1)
    assert np.count_nonzero(rest == np.int64(1) << (single["shift"].astype(np.int64) - 1)) > 1000


def test_powers_reach_the_ties_that_roundings_differ_on() -> None:
    results = {name: expected for name, _, _, expected in _cases() if name.startswith("lam_twice_rounded")}
    assert len(results) == len(ROUNDINGS)
    pairs = [(a, b) for a in results for b in results if a < b]
    assert all(np.count_nonzero(results[a] != results[b]) > 1000 for a, b in pairs)


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize(
    ("compiler", "flags"),
    [
        ("gcc", "-std=c99"),
        ("clang", "-std=c99"),
        ("gcc", "-std=c99 -ffreestanding -DLAM_FREESTANDING"),
        ("gcc", "-x c++ -std=c++11"),
        ("arm-none-eabi-gcc", "-std=c99 -mcpu=cortex-m0 -mthumb"),
        ("arm-none-eabi-gcc", "-std=c99 -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard"),
    ],
)
def test_header_stands_alone(compiler: str, flags: str, header: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        _missing(f"{compiler} is not installed")
    source = tmp_path / "alone.c"
    source.write_text(f'#include "{header}"\n#include "{header}"\ntypedef int not_empty;\n')
    built = _compile(compiler, flags, [source])
    if "c++" in flags and "cannot execute" in built.stderr:
        _missing("no C++ compiler")
    assert built.returncode == 0, built.stderr


@pytest.mark.parametrize(
    ("flags", "text", "message"),
    [
        ("-ffast-math", '#include "lam_requant_ort.h"\n', "lam_requant_ort.h: results are defined to the bit"),
        ("-O2", '#define LAM_ABI 0\n#include "lam_base.h"\n', "two different ABI numbers"),
        ("-O2", '#include "lam_base.h"\nLAM_STATIC_ASSERT(1 == 2, one_is_two);\n', "lam_static_assert_one_is_two"),
    ],
)
def test_compilation_is_refused(flags: str, text: str, message: str, tmp_path: Path) -> None:
    _require("gcc", "-std=c99", tmp_path)
    source = tmp_path / "refused.c"
    source.write_text(text)
    built = _compile("gcc", f"-std=c99 {flags}", [source])
    assert built.returncode != 0
    assert message in built.stderr


def test_statuses_are_distinct_and_zero_is_success() -> None:
    lines = [line for line in (INCLUDE / "lam_base.h").read_text().splitlines() if line.startswith("    LAM_")]
    values = {line.split("=")[0].strip(): int(line.split("=")[1].split("/")[0].strip(" ,")) for line in lines}
    assert len(values) == len(lines) == len(set(values.values()))
    assert values["LAM_OK"] == 0


@pytest.mark.parametrize("header", HEADERS)
def test_header_carries_its_licence(header: str) -> None:
    text = (INCLUDE / header).read_text()
    assert text.startswith("/* SPDX-License-Identifier: MIT-0\n * Copyright (c) Lamina contributors\n")
    assert f"#ifndef {header.upper().replace('.', '_')}\n" in text
