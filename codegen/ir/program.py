"""Program: buffers, constants, kernel functions and calls.  C-level; emit only spells it.

The row kernel's one signature, which every kernel function has:

    void NAME_kN(const T *const *rows, T *y, const uint8_t *params, int32_t n, void *scratch);

`rows` has one pointer per (input, tap), padding included (a null pointer where the rule says absent); an input
read whole gives one pointer, to its first row.  `n` is the number of pixels in this call for a kernel that takes runs
of pixels, else the number of the output row.  `params` is the layer's packed weights, biases and multipliers.  `T` is
the element type of the first input, or of the output; inputs of other types are converted in the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from codegen.ir.op import NodeView, RowRule
from codegen.ir.quant import Array, DType
from codegen.ir.shape import Shape

Run = Literal["row", "pixels", "whole"]
"""What one kernel call covers: one output row, a run of pixels, or the whole output."""


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One array inside a layer's parameters.  `values` is int8, uint8, int16, int32, uint32 or float32, flattened."""

    name: str
    values: Array

    @property
    def ctype(self) -> str:
        """The C99 type of one element."""
        return "float" if self.values.dtype.kind == "f" else f"{self.values.dtype.name}_t"


@dataclass(frozen=True, slots=True)
class Kernel:
    """One entry of the kernel table: which nodes it serves, and what it needs.

    `accepts(node, isa)` decides; `params(node)` packs the constants; `context(node)` gives the template its
    numbers (a frozen dataclass); `scratch(node)` is in bytes.  `template` is a file of templates/kernels/.
    """

    name: str
    template: str
    run: Run
    accepts: Callable[[NodeView, str], bool]
    context: Callable[[NodeView], Any]
    params: Callable[[NodeView], tuple[Field, ...]] = lambda node: ()
    scratch: Callable[[NodeView], int] = lambda node: 0


@dataclass(frozen=True, slots=True, eq=False)
class KernelFn:
    """One emitted function; layers of equal context share it.  `offsets` places each params field, in bytes."""

    symbol: str
    kernel: Kernel
    context: Any
    in_dtype: DType
    out_dtype: DType
    outputs: int
    offsets: Mapping[str, int]
    dtypes: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Params:
    """The packed parameters of one layer, at `offset` of the weight section; fields are aligned to their type."""

    name: str
    offset: int
    bytes: int
    fields: tuple[Field, ...]
    offsets: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor in the arena: row r at `offset + (r % ring) * row_bytes`."""

    value: str
    offset: int
    rows: int
    ring: int
    row_bytes: int
    dtype: DType


@dataclass(frozen=True, slots=True)
class RowInput:
    """One input of a call: its operand, the rule, and the call of the same group that makes it (-1: none)."""

    operand: Operand
    rule: RowRule
    maker: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One layer: which kernel, on which rows.  `rows_per_call` output rows are made at a time."""

    node: NodeView
    fn: KernelFn
    inputs: tuple[RowInput, ...]
    outputs: tuple[Operand, ...]
    params: Params | None
    scratch_offset: int | None
    rows_per_call: int
    pixels_per_call: int


@dataclass(frozen=True, slots=True, eq=False)
class GroupProgram:
    """Calls that run together; the last one pulls.  A single call is a plain loop."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class ConstRow:
    """A row of padding in read-only data: `elements` times `value`."""

    dtype: DType
    value: int
    elements: int


@dataclass(frozen=True, slots=True)
class Port:
    """One input or output of the network at the C interface."""

    name: str
    operand: Operand
    shape: Shape
    dtype: DType
    scale: float | None
    zero_point: int | None
    model_shape: Shape
    model_dtype: str
    perm: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class TracedTensor:
    """A tensor that the trace hook reports: `index` is what the hook gets."""

    index: int
    value: str
    source: str
    perm: tuple[int, ...] | None
    shape: Shape
    dtype: DType
    row_bytes: int


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """All that the C spells."""

    name: str
    arena_bytes: int
    arena_align: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    functions: tuple[KernelFn, ...]
    groups: tuple[GroupProgram, ...]
    const_rows: tuple[ConstRow, ...]
    params: tuple[Params, ...]
    params_bytes: int
    tensors: tuple[TracedTensor, ...]
