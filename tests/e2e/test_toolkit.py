"""An operator that the house does not know, from the model's file to compiled C, by a toolkit that is made here.

`Trailing`, of the domain `test.trailing`: y[c] is the largest of x[c - reach + 1] .. x[c] along the last axis.  It is
joined with all that an operator needs: how a node is read, the operator on real numbers, the rule that settles it, the
integer operator, a kernel, its template and a runtime header.  Nothing of the house is touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from onnx import helper

import codegen
from codegen.errors import ModelRejected, NoKernel, OperatorNotOnTarget, RuleBad
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import Reading
from codegen.frontends.onnx.real.translators import TRANSLATORS
from codegen.ir.op import Limit, NodeOf
from codegen.ir.quant import Array, DType, TensorType
from codegen.ir.real import RealNode, RealType
from codegen.kernels import KERNELS, TABLE
from codegen.kernels.common import channels
from codegen.kernels.kernel import Fit, Kernel
from codegen.ops import OPS
from codegen.ops.answers import Types, never_in_place, no_macs, same_row
from codegen.ops.limits import only_input, types_among
from codegen.options import Options
from codegen.pipeline import compile_file
from codegen.resources import ROOTS, resource_dir
from codegen.settle.context import Context
from codegen.settle.rule import Rule
from codegen.settle.rules import RULES
from codegen.settle.states import Real, Route, State
from codegen.settle.tables import exact
from codegen.toolkit import HOUSE, Toolkit
from tests.unit.frontends.models import Net, saved

DOMAIN = "test.trailing"
SCALE, ZERO = 0.05, 3
HEADER = """\
#ifndef TRAILING_LARGER_H
#define TRAILING_LARGER_H
/* The larger of two numbers. */
static inline int32_t trailing_larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}
#endif
"""
TEMPLATE = """\
{% import "macros/c.j2" as c %}
{{ c.signature(f) }}
{
{{ c.params(f) }}
    const {{ f.in_t }} *x = rows[0];
    for (int32_t pixel = 0; pixel < n; pixel++) {
        for (int32_t i = 0; i < {{ k.channels }}; i++) {
            int32_t most = x[i];
            for (int32_t back = 1; back < {{ k.reach }} && back <= i; back++) {
                most = trailing_larger(most, x[i - back]);
            }
            y[i] = ({{ f.out_t }})most;
        }
        x += {{ k.channels }};
        y += {{ k.channels }};
    }
    LAM_UNUSED(scratch);
}
"""


def trailing(x: Array, reach: int) -> Array:
    """The definition."""
    return np.stack([x[..., max(0, c - reach + 1) : c + 1].max(-1) for c in range(x.shape[-1])], -1)


@dataclass(frozen=True, slots=True)
class RealTrailing:
    """On real numbers."""

    reach: int

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        return (ins[0],)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        return (trailing(ins[0], self.reach),)


@dataclass(frozen=True, slots=True)
class Trailing:
    """On integers, whose order is that of the numbers."""

    reach: int

    limits: ClassVar[tuple[Limit, ...]] = (types_among("TEST-TRAILING-01", 0, "the input", (DType.S8,)),)

    def infer(self, ins: Types) -> tuple[TensorType, ...]:
        return (only_input(self, ins),)

    def golden(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        return (trailing(ins[0], self.reach),)

    rows = same_row
    macs = no_macs
    in_place = never_in_place


@dataclass(frozen=True, slots=True)
class TrailingContext:
    """Numbers of the template."""

    channels: int
    reach: int


def read_trailing(r: Reading, node: OnnxNode) -> Sequence[str]:
    """A node of the file."""
    return [r.apply(RealTrailing(node.integer("reach", 2, low=1, high=100)), [r.value(node, 0)], node)]


def settle_trailing(ctx: Context, node: RealNode, op: RealTrailing) -> Sequence[State]:
    """The same scale on both sides: nothing is rounded."""
    x = exact(ctx, node, 0)
    value = ctx.run(x.value, Route(Trailing(op.reach)), node.outputs[0], (node,), "Trailing")
    return [Real(value, x.quant)]


def fit_trailing(node: NodeOf[Trailing]) -> Fit:
    """Any node of the operator."""
    return Fit(TrailingContext(channels(node.ins[0].shape), node.op.reach))


KERNEL = Kernel(
    "trailing",
    "trailing.c.j2",
    "pixels",
    (Trailing,),
    fit_trailing,
    one_input=True,
    headers=("trailing_larger.h",),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template and the header."""
    root = tmp_path_factory.mktemp("trailing")
    (root / "templates" / "kernels").mkdir(parents=True)
    (root / "templates" / "kernels" / "trailing.c.j2").write_text(TEMPLATE, encoding="utf-8")
    (root / "runtime_c" / "include").mkdir(parents=True)
    (root / "runtime_c" / "include" / "trailing_larger.h").write_text(HEADER, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def tools(folder: Path) -> Toolkit:
    """The house's tools, and those above."""
    return HOUSE.joined(
        onnx={(DOMAIN, "Trailing"): read_trailing},
        rules=(Rule(RealTrailing, settle_trailing),),
        operators=(Trailing,),
        kernels=(KERNEL,),
        templates=(folder / "templates",),
        runtime=(folder / "runtime_c",),
    )


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Trailing between two operators of the house, quantized: a sum before it, and a maximum of rows behind it."""
    net = Net(5)
    x = net.qdq(net.input((1, 6, 8)), SCALE, ZERO)
    before = net.qdq(net.op("Add", x, net.const(net.rng.normal(size=8).astype(np.float32))), SCALE, ZERO)
    y = net.qdq(net.op("Trailing", before, domain=DOMAIN, reach=3), SCALE, ZERO)
    made = net.model(net.qdq(net.op("Relu", y), SCALE, ZERO))
    made.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return saved(made, tmp_path)


@pytest.mark.parametrize("weights", ["c", "blob"])
def test_c_equals_golden(model: Path, tools: Toolkit, weights: str) -> None:
    found = codegen.verify(model, weights=weights, toolkit=tools)
    assert found.equal, found.first_difference
    assert found.tensors_checked >= 3


def test_golden_is_the_definition(model: Path, tools: Toolkit) -> None:
    """The numbers, and the engines that run them; the float model differs by rounding of its other operators only."""
    x = np.random.default_rng(2).integers(-100, 100, (1, 6, 8)).astype(np.float32) * np.float32(SCALE)
    dumped = codegen.run(model, {"x": x}, dump_all=True, toolkit=tools)
    made = compile_file(model, Options(), tools).imported
    (node,) = (n for n in made.nodes if isinstance(n.op, Trailing))
    names = [made.values[name].source or name for name in (node.inputs[0], node.outputs[0])]
    np.testing.assert_array_equal(trailing(dumped[names[0]], 3), dumped[names[1]])
    assert (dumped[names[0]] != dumped[names[1]]).any()
    in_c, golden, real = (codegen.run(model, x, engine, toolkit=tools) for engine in ("c", "golden", "float"))
    np.testing.assert_array_equal(in_c, golden)
    np.testing.assert_allclose(golden, real, rtol=0, atol=SCALE * 1.001)


@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m55", "gap8-like"])
def test_it_is_compiled_for_other_chips(model: Path, tools: Toolkit, target: str, tmp_path: Path) -> None:
    """The header comes along, and the layers include it; on a scratchpad too."""
    made = codegen.compile_model(model, target, tmp_path / "out", toolkit=tools)
    assert (made.path / "runtime" / "trailing_larger.h").read_text(encoding="utf-8") == HEADER
    (layers,) = (made.path / "src").glob("*_layers.c")
    assert '#include "trailing_larger.h"' in layers.read_text(encoding="utf-8")
    assert codegen.inspect(model, target, toolkit=tools).supported


def test_the_house_knows_nothing_of_it(model: Path, tools: Toolkit) -> None:
    """The same model without the toolkit, after it was compiled with it."""
    compile_file(model, Options(), tools)
    with pytest.raises(ModelRejected, match=r"operator test\.trailing\.Trailing is not supported"):
        codegen.verify(model)
    assert not codegen.inspect(model).supported
    assert Trailing not in OPS
    assert KERNEL not in KERNELS
    assert RealTrailing not in RULES
    assert (DOMAIN, "Trailing") not in TRANSLATORS
    assert HOUSE.table is TABLE
    assert HOUSE.roots is ROOTS
    assert not HOUSE.vocabulary.onnx


def test_a_part_that_is_missing_is_named(model: Path, tools: Toolkit) -> None:
    reads = {(DOMAIN, "Trailing"): read_trailing}
    with pytest.raises(ModelRejected, match="operator Trailing is not supported"):
        codegen.verify(model, toolkit=HOUSE.joined(onnx=reads))
    settles = HOUSE.joined(onnx=reads, rules=(Rule(RealTrailing, settle_trailing),))
    with pytest.raises(NoKernel, match="Trailing on s8"):
        codegen.verify(model, toolkit=settles)
    found = codegen.inspect(model, toolkit=settles)
    assert [v.id for v in found.violations] == [NoKernel.code]


def test_a_target_may_name_it(model: Path, tools: Toolkit, tmp_path: Path) -> None:
    """In the list of what a chip does not run; without the toolkit no operator is called that."""
    text = (resource_dir("targets") / "chips/reference/generic.toml").read_text(encoding="utf-8")
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace('name = "generic"', 'name = "mine"\nunsupported = ["Trailing"]'), encoding="utf-8")
    with pytest.raises(OperatorNotOnTarget, match="mine does not run Trailing"):
        codegen.verify(model, target=str(mine), toolkit=tools)
    digits = resource_dir("examples") / "digits" / "digits_qdq.onnx"
    with pytest.raises(RuleBad, match="no operator is called 'Trailing'"):
        codegen.verify(digits, target=str(mine))


def test_what_joins_goes_before_the_house(folder: Path, tools: Toolkit) -> None:
    """A kernel of one's own for an operator of the house is tried first, and one more toolkit joins the joined one."""
    again = tools.joined(kernels=(KERNEL,), rules=(Rule(RealTrailing, settle_trailing),))
    assert again.table.kernels[:2] == (KERNEL, KERNEL)
    assert again.table.kernels[2:] == KERNELS
    assert again.table.operators == (Trailing, *OPS)
    assert again.roots.templates == (folder / "templates", *ROOTS.templates)
    assert set(again.vocabulary.rules) == {RealTrailing}
