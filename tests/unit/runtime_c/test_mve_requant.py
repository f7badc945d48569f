"""Helium's requantization of sums equals codegen/fixedpoint.py: the assembly on an emulated chip, its twin on the host.

Sums reach the primitives as biases of inputs that are all zero, so that every int32 can be tried; a good part of them
lies on or next to a tie.  Factors are each channel's own, in the stream, or some in turn that all channels share.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from codegen import fixedpoint
from codegen.emit import array_lines
from codegen.emulator import build_and_run
from codegen.ir.quant import MODES, Array
from codegen.kernels.mve.dense import stream
from codegen.resources import resource_dir
from codegen.target import load_target
from tests.support.tools import require_tool

CHANNELS = 4096
SHARED = (0, 1000, 2001, 3005, 4001)
"""Records whose factors all channels share, in turn; that of the first one is zero but in mode ort."""
OUTPUTS = ((0, -128, 127), (-128, -128, 127), (3, -5, 90), (130, 0, 255))
RECTIFIED = ((-128, -128, 127), (3, 3, 90), (-5, -2, 127), (0, 0, 255))
"""Of form `up`, which is mode tflite where no output is below the zero point."""
FORMS = (*MODES, "up")
PIXELS = 1 + 2 + 2 * (2 + 3)
"""Of the forms: one pixel, pairs, and columns of two widths, in twos and with an odd one."""
RUNTIME = resource_dir("runtime_c")

PROGRAM = """
#include "lam_mve_columns.h"
{console}
static const int32_t packed[] = {{
{words}
}};
static const int32_t wide[] = {{
{wide}
}};
static const int32_t outputs[][3] = {{{outputs}}};
static const int32_t factors[][2] = {{{factors}}};
static const int8_t x[2][64];
static uint8_t y[3][{channels}];

/* Each block by itself, so that pixels lie close together. */
static void columns(lam_mve_job *job, const int32_t *stream, int32_t words, int32_t pixels, int wide_inputs, int bounds)
{{
    uint8_t aside[12];
    job->count = pixels;
    for (int32_t block = 0; block < {channels} / 4; block++) {{
        job->w = stream + block * words;
        job->end = job->w + words;
        job->y0 = aside;
        if (wide_inputs) {{
            if (bounds == 0) {{
                lam_mve_columns(job, {form}, {factors_of}, WITHIN, 32, 2, 32, 4);
            }} else if (bounds == 1) {{
                lam_mve_columns(job, {form}, {factors_of}, S8, 32, 1, 32, 4);
            }} else {{
                lam_mve_columns(job, {form}, {factors_of}, U8, 32, 1, 32, 4);
            }}
        }} else {{
            if (bounds == 0) {{
                lam_mve_columns(job, {form}, {factors_of}, WITHIN, 16, 2, 16, 4);
            }} else if (bounds == 1) {{
                lam_mve_columns(job, {form}, {factors_of}, S8, 16, 1, 16, 4);
            }} else {{
                lam_mve_columns(job, {form}, {factors_of}, U8, 16, 1, 16, 4);
            }}
        }}
        for (int32_t i = 0; i < pixels; i++) {{
            memcpy(y[i] + 4 * block, aside + 4 * i, 4);
        }}
    }}
}}

