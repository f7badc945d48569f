"""Functions, arithmetic, comparisons, logic and choices on plain numbers.

Decides: which operators stand for the model's where there is no single one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import FormUnsupported
from codegen.ir.quant import Array, DType
from codegen.ir.real import RealNode
from codegen.ops import Cast as CastOp
from codegen.ops import Compare, Extremum, Select, WholeArithmetic
from codegen.ops.float32 import FloatBinary, FloatUnary
from codegen.real import bits
from codegen.real import elementwise as real
from codegen.settle.context import Context
from codegen.settle.float32 import binary as folding
from codegen.settle.float32 import unary
from codegen.settle.float32.writer import Writer
from codegen.settle.logic import COMPARISONS
from codegen.settle.rule import Family, Rule
from codegen.settle.states import State

_COMPARED = {**COMPARISONS, "Xor": "!="}
_REAL = {
    "Fmod": "fmod",
    "Mod": "mod",
}
"""Besides those that a product before them takes in (binary.py)."""
_WHOLE = {
    "Add": "+",
    "BitwiseAnd": "&",
    "BitwiseOr": "|",
    "BitwiseXor": "^",
    "Div": "/",
    "FloorDiv": "//",
    "Fmod": "fmod",
    "Mod": "%",
    "Mul": "*",
    "ShiftLeft": "<<",
    "ShiftRight": ">>",
    "Sub": "-",
}
_EXTREMES = {"Max": True, "Min": False, "Or": True, "And": False}
_OWN_BITS = ("bool", "float32", "int16", "int32", "int8", "uint8")
"""Types that are held with the bits they have."""
LARGEST = float(np.finfo(np.float32).max)


def function(ctx: Context, node: RealNode, op: real.Function) -> Sequence[State]:
    """A function of each number."""
    w, given = Writer(ctx, node), dict(op.attributes)
    if op.name == "Identity":
        return [ctx.state(node, 0)]
    if not w.is_real(0):
        return w.done(_whole_function(w, op.name))
    if op.name == "Clip":
        return unary.clip(ctx, node, real.Clip(given.get("min", -math.inf), given.get("max", math.inf)))
    return unary.function(ctx, node, op)


def _whole_function(w: Writer, name: str) -> str:
    x, zero = w.cast(w.input(0), DType.S32), w.whole(0)
    if name in ("Ceil", "Floor", "Round"):
        return x
    if name == "Sign":
        return w.apply(Extremum(True, None), w.apply(Extremum(False, None), x, w.whole(1)), w.whole(-1))
    turned = w.apply(WholeArithmetic("-"), zero, x)
    if name == "Neg":
        return turned
    if name in ("Abs", "Relu"):
        return w.apply(Extremum(True, None), x, turned if name == "Abs" else zero)
    raise w.ctx.unknown(w.node)


def clip(ctx: Context, node: RealNode, op: real.Clip) -> Sequence[State]:
    """Numbers within bounds; where those cross, every number becomes the upper one."""
    w = Writer(ctx, node)
    if w.is_real(0):
        return unary.clip(ctx, node, op)
    x = w.cast(w.input(0), DType.S32)
    if op.low > -math.inf:
        x = w.apply(Extremum(True, None), x, w.whole(_bound(op.low)))
    if op.high < math.inf:
        x = w.apply(Extremum(False, None), x, w.whole(_bound(op.high)))
    return w.done(x)


def _bound(number: float) -> int:
    return int(min(max(number, DType.S32.low), DType.S32.high))


def binary(ctx: Context, node: RealNode, op: real.Binary) -> Sequence[State]:
    """An operation on two tensors of one type."""
    w = Writer(ctx, node)
    if op.kind == "Pow":
        return w.done(_power(w))
    if op.kind in folding.NAMES and w.is_real(0):
        return folding.binary(ctx, node, op)
    a, b = _ranked(w, w.inputs())
    if op.kind in _COMPARED:
        return w.done(w.apply(Compare(_COMPARED[op.kind], None, None), a, b))
    if w.is_real(0):
        return w.done(_real_binary(w, op.kind, a, b))
    if op.kind in _EXTREMES:
        return w.done(w.apply(Extremum(_EXTREMES[op.kind], None), a, b))
    if op.kind not in _WHOLE:
        raise ctx.unknown(node)
    sign = ">>>" if op.kind == "ShiftRight" and w.model_type(0).kind == "u" else _WHOLE[op.kind]
    return w.done(w.apply(WholeArithmetic(sign), w.cast(a, DType.S32), w.cast(b, DType.S32)))


def _ranked(w: Writer, values: Sequence[str]) -> list[str]:
    """Tensors of one rank."""
    rank = max(len(w.shape(v)) for v in values)
    return [w.reshaped(v, (*(1,) * (rank - len(w.shape(v))), *w.shape(v))) for v in values]


def _real_binary(w: Writer, kind: str, a: str, b: str) -> str:
    if kind == "FloorDiv":
        return w.apply(FloatUnary("floor"), w.apply(FloatBinary("div"), a, b))
    if kind not in _REAL:
        raise w.ctx.unknown(w.node)
    return w.apply(FloatBinary(_REAL[kind]), a, b)


def _power(w: Writer) -> str:
    """A power; of a whole number to one that may have a fraction by way of real ones, cut towards zero."""
    exponent = w.known(1)
    if not w.is_real(0) and (whole := _whole_exponent(w, exponent)):
        return w.apply(WholeArithmetic("power"), *_ranked(w, [w.cast(w.input(0), DType.S32), whole]))
    a = w.cast(w.input(0), DType.F32)
    if exponent is not None and exponent.size == 1 and w.is_real(0):
        op = {2.0: FloatUnary("squared"), 0.5: FloatUnary("sqrt"), -1.0: FloatUnary("inverse")}.get(
            float(exponent.reshape(-1)[0])
        )
        if op is not None and exponent.ndim <= len(w.shape(a)):
            return w.apply(op, a)
    return w.apply(FloatBinary("power"), a, w.cast(w.input(1), DType.F32))


def _whole_exponent(w: Writer, known: Array | None) -> str:
    """The value of an exponent without fractions; empty where it may have some."""
    if not w.is_real(1):
        return w.cast(w.input(1), DType.S32)
    if known is None or (known != np.rint(known)).any() or (np.abs(known) > DType.S32.high).any():
        return ""
    return w.const(known.astype(np.int32))


def add_n(ctx: Context, node: RealNode, op: real.AddN) -> Sequence[State]:
    """One sum after the other."""
    w = Writer(ctx, node)
    total, *others = w.inputs()
    for term in others:
        total = w.apply(FloatBinary("add") if w.is_real(0) else WholeArithmetic("+"), total, term)
    return w.done(total)


def negated(ctx: Context, node: RealNode, op: real.Not) -> Sequence[State]:
    """The other truth value."""
    w = Writer(ctx, node)
    x = w.input(0)
    return w.done(w.apply(Compare("==", None, None), x, w.const(np.zeros((), w.type(x).dtype.numpy))))


def prelu(ctx: Context, node: RealNode, op: real.PRelu) -> Sequence[State]:
    """A slope below 0."""
    w = Writer(ctx, node)
    if not w.is_real(0):
        raise ctx.unknown(node)
    return w.done(w.apply(FloatBinary("prelu"), *_ranked(w, w.inputs())))


def where(ctx: Context, node: RealNode, op: real.Where) -> Sequence[State]:
    """A choice by truth values."""
    w = Writer(ctx, node)
    return w.done(chosen(w, *w.inputs()))


def chosen(w: Writer, flag: str, a: str, b: str) -> str:
    """A choice of tensors that stretch against each other."""
    shape = np.broadcast_shapes(*(w.shape(v) for v in (flag, a, b)))
    return w.apply(Select(None), *(w.repeated(v, shape) for v in (flag, a, b)))


def cast(ctx: Context, node: RealNode, op: real.Cast) -> Sequence[State]:
    """The numbers in another type; truth values are what is not 0, and floats of 16 bits are float32 rounded once."""
    w = Writer(ctx, node)
    x = w.input(0)
    if op.rounds(w.model_type(0)):
        return w.done(w.apply(FloatUnary(f"as_{op.to}"), w.cast(x, DType.F32)))
    if op.to == "bool" and w.model_type(0).kind != "b":
        return w.done(w.apply(Compare("!=", None, None), x, w.const(np.zeros((), w.type(x).dtype.numpy))))
    return w.done(x)


def is_nan(ctx: Context, node: RealNode, op: bits.IsNaN) -> Sequence[State]:
    """What differs from itself."""
    w = Writer(ctx, node)
    x = w.input(0)
    return w.done(w.apply(Compare("!=", None, None), x, x))


def is_inf(ctx: Context, node: RealNode, op: bits.IsInf) -> Sequence[State]:
    """What is beyond the largest number."""
    w = Writer(ctx, node)
    x = w.input(0)
    if op.negative:
        x = w.apply(FloatUnary("abs" if op.positive else "neg"), x)
    elif not op.positive:
        return w.done(w.apply(Compare("<", None, None), x, x))
    return w.done(w.apply(Compare(">", None, None), x, w.real(LARGEST)))


def bitwise_not(ctx: Context, node: RealNode, op: bits.BitwiseNot) -> Sequence[State]:
    """All bits turned."""
    w = Writer(ctx, node)
    x = w.cast(w.input(0), DType.S32)
    return w.done(w.apply(WholeArithmetic("^"), x, w.whole(-1)))


def cast_narrow(ctx: Context, node: RealNode, op: bits.CastNarrow) -> Sequence[State]:
    """The low bits of a whole number."""
    w, span = Writer(ctx, node), 1 << op.bits
    least = span // 2 if np.dtype(op.to).kind == "i" else 0
    x = w.cast(w.input(0), DType.S32)
    x = w.apply(WholeArithmetic("&"), w.apply(WholeArithmetic("+"), x, w.whole(least)), w.whole(span - 1))
    return w.done(w.apply(WholeArithmetic("-"), x, w.whole(least)))


def bit_cast(ctx: Context, node: RealNode, op: bits.BitCast) -> Sequence[State]:
    """The same bits; numbers that are held in another type than the model's have others."""
    w, to = Writer(ctx, node), np.dtype(op.to)
    if any(d.name not in _OWN_BITS for d in (w.model_type(0), to)):
        raise FormUnsupported(f"the bits of {w.model_type(0)} as {to}", where=node.where)
    x = w.input(0)
    if w.type(x).dtype.is_float or to == np.float32:
        x = w.apply(CastOp(DType.F32 if to == np.float32 else DType.S32, bits=True), x)
    return w.done(x)


RULES: Family = (
    Rule(bits.BitCast, bit_cast),
    Rule(bits.BitwiseNot, bitwise_not),
    Rule(bits.CastNarrow, cast_narrow),
    Rule(bits.IsInf, is_inf),
    Rule(bits.IsNaN, is_nan),
    Rule(real.AddN, add_n),
    Rule(real.Binary, binary),
    Rule(real.Cast, cast),
    Rule(real.Clip, clip),
    Rule(real.Function, function),
    Rule(real.Not, negated),
    Rule(real.PRelu, prelu),
    Rule(real.Where, where),
)
