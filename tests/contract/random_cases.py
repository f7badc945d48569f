"""Random shapes, windows and boxes: what nobody thought of when writing the other cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from codegen.ir.op import Op
from codegen.ir.quant import MODES, Array, DType, Mode, Quant, TensorType
from codegen.ir.shape import Window
from codegen.ops import (
    Add,
    AveragePool2D,
    Concat,
    Conv2D,
    ConvTranspose2D,
    DepthToSpace,
    Gather,
    MaxPool2D,
    Mul,
    Pad,
    Slice,
    SpaceToDepth,
    Transpose,
    broken_limits,
)
from tests.contract.case import Case, requant
from tests.support.graphs import random_array

S8 = DType.S8
Drawn = tuple[Op, tuple[TensorType | Array | int, ...]]


def random_cases(seed: int, count: int) -> Iterator[Case]:
    """`count` valid cases, operators taking turns."""
    rng = np.random.default_rng(seed)
    weighted = (_conv, _transposed, _depthwise)
    draws = (*weighted, _max_pool, _mean, _binary, _slice, _gather, _pad, _transpose, _concat, _blocks)
    made = 0
    while made < count:
        op, ins = draws[made % len(draws)](rng)
        types = [i if isinstance(i, TensorType) else TensorType(i.shape, DType.of(i)) for i in ins]  # type: ignore[union-attr]
        if broken_limits(op, types):
            continue
        yield Case(f"random{made}", op, ins)
        made += 1


def _int(rng: np.random.Generator, low: int, high: int) -> int:
    return int(rng.integers(low, high, endpoint=True))


def _pick(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[_int(rng, 0, len(choices) - 1)]


def _mode(rng: np.random.Generator) -> Mode:
    return MODES[_int(rng, 0, 2)]


def _shape(rng: np.random.Generator, rank: int = 4, high: int = 7) -> tuple[int, ...]:
    return tuple(_int(rng, 1, high) for _ in range(rank))


def _window(rng: np.random.Generator, length: int) -> Window:
    """A window that fits a padded axis; dilation, stride and pads of any size, also beyond the window."""
    while True:
        window = Window(*(_int(rng, 1, 4) for _ in range(3)), *(_int(rng, 0, 4) for _ in range(2)))
        if window.out_len(length) > 0:
            return window


def _map(rng: np.random.Generator, channels: int | None = None) -> tuple[int, int, int, int]:
    return 1, _int(rng, 1, 9), _int(rng, 1, 9), channels or _int(rng, 1, 20)


def _conv(rng: np.random.Generator) -> Drawn:
    groups = _pick(rng, 1, 1, 2, 3)
    shape = _map(rng, groups * _int(rng, 1, 5))
    h, w = _window(rng, shape[1]), _window(rng, shape[2])
    return _convolution(rng, shape, h, w, groups, groups * _int(rng, 1, 4))


def _transposed(rng: np.random.Generator) -> Drawn:
    """A transposed convolution whose pads leave something over."""
    groups = _pick(rng, 1, 1, 2, 3)
    shape = (1, _int(rng, 1, 6), _int(rng, 1, 6), groups * _int(rng, 1, 4))
    h, w = (_spread_window(rng, n) for n in shape[1:3])
    extra = tuple(_int(rng, 0, max(v.stride, v.dilation) - 1) for v in (h, w))
    weights = random_array(rng, (groups * _int(rng, 1, 4), h.size, w.size, shape[3] // groups), S8)
    bias = rng.integers(-9999, 9999, len(weights)).astype(np.int32)
    step = requant(_mode(rng), 128 * 128 * np.sqrt(weights[0].size), _pick(rng, 1, len(weights)))
    op = ConvTranspose2D(h, w, (extra[0], extra[1]), groups, _int(rng, -128, 127), step, S8, None)
    return op, (TensorType(shape, S8), weights, bias)


def _spread_window(rng: np.random.Generator, length: int) -> Window:
    while True:
        window = Window(_int(rng, 1, 5), _int(rng, 1, 4), _int(rng, 1, 3), _int(rng, 0, 4), _int(rng, 0, 4))
        if (length - 1) * window.stride + window.extent > window.pad_before + window.pad_after:
            return window


def _depthwise(rng: np.random.Generator) -> Drawn:
    shape = _map(rng, _int(rng, 2, 40))
    return _convolution(rng, shape, _window(rng, shape[1]), _window(rng, shape[2]), shape[3], shape[3])


def _convolution(
    rng: np.random.Generator, shape: tuple[int, ...], h: Window, w: Window, groups: int, outputs: int
) -> Drawn:
    weights = random_array(rng, (outputs, h.size, w.size, shape[3] // groups), S8)
    bias = rng.integers(-9999, 9999, outputs).astype(np.int32)
    step = requant(_mode(rng), 128 * 128 * np.sqrt(weights[0].size), _pick(rng, 1, outputs))
    return Conv2D(h, w, groups, _int(rng, -128, 127), step, S8, None), (TensorType(shape, S8), weights, bias)


def _max_pool(rng: np.random.Generator) -> Drawn:
    shape = _map(rng)
    x = TensorType(shape, _pick(rng, S8, DType.U8, DType.S16))
    return MaxPool2D(_window(rng, shape[1]), _window(rng, shape[2])), (x,)


def _quant(rng: np.random.Generator) -> Quant:
    return Quant(float(np.float32(rng.uniform(0.01, 0.3))), _int(rng, -128, 127))


def _mean(rng: np.random.Generator) -> Drawn:
    shape, x = _map(rng), _quant(rng)
    h, w = _window(rng, shape[1]), _window(rng, shape[2])
    op = AveragePool2D(h, w, bool(_int(rng, 0, 1)), x, _pick(rng, x, _quant(rng)), S8, -128, 127, _mode(rng))
    return op, (TensorType(shape, S8),)


def _binary(rng: np.random.Generator) -> Drawn:
    shape = _shape(rng, _int(rng, 1, 5), 4)

    def side() -> tuple[int, ...]:
        return tuple(n if rng.random() < 0.6 else 1 for n in shape)[_int(rng, 0, len(shape) - 1) :]

    a: TensorType | Array = TensorType(_pick(rng, shape, side()), S8)
    b: TensorType | Array = _pick(rng, TensorType(side(), S8), random_array(rng, side(), S8))
    a, b = _pick(rng, (a, b), (b, a))
    mode = _mode(rng)
    if rng.random() < 0.5:
        return Mul(_int(rng, -128, 127), 3, requant(mode, 128 * 128), S8, None), (a, b)
    return Add(_quant(rng), _quant(rng), _quant(rng), S8, -100, 127, mode, _pick(rng, 1, -1)), (a, b)


def _slice(rng: np.random.Generator) -> Drawn:
    shape = _shape(rng, _int(rng, 1, 5))
    starts, sizes, steps = [], [], []
    for n in shape:
        step = _pick(rng, 1, 1, 1, 2, 3, -1, -2)
        start = _int(rng, 0, n - 1) if rng.random() < 0.6 else (0 if step > 0 else n - 1)
        room = (n - 1 - start) // step + 1 if step > 0 else start // -step + 1
        starts.append(start)
        steps.append(step)
        sizes.append(_pick(rng, room, _int(rng, 1, room)))
    return Slice(tuple(starts), tuple(sizes), tuple(steps)), (TensorType(shape, S8),)


def _gather(rng: np.random.Generator) -> Drawn:
    shape = _shape(rng, _int(rng, 1, 5))
    axis = _int(rng, 0, len(shape) - 1)
    indices = tuple(_int(rng, 0, shape[axis] - 1) for _ in range(_int(rng, 1, 6)))
    return Gather(axis, indices), (TensorType(shape, DType.S16),)


def _pad(rng: np.random.Generator) -> Drawn:
    shape = _shape(rng, _int(rng, 1, 4), 5)
    mode = _pick(rng, "constant", "edge", "reflect")
    most = [3 if mode != "reflect" else n - 1 for n in shape]
    before, after = (tuple(_int(rng, 0, m) if rng.random() < 0.5 else 0 for m in most) for _ in range(2))
    return Pad(before, after, mode, _int(rng, -128, 127)), (TensorType(shape, S8),)


def _transpose(rng: np.random.Generator) -> Drawn:
    shape = _shape(rng, _int(rng, 2, 6), 4)
    return Transpose(tuple(rng.permutation(len(shape)).tolist())), (TensorType(shape, S8),)


def _concat(rng: np.random.Generator) -> Drawn:
    shape = _shape(rng, _int(rng, 1, 5), 4)
    axis, count = _int(rng, 0, len(shape) - 1), _int(rng, 1, 4)
    parts: list[TensorType | Array | int] = []
    for i in range(count):
        sized = (*shape[:axis], _int(rng, 1, 4), *shape[axis + 1 :])
        constant = i > 0 and rng.random() < 0.3
        parts.append(random_array(rng, sized, S8) if constant else TensorType(sized, S8))
    return Concat(axis, (None,) * count, S8, None), tuple(parts)


def _blocks(rng: np.random.Generator) -> Drawn:
    n, h, w, c = _shape(rng, 4, 4)
    block = _int(rng, 1, 3)
    if rng.random() < 0.5:
        return DepthToSpace(block, _pick(rng, "DCR", "CRD")), (TensorType((n, h, w, c * block * block), S8),)
    return SpaceToDepth(block), (TensorType((n, h * block, w * block, c), S8),)
