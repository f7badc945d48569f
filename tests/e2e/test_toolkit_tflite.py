"""An operator that TFLite does not know, from a TFLite model to compiled C, by a toolkit that is made here.

It is the one of test_toolkit.py, as a custom operator whose options are one byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.errors import ModelRejected
from codegen.frontends.tflite.nodes import CUSTOM, TfliteNode
from codegen.frontends.tflite.real.context import RealContext
from codegen.frontends.tflite.real.translators import TRANSLATORS
from codegen.ir.real import RealNode
from codegen.settle.rule import Rule
from codegen.settle.states import Request, State
from codegen.settle.tflite.context import TfliteContext
from codegen.settle.tflite.rules import RULES
from codegen.toolkit import HOUSE, Toolkit
from tests.e2e.test_toolkit import HEADER, KERNEL, TEMPLATE, RealTrailing, Trailing, trailing
from tests.support.tflite_models import Model

SCALE, ZERO = 0.05, 3
REACH = 3
NAME = f"{CUSTOM}Trailing"


def read_trailing(ctx: RealContext, node: TfliteNode) -> None:
    """A node of the file."""
    ctx.write(node, RealTrailing(node.custom[0]), [ctx.value(node, 0)])


def settle_trailing(ctx: TfliteContext, node: RealNode, op: RealTrailing) -> Sequence[State]:
    """The same scale on both sides: nothing is rounded."""
    x = ctx.quantized(node, 0)

    def write(request: Request) -> str:
        assert request.quant == x.quant
        return ctx.write(request, Trailing(op.reach), [x.value])

    return [ctx.waiting(node, write)]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Toolkit:
    """The house's tools, and those of the operator."""
    root = tmp_path_factory.mktemp("trailing")
    (root / "templates" / "kernels").mkdir(parents=True)
    (root / "templates" / "kernels" / "trailing.c.j2").write_text(TEMPLATE, encoding="utf-8")
    (root / "runtime_c" / "include").mkdir(parents=True)
    (root / "runtime_c" / "include" / "trailing_larger.h").write_text(HEADER, encoding="utf-8")
    return HOUSE.joined(
        tflite={NAME: read_trailing},
        tflite_rules=(Rule(RealTrailing, settle_trailing),),
        operators=(Trailing,),
        kernels=(KERNEL,),
        templates=(root / "templates",),
        runtime=(root / "runtime_c",),
    )


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The operator between two of TFLite's."""
    made = Model()
    x, held = made.input((1, 6, 8), "int8", SCALE, ZERO), ("int8", SCALE, ZERO)
    before, behind = made.tensor((1, 6, 8), *held), made.tensor((1, 6, 8), *held)
    made.op("ABS", [x], [before])
    made.op("Trailing", [before], [behind], custom=bytes([REACH]))
    made.op("RELU", [behind], [made.output((1, 6, 8), *held)])
    path = tmp_path / "m.tflite"
    path.write_bytes(made.bytes())
    return path


def test_c_and_real_numbers_are_the_definition(model: Path, tools: Toolkit) -> None:
    found = codegen.verify(model, toolkit=tools)
    assert found.equal, found.first_difference
    x = np.random.default_rng(2).integers(-128, 128, (1, 6, 8)).astype(np.int8)
    dumped = codegen.run(model, {"main_t0": x}, dump_all=True, toolkit=tools)
    assert (dumped["main_t1"] != dumped["main_t2"]).any()
    np.testing.assert_array_equal(trailing(dumped["main_t1"], REACH), dumped["main_t2"])
    assert codegen.inspect(model, toolkit=tools).supported


def test_the_house_knows_nothing_of_it(model: Path, tools: Toolkit) -> None:
    codegen.verify(model, toolkit=tools)
    with pytest.raises(ModelRejected, match="custom operator Trailing is not supported"):
        codegen.verify(model)
    assert not codegen.inspect(model).supported
    assert NAME not in TRANSLATORS
    assert RealTrailing not in RULES
    assert not HOUSE.vocabulary.tflite


def test_a_rule_that_is_missing_is_named(model: Path) -> None:
    reads = HOUSE.joined(tflite={NAME: read_trailing})
    with pytest.raises(ModelRejected, match="custom operator Trailing"):
        codegen.verify(model, toolkit=reads)
    assert reads.joined().vocabulary.tflite == {NAME: read_trailing}
