"""Functions of each number by itself, and arithmetic of blobs.  Source: Caffe's layer catalogue."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from codegen.errors import LayerParameterBad, ShapeMismatch
from codegen.frontends.caffe.network import Layer
from codegen.frontends.caffe.real.reading import Reading, Translator
from codegen.real.elementwise import Binary, Clip, Function, PRelu
from codegen.real.movement import Reshape

_SIX = 6.0
_OPERATIONS = ("Mul", "Add", "Max")
_SUM = 1
_NATURAL = -1.0
"""The base that stands for e."""


def relu(r: Reading, layer: Layer) -> Sequence[str]:
    """ReLU, with a slope below zero where the file gives one."""
    slope = layer.param("relu_param").negative_slope
    op = Function("LeakyRelu", (("alpha", float(slope)),)) if slope else Function("Relu")
    return [r.apply(layer, op, [r.value(layer)])]


def relu6(r: Reading, layer: Layer) -> Sequence[str]:
    """ReLU6: held within 0 and 6."""
    return [r.apply(layer, Clip(0.0, _SIX), [r.value(layer)])]


def prelu(r: Reading, layer: Layer) -> Sequence[str]:
    """PReLU: a slope below zero for each channel, or one for all."""
    shape = r.shape(layer)
    if len(shape) < 2:
        raise ShapeMismatch(f"a blob of shape {list(shape)} has no channels", where=layer.where)
    channels = 1 if layer.param("prelu_param").channel_shared else shape[1]
    (slopes,) = r.blobs_of(layer, (channels,))
    along = slopes.reshape(channels, *(1,) * (len(shape) - 2))
    return [r.apply(layer, PRelu(), [r.value(layer), r.constant_of(layer, "slopes", along)])]


def elu(r: Reading, layer: Layer) -> Sequence[str]:
    """ELU."""
    op = Function("Elu", (("alpha", float(layer.param("elu_param").alpha)),))
    return [r.apply(layer, op, [r.value(layer)])]


def power(r: Reading, layer: Layer) -> Sequence[str]:
    """Power: (shift + scale * x) ** power."""
    told = layer.param("power_param")
    x = stretched(r, layer, told.scale, told.shift, last=told.power == 1)
    if told.power == 1:
        return [x]
    if told.power == 2:
        return [r.apply(layer, Binary("Mul"), [x, x])]
    return [r.apply(layer, Binary("Pow"), [x, r.number(layer, "power", told.power)])]


def exp(r: Reading, layer: Layer) -> Sequence[str]:
    """Exp: base ** (shift + scale * x)."""
    told = layer.param("exp_param")
    factor = _log_of_base(told.base, layer)
    x = stretched(r, layer, told.scale * factor, told.shift * factor)
    return [r.apply(layer, Function("Exp"), [x])]


def log(r: Reading, layer: Layer) -> Sequence[str]:
    """Log: the logarithm of shift + scale * x to a base."""
    told = layer.param("log_param")
    factor = _log_of_base(told.base, layer)
    if factor == 0:
        raise LayerParameterBad("a logarithm to the base 1", where=layer.where)
    x = stretched(r, layer, told.scale, told.shift)
    if factor == 1:
        return [r.apply(layer, Function("Log"), [x])]
    y = r.apply(layer, Function("Log"), [x], "log")
    return [r.apply(layer, Binary("Mul"), [y, r.number(layer, "factor", 1 / factor)])]


def _log_of_base(base: float, layer: Layer) -> float:
    if base != _NATURAL and not (base > 0 and math.isfinite(base)):
        raise LayerParameterBad(f"base {base}", where=layer.where, hint="a base is above zero, or -1 for e")
    return 1.0 if base == _NATURAL else math.log(base)


def stretched(r: Reading, layer: Layer, scale: float, shift: float, *, last: bool = False) -> str:
    """The bottom times a factor plus an offset, where they change anything; `last` calls the result as the layer's."""
    x = r.value(layer)
    if scale != 1 or (last and shift == 0):
        what = "" if last and shift == 0 else "scaled"
        x = r.apply(layer, Binary("Mul"), [x, r.number(layer, "scale", scale)], what)
    if shift != 0:
        x = r.apply(layer, Binary("Add"), [x, r.number(layer, "shift", shift)], "" if last else "shifted")
    return x


