"""How an operator of a plug-in becomes one on integers, in ONNX and in TFLite models, or one on float32.

Decides: that an operator without a rule keeps the scale of its inputs, which all have one; and that real numbers are
taken where its inputs are no integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from codegen.errors import FormUnsupported, OperatorLimit, PluginFault
from codegen.ir.op import Op
from codegen.ir.quant import DType, TensorType
from codegen.ir.real import RealNode
from codegen.ops import Clamp, Transpose, activation_bounds, broken_limits
from codegen.plugin.reals import RealOperator, answered
from codegen.records import record
from codegen.settle.context import Context, real_bounds, shared_quant
from codegen.settle.float32.inputs import NeedsFloat
from codegen.settle.float32.writer import Writer, held_type, whole_const
from codegen.settle.layout import TO_NCHW, TO_NHWC
from codegen.settle.states import Const, Float, Int, IntConst, Pending, Real, Request, State
from codegen.settle.tables import exact
from codegen.settle.tflite.context import TfliteContext

Integers: TypeAlias = Callable[[Any, tuple[TensorType, ...], TensorType], Op]
"""The rule of quantization: from the operator, the types of its inputs with their scales, and that of its output as it
is to be held, to the operator on integers."""


@record
class Settler:
    """Settles one operator; `integers` is the plug-in's rule, None for one that keeps its inputs' scale."""

    integers: Integers | None

    def onnx(self, ctx: Context, node: RealNode, op: RealOperator) -> Sequence[State]:
        """A node of an ONNX model."""
        values = [self._value(ctx, node, op, i) for i in range(len(node.inputs))]
        return [self._made(_Inputs(ctx, node, op, tuple(values)))]

    def tflite(self, ctx: TfliteContext, node: RealNode, op: RealOperator) -> Sequence[State]:
        """A node of a TFLite model."""
        values = tuple(ctx.value(node, i) for i in range(len(node.inputs)))
        found = self._made(_Inputs(ctx, node, op, values))
        if isinstance(found, Pending):
            return [found]
        wanted = ctx.record(node.outputs[0])
        return [found if wanted.stored is not None or isinstance(found, Int) else Float(found.value, made=True)]

    def real(self, ctx: Context, node: RealNode, op: RealOperator) -> Sequence[State]:
        """On float32."""
        w = Writer(ctx, node)
        values = [self._turned(w, op, w.input(i)) for i in range(len(node.inputs))]
        y = w.apply(op.op, *values)
        return w.done(w.transposed(y, TO_NCHW) if op.is_turned(len(w.shape(y))) else y)

    def _turned(self, w: Writer, op: RealOperator, x: str) -> str:
        return w.transposed(x, TO_NHWC) if op.is_turned(len(w.shape(x))) else x

    def _value(self, ctx: Context, node: RealNode, op: RealOperator, index: int) -> str:
        """The graph's value of an input of an ONNX model."""
        state = ctx.state(node, index)
        name = node.inputs[index]
        match state:
            case Int(value=value):
                return value
            case IntConst(ints=ints):
                return ctx.builder.const(name, ints, shared_quant(state), state.bits, state.block)
            case Const():
                return ctx.builder.const(name, whole_const(state.array, held_type(state.array.dtype)))
            case Pending(trail=trail):
                raise NeedsFloat(trail, FormUnsupported(f"input '{name}' has no scale", where=node.where))
            case _:
                return exact(ctx, node, index).value

    def _made(self, x: _Inputs) -> Pending | Real | Int:
        """The result: with a scale of its own as one that waits for it, else with that of the inputs."""
        if self.integers is not None:
            rule = self.integers
            return Pending(x.shape, lambda request: x.written(request, rule), (x.node,))
        held = {(kind.quant, kind.dtype) for kind in x.kinds if kind.quant is not None}
        if len(held) > 1:
            found = f"{x.node.op_type} of tensors of different scales, which it would keep"
            raise FormUnsupported(found, where=x.node.where, hint="quantize its inputs alike, or give it `integers`")
        x.check(x.op.op)
        value = x.run(x.op.op, x.node.outputs[0])
        return Real(value, quant) if (quant := x.ctx.type(value).quant) else Int(value)


@record
class _Inputs:
    """A node with the values of its inputs."""

    ctx: Context
    node: RealNode
    op: RealOperator
    values: tuple[str, ...]

    @property
    def kinds(self) -> tuple[TensorType, ...]:
        """Their types, in the order of axes that the operator sees."""
        kinds = (self.ctx.type(value) for value in self.values)
        return tuple(replace(kind, shape=self.op.inside(kind.shape)) for kind in kinds)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result, in the file's axes."""
        return self.ctx.real(self.node.outputs[0]).shape

    def written(self, request: Request, rule: Integers) -> str:
        """The value that a rule makes, with a clamp behind it where an activation is folded in."""
        out = TensorType(self.op.inside(self.shape), request.dtype, request.quant)
        try:
            op = answered(lambda: rule(self.op.op, self.kinds, out), self.op.op, "integers")
        except PluginFault as error:  # it is asked where the result's scale is known, at another node
            error.where = self.node.where
            raise
        self.check(op)
        low, high = activation_bounds(request.quant, request.dtype, *real_bounds(request))
        whole = (low, high) == (request.dtype.low, request.dtype.high)
        return self.run(op, request.name, () if whole else (Clamp(low, high),))

    def check(self, op: Op) -> None:
        """Ask for real numbers where these integers are beyond its limits and those are not."""
        reals = [TensorType(kind.shape, kind.dtype if kind.quant is None else DType.F32) for kind in self.kinds]
        for limit in broken_limits(op, self.kinds):
            if not broken_limits(self.op.op, reals):
                refusal = OperatorLimit(limit.code, f"{type(op).__name__}: {limit.sentence}", where=self.node.where)
                raise NeedsFloat((self.node,), refusal, refusal.found)

    def run(self, op: Op, name: str, behind: tuple[Op, ...] = ()) -> str:
        """The operator, turned where it is one on images."""
        ctx, values = self.ctx, list(self.values)
        for i, value in enumerate(values):
            if self.op.is_turned(len(ctx.type(value).shape)):
                values[i] = ctx.builder.apply(Transpose(TO_NHWC), (value,), f"{name}:transpose", note="for the layout")
        rank = len(answered(lambda: op.infer([ctx.type(v) for v in values]), op, "infer")[0].shape)
        ops = (op, *behind, *((Transpose(TO_NCHW),) if self.op.is_turned(rank) else ()))
        for i, one in enumerate(ops):
            last = i == len(ops) - 1
            trail = ctx.origin((self.node,), name) if one is op else ()
            source = ctx.source(name, (self.node,)) if last else ""
            label = name if last else f"{name}:{type(one).__name__.lower()}"
            values = [ctx.builder.apply(one, values, label, source=source, trail=trail, note=self.node.op_type)]
        return values[0]
