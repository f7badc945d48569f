"""What a difference in a board's log means: of which layer it is, and where to look for its cause."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codegen.pipeline import Compiled
from codegen.records import record
from codegen.resources import resource_dir
from codegen.verbs.crc_log import Key

_STATUS = re.compile(r"^    (LAM_\w+) = (\d+)", re.MULTILINE)


@record
class Line:
    """One line that the board has to write: its letter, what it is about, the checksum, and what that is called."""

    kind: str
    key: Key
    crc: int
    name: str

    def place(self, compiled: Compiled) -> str:
        """What it is about, in words."""
        words = {"I": "input", "T": "tensor", "O": "output", "W": "the weights of"}
        layer = _layer(compiled, self)
        return f"{words[self.kind]} {self.name}" + (f" of layer {layer[0]} ({layer[1]})" if layer else "")


@record(kw_only=True)
class LogFinding:
    """The first difference.  `kind` is input, tensor or output; `layer` and `operator` are those that write it."""

    kind: str
    tensor: str
    source: str
    layer: str
    operator: str
    run: int
    expected: str
    actual: str
    meaning: str

    def text(self) -> str:
        """One line for a person."""
        layer = f" of layer {self.layer} ({self.operator})" if self.layer else ""
        source = f", the model's {self.source}," if self.source and self.source != self.tensor else ""
        sums = f"CRC-32 {self.actual}, expected {self.expected}"
        return f"{self.kind} {self.tensor}{source}{layer} in run {self.run}: {sums}"


@record
class Evidence:
    """What the log says besides: the checksum that differs, layers with wrong weights, lines that are not there."""

    actual: int
    damaged: Sequence[Line]
    missing: Sequence[Line]


def explained(compiled: Compiled, wrong: Line, evidence: Evidence) -> LogFinding:
    """The first difference, and what it means."""
    layer = _layer(compiled, wrong)
    sources = {t.index: t.source for t in compiled.program.tensors} if wrong.kind == "T" else {}
    before = sum(line.kind != "W" and line.key < wrong.key for line in evidence.missing)
    unsure = f"; {before} lines before it are missing from the log, so an earlier one may differ" if before else ""
    return LogFinding(
        kind={"I": "input", "T": "tensor", "O": "output"}[wrong.kind],
        tensor=wrong.name,
        source=sources.get(wrong.key[-1], ""),
        layer=layer[0] if layer else "",
        operator=layer[1] if layer else "",
        run=wrong.key[0],
        expected=f"{wrong.crc:08x}",
        actual=f"{evidence.actual:08x}",
        meaning=_meaning(compiled, wrong, evidence.damaged) + unsure,
    )


def _meaning(compiled: Compiled, wrong: Line, damaged: Sequence[Line]) -> str:
    if wrong.kind == "I":
        return (
            "the input was not in memory as it was written there: another part of the firmware writes to the arena, or "
            "the memory is not what the linker script says"
        )
    if wrong.kind == "O":
        return (
            "the layer wrote it right, and it was changed before the run ended: another part of the firmware (a DMA, "
            "an interrupt, a stack that grows too far) writes to the arena"
        )
    own = {line.name for line in damaged} & _params(compiled, wrong.name)
    if own:
        return (
            "the layer's weights in the board's memory are not those that were compiled: the image was not written "
            "whole, or something overwrites them"
        )
    again = "; it was right in an earlier run, so look for what changes in between" if wrong.key[0] else ""
    return (
        "all that the layer reads is right, and what it wrote is not: the compiler or its flags (compare with -O1 and "
        f"the flags of the README), something that writes to the arena or the stack meanwhile, or its kernel{again}"
    )


def _layer(compiled: Compiled, line: Line) -> tuple[str, str] | None:
    """Name and operator of the layer that writes it; of weights the name is said already."""
    node = compiled.graph.producers.get(line.name) if line.kind == "T" else None
    return (node.name, type(node.op).__name__) if node else None


def _params(compiled: Compiled, tensor: str) -> set[str]:
    """The names by which the weights go that the layer of this tensor reads."""
    layer = compiled.graph.producers[tensor].name
    calls = (call for group in compiled.program.groups for call in group.calls)
    return {call.params.name for call in calls if call.node.name == layer and call.params}


def status_name(status: int) -> str:
    """What a lam_status is called."""
    header = (resource_dir("runtime_c") / "include" / "lam_base.h").read_text(encoding="utf-8")
    named = (found[1] for found in _STATUS.finditer(header) if int(found[2]) == status)
    return next(named, f"status {status}")
