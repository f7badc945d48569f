"""Form: one kernel fitted to one node, as data.  What lowering, proving and emitting read of a kernel is here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Literal

import numpy as np

from codegen.ir.op import NodeView
from codegen.ir.quant import Array
from codegen.records import record

Run = Literal["row", "rows", "pixels", "whole", "accumulate"]
"""What one kernel call covers: one output row, several rows, a run of pixels, the whole output, or one input row of a
sum that has its output after the last (then `n` is the number of the input row, and `scratch` keeps its contents
between calls).

With `rows`, `n` consecutive output rows are made, which lie one after another; `rows` points to every row of the input
from the first tap of the first output row to the last tap of the last one (so a dilated kernel finds its taps
`dilation` apart).  The kernel reads all of them before it writes."""


class Field:
    """One array inside a layer's parameters: int8, uint8, int16, uint16, int32, uint32 or float32, flat.

    One that is made `later` has its type and size at once; it is packed when its values are first read, and then kept.
    `about` says in a few words what its numbers mean, for readers of the C.  `alignment`, in bytes, is where it is read
    fastest, if that is more than its type asks for.
    """

    __slots__ = ("_pack", "_record", "_values", "about", "alignment", "dtype", "name", "size")

    def __init__(self, name: str, values: Array, *, record: str = "", about: str = "") -> None:
        """A field whose values are at hand; `record` is the runtime's struct that gives each of them a name."""
        self.name = name
        self.alignment = 1
        self.about = about
        self._record = record
        self.dtype: np.dtype[Any] = values.dtype
        self.size: int = values.size
        self._values: Array | None = values
        self._pack: Callable[[], Array] | None = None

    @classmethod
    def later(
        cls,
        name: str,
        dtype: type[np.generic] | np.dtype[Any],
        size: int,
        pack: Callable[[], Array],
        about: str = "",
        *,
        alignment: int = 1,
    ) -> Field:
        """A field that is packed if it is read: of a kernel that is not chosen nobody reads any."""
        field = cls(name, np.empty(0, dtype), about=about)
        field.alignment = alignment
        field.size, field._values, field._pack = size, None, pack
        return field

    @property
    def values(self) -> Array:
        """The numbers."""
        if self._values is None:
            self._values = self._packed()
        return self._values

    def _packed(self) -> Array:
        assert self._pack is not None, "a field has values or what makes them"
        values = self._pack()
        assert (values.dtype, values.size) == (self.dtype, self.size), f"{self.name} is not what was said of it"
        self._pack = None
        return values

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return self.size * self.dtype.itemsize

    @property
    def ctype(self) -> str:
        """The C99 type of one element, or of the record that all of them are."""
        if self._record:
            return self._record
        return "float" if self.dtype.kind == "f" else f"{self.dtype.name}_t"


@record
class Scratch:
    """A part of a kernel's scratch: its bytes, and those it takes when rows come one by one, if that is less.

    `least`: what a row as short as the node's touches of them, if that is known.  `tiled`: what tiles of the node's
    channels take of them at most, if that is more.
    """

    name: str
    bytes: int
    row_bytes: int | None = None
    least: int | None = None
    tiled: int = 0

    @property
    def for_tiles(self) -> Scratch:
        """The part with what tiles take of it."""
        row = None if self.row_bytes is None else max(self.row_bytes, self.tiled)
        return replace(self, bytes=max(self.bytes, self.tiled), row_bytes=row)


@record
class Mix:
    """About how many instructions of which kind a kernel runs for a row; `moved`: registers of `multiple` ones.

    The names are those of a target's `[cycles]`, which says what each takes.  Vector instructions are among the `other`
    ones, but for those right behind another of their unit.
    """

    other: float = 0
    load: float = 0
    load_next: float = 0
    store: float = 0
    multiple: float = 0
    moved: float = 0
    multiply_add: float = 0
    taken: float = 0
    vector_next: float = 0

    @property
    def instructions(self) -> float:
        """All of them."""
        return sum(float(getattr(self, f.name)) for f in fields(self) if f.name != "moved")

    def times(self, count: float) -> Mix:
        """So many times as many."""
        return Mix(*(count * getattr(self, f.name) for f in fields(self)))

    def __add__(self, other: Mix) -> Mix:
        """Both."""
        return Mix(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@record
class Told:
    """Which literals of a kernel's context its function may be told at each call, so that it serves several shapes.

    They are fields of the context that hold integers, and none by which an innermost loop is unrolled or reaches for
    what it reads.  `row`: about how many instructions more an output row takes then.
    """

    names: tuple[str, ...]
    row: float


@record(eq=False)
class Form:
    """A kernel as it serves one node.

    Args:
        kernel: its name in the table.
        template: a file of templates/kernels/.
        run: what a call covers.
        features: those of the chip that it was fitted for.
        context: the template's numbers, a frozen dataclass; layers of equal context share a function.
        params: the layer's constants, packed.
        scratch: the parts of its scratch, in the order in which they lie.
        rows: output rows that a call takes at most, where tensors are held whole; 1 unless it runs by `rows`.
        why: in a few words, which form it is and why.
        headers: files of the runtime that its C calls functions of, by name, sorted.
        fit_again: the form that the same kernel has for another node, or None.
        mix: what a row takes, of kernels that others may be faster than.
        in_place: the only input has as many pixels as the output; the kernel takes them in their order and has read
            what a pixel reads before it stores any byte of it, or of one behind it.  So the output may lie over the
            input, as long as each of its rows neither begins nor ends behind the input's.
        copies: for that it copies what it reads, pixel by pixel.
        code_bytes: about what its function takes, of kernels whose forms differ in that; else 0.
        larger: it takes more code and scratch than the forms behind it, which goals `size` and `memory` take.
        by_channels: a call makes `rows` rows, no fewer, of a map of one column whose rows lie one behind the other:
            `rows` points to the taps of the first output row alone.
            What it reads of a channel it has read before it stores any byte of that, and it writes over no other one.
            So the output may lie over the input, whole pixels away.
    """

    kernel: str
    template: str
    run: Run
    features: frozenset[str]
    context: Any
    params: tuple[Field, ...]
    scratch: tuple[Scratch, ...]
    rows: int
    why: str
    headers: tuple[str, ...]
    fit_again: Callable[[NodeView], Form | None]
    mix: Mix | None = None
    in_place: bool = False
    copies: bool = False
    code_bytes: int = 0
    larger: bool = False
    by_channels: bool = False

    def refit(self, tile: NodeView) -> Form:
        """The form that the same kernel has for a tile of the node that it was fitted to."""
        form = self.fit_again(tile)
        assert form is not None, "a kernel serves each tile of a node that it serves"
        return form

    @property
    def params_bytes(self) -> int:
        """Bytes of packed parameters."""
        return sum(field.nbytes for field in self.params)

    @property
    def scratch_bytes(self) -> int:
        """Bytes of scratch at most."""
        return sum(part.bytes for part in self.scratch)

    @property
    def for_tiles(self) -> Form:
        """The form with the scratch that tiles of its channels take as well."""
        return replace(self, scratch=tuple(part.for_tiles for part in self.scratch))

    @property
    def row_scratch_bytes(self) -> int:
        """Bytes of scratch for calls of one row."""
        return sum(part.bytes if part.row_bytes is None else part.row_bytes for part in self.scratch)

    def scratch_for(self, rows: int) -> int:
        """Bytes of scratch for calls of that many output rows."""
        return self.row_scratch_bytes if rows == 1 else self.scratch_bytes