def eltwise(r: Reading, layer: Layer) -> Sequence[str]:
    """Eltwise: blobs of one shape, multiplied, added with their factors, or their maximum."""
    told, values = layer.param("eltwise_param"), r.values_of(layer)
    shapes = [r.type(value).shape for value in values]
    if len(set(shapes)) > 1:
        raise ShapeMismatch(f"blobs of shapes {[list(s) for s in shapes[:4]]}", where=layer.where)
    if len(told.coeff) and (told.operation != _SUM or len(told.coeff) != len(values)):
        raise LayerParameterBad(f"{len(told.coeff)} coefficients of {len(values)} bottoms", where=layer.where)
    for i, factor in enumerate(told.coeff):
        if factor != 1:
            number = r.number(layer, f"coeff{i}", factor)
            values[i] = r.apply(layer, Binary("Mul"), [values[i], number], f"scaled{i}")
    total, *others = values
    for i, other in enumerate(others):
        what = "" if i == len(others) - 1 else f"part{i}"
        total = r.apply(layer, Binary(_OPERATIONS[told.operation]), [total, other], what)
    return [total]


def scale(r: Reading, layer: Layer) -> Sequence[str]:
    """Scale: times numbers along some axes, or times another blob; perhaps plus numbers along the same axes."""
    told = layer.param("scale_param")
    return [_along(r, layer, ("Mul", "Add") if told.bias_term else ("Mul",), told)]


def bias(r: Reading, layer: Layer) -> Sequence[str]:
    """Bias: plus numbers along some axes, or plus another blob."""
    return [_along(r, layer, ("Add",), layer.param("bias_param"))]


def _along(r: Reading, layer: Layer, kinds: tuple[str, ...], told: object) -> str:
    """Arithmetic with the second bottom, if there is one, and with the layer's own numbers for what is left."""
    along, shape = _axes(r, layer, told)
    given = r.values_of(layer)[1:]
    numbers = r.blobs_of(layer, *[along] * (len(kinds) - len(given))) if len(kinds) > len(given) else []
    operands = [*(_second(r, layer, value, shape) for value in given)]
    operands += [r.constant_of(layer, f"numbers{i}", array.reshape(shape)) for i, array in enumerate(numbers)]
    x = r.value(layer)
    for i, (kind, operand) in enumerate(zip(kinds, operands, strict=True)):
        x = r.apply(layer, Binary(kind), [x, operand], "" if i == len(kinds) - 1 else "scaled")
    return x


def _axes(r: Reading, layer: Layer, told: object) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes along which numbers differ: their sizes, and the shape that broadcasts."""
    shape, first = r.shape(layer), r.axis(layer, getattr(told, "axis", 1))
    count = getattr(told, "num_axes", 1)
    if len(layer.bottoms) > 1:
        count = len(r.shape(layer, 1))
    last = len(shape) if count == -1 else first + count
    if count < -1 or last > len(shape):
        raise LayerParameterBad(f"{count} axes from {first} of a blob of {len(shape)}", where=layer.where)
    along = shape[first:last]
    if len(layer.bottoms) > 1 and r.shape(layer, 1) != along:
        raise ShapeMismatch(f"blobs of shapes {list(shape)} and {list(r.shape(layer, 1))}", where=layer.where)
    return along, (*along, *(1,) * (len(shape) - last))


def _second(r: Reading, layer: Layer, value: str, shape: tuple[int, ...]) -> str:
    return value if r.type(value).shape == shape else r.apply(layer, Reshape(shape), [value], "stretched")


def _plain(name: str) -> Translator:
    """The function of a name."""
    return lambda r, layer: [r.apply(layer, Function(name), [r.value(layer)])]


TRANSLATORS: Mapping[str, Translator] = {
    "AbsVal": _plain("Abs"),
    "BNLL": _plain("Softplus"),
    "Bias": bias,
    "ELU": elu,
    "Eltwise": eltwise,
    "Exp": exp,
    "Log": log,
    "PReLU": prelu,
    "Power": power,
    "ReLU": relu,
    "ReLU6": relu6,
    "Sigmoid": _plain("Sigmoid"),
    "TanH": _plain("Tanh"),
}
