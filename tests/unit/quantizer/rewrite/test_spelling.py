"""Functions spelled in several operators become one, whatever the spelling, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from codegen.ir.real import RealOp
from codegen.quantizer.rewrite.spelling import known_function, respell
from codegen.real.elementwise import Binary, Clip, Function, PRelu
from codegen.real.reduce import Reduce
from tests.support.float_networks import Maker, assert_same

Spelling = Callable[[Maker, str], object]


def number(maker: Maker, value: float) -> str:
    return maker.constant(np.array(value))


def f(name: str, **given: float) -> Function:
    return Function(name, tuple(given.items()))


def _swish(m: Maker, x: str) -> None:
    m.add(f("Sigmoid"), x=x)
    m.add(Binary("Mul"), m.last, x=x)


def _swish_by_exp(m: Maker, x: str) -> None:
    m.add(f("Neg"), x=x)
    m.add(f("Exp"))
    m.add(Binary("Add"), number(m, 1.0))
    m.add(Binary("Div"), m.last, x=x)


def _hard_swish(m: Maker, x: str) -> None:
    m.add(Binary("Add"), number(m, 3.0), x=x)
    m.add(Clip(0.0, 6.0))
    m.add(Binary("Div"), number(m, 6.0))
    m.add(Binary("Mul"), m.last, x=x)


def _hard_swish_later(m: Maker, x: str) -> None:
    m.add(Binary("Add"), number(m, 3.0), x=x)
    m.add(f("Relu"))
    m.add(Binary("Min"), number(m, 6.0))
    m.add(Binary("Mul"), x)
    m.add(Binary("Mul"), number(m, 1 / 6))


def _hard_sigmoid(m: Maker, x: str) -> None:
    m.add(Binary("Add"), number(m, 3.0), x=x)
    m.add(Clip(0.0, 6.0))
    m.add(Binary("Mul"), number(m, 1 / 6))


def _gelu(m: Maker, x: str) -> None:
    m.add(Binary("Div"), number(m, np.sqrt(2)), x=x)
    m.add(f("Erf"))
    m.add(Binary("Add"), number(m, 1.0))
    m.add(Binary("Mul"), m.last, x=x)
    m.add(Binary("Mul"), number(m, 0.5))


def _gelu_tanh(m: Maker, x: str) -> None:
    m.add(Binary("Pow"), number(m, 3.0), x=x)
    m.add(Binary("Mul"), number(m, 0.044715))
    m.add(Binary("Add"), m.last, x=x)
    m.add(Binary("Mul"), number(m, np.sqrt(2 / np.pi)))
    m.add(f("Tanh"))
    m.add(Binary("Add"), number(m, 1.0))
    inner = m.last
    m.add(Binary("Mul"), number(m, 0.5), x=x)
    m.add(Binary("Mul"), inner)


def _mish(m: Maker, x: str) -> None:
    m.add(f("Softplus"), x=x)
    m.add(f("Tanh"))
    m.add(Binary("Mul"), x)


def _leaky(m: Maker, x: str) -> None:
    m.add(Binary("Mul"), number(m, 0.125), x=x)
    m.add(Binary("Max"), m.last, x=x)


def _relu6(m: Maker, x: str) -> None:
    m.add(Binary("Max"), number(m, 0.0), x=x)
    m.add(Binary("Min"), number(m, 6.0))


CASES: dict[str, tuple[Spelling, RealOp]] = {
    "swish": (_swish, f("Swish")),
    "swish by exp": (_swish_by_exp, f("Swish")),
    "hard swish": (_hard_swish, f("HardSwish")),
    "hard swish divided last": (_hard_swish_later, f("HardSwish")),
    "hard sigmoid": (_hard_sigmoid, f("HardSigmoid", alpha=float(np.float32(1 / 6)), beta=0.5)),
    "gelu": (_gelu, f("Gelu")),
    "gelu by tanh": (_gelu_tanh, f("GeluTanh")),
    "mish": (_mish, f("Mish")),
    "leaky relu": (_leaky, f("LeakyRelu", alpha=0.125)),
    "relu6": (_relu6, Clip(0.0, 6.0)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("behind", [False, True])
def test_a_function_is_one_node(case: str, behind: bool) -> None:
    spell, op = CASES[case]
    maker = Maker(1)
    x = maker.add(f("Relu")) if behind else "x"
    x = maker.conv() if behind else x
    spell(maker, x)
    name = maker.last
    maker.conv()
    done = respell(maker.done())
    assert_same(maker.done(), done.graph, 1e-5)
    node = next(n for n in done.graph.nodes if n.outputs == (name,))
    assert node.op == op
    assert node.inputs == (x,)
    assert len(done.graph.nodes) == 2 + 2 * behind
    assert done.record.pairs == 1


def test_what_is_read_in_the_middle_stays() -> None:
    maker = Maker(2)
    inner = maker.add(f("Sigmoid"))
    outer = maker.add(Binary("Mul"), "x")
    graph = maker.done(outer, inner)
    done = respell(graph).graph
    assert_same(graph, done, 1e-5)
    assert {n.op for n in done.nodes} == {f("Sigmoid"), f("Swish")}


@pytest.mark.parametrize("case", ["two tensors", "per channel", "other function"])
def test_another_function_stays_as_it_is(case: str) -> None:
    maker = Maker(3)
    maker.add(f("Sigmoid"))
    match case:
        case "two tensors":
            maker.add(Binary("Mul"), maker.conv(3))
        case "per channel":
            maker.add(PRelu(), maker.normal(3, 1, 1))
        case _:
            maker.add(f("Exp"))
    graph = maker.done()
    done = respell(graph)
    assert done.record.pairs == 0
    assert [n.op for n in done.graph.nodes] == [n.op for n in graph.nodes]


def test_a_quotient_of_tensors_is_a_product() -> None:
    """As LayerNormalization is spelled: x - mean over the root of the variance."""
    maker = Maker(4)
    mean = maker.add(Reduce("Mean", (1,)))
    away = maker.add(Binary("Sub"), mean, x="x")
    maker.add(Binary("Mul"), away)
    maker.add(Reduce("Mean", (1,)))
    maker.add(Binary("Add"), number(maker, 1e-5))
    root = maker.add(f("Sqrt"))
    last = maker.add(Binary("Div"), root, x=away)
    done = respell(maker.done()).graph
    assert_same(maker.done(), done, 1e-5)
    assert Binary("Div") not in [n.op for n in done.nodes]
    assert done.outputs == (last,)


def test_every_function_is_found_by_its_numbers() -> None:
    x = np.linspace(-1000, 1000, 20001)
    assert known_function(x, np.maximum(x, 0)) == f("Relu")
    assert known_function(x, np.clip(x, -1, 2)) == Clip(-1.0, 2.0)
    assert known_function(x, x * x) is None
    assert known_function(x, np.maximum(x, 0) + 1e-3) is None
