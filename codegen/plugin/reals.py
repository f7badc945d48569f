"""An operator of a plug-in on real numbers: in the axes of the model's file, and computed in float32.

Decides: that an operator without a definition of its own on real numbers is what golden makes of them, and that one on
images sees channels last whatever the format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from codegen.errors import CompileError, PluginFault
from codegen.ir.quant import Array, DType, Quant, TensorType
from codegen.ir.real import HeldBy, RealType, Spelled
from codegen.ops import check_limits
from codegen.python_files import told
from codegen.records import record
from codegen.settle.float32.writer import held_type
from codegen.settle.layout import TO_NCHW, TO_NHWC

_USUAL = Quant(1 / 16, 3)
"""A scale and zero point that no operator has a reason to refuse."""


@record
class RealOperator:
    """The operator; each one of a plug-in has a class of its own below this one, by which rules are found.

    `turned`: four axes are turned before and behind it, for the file has channels first.
    """

    op: Any
    spelled: Spelled | None = field(default=None, compare=False)
    turned: ClassVar[bool] = False
    integers: ClassVar[tuple[Any, ...]] = ()
    """The rule of quantization, where there is one."""
    operands: ClassVar[Sequence[int]] = ()
    """Inputs whose constants are held as integers."""

    def infer(self, ins: Sequence[RealType]) -> tuple[RealType, ...]:
        """Types of the outputs, in the file's axes."""
        kinds = [TensorType(self.inside(kind.shape), held_type(kind.dtype)) for kind in ins]
        outs = answered(lambda: self.op.infer(kinds), self.op, "infer")
        return tuple(RealType(self.outside(kind.shape), _real(kind.dtype, ins)) for kind in outs)

    def evaluate(self, ins: Sequence[Array]) -> tuple[Array, ...]:
        """The outputs, in the file's axes."""
        given = [self._transposed(x, TO_NHWC) for x in ins]
        define = getattr(self.op, "evaluate", self.op.golden)
        made = answered(lambda: define(given), self.op, "evaluate")
        for y in made:
            if y.dtype.kind == "f" and ins[0].dtype.kind == "f" and y.dtype != ins[0].dtype:
                raise PluginFault(f"evaluate: gives {y.dtype} of {ins[0].dtype}", where=type(self.op).__name__)
        return tuple(self._transposed(y, TO_NCHW) for y in made)

    def held_by(self, ins: Sequence[RealType], known: Sequence[int]) -> HeldBy:
        """Whose integers hold the result; it computes with real numbers where limits or rule take no usual bytes."""
        kinds = tuple(self._usual(kind, i in known and i not in self.operands) for i, kind in enumerate(ins))
        out = self._usual(self.infer(ins)[0], False)
        try:
            check_limits(self._on_integers(kinds, out), kinds, type(self.op).__name__)
        except PluginFault:
            raise
        except CompileError:
            return "real"
        return "itself" if self.integers else "inputs"

    def _on_integers(self, kinds: tuple[TensorType, ...], out: TensorType) -> Any:
        if not self.integers:
            return self.op
        return answered(lambda: self.integers[0](self.op, kinds, out), self.op, "integers")

    def _usual(self, kind: RealType, real: bool) -> TensorType:
        """The type inside: bytes for real numbers, unless they stay `real`."""
        if not kind.is_real or real:
            return TensorType(self.inside(kind.shape), held_type(kind.dtype))
        return TensorType(self.inside(kind.shape), DType.S8, _USUAL)

    def inside(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape as the operator sees it."""
        return _ordered(shape, TO_NHWC) if self.is_turned(len(shape)) else tuple(shape)

    def outside(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape as the file has it."""
        return _ordered(shape, TO_NCHW) if self.is_turned(len(shape)) else tuple(shape)

    def is_turned(self, rank: int) -> bool:
        """Whether a tensor of so many axes is turned."""
        return self.turned and rank == len(TO_NHWC)

    def _transposed(self, x: Array, perm: Sequence[int]) -> Array:
        return np.ascontiguousarray(x.transpose(perm)) if self.is_turned(x.ndim) else x


def answered(ask: Any, op: object, question: str) -> Any:
    """An operator's answer; LAM-PLUGIN-008 where it raises what is no refusal."""
    try:
        return ask()
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, AssertionError) as error:
        raise PluginFault(f"{question}: {told(error)}", where=type(op).__name__) from error


def _ordered(shape: Sequence[int], perm: Sequence[int]) -> tuple[int, ...]:
    return tuple(shape[axis] for axis in perm)


def _real(dtype: DType, ins: Sequence[RealType]) -> np.dtype[Any]:
    """Real numbers in the type of the inputs; whole ones as they are."""
    return ins[0].dtype if dtype.is_float and ins[0].is_real else np.dtype(dtype.numpy)