int main(void)
{{
    for (int32_t turn = 0; turn < {turns}; turn++) {{
        const int32_t *const output = outputs[turn % {count}], *const factor = factors[turn / {count}];
        const int32_t low = output[1], whole = output[2] - low == 255 ? (low < 0 ? 1 : 2) : 0;
        for (int32_t form = 0; form < 6; form++) {{
            lam_mve_job job = {{
                .x0 = x[0], .x1 = x[1], .y0 = y[0], .y1 = y[1],
                .w = packed, .end = packed + sizeof packed / sizeof *packed, .count = 1,
                .zero_point = output[0], .low = low - output[0], .high = output[2] - output[0], .chunks = 1,
                .multiplier = factor[0], .shift = factor[1]}};
            memset(y, 99, sizeof y);
            if (form == 0) {{
                lam_mve_vector(&job, {mode}, {each}, 1);
            }} else if (form == 1) {{
                lam_mve_pairs(&job, {mode}, {each}, whole == 1);
            }} else {{
                const int wider = form >= 4, odd = form % 2;
                columns(&job, wider ? wide : packed, {head} + 16 * (1 + wider), odd ? 3 : 2, wider, odd ? whole : 0);
            }}
            put(y, (form == 0 ? 1 : form % 2 && form > 1 ? 3 : 2) * sizeof y[0]);
        }}
    }}
    return 0;
}}
"""
HOST = """#include <stdio.h>
static void put(const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        printf("%02x", ((const uint8_t *)p)[i]);
    }
}"""
BOARD = """#include "lam_board.h"
static void put(const void *p, size_t n)
{
    lam_board_write(p, (uint32_t)n);
}"""


def outputs_of(form: str) -> tuple[tuple[int, int, int], ...]:
    """Zero points and bounds that the form is tried with."""
    return RECTIFIED if form == "up" else OUTPUTS


def records(form: str) -> tuple[Array, Array, Array]:
    """Sums, multipliers and shifts (or scales)."""
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 24, CHANNELS)
    sums = rng.integers(-(2**31), 2**31, CHANNELS) >> bits
    # the power of two that takes a sum to a few hundred
    near = 31 - bits - rng.integers(6, 9, CHANNELS)
    edges = [-(2**31), 1 - 2**31, -1, 0, 1, 2**31 - 1]
    sums[: 16 * len(edges)] = np.tile(edges, 16)
    if form == "ort":
        scales = np.float32(2.0) ** -near.astype(np.float32)
        return sums, scales * rng.choice(np.array([1, 1.25, 1.7], np.float32), CHANNELS), near
    # powers of two put sums on ties
    multipliers = np.where(rng.random(CHANNELS) < 0.5, 1 << 30, rng.integers(1 << 30, 1 << 31, CHANNELS))
    multipliers[::97] = 0
    shifts = np.clip(31 + near, 33, 62) if form == "single" else -np.clip(near, 1, 31)
    return sums, multipliers, shifts


def expected(form: str, output: tuple[int, int, int], shared: int = -1) -> Array:
    """What the definition makes of the records; `shared`: the record whose factor all of them have."""
    sums, factors, shifts = records(form)
    if shared >= 0:
        factors, shifts = (np.broadcast_to(part[shared], CHANNELS) for part in (factors, shifts))
    if form == "ort":
        return fixedpoint.requantize_ort(sums, factors, *output).astype(np.uint8)
    scale = fixedpoint.requantize_single if form == "single" else fixedpoint.requantize_tflite
    return scale(sums, factors, shifts, *output).astype(np.uint8)


def source(form: str, console: str, each: bool) -> str:
    sums, factors, shifts = records(form)
    multipliers = np.ascontiguousarray(factors).view(np.int32) if form == "ort" else factors.astype(np.int32)
    lanes = 32 - shifts if form == "single" else (np.zeros(CHANNELS) if form == "ort" else shifts)
    own = (multipliers, lanes.astype(np.int8)) if each else None
    packed, wide = (stream(np.zeros((CHANNELS, inputs), np.int8), sums.astype(np.int32), own) for inputs in (1, 32))
    shared = [(0, 0)] if each else [(int(multipliers[i]), int(lanes[i])) for i in SHARED]
    return PROGRAM.format(
        console=console,
        words="\n".join(array_lines(packed)),
        wide="\n".join(array_lines(wide)),
        outputs=", ".join("{{{}, {}, {}}}".format(*output) for output in outputs_of(form)),
        factors=", ".join("{{{}, {}}}".format(*factor) for factor in shared),
        channels=CHANNELS,
        count=len(outputs_of(form)),
        turns=len(outputs_of(form)) * len(shared),
        form=form.upper(),
        factors_of="EACH" if each else "ONE",
        head=9 if each else 4,
        mode=f"LAM_MVE_{form.upper()}",
        each=int(each),
    )


def check(form: str, each: bool, printed: bytes) -> None:
    used = (-1,) if each else SHARED
    wanted = b"".join(bytes(expected(form, output, shared)) * PIXELS for shared in used for output in outputs_of(form))
    assert printed.decode() == wanted.hex()


@pytest.mark.parametrize("form", FORMS)
def test_the_cases_reach_inside_the_range(form: str) -> None:
    output = outputs_of(form)[0]
    values = expected(form, output)
    assert len(np.unique(values)) > (128 if form == "up" else 255)
    assert np.isin(values, (0x80, 0x7F)).mean() < (0.8 if form == "up" else 0.5)
    assert all(len(np.unique(expected(form, output, shared))) > 32 for shared in SHARED[1:])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("each", [True, False])
@pytest.mark.parametrize("flags", ["-O2 -fsanitize=undefined -fno-sanitize-recover=all", "-O3"])
def test_the_twin_equals_the_definition(form: str, each: bool, flags: str, tmp_path: Path) -> None:
    require_tool("gcc")
    (tmp_path / "main.c").write_text(source(form, HOST, each))
    folders = [f"-I{RUNTIME / part}" for part in ("include", "isa/mve")]
    argv = ["gcc", "-std=c99", *flags.split(), *folders, str(tmp_path / "main.c"), "-o", str(tmp_path / "main")]
    subprocess.run(argv, check=True, timeout=120)
    check(form, each, subprocess.run([str(tmp_path / "main")], check=True, capture_output=True, timeout=60).stdout)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("each", [True, False])
@pytest.mark.parametrize("opt_level", ["-O0", "-O3"])
def test_the_assembly_equals_the_definition(form: str, each: bool, opt_level: str, tmp_path: Path) -> None:
    target = load_target("cortex-m55")
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.board.emulator[0])
    (tmp_path / "main.c").write_text(source(form, BOARD, each))
    folders = [RUNTIME / "include", RUNTIME / "isa" / "mve"]
    done = build_and_run(
        target, [tmp_path / "main.c"], folders, {}, opt_level=opt_level, timeout_s=60, workdir=tmp_path / "build"
    )
    assert done.exit_code == 0
    check(form, each, done.console)
