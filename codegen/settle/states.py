"""What is known of each tensor of the model while its nodes are read in order.

A tensor of the model is one of the states below.  QDQ graphs surround every float operator with DequantizeLinear and
QuantizeLinear; a state remembers enough that the integer operator can be written when the QuantizeLinear is met.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from codegen.ir.op import Op
from codegen.ir.quant import Array, DType, Quant, Requant
from codegen.ir.real import RealNode
from codegen.records import record
from codegen.settle.chain import Function

Trail = tuple[RealNode, ...]
"""The model's nodes that one of ours stands for, in order."""


@record
class Request:
    """What a QuantizeLinear asks of a pending result: integers of this meaning, clamped to real bounds."""

    quant: Quant
    dtype: DType
    name: str
    trail: Trail
    low: float = -math.inf
    high: float = math.inf


Emit = Callable[[Request], str]
"""Writes the integer operators of a pending result, and returns the value that holds it."""


@record
class Route:
    """One operator with the data movement around it that its layout calls for."""

    main: Op | None
    pre: tuple[Op, ...] = ()
    post: tuple[Op, ...] = ()

    @property
    def ops(self) -> tuple[Op, ...]:
        """All operators in order."""
        return (*self.pre, *(() if self.main is None else (self.main,)), *self.post)


@record(eq=False)
class Linear:
    """A convolution or matrix product that waits for its output's scale.

    real result = x_scale * scales[o] * (bias_int[o] + sum (x - zx) * weights[o]) + bias_real[o]

    `bits` are those that the model's weights have, where they are fewer than 8; each `block` of them share a factor
    where that is not 0.  `split` makes the operator's weights of these, perhaps with several outputs for each.
    """

    x: str
    x_scale: float
    x_zero_point: int
    weights: Array
    scales: Array
    bias_int: Array
    bias_real: Array
    axis: int
    make: Callable[[Requant | None, DType, Quant | None], Op]
    pre: tuple[Op, ...] = ()
    post: tuple[Op, ...] = ()
    bits: int = 0
    block: int = 0
    split: Callable[[Array], Array] | None = None


@record(eq=False)
class Const:
    """Numbers known now, of any element type."""

    array: Array


@record(eq=False)
class IntConst:
    """A float tensor known now as scale * (ints - zero), each of the tensor's full shape (broadcast views).

    `bits` are those of a type that numpy does not know, `block` is as in Stored.
    """

    ints: Array
    scale: Array
    zero: Array
    bits: int = 0
    block: int = 0


@record(eq=False)
class Int:
    """An integer tensor computed by the network.  `kind` is the model's element type where ours is a smaller one."""

    value: str
    kind: str = ""


@record(eq=False)
class Float:
    """A float tensor: a network input that nothing has quantized yet, or `made` by an operator on real numbers."""

    value: str
    made: bool = False


@record(eq=False)
class Real:
    """A float tensor that is exactly DequantizeLinear of `value`, or a function of that.

    `trail` are the nodes since the value was written.
    """

    value: str
    quant: Quant
    function: Function | None = None
    trail: Trail = ()


@record(eq=False)
class Channelled:
    """A computed tensor with a scale per channel, quantized or dequantized; `value` holds its integers as `quant`."""

    value: str
    quant: Quant
    scales: Array


@record(eq=False)
class Pending:
    """The float result of an arithmetic operator, which can be written once a QuantizeLinear gives its scale.

    `function` is the operator's name where its range is known, and `kind` the type of its input then.  `times` makes
    the same result times a number above zero, where that only changes a scale; `factors` the same result times numbers
    and plus numbers that broadcast with it, where its operator takes them; `wide` writes it once, in 16 bits that hold
    whatever it may be, where those are known;
    `plus` the same sum, or its negative, plus or minus one more tensor that a further node adds.
    """

    shape: tuple[int, ...]
    emit: Emit
    trail: Trail
    low: float = -math.inf
    high: float = math.inf
    linear: Linear | None = None
    function: str = ""
    kind: DType = DType.S8
    times: Callable[[float], Pending] | None = None
    factors: Callable[[Array, Array], Pending] | None = None
    wide: Callable[[], Real] | None = None
    plus: Callable[[Real, int, int, RealNode], Pending] | None = None

    def clipped(self, low: float, high: float, node: RealNode) -> Pending:
        """The result of clip(self, low, high): bounds compose."""
        bound = (min(max(self.low, low), high), min(max(self.high, low), high))
        return replace(
            self, low=bound[0], high=bound[1], trail=(*self.trail, node), function="", factors=None, wide=None
        )

    @property
    def bounded(self) -> bool:
        """Whether an activation is folded in."""
        return not (math.isinf(self.low) and math.isinf(self.high))


@record(eq=False)
class Accum:
    """The int32 result of ConvInteger or MatMulInteger, not written yet."""

    shape: tuple[int, ...]
    linear: Linear
    trail: Trail


@record(eq=False)
class Product:
    """A sum of products of real numbers: weights [outputs, ...], a bias for each output, along `axis` of the result.

    `write` makes it again, with other weights and biases, for a further node of the model, the last of a trail, and
    with movement behind it; `moved` is the movement so far.
    """

    weights: Array
    bias: Array
    axis: int
    trail: Trail
    write: Callable[[Array, Array, Trail, Sequence[Op]], Float]
    moved: tuple[Op, ...] = ()


@record
class Poison:
    """The result of a node that was refused: what follows is passed over silently."""


State = Const | IntConst | Int | Float | Real | Channelled | Pending | Accum | Poison
POISON = Poison()
