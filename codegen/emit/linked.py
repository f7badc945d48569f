"""The header with the working memory that several networks of one firmware share.

Decides: which bytes networks may use in turn.  A network that keeps state has bytes of its own: they are not to be
touched between its runs.  The header spells sizes by the networks' macros, and the figures here are what the types then
have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from codegen.emit.listing import with_manifest
from codegen.emit.render import render
from codegen.records import record
from codegen.resources import VERSION


@record
class Part:
    """One network's share of a memory: the member that it is in the header's types."""

    network: str
    member: str
    bytes: int
    align: int
    lasting: bool


@record
class SharedType:
    """A type of the header, and its size."""

    type: str
    bytes: int


@record
class SharedMemory:
    """One memory of the chip that some of the networks work in."""

    name: str
    place: str
    parts: tuple[Part, ...]
    one: SharedType
    all: SharedType

    @property
    def about(self) -> str:
        """What it is, as a sentence begins."""
        return self.place[0].upper() + self.place[1:]

    @property
    def lasting(self) -> tuple[Part, ...]:
        """The networks that keep state there."""
        return tuple(part for part in self.parts if part.lasting)

    @property
    def passing(self) -> tuple[Part, ...]:
        """The networks that may use it in turn."""
        return tuple(part for part in self.parts if not part.lasting)


@record
class LinkedNetwork:
    """A network, and how its memory is filled in for one at a time; empty where it takes more than one expression."""

    name: str
    example: str


@record
class LinkView:
    """What templates/linked.h.j2 sees."""

    name: str
    upper: str
    version: str
    networks: tuple[LinkedNetwork, ...]
    memories: tuple[SharedMemory, ...]
    lasting: tuple[str, ...]


def link_view(name: str, manifests: Sequence[Mapping[str, Any]]) -> LinkView:
    """The record, out of the networks' manifests."""
    memories = dict.fromkeys(memory for manifest in manifests for memory in _sizes(manifest))
    shared = tuple(_shared(name, memory, manifests) for memory in memories)
    lasting = tuple(part.network for part in shared[0].lasting)
    networks = tuple(LinkedNetwork(m["name"], _example(m, shared[0])) for m in manifests)
    return LinkView(name, name.upper(), VERSION, networks, shared, lasting)


def link_files(view: LinkView, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """The files by path: the header, and the manifest with their list."""
    header = render("linked.h.j2", v=view).encode("utf-8")
    return with_manifest({f"include/{view.name}.h": header}, manifest)[0]


def _sizes(manifest: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Bytes and alignment of each memory that a network works in; the arena comes first."""
    first, *others = manifest["plan"]["memories"]
    align = manifest["arena_align"]
    found = {"arena": (first["bytes"], align)} | {f"{m['memory']}_arena": (m["bytes"], align) for m in others}
    if manifest["scratchpad_bytes"]:
        found["scratchpad"] = (manifest["scratchpad_bytes"], manifest["scratchpad_align"])
    return found


def _shared(name: str, memory: str, manifests: Sequence[Mapping[str, Any]]) -> SharedMemory:
    parts = tuple(_part(m, memory, *_sizes(m)[memory]) for m in manifests if memory in _sizes(m))
    lasting = [part for part in parts if part.lasting]
    passing = [part for part in parts if not part.lasting]
    largest = max((part.bytes for part in passing), default=0)
    one = SharedType(f"{name}_{memory}_one", _size([(largest, _align(passing)), *map(_extent, lasting)]))
    every = SharedType(f"{name}_{memory}_all", _size([*map(_extent, parts)]))
    return SharedMemory(memory, _PLACES.get(memory, f"{memory}s"), parts, one, every)


_PLACES = {"arena": "arenas", "scratchpad": "a core's scratchpads"}


def _part(manifest: Mapping[str, Any], memory: str, size: int, align: int) -> Part:
    """A network's share; a scratchpad is filled anew in each run."""
    network, upper = manifest["name"], manifest["name"].upper()
    kind = "SCRATCHPAD" if memory == "scratchpad" else "ARENA"
    region = memory.removesuffix("arena").upper() if kind == "ARENA" else ""
    member = f"uint8_t {network}[{upper}_{kind}_{region}SIZE] {upper}_{kind}_ALIGNED;"
    return Part(network, member, size, align, _lasts(manifest) and kind == "ARENA")


def _lasts(manifest: Mapping[str, Any]) -> bool:
    """Whether a network keeps something in its memory from run to run."""
    return bool(manifest["states"] or manifest.get("weights_pinned_bytes"))


def _extent(part: Part) -> tuple[int, int]:
    return part.bytes, part.align


def _align(parts: Sequence[Part]) -> int:
    return max((part.align for part in parts), default=1)


def _size(members: Sequence[tuple[int, int]]) -> int:
    """Bytes of a struct with members of these sizes and alignments."""
    end = 0
    for size, align in members:
        end = -(-end // align) * align + size
    widest = max(align for _, align in members)
    return -(-end // widest) * widest


def _example(manifest: Mapping[str, Any], arena: SharedMemory) -> str:
    """A network's memory where it is its arena, and perhaps a blob."""
    if len(_sizes(manifest)) > 1:
        return ""
    name = manifest["name"]
    turn = "in_turn." if arena.passing and arena.lasting and not _lasts(manifest) else ""
    blob = ", weights, weights_size" if manifest["weights_file"] else ""
    blob = ", context" if manifest.get("weights_buffer_bytes") else blob
    return f"{name.upper()}_MEMORY(arena.{turn}{name}{blob})"
