"""What the compiler says of a network with so many bits for each layer: memory, flash, instructions, who is to blame.

Decides: that memory is that of the smallest plan, that flash is that of the parameters, and that instructions are
counted on the target's emulated board.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from codegen.errors import ArenaTooSmall, CompileError, FlashTooSmall, OptionBad
from codegen.frontends import real_bytes
from codegen.ir.graph import Graph
from codegen.ir.plan import Plan
from codegen.ir.program import Program
from codegen.options import Options
from codegen.pipeline import Reached, reach, read_model
from codegen.planning import in_flash, of_chip
from codegen.quantizer.applied import applied
from codegen.quantizer.mixed import Bits, Verdict
from codegen.quantizer.places import Places
from codegen.quantizer.scheme import Scheme
from codegen.quantizer.sensitivity import Part
from codegen.schedule import find_peak
from codegen.target import load_target
from codegen.toolkit import Toolkit
from codegen.verbs.profile import Measuring, profile

ARENA, FLASH, INSTRUCTIONS = "arena", "flash", "instructions"
KINDS = (ARENA, FLASH, INSTRUCTIONS)
"""The costs that a budget may name."""
_OF_SIZE = (ArenaTooSmall, FlashTooSmall)
_BYTE = 8


class Candidates:
    """One float network for one target, with limits on what it may cost."""

    def __init__(
        self,
        places: Places,
        parts: Sequence[Part],
        scheme_of: Callable[[Mapping[str, Bits]], Scheme],
        asked: tuple[Options, Mapping[str, int], Toolkit],
    ) -> None:
        options, budget, self._toolkit = asked
        self._places, self._scheme_of = places, scheme_of
        self._parts = {part.name: part for part in parts}
        self._chip = load_target(options.target)
        self._options = replace(of_chip(options, self._chip), goal="memory", arena_limit=None, vectors=0)
        own = {ARENA: self._chip.ram_bytes, FLASH: self._chip.flash_bytes}
        has = {kind: n for kind, n in own.items() if n is not None}
        self.most = {kind: min(n, has.get(kind, n)) for kind, n in {**has, **budget}.items()}
        """The limits: the budget's, and the chip's own."""
        if INSTRUCTIONS in self.most and self._chip.board is None:
            hint = "name a chip with an emulated board (`lamina targets` lists them), or leave them out"
            raise OptionBad(f"instructions are not counted on {options.target}", where="budget", hint=hint)
        self._known: dict[tuple[tuple[str, Bits], ...], Verdict] = {}

    def __call__(self, bits: Mapping[str, Bits]) -> Verdict:
        """What a candidate costs, by how much it is above a limit, and who is to blame."""
        key = tuple(bits.items())
        if key not in self._known:
            self._known[key] = self._asked(bits)
        return self._known[key]

    def by_part(self, bits: Mapping[str, Bits]) -> dict[str, dict[str, int]]:
        """Flash and instructions of each layer; nothing where the candidate does not compile."""
        try:
            plan, program = self._reached(self._file(bits)).finished()
        except CompileError:
            return {}
        found: dict[str, dict[str, int]] = {}
        for group in program.groups:
            for call in group.calls:
                self._add(found, plan.graph, call.node.name, FLASH, call.params.bytes if call.params else 0)
        if INSTRUCTIONS in self.most:
            for layer in profile(self._file(bits), self._options, Measuring(toolkit=self._toolkit)).layers:
                self._add(found, plan.graph, layer.name, INSTRUCTIONS, layer.instructions or 0)
        return found

    def _add(self, found: dict[str, dict[str, int]], graph: Graph, node: str, kind: str, count: int) -> None:
        part = self._part(next((n.source for n in graph.nodes if n.name == node), ()))
        if part is not None:
            costs = found.setdefault(part, {})
            costs[kind] = costs.get(kind, 0) + count

    def _part(self, source: Iterable[str]) -> str | None:
        """The layer that a node of the compiler's graph is, or is a part of."""
        return next((name for name in source if name in self._parts), None)

    def _asked(self, bits: Mapping[str, Bits]) -> Verdict:
        data = self._file(bits)
        try:
            reached = self._reached(data)
        except CompileError as error:
            return Verdict({}, refusal=error.problems()[0].text())
        others = [e for e in reached.problems if not isinstance(e, _OF_SIZE)]
        if others or reached.plan is None or reached.program is None:
            return Verdict({}, refusal=others[0].text() if others else "there is no plan")
        costs = self._costs(reached.plan, reached.program)
        over = self._over(costs)
        if not over and INSTRUCTIONS in self.most:
            costs[INSTRUCTIONS] = profile(data, self._options, Measuring(toolkit=self._toolkit)).instructions or 0
            over = self._over(costs)
        return Verdict(costs, over, self._blamed(reached.plan, bits) if ARENA in over else {})

    def _file(self, bits: Mapping[str, Bits]) -> bytes:
        return real_bytes(applied(self._places.graph, self._scheme_of(bits)).live())

    def _reached(self, data: bytes) -> Reached:
        with tempfile.TemporaryDirectory(prefix="lamina-mixed-") as folder:
            path = Path(folder) / "network.onnx"
            path.write_bytes(data)
            graph = read_model(path, self._options, self._chip, self._toolkit)
            return reach(graph, self._chip, self._options, self._toolkit)

    def _costs(self, plan: Plan, program: Program) -> dict[str, int]:
        return {ARENA: plan.arena_bytes, FLASH: in_flash(program, self._options)}

    def _over(self, costs: Mapping[str, int]) -> dict[str, int]:
        return {kind: n - self.most[kind] for kind, n in costs.items() if n > self.most.get(kind, n)}

    def _blamed(self, plan: Plan, bits: Mapping[str, Bits]) -> dict[str, int]:
        """What layers with wide results hold where most is in use, and half of it."""
        sources = {o: node.source for node in plan.graph.nodes for o in node.outputs}
        found: dict[str, int] = {}
        for resident in find_peak(plan).live:
            part = self._part(sources.get(resident.name, ()))
            if part is not None and bits[part].activations > _BYTE:
                found[part] = found.get(part, 0) + resident.bytes // 2
        return found
