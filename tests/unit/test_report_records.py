"""What the report says beyond inspect and compare: rooflines, advice, differences, histograms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from codegen.ir.real import Stored
from codegen.options import Options
from codegen.quantizer.numbers import Numbers
from codegen.quantizer.versus import TensorError
from codegen.report.profile import Profile, ProfiledLayer
from codegen.target import load_target
from codegen.verbs.inspect import inspect
from codegen.verbs.report.changes import changes
from codegen.verbs.report.costs import roofs
from codegen.verbs.report.guilt import advice
from tests.e2e.projects import TINY

GOOD = TensorError(
    tensor="t",
    operator="Conv",
    bits=8,
    scale=0.1,
    sqnr=40.0,
    steps=0.3,
    own_sqnr=45.0,
    own_steps=0.29,
    own_most=0.5,
    clipped=0.0,
    codes=0.8,
    rescaled=False,
)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({}, ""),
        ({"clipped": 0.02}, "2 % of its numbers are beyond its integers"),
        ({"codes": 0.07}, "7 % of its integers occur"),
        ({"own_steps": 3.0}, "its layer adds more than rounding"),
        ({"codes": 0.01, "bits": 16}, ""),
    ],
)
def test_advice_is_what_the_figures_show(words: dict[str, float], said: str) -> None:
    assert "; ".join(advice(replace(GOOD, **words))).startswith(said)  # type: ignore[arg-type]


@pytest.mark.parametrize(("dtype", "low", "high"), [("int8", -128, 127), ("uint8", 0, 255), ("int16", -32768, 32767)])
def test_bins_count_every_number_once_and_hold_whole_steps(dtype: str, low: int, high: int) -> None:
    rng = np.random.default_rng(3)
    scale, zero = np.float32(0.05), np.asarray(low + 20)
    stored = Stored(dtype=np.dtype(dtype), scale=np.asarray(scale), zero_point=zero)
    seen = Numbers("t", ("t",), stored)
    codes = rng.integers(low, high + 1, (2, 3, 500))
    held = ((codes - zero) * scale).astype(np.float32)
    real = held + rng.uniform(-0.5, 0.5, held.shape).astype(np.float32) * scale
    real[0, 0, :7] = np.float32(1e9)
    for sample in range(2):
        seen.add(real[sample], held[sample])
    found = seen.record()
    assert sum(found.real) == sum(found.held) == real.size
    assert found.real[-1] >= 7, "what lies beyond counts in the last bin"
    width = (found.last - found.first) / len(found.real)
    assert width / scale == pytest.approx(round(width / float(scale)), rel=1e-5)
    inside = [found.first + (i + 0.5) * width for i, n in enumerate(found.held) if n]
    assert found.low - width < min(inside)
    assert max(inside) < found.high + width
    assert len(found.pairs) == len(found.at) == 240
    assert found.pairs[1] == pytest.approx(
        (real[0].reshape(-1)[found.at[1]], held[0].reshape(-1)[found.at[1]]), rel=1e-5
    )


def test_the_least_is_products_or_bytes_by_the_cores_limits() -> None:
    look = inspect(TINY, Options(target="cortex-m4"))
    assert look.plan is not None
    (roof,) = roofs([look], ())
    speed = load_target("cortex-m4").speed
    assert speed is not None
    assert (roof.products, roof.bytes, roof.counted) == (2, 8, False)
    moved = {w.layer: w for g in look.plan.groups for w in g.work}
    for cost, row in zip(roof.layers, look.layers, strict=True):
        if row.name in moved:
            work = moved[row.name]
            size = work.read_bytes + work.written_bytes + work.weights_read_bytes
            assert cost.moved_bytes == size
            assert cost.least == max(-(-row.macs // 2), -(-size // 8))
            assert cost.spent == row.cycles
    sums = [(g.read_bytes, g.written_bytes, g.weights_read_bytes, g.kernel_calls) for g in look.plan.groups]
    parts = [
        tuple(
            sum(getattr(w, what) for w in g.work)
            for what in ("read_bytes", "written_bytes", "weights_read_bytes", "kernel_calls")
        )
        for g in look.plan.groups
    ]
    assert parts == sums


def test_what_was_counted_goes_before_what_is_estimated() -> None:
    look = inspect(TINY, Options(target="cortex-m4"))
    layers = tuple(
        ProfiledLayer(r.name, r.operator, r.kernel, r.macs, 1, 1000 + i, None, None) for i, r in enumerate(look.layers)
    )
    profile = Profile(
        model="t",
        target="cortex-m4",
        requant="single",
        goal="balanced",
        flags="",
        macs=1,
        hook=1.0,
        layers=layers,
        weights_bytes=1,
        arena_bytes=1,
        instructions=9999,
    )
    (roof,) = roofs([look], [profile])
    assert roof.counted
    assert [cost.spent for cost in roof.layers] == [1000 + i for i in range(len(layers))]


def test_less_is_better_but_for_decibels_and_names() -> None:
    before = {
        ("m4", ""): {"arena_bytes": 100},
        ("m4", "a"): {"kernel": "x", "macs": 5},
        ("accuracy", "t"): {"own SQNR dB": 30.0},
    }
    now = {
        ("m4", ""): {"arena_bytes": 90},
        ("m4", "a"): {"kernel": "y", "macs": 6},
        ("accuracy", "t"): {"own SQNR dB": 31.0},
    }
    found = [(c.target, c.layer, c.what, c.better, c.percent) for c in changes(before, now)]
    assert found == [
        ("m4", "", "arena", True, -10.0),
        ("m4", "a", "kernel", None, None),
        ("m4", "a", "macs", False, 20.0),
        ("accuracy", "t", "own SQNR dB", True, 3.33),
    ]
    assert [c.now for c in changes(before, {("m4", ""): {}, ("m4", "b"): {}})] == ["gone", "new"]
    assert changes(before, {("m7", ""): {"arena_bytes": 1}}) == ()
