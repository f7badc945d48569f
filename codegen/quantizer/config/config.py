"""A quantizer's configuration: what was asked for, ready to be asked for one tensor.

Decides: how the levels of a file, those of the command line and what stays unsaid are put together.  Leaves the
formats to `toml` and to `codegen.quantizer.foreign`, and all numbers to the stages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from codegen.errors import QuantConfigRejected, QuantKeysConflict
from codegen.quantizer.config.keys import ROLES
from codegen.quantizer.config.levels import ALL, Level, Levels, conflicts, in_order, resolved
from codegen.quantizer.config.settings import Correct, General, Io, Learning, Mixed, Rewrite, Search
from codegen.quantizer.spec import Role, Spec
from codegen.records import record


@record(kw_only=True, slots=False)
class QuantConfig:
    """What was asked for.

    `levels` are in their order, and the last that speaks of a tensor wins.  `general` and the tables behind it have
    None where a choice is the recipe's.  `notes` say what of a foreign format is done otherwise, or not at all.
    """

    levels: tuple[Level, ...] = ()
    general: General = field(default_factory=General)
    rewrite: Rewrite = field(default_factory=Rewrite)
    correct: Correct = field(default_factory=Correct)
    search: Search = field(default_factory=Search)
    mixed: Mixed = field(default_factory=Mixed)
    io: Io = field(default_factory=Io)
    learning: Learning = field(default_factory=Learning)
    notes: tuple[str, ...] = ()

    @classmethod
    def load(cls, path: str | Path) -> QuantConfig:
        """The configuration in a file: `.toml` in Lamina's grammar.

        Raises:
            QuantConfigUnreadable: LAM-QUANT-001; the ids of `codegen.datafiles.read_toml`.
            CompileError: LAM-QUANT-002 to -005, or -006 with all of them.
        """
        from codegen.quantizer.config.toml import read_config

        return read_config(Path(path))

    def spec(self, role: Role, *, layer: str = "", op_type: str = "", tensor: str = "") -> Spec:
        """How one tensor is to be quantized.

        Args:
            role: what it is to its network.
            layer: the node that computes it, or reads it where it is a constant; its name in the model.
            op_type: that node's operator, in the model's own words.
            tensor: the tensor's name.

        Raises:
            QuantKeysConflict: LAM-QUANT-005, for what levels come to together that are sound alone.
        """
        spec, places = resolved(role, self._index.of(layer, op_type, tensor))
        problems = conflicts(role, spec, places, f"{role} of layer '{layer}', tensor '{tensor}'")
        if problems:
            raise problems[0] if len(problems) == 1 else QuantConfigRejected(problems)
        return spec

    def says(self, key: str, role: Role, *, layer: str = "", op_type: str = "", tensor: str = "") -> bool:
        """Whether any level says this key of a tensor, rather than leave it to the recipe."""
        return key in resolved(role, self._index.of(layer, op_type, tensor))[1]

    def names(self, key: str, role: Role, *, layer: str = "", op_type: str = "", tensor: str = "") -> bool:
        """Whether a level says this key of the layer or the tensor by its own name."""
        named = [level for level in self._index.of(layer, op_type, tensor) if level.name is not None]
        return key in resolved(role, named)[1]

    @cached_property
    def _index(self) -> Levels:
        return Levels(self.levels)

    def over(self, other: QuantConfig) -> QuantConfig:
        """Both, where this one wins: key by key in the tables, and level by level among those of the same rank."""
        settled = {f.name: _over(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)[1:-1]}
        return QuantConfig(levels=in_order((*other.levels, *self.levels)), notes=(*other.notes, *self.notes), **settled)


def _over(above: Any, below: Any) -> Any:
    said = {f.name: getattr(above, f.name) for f in fields(above) if getattr(above, f.name) is not None}
    return replace(below, **said)


def said(values: Mapping[str, object], place: str, role: Role | None = None) -> QuantConfig:
    """A configuration of one level for all tensors, or for all of one role: what a command line says."""
    return QuantConfig(levels=(Level(values=values, role=role, place=place),))


def soundness(levels: Sequence[Level]) -> list[QuantKeysConflict]:
    """The conflicts of the levels for all tensors, and of each entry with those: each told once.

    What another entry could set right is left to `QuantConfig.spec`, which sees the entries that meet in a tensor.
    """
    general = [level for level in in_order(levels) if level.rank == ALL]
    entries: dict[str, list[Level]] = {"": []}
    for level in levels:
        if level.rank != ALL:
            entries.setdefault(level.entry, []).append(level)
    saying = Counter(key for entry in entries.values() for key in {key for level in entry for key in level.values})
    found: dict[str, QuantKeysConflict] = {}
    for entry in entries.values():
        own = Counter({key for level in entry for key in level.values})
        for role in ROLES:
            spec, places = resolved(role, [*general, *entry])
            for problem in conflicts(role, spec, places, role, [k for k in saying if entry and saying[k] > own[k]]):
                found.setdefault(problem.text(), problem)
    return list(found.values())
