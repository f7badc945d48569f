"""What a network shows of itself: inputs and outputs, what it keeps between runs, and the input that is streamed."""

from __future__ import annotations

import numpy as np

from codegen.emit.addresses import Names
from codegen.emit.names import comment
from codegen.emit.spelling import ArrayView, array_lines, spell_float
from codegen.ir.program import KeptState, Port, Program
from codegen.records import record


@record(kw_only=True)
class PortView:
    """One input or output in the header; `place` spells its address, `offset` counts from its memory's beginning.

    `order` says which of the model's axes lie in which order, and is empty when they lie as in the model.
    """

    index: int
    title: str
    ctype: str
    place: str
    offset: int
    bytes: int
    dims: int
    shape: str
    scale: str
    zero_point: int | None
    element_bytes: int
    remark: str
    model_shape: str
    order: str
    axes: str

    @property
    def elements(self) -> int:
        """How many numbers it has."""
        return self.bytes // self.element_bytes


@record(kw_only=True)
class StateView:
    """What is kept between runs: its address, and that of its new content before it is copied there (or nothing).

    After a reset every byte is `fill`, or where that is None the content is the constant `initial`.
    """

    title: str
    ctype: str
    shape: str
    place: str
    bytes: int
    copied_from: str
    fill: int | None
    initial: ArrayView | None


@record
class StreamView:
    """A network whose input comes row by row: where the rows go, and how many there are.

    `memories` are those that it works in: pointer and size, as the schedule spells them.
    """

    ctype: str
    place: str
    ring: int
    rows: int
    row_bytes: int
    row_elements: int
    memories: tuple[tuple[str, str], ...]


def port_view(port: Port, index: int, names: Names) -> PortView:
    """One input or output of the network."""
    size = port.operand.rows * port.operand.row_bytes
    scale = "" if port.scale is None else spell_float(port.scale)
    return PortView(
        index=index,
        title=comment(port.name),
        ctype=port.dtype.ctype,
        place=names.place(port.operand.offset, "net->arena"),
        offset=port.operand.offset,
        bytes=size,
        dims=len(port.shape),
        shape=", ".join(map(str, port.shape)),
        scale=scale,
        zero_point=port.zero_point,
        element_bytes=port.dtype.bytes,
        remark=_remark(port),
        model_shape=", ".join(map(str, port.model_shape)),
        order=_order(port.perm),
        axes=_axes(port),
    )


def _order(perm: tuple[int, ...] | None) -> str:
    if perm is None:
        return ""
    return ", ".join(map(str, perm)) + (" (NHWC)" if perm == (0, 2, 3, 1) else "")


def _axes(port: Port) -> str:
    """What the axes are, and where they lie in the model, as a comment."""
    if port.perm is None:
        return "axes as in the model"
    named = "axes N, H, W, C: " if _order(port.perm).endswith("(NHWC)") else "axes: "
    return f"{named}the model's [{', '.join(map(str, port.model_shape))}] in the order {', '.join(map(str, port.perm))}"


def _remark(port: Port) -> str:
    """What the numbers of a port do not say themselves, as the end of a comment."""
    model = np.dtype(port.model_dtype)
    narrow = model.kind in "iu" and model.itemsize > port.dtype.bytes
    told = (
        f"{model.name} in the model, {8 * port.dtype.bytes} bits here" if narrow else "",
        "flags, 0 or 1" if model.kind == "b" else "",
        "the same numbers after each run" if port.constant else "",
    )
    return f": {'; '.join(t for t in told if t)}" if any(told) else ""


def state_view(state: KeptState, name: str, names: Names) -> StateView:
    """One state; `name` is that of its first content, where that is an array."""
    data = state.initial.reshape(-1)
    found = set(data.tobytes())
    array = None if len(found) == 1 else ArrayView(name, state.operand.dtype.ctype, data.size, array_lines(data))
    return StateView(
        title=comment(state.name),
        ctype=state.operand.dtype.ctype,
        shape=", ".join(map(str, state.shape)),
        place=names.place(state.operand.offset),
        bytes=state.bytes,
        copied_from="" if state.in_place else names.place(state.renewed.offset),
        fill=None if array else found.pop(),
        initial=array,
    )


def stream_view(program: Program, names: Names) -> StreamView | None:
    """The streamed input, if there is one."""
    if not program.streamed:
        return None
    place, upper = program.inputs[0].operand, program.name.upper()
    beside = ((f"net->{r.memory}_arena", f"{upper}_ARENA_{r.memory.upper()}_SIZE") for r in program.regions)
    return StreamView(
        place.dtype.ctype,
        names.place(place.offset),
        place.ring,
        place.rows,
        place.row_bytes,
        place.row_bytes // place.dtype.bytes,
        (("net->arena", f"{upper}_ARENA_SIZE"), *beside),
    )
