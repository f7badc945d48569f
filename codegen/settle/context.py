"""What a rule sees: the states of its inputs, read with checks, and the graph being built.

Decides: how a node's inputs are fetched and what is refused when one is not constant or not quantized.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from codegen import fixedpoint
from codegen.errors import (
    CompileError,
    FormUnsupported,
    InputMissing,
    OperatorUnknown,
    ParameterDynamic,
    QuantAxisBad,
    ResultNotQuantized,
)
from codegen.ir.images import of_batch
from codegen.ir.op import Op
from codegen.ir.quant import Array, Mode, Quant, TensorType
from codegen.ir.real import RealNode, RealType, RealValue
from codegen.settle.builder import Builder
from codegen.settle.forms import way_out
from codegen.settle.states import (
    Accum,
    Channelled,
    Const,
    Float,
    Int,
    IntConst,
    Pending,
    Poison,
    Product,
    Real,
    Request,
    Route,
    State,
    Trail,
)


class Context:
    """The states of all tensors so far, the graph so far, and what the user should know.

    `reals` are the values that hold tensors as real numbers, by tensor, and `why` says why a node computes with those.
    `products` are what made them, where a factor or an offset may still go into it, and `reads` how often a tensor of
    the model is read.
    """

    def __init__(self, mode: Mode, values: Mapping[str, RealValue]) -> None:
        self.mode: Mode = mode
        self.builder = Builder()
        self._values = values
        self.states: dict[str, State] = {}
        self.notes: list[str] = []
        self.emitted: dict[tuple[str, Request], str] = {}
        self.reals: dict[str, str] = {}
        self.products: dict[str, Product] = {}
        self.reads: Counter[str] = Counter()
        self.why = ""

    # Reading inputs

    def optional(self, node: RealNode, index: int) -> State | None:
        """State of one input, or None when it is left out."""
        if index >= len(node.inputs) or not node.inputs[index]:
            return None
        return self.states[node.inputs[index]]

    def state(self, node: RealNode, index: int) -> State:
        """State of one required input."""
        state = self.optional(node, index)
        if state is None:
            raise InputMissing(f"input {index} is required", where=node.where)
        return state

    def optional_const(self, node: RealNode, index: int) -> Array | None:
        """Numbers of one input, which must be constant if it is there."""
        state = self.optional(node, index)
        if state is None:
            return None
        array = array_of(state)
        if array is None:
            raise ParameterDynamic(f"input '{node.inputs[index]}' is not a constant", where=node.where)
        return array

    def const(self, node: RealNode, index: int) -> Array:
        """Numbers of one required input."""
        self.state(node, index)
        array = self.optional_const(node, index)
        assert array is not None, "a required input is there"
        return array

    def real(self, value: str) -> RealType:
        """Type of a value of the RealGraph."""
        return self._values[value].type

    def unknown(self, node: RealNode) -> CompileError:
        """Why an operator that integers have no form of is refused, as an error to raise."""
        if way_out(node.op_type) is not None:
            return FormUnsupported(f"{node.op_type} in this form", where=node.where)
        return OperatorUnknown(f"operator {node.op_type} is not supported", where=node.where)

    def real_only(self, node: RealNode) -> CompileError:
        """Why a form that integers do not have is refused, as an error to raise."""
        hint = "integers have no form of it: it is read of real numbers, or of constants"
        return FormUnsupported(f"{node.op_type} of a computed tensor", where=node.where, hint=hint)

    def shape(self, state: State) -> tuple[int, ...]:
        """Shape of a tensor in the model's own order."""
        match state:
            case Const(array=array):
                return array.shape
            case IntConst(ints=ints):
                return ints.shape
            case Pending(shape=shape) | Accum(shape=shape):
                return shape
            case Int(value=value) | Float(value=value) | Real(value=value) | Channelled(value=value):
                return self.type(value).shape
            case Poison():
                raise AssertionError("nodes behind a refused one are passed over")

    def kind(self, state: State | None) -> str:
        """Element type of a tensor as a word: "float" for every float type, empty for no tensor."""
        match state:
            case None:
                return ""
            case Const(array=array):
                return "float" if array.dtype.kind == "f" else array.dtype.name
            case Int(value=value, kind=kind):
                return kind or self.type(value).dtype.numpy.name
            case Accum():
                return "int32"
            case _:
                return "float"

    def type(self, value: str) -> TensorType:
        """Type of a value of the graph."""
        return self.builder.type(value)

    # Writing nodes

    def run(self, x: str, route: Route, request_name: str, trail: Trail, note: str, extras: Sequence[str] = ()) -> str:
        """Apply a route's operators to `x`; `extras` are the main operator's constants.  The last value is `name`d."""
        value, ops = x, route.ops
        for i, op in enumerate(ops):
            is_main = op is route.main
            last = i == len(ops) - 1
            value = self.builder.apply(
                op,
                (value, *(extras if is_main else ())),
                request_name if last else f"{request_name}:{type(op).__name__.lower()}",
                source=self.source(request_name, trail) if last else "",
                trail=self.origin(trail, request_name) if is_main else (),
                note=note if is_main else "for the layout",
            )
        return value

    def source(self, name: str, trail: Trail) -> str:
        """The tensor of the model that a value is, which ends `trail`."""
        return name

    def origin(self, trail: Trail, name: str) -> Trail:
        """The nodes that the operator stands for which makes a value, of those of which it is written."""
        return trail

    def out_type(self, x: TensorType, ops: Sequence[Op]) -> TensorType:
        """What a sequence of operators makes of a tensor."""
        for op in ops:
            (x,) = op.infer([x])
        return x

    def note(self, text: str) -> None:
        """Tell the user, once, and once for all images of a batch."""
        text = of_batch(text)
        if text not in self.notes:
            self.notes.append(text)


