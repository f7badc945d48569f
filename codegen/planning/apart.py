"""Layers whose weights take no part in the buffer: those that stay in the arena, and those that are in the image.

Decides: that a name asked for must be a layer's, where a chip's file speaks of whatever network; and that what is asked
for of a layer counts before what the chip's file says of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from codegen.errors import OptionBad
from codegen.options import Options
from codegen.records import record
from codegen.target import Target


@record
class Apart:
    """Bytes of pinned layers' parameters by name, and the names of layers whose weights are mapped."""

    pinned: Mapping[str, int]
    mapped: frozenset[str]

    def __contains__(self, name: object) -> bool:
        """Whether the layer's weights are not read in each run."""
        return name in self.pinned or name in self.mapped


def apart(sizes: Mapping[str, int], target: Target, options: Options) -> Apart:
    """What is asked for, and said by the chip's file; `sizes` are those of all layers that have weights.

    Raises:
        OptionBad: LAM-IMPORT-030, for a name that is no layer's, a layer that is to be both, and a network all of whose
            layers are.
    """
    pinned, mapped = _asked(sizes, "pinned", options.pinned), _asked(sizes, "mapped", options.mapped)
    _check_once(pinned, mapped, "mapped")
    rest = [name for name in sizes if name not in pinned and name not in mapped]
    pin, to_map = ([n for n in rest if _meets(n, said)] for said in (target.weights.pin, target.weights.map))
    _check_once(pin, to_map, f"{target.name}, weights.map")
    pinned, mapped = [*pinned, *pin], [*mapped, *to_map]
    if len(pinned) + len(mapped) == len(sizes):
        where = "pinned" if pinned else "mapped"
        raise OptionBad(f"every layer is {where}", where=where, hint="leave one that is read in each run")
    return Apart({name: sizes[name] for name in sizes if name in pinned}, frozenset(mapped))


def idle_notes(layers: Sequence[str], target: Target) -> Iterator[str]:
    """Of what a chip's file says: patterns that no layer meets."""
    for key, said in (("pin", target.weights.pin), ("map", target.weights.map)):
        for pattern in said:
            if not any(fnmatchcase(name, pattern) for name in layers):
                yield f"weights.{key} of {target.name} names {pattern!r}, which no layer with weights is called"


def _asked(sizes: Mapping[str, int], where: str, patterns: Sequence[str]) -> list[str]:
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in sizes):
            close = ", ".join(get_close_matches(pattern, sizes, n=3)) or ", ".join(list(sizes)[:6])
            raise OptionBad(f"no layer with weights is called {pattern!r}", where=where, hint=f"such as {close}")
    return [name for name in sizes if _meets(name, patterns)]


def _meets(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _check_once(pinned: Sequence[str], mapped: Sequence[str], where: str) -> None:
    both = [name for name in pinned if name in mapped]
    if both:
        raise OptionBad(f"{both[0]} is to be pinned, too", where=where, hint="name each layer for one of them")
