"""Program: buffers, constants, kernel functions and calls.  C-level; emit only spells it.

The row kernel's one signature, which every kernel function has:

    void NAME_kN(const T *const *rows, T *y, const NAME_kN_params *params, int32_t n, void *scratch);

`rows` has one pointer per (input, tap), padding included (a null pointer where the rule says absent); an input
read whole gives one pointer, to its first row.  `n` is the number of pixels in this call for a kernel that takes runs
of pixels, of output rows for one that takes several, else the number of the output row.  `params` is the layer's
packed weights, biases and multipliers, a struct of arrays.  `T` is the element type of the first input, or of the
output; inputs of other types are converted in the kernel.

A node of several outputs has `T *const *y`: `y[0]` is the output, those after it are what states become.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codegen.ir.form import Run
from codegen.ir.labels import Labels
from codegen.ir.op import NodeView, RowRule
from codegen.ir.plan import Region
from codegen.ir.producer import READY, Producer
from codegen.ir.quant import Array, DType
from codegen.ir.scratchpad import CommandList
from codegen.ir.shape import Shape
from codegen.ir.weights import Params, Slices, WeightsProgram
from codegen.records import record


@record
class OneShape:
    """How a function of another shape serves this one: the symbol of that function, and what it is told at a call.

    All that one function serves have the same names, in the same order; it has the symbol of the first of them.
    """

    code: str
    numbers: Mapping[str, int]


@record(eq=False)
class KernelFn:
    """One shape of a kernel: its template with its numbers, shared by layers of equal context.

    It is an emitted function, unless `shape` says that one serves several shapes.
    `offsets` places each params field, in bytes; `sizes` counts its elements; `abouts` says what it means;
    `headers` are as in Form.
    """

    symbol: str
    kernel: str
    template: str
    run: Run
    context: Any
    in_dtype: DType
    out_dtype: DType
    outputs: int
    offsets: Mapping[str, int]
    dtypes: Mapping[str, str]
    sizes: Mapping[str, int]
    abouts: Mapping[str, str]
    headers: tuple[str, ...]
    shape: OneShape | None = None

    @property
    def code(self) -> str:
        """The symbol of the function that is called."""
        return self.shape.code if self.shape else self.symbol


@record
class Operand:
    """A tensor in the arena: row r at `offset + (r % ring) * row_bytes`.

    `memory` names the tensor whose memory it is: another one when this one is a view.
    """

    value: str
    offset: int
    rows: int
    ring: int
    row_bytes: int
    dtype: DType
    memory: str


def lies_by_channels(x: Operand, y: Operand) -> bool:
    """Whether each byte of y lies over none of x, or over one of the same channel: rows are single pixels."""
    if x.offset + x.ring * x.row_bytes <= y.offset or y.offset + y.ring * y.row_bytes <= x.offset:
        return True
    return x.row_bytes == y.row_bytes and (x.offset - y.offset) % y.row_bytes == 0


@record
class RowInput:
    """One input of a call: its operand, the rule, and who makes its rows.

    `in_place`: each element is read before the output's element in its place, or behind that, is written: kernels take
    elements as they lie, and the output may begin before the input.  `by_channels`: each channel is read before the
    output's is written, which may lie over it.  `padding_offset` is where the scratchpad has the row of padding, None
    when it is in read-only data or none is needed.
    """

    operand: Operand
    rule: RowRule
    producer: Producer = READY
    padding_offset: int | None = None
    in_place: bool = False
    by_channels: bool = False


@record(eq=False)
class Call:
    """One layer: which kernel, on which rows.

    `scratch_bytes` are those that a call of so many rows takes, from `scratch_offset` on.
    `params_offset` is where the scratchpad has the parameters, None when they are read in place.  `partial`: the output
    is some channels of its tensor.  `steps` calls of `rows_per_call` output rows each (the last one of what is left)
    make the output; an accumulating kernel takes one step per input row, and has its output after the last.
    `place` is how far into the group's part of the weights buffer its parameters begin, where there is one; `pinned` is
    their place in the arena where they stay there; `mapped` ones are part of the image.  A call in `slices` is made for
    each of them, row by row; `params` are those of the first.
    """

    node: NodeView
    fn: KernelFn
    inputs: tuple[RowInput, ...]
    outputs: tuple[Operand, ...]
    params: Params | None
    scratch_offset: int | None
    scratch_bytes: int
    rows_per_call: int
    pixels_per_call: int
    steps: int
    params_offset: int | None = None
    partial: bool = False
    place: int = 0
    pinned: int | None = None
    mapped: bool = False
    slices: Slices | None = None


@record(eq=False)
class GroupProgram:
    """Calls that run together.

    A single call is a plain loop.  Otherwise rows are pulled: `pulls` says of which call, and how many steps it has
    made afterwards, in order.  `streams`: the network's input comes row by row; a pull that finds too few rows of it
    stops, and goes on where it was when it is tried again.  `use` is its first use of the weights buffer.
    A single call that runs `backwards` makes its last rows first.
    """

    calls: tuple[Call, ...]
    pulls: tuple[tuple[int, int], ...] = ()
    streams: bool = False
    use: int | None = None
    backwards: bool = False

    @property
    def pulled(self) -> bool:
        """Whether rows are pulled on demand rather than looped over."""
        return len(self.calls) > 1 or self.streams


@record
class ConstRow:
    """A row of padding in read-only data: `elements` times `value`."""

    dtype: DType
    value: float
    elements: int


@record
class Port:
    """One input or output of the network at the C interface; a `constant` one has the same numbers after each run."""

    name: str
    operand: Operand
    shape: Shape
    dtype: DType
    scale: float | None
    zero_point: int | None
    model_shape: Shape
    model_dtype: str
    perm: tuple[int, ...] | None
    constant: bool = False


@record(eq=False)
class KeptState:
    """What the network keeps between runs: in `operand` after a reset `initial`, after each run what is in `renewed`.

    Both are the same memory where the new content is written over the old one; otherwise the run ends with a copy.
    """

    name: str
    operand: Operand
    renewed: Operand
    shape: Shape
    initial: Array

    @property
    def bytes(self) -> int:
        """Bytes of the arena that it holds for ever."""
        return self.operand.rows * self.operand.row_bytes

    @property
    def in_place(self) -> bool:
        """Whether the new content is written over the old one."""
        return self.operand.offset == self.renewed.offset


@record
class TracedTensor:
    """A tensor that the trace hook reports: `index` is what the hook gets."""

    index: int
    value: str
    source: str
    perm: tuple[int, ...] | None
    shape: Shape
    dtype: DType
    row_bytes: int


@record(eq=False)
class ScratchpadParams:
    """Parameters to load: of which node, from which of its output channels on, and where they go in the scratchpad."""

    node: str
    channel: int
    params: Params
    offset: int


@record(kw_only=True, eq=False)
class ScratchpadProgram(CommandList):
    """The scratchpad regime: calls on the scratchpad, and the list of commands that runs and feeds them.

    `global_offsets` are the places of the streams' tensors in the arena.  Calls have the same places in the memory of
    each core.
    """

    calls: tuple[Call, ...]
    global_offsets: tuple[int, ...]
    params: tuple[ScratchpadParams, ...]


@record(kw_only=True, eq=False)
class Program:
    """All that the C spells.

    `regions` are working memory beside the arena, as in Plan.  With `scratchpad` set, calls work in the scratchpad, and
    `groups` is only the account of which layers run together.  `params_bytes` is the size of the weight section, with
    the gaps that align its layers.  `mapped` are parameters that are part of the image beside a section in a file.
    """

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
    states: tuple[KeptState, ...] = ()
    streamed: bool = False
    regions: tuple[Region, ...] = ()
    scratchpad: ScratchpadProgram | None = None
    weights: WeightsProgram | None = None
    labels: tuple[Labels, ...] = ()
    mapped: tuple[Params, ...] = ()

    @property
    def packed_bytes(self) -> int:
        """The parameters themselves: what a linked image has of them."""
        return sum(p.bytes for p in self.params) + self.mapped_bytes

    @property
    def mapped_bytes(self) -> int:
        """Those that are part of the image beside a file of weights."""
        return sum(p.bytes for p in self.mapped)

    @property
    def working_bytes(self) -> int:
        """Offsets that the arena and the regions beside it have together, with the gaps between them."""
        return self.regions[-1].stop if self.regions else self.arena_bytes
