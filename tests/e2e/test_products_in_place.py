"""Products of two tensors whose output lies over an input, some bytes before it, as plans may have it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.ir.plan import Group, Plan, Storage
from codegen.ir.quant import DType, Quant
from codegen.kernels import select_kernels
from codegen.ops import Mul
from codegen.ops.requantize import make_requant
from codegen.options import Options
from codegen.pipeline import finish
from codegen.target import load_target
from tests.e2e.projects import build, check_sources, expected_lines, random_feeds, run, written
from tests.support.graphs import Sketch

FACTORS = {"like": (1, 6, 5, 7), "channels": (1, 1, 1, 7), "pixels": (1, 6, 5, 1), "one": (1, 1, 1, 1)}
X, ROW, NEAR = (1, 6, 5, 7), 35, 8


@pytest.mark.parametrize("before", [0, NEAR])
@pytest.mark.parametrize("isa", ["generic", "cortex-m4", "cortex-m55", "host"])
@pytest.mark.parametrize("form", FACTORS)
def test_what_is_multiplied_is_read_before_it_is_written_over(form: str, isa: str, before: int, tmp_path: Path) -> None:
    """Rows of 35 bytes, 7 channels: 8 bytes are no number of whole pixels."""
    sketch, quant = Sketch("over", seed=3), Quant(0.5, 5)
    x, by = sketch.input(X, name="x"), sketch.input(FACTORS[form], name="by")
    step = make_requant("single", 2.0**-4, [2.0**-4], quant, DType.S8)
    graph = sketch.graph(sketch.apply(Mul(-3, 9, step, DType.S8, quant), x, by))
    target = load_target(isa)
    kernels = select_kernels(graph, target.isa)
    (y,) = graph.nodes[0].outputs
    rows, row_bytes = (FACTORS[form][1], FACTORS[form][2] * FACTORS[form][3])
    held = 6 * ROW + NEAR
    plan = Plan(
        graph=graph,
        groups=(Group((0,), block=0),),
        storage={
            x: Storage(offset=NEAR, rows=6, ring=6, row_bytes=ROW),
            y: Storage(offset=NEAR - before, rows=6, ring=6, row_bytes=ROW),
            by: Storage(offset=-(-held // 8) * 8, rows=rows, ring=rows, row_bytes=row_bytes),
        },
        scratch={},
        scratch_bytes={},
        views=frozenset(),
        arena_bytes=-(-held // 8) * 8 + rows * row_bytes,
        arena_align=8,
        lower_bound_bytes=held,
    )
    made = written(tmp_path / "net", finish(graph, plan, kernels, load_target("host"), Options(vectors=0)))
    feeds = random_feeds(made.compiled, 2)
    assert any((np.asarray(v) != 0).any() for v in feeds[0].values())
    sources, defines = check_sources(made, feeds, tmp_path)
    program = build("gcc", ("-O2", "-DLAM_CHECK_STDIO", *defines), sources, tmp_path / "check", includes=made.includes)
    assert run(program) == expected_lines(made.compiled, feeds)
