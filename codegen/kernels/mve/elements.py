"""Elementwise operators on 8-bit values: sums and products of two tensors, tables, limits.

Tensors are computed and of one shape, or one of them is a pixel, computed or a constant, that all pixels of the other
meet.
"""

from __future__ import annotations

import math

import numpy as np

from codegen.ir.form import Field, Mix, Told
from codegen.ir.op import NodeOf, NodeView
from codegen.ir.quant import Array, DType, TensorType
from codegen.ir.shape import Shape, row_pixels
from codegen.kernels.common import channels, constant_fields
from codegen.kernels.kernel import Fit, Kernel
from codegen.kernels.mve.common import CHUNK, LANES, MVE, is_fast, lane_numbers
from codegen.kernels.mve.dense_mix import of_mode, straight
from codegen.kernels.plane import plane_of
from codegen.kernels.sides import KNOWN, pixel_steps, sides
from codegen.kernels.unary import byte_table
from codegen.kernels.weighted import BYTES
from codegen.ops import Add, Clamp, Lut, Mul
from codegen.records import record

_HEADERS = ("lam_mve_elements.h",)
_PAIRS_CALL = Mix(other=24, multiple=3, moved=30)
_CALL = Mix(other=12, multiple=1, moved=4)
_PIXEL = Mix(other=17, multiple=1, moved=4, taken=2)
"""Around a call, and a pixel that meets all pixels of the other tensor, as counted."""


@record
class MveBinaryContext:
    """Literals of a sum, or of a product and its mode; elements of each input per pixel, 0 of one that stays.

    `tensors`: where each input is.
    """

    form: str
    mode: str
    unsigned: bool
    channels: int
    steps: tuple[int, ...]
    tensors: tuple[str, ...]

    @property
    def told(self) -> Told:
        """The number of elements, which is asked for once, of tensors of one shape."""
        return Told(("channels",) if all(self.steps) else (), row=1.0)


@record
class MveElementContext:
    """Literals of a table or a limit."""

    form: str
    unsigned: bool
    channels: int


def _bytes_alike(node: NodeView) -> bool:
    """Whether all inputs are of one 8-bit type, and the output is of 8 bits too."""
    kinds = {x.dtype for x in node.ins}
    return len(kinds) == 1 and kinds <= set(BYTES) and node.outs[0].dtype in BYTES


def _fit_binary(node: NodeOf[Add | Mul]) -> Fit | None:
    op = node.op
    steps = pixel_steps(node) if _bytes_alike(node) else None
    numbers = [] if steps is None else _sum(node, op) if isinstance(op, Add) else _product(op)
    if steps is None or not numbers:
        return None
    k = _binary_context(node, steps)
    params = (Field("numbers", np.array(numbers, np.int32)), *constant_fields(node, KNOWN))
    return Fit(k, params, why=_why(4), mix=_binary_mix(k, node.outs[0].shape))


def _binary_mix(k: MveBinaryContext, shape: Shape) -> Mix:
    """What a row takes, as counted: four elements at a time, of all or of a pixel."""
    four = straight(9, 4) if k.form == "add" else straight(12, 6) + of_mode(k.mode, (2, 2), (1, -1))
    rows, pixels = math.prod(shape[:-2]), row_pixels(shape)
    if 0 in k.steps:
        return (four.times(-(-k.channels // LANES)) + _PIXEL).times(pixels) + _PAIRS_CALL
    return four.times(pixels * k.channels / LANES) + _PAIRS_CALL.times(1 / rows)


def _element_mix(kind: TensorType, sixteen: Mix) -> Mix:
    """The same of sixteen elements at a time."""
    rows = math.prod(kind.shape[:-2])
    return (sixteen.times(-(-kind.elements // CHUNK)) + _CALL).times(1 / rows)


def _binary_context(node: NodeOf[Add | Mul], steps: tuple[int, ...]) -> MveBinaryContext:
    op = node.op
    return MveBinaryContext(
        form="mul" if isinstance(op, Mul) else "add",
        mode=op.requant.mode if isinstance(op, Mul) else "",
        unsigned=node.ins[0].dtype is DType.U8,
        channels=channels(node.outs[0].shape),
        steps=steps,
        tensors=tuple(sides(node, KNOWN)),
    )


def _sum(node: NodeView, op: Add) -> list[int]:
    """Numbers of lam_mve_add; none where there is no plane."""
    plane = plane_of(op, node.ins[0].dtype, node.ins[1].dtype)
    return [plane.first, plane.second, plane.offset, -plane.places, op.low, op.high] if plane else []


def _product(op: Mul) -> list[int]:
    """Numbers of lam_mve_mul; none where it does not take the factor."""
    r = op.requant
    if not is_fast(r) or r.per_channel:
        return []
    return [*lane_numbers(r), op.a_zero_point, op.b_zero_point]


def _fit_lut(node: NodeOf[Lut]) -> Fit | None:
    if not _bytes_alike(node):
        return None
    table: Array = byte_table(node.op.table, node.ins[0].dtype, node.op.y_dtype)
    mix = _element_mix(node.outs[0], straight(4, 2))
    return Fit(_element_context(node, "lut"), (Field("table", table.view(np.uint8)),), why=_why(16), mix=mix)


def _fit_clamp(node: NodeOf[Clamp]) -> Fit | None:
    if not _bytes_alike(node):
        return None
    bounds = Field("bounds", np.array([node.op.low, node.op.high], np.int32))
    return Fit(_element_context(node, "clamp"), (bounds,), why=_why(16), mix=_element_mix(node.outs[0], straight(5, 1)))


def _element_context(node: NodeView, form: str) -> MveElementContext:
    x = node.ins[0]
    return MveElementContext(form, x.dtype is DType.U8, channels(x.shape))


def _why(lanes: int) -> str:
    return f"Helium, {lanes} elements at a time"


BINARY: Kernel[Add | Mul] = Kernel(
    "mve_binary", "mve/binary.c.j2", "pixels", (Add, Mul), _fit_binary, MVE, headers=_HEADERS
)
LUT = Kernel("mve_lut", "mve/element.c.j2", "pixels", (Lut,), _fit_lut, MVE, one_input=True, headers=_HEADERS)
CLAMP = Kernel("mve_clamp", "mve/element.c.j2", "pixels", (Clamp,), _fit_clamp, MVE, one_input=True, headers=_HEADERS)
