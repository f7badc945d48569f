"""A LayerNormalization in several operators becomes one, and what only looks like it stays."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.quantizer.rewrite.normal import join_norms
from codegen.real.elementwise import Binary, Function
from codegen.real.normal import LayerNorm
from codegen.real.reduce import Reduce
from tests.support.float_networks import Maker, assert_same


def spelled(m: Maker, *, square: str = "Pow", axes: tuple[int, ...] = (2,), others: tuple[int, ...] = (2,)) -> str:
    """X less its mean over its deviation; the quotient's name."""
    x = m.last
    mean = m.add(Reduce("Mean", axes))
    away = m.add(Binary("Sub"), mean, x=x)
    m.add(Binary("Pow"), m.constant(np.array(2.0))) if square == "Pow" else m.add(Binary("Mul"), away)
    m.add(Reduce("Mean", others))
    m.add(Binary("Add"), m.constant(np.array(1e-5)))
    root = m.add(Function("Sqrt"))
    return m.add(Binary("Div"), root, x=away)


@pytest.mark.parametrize("square", ["Pow", "Mul"])
@pytest.mark.parametrize("axes", [(2,), (1, 2)])
def test_a_spelled_normalization_becomes_one_with_its_factors(square: str, axes: tuple[int, ...]) -> None:
    m = Maker(0, (2, 3, 8))
    spelled(m, square=square, axes=axes, others=axes)
    m.add(Binary("Mul"), m.constant(np.linspace(-1, 2, 8)))
    m.add(Binary("Add"), m.constant(np.linspace(0, 1, 8)))
    graph = m.done()
    found = join_norms(graph).graph
    assert [type(n.op) for n in found.nodes] == [LayerNorm]
    assert_same(graph, found)


def test_a_mean_of_other_axes_is_no_normalization() -> None:
    m = Maker(0, (2, 3, 8))
    spelled(m, others=(1, 2))
    assert not join_norms(m.done()).record.pairs


def test_a_factor_along_another_axis_stays_behind() -> None:
    m = Maker(0, (2, 3, 8))
    spelled(m)
    m.add(Binary("Mul"), m.constant(np.linspace(1, 2, 3).reshape(3, 1)))
    graph = m.done()
    found = join_norms(graph).graph
    assert [type(n.op) for n in found.nodes] == [LayerNorm, Binary]
    assert_same(graph, found)