def array_of(state: State) -> Array | None:
    """Numbers of a constant, dequantized as DequantizeLinear does; None when it is computed by the network."""
    if isinstance(state, Const):
        return state.array
    if isinstance(state, IntConst):
        return fixedpoint.dequantize_linear(state.ints, state.scale, state.zero)
    return None


def shared_quant(constant: IntConst) -> Quant | None:
    """The constant's scale and zero point when they are one for the tensor."""
    scale, zero = constant.scale.reshape(-1), constant.zero.reshape(-1)
    if not scale.size or (scale != scale[0]).any() or (zero != zero[0]).any():
        return None
    # a constant of scale 0 holds its zero point only, which any scale says
    return Quant(float(scale[0]) or 1.0, int(zero[0]))


def refuse_unquantized(node: RealNode, index: int, state: State) -> CompileError:
    """Why this input is not a tensor of known scale, as an error to raise."""
    tensor = node.inputs[index]
    match state:
        case Pending(trail=trail):
            made = f"the result of node '{trail[0].name}' ({trail[0].op_type})"
            return ResultNotQuantized(f"{made} reaches input '{tensor}' without a QuantizeLinear", where=node.where)
        case Channelled():
            hint = "only a depthwise convolution reads one"
            return QuantAxisBad(f"input '{tensor}' has a scale per channel", where=node.where, hint=hint)
        case Float():
            return ResultNotQuantized(f"input '{tensor}' is a float tensor that nothing quantizes", where=node.where)
        case Int() | Accum():
            return FormUnsupported(f"input '{tensor}' is an integer tensor where float is expected", where=node.where)
        case _:
            return FormUnsupported(f"input '{tensor}' is a constant", where=node.where)


def real_bounds(request: Request) -> tuple[float | None, float | None]:
    """The request's activation bounds as `activation_bounds` takes them."""
    return (
        None if math.isinf(request.low) else request.low,
        None if math.isinf(request.high) else request.high,
    )


def story(trail: Trail) -> str:
    """How the model's nodes are named in notes, each once: "Conv + Relu + QuantizeLinear"."""
    return " + ".join(kind for _, kind in dict.fromkeys((n.name, n.op_type) for n in trail))


def is_scalar(array: Array) -> bool:
    """Whether a constant has one element."""
    return bool(array.size == 1)


def rounded(x: Array) -> Array:
    """Nearest integers, halves to even, as int64."""
    return np.asarray(np.rint(x).astype(np.int64))
