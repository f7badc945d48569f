"""Constant factors and offsets behind a product of real numbers that is moved first: part of its weights and biases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from .models import Net, agrees, kinds

C = 4
Make = Callable[[Net], str]


def channels(net: Net, *shape: int) -> str:
    return net.const(net.rng.uniform(0.5, 2, shape or (C,)).astype(np.float32))


def conv(net: Net) -> str:
    x = net.input((1, 3, 6, 5))
    return str(net.op("Conv", x, net.const(net.rng.normal(size=(C, 3, 3, 3)).astype(np.float32))))


def last(net: Net, x: str) -> str:
    return str(net.op("Transpose", x, perm=[0, 2, 3, 1]))


def normalized(net: Net) -> str:
    """As Keras's exporter spells a batch normalization, which is NHWC."""
    y = net.op("Mul", net.op("Sub", last(net, conv(net)), channels(net)), channels(net))
    return str(net.op("Add", channels(net), y))


def divided(net: Net) -> str:
    return str(net.op("Div", last(net, conv(net)), channels(net, 1, 1, 1, C)))


def flattened(net: Net) -> str:
    rows = net.op("Reshape", conv(net), net.const([1, C, -1]))
    return str(net.op("Add", net.op("Transpose", rows, perm=[2, 0, 1]), channels(net)))


def dense(net: Net) -> str:
    y = net.op("MatMul", net.input((6, 3)), net.const(net.rng.normal(size=(3, C)).astype(np.float32)))
    return str(net.op("Add", net.op("Reshape", y, net.const([1, 2, 3, C])), channels(net)))


def cropped(net: Net) -> str:
    x = net.input((1, 3, 4, 5))
    weights = net.const(net.rng.normal(size=(3, C, 3, 3)).astype(np.float32))
    y = last(net, net.op("ConvTranspose", x, weights, strides=[2, 2]))
    y = net.op("Slice", y, net.const([0, 1]), net.const([8, 11]), net.const([1, 2]))
    return str(net.op("Mul", net.op("Add", y, channels(net)), channels(net, 1)))


MOVED: dict[str, Make] = {f.__name__: f for f in (normalized, divided, flattened, dense, cropped)}


@pytest.mark.parametrize("name", MOVED)
def test_factors_and_offsets_behind_movement_are_part_of_the_product(name: str, tmp_path: Path) -> None:
    net = Net()
    graph = agrees(net.model(MOVED[name](net)), tmp_path)
    products = [kind for kind in kinds(graph) if kind not in ("Reshape", "Slice")]
    assert products in (["FloatConv2D"], ["FloatDense"])
    assert {name for node in graph.nodes for name in node.source} == {node.name for node in net.nodes}


def split_up(net: Net) -> str:
    y = net.op("Reshape", conv(net), net.const([1, 2, C // 2, 4, 3]))
    return str(net.op("Add", y, channels(net, 2, 1, 1, 1)))


def along_rows(net: Net) -> str:
    return str(net.op("Add", last(net, conv(net)), channels(net, 4, 1, 1)))


def some_channels(net: Net) -> str:
    y = net.op("Slice", last(net, conv(net)), net.const([1]), net.const([3]), net.const([3]))
    return str(net.op("Add", y, channels(net, 2)))


def other_way(net: Net) -> str:
    y = net.op("Slice", last(net, conv(net)), net.const([-1]), net.const([-9]), net.const([3]), net.const([-1]))
    return str(net.op("Add", y, channels(net)))


def read_twice(net: Net) -> str:
    y = last(net, conv(net))
    return str(net.op("Concat", net.op("Add", y, channels(net)), y, axis=1))


def read_before(net: Net) -> str:
    y = conv(net)
    return str(net.op("Concat", net.op("Add", last(net, y), channels(net)), last(net, y), axis=1))


def same_shape(net: Net) -> str:
    y = conv(net)
    renamed = net.op("Reshape", y, net.const([1, C, 4, 3]))
    return str(net.op("Concat", net.op("Add", renamed, channels(net, C, 1, 1)), y, axis=1))


def by_nothing(net: Net) -> str:
    return str(net.op("Tanh", net.op("Div", conv(net), net.const(np.float32(0)))))


OTHERS: dict[str, Make] = {
    f.__name__: f
    for f in (split_up, along_rows, some_channels, other_way, read_twice, read_before, same_shape, by_nothing)
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_not_of_the_outputs_alone_stays_behind(name: str, tmp_path: Path) -> None:
    net = Net()
    graph = agrees(net.model(OTHERS[name](net)), tmp_path)
    assert "FloatBinary" in kinds(graph)
    assert kinds(graph).count("FloatConv2D") == 1
