"""fits: on which of the chips a network fits, with what memory, and about how fast.

Chips that differ by their memories and clock alone are compiled for once; a chip whose RAM is exceeded by that plan is
planned for by itself, so that what is said of it is what `compile` would say.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from codegen.errors import CompileError, RequantUnsupported
from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.options import Options
from codegen.pipeline import compile_graph, reach, read_model
from codegen.planning import of_chip, settled
from codegen.records import record
from codegen.report.code_size import estimate_code_bytes
from codegen.report.speed import estimated_cycles
from codegen.spread import kept, spread_over
from codegen.target import Memory, Target, list_targets, load_target
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.inspection import Violation
from codegen.verbs.kinds import Progress
from codegen.verbs.sources import ModelSource, file_of, takes_model

_UNLIMITED = (Memory("ram", "ram", None, ""), Memory("flash", "flash", None, ""))


@record(kw_only=True)
class Fit:
    """One chip: whether the network fits it, and with what.

    `flash_needed` are weights and about how much code; `milliseconds` are estimated for one inference, None where the
    core's file or the clock says too little; `reason` is why it does not fit, `rules` everything that it does not run.
    """

    target: str
    maker: str
    core: str
    fits: bool
    arena_bytes: int | None = None
    ram_bytes: int | None = None
    flash_needed: int | None = None
    flash_bytes: int | None = None
    milliseconds: float | None = None
    reason: str = ""
    rules: tuple[Violation, ...] = ()


@record
class _Made:
    """What all chips of a kind share: the network as it is compiled where memory has no limit, or why it cannot be."""

    arena_bytes: int = 0
    weights_bytes: int = 0
    code_bytes: int = 0
    graph: Graph | None = None
    kernels: Mapping[int, Form] | None = None
    refusal: str = ""
    rules: tuple[Violation, ...] = ()


@record(kw_only=True)
class Fitting:
    """Which chip is looked at, where not all are; who shares the work, who is told of it, and the tools."""

    chip: str | None = None
    scheduler: str | None = None
    progress: Progress | None = None
    toolkit: Toolkit = HOUSE


@takes_model
def fits(model: ModelSource, options: Options, fitting: Fitting) -> tuple[Fit, ...]:
    """Every chip that a maker sells, or the one named: those that it fits come first, the fastest of them at the top.

    Raises only when there is nothing to look at: no such chip, an unreadable file, a bad option.
    """
    return fits_each((file_of(model),), options, fitting)[0]


def fits_each(models: Sequence[str | Path], options: Options, fitting: Fitting) -> tuple[tuple[Fit, ...], ...]:
    """The same of each of several model files, which share the work too."""
    chips = [load_target(fitting.chip)] if fitting.chip else [c for c in map(load_target, list_targets()) if c.maker]
    kinds: dict[Target, list[Target]] = {}
    for chip in chips:
        kinds.setdefault(_kind(chip), []).append(chip)
    jobs = [_Job(Path(m).absolute(), settled(replace(options, vectors=0), Path(m)), fitting.toolkit) for m in models]
    pieces = [(job, tuple(group)) for job in jobs for group in kinds.values()]
    told = None if fitting.progress is None else partial(_told, fitting.progress, len(pieces))
    with spread_over(fitting.scheduler) as spread:
        seen = spread.each(_looked, pieces, told)
    return tuple(_ranked(seen[i : i + len(kinds)]) for i in range(0, len(seen), len(kinds)))


def _told(progress: Progress, count: int, done: int) -> None:
    progress(done, count)


def _ranked(seen: Sequence[_Seen]) -> tuple[Fit, ...]:
    """One model's chips; the refusal of a model that no chip could be asked about, for they all were told the same.

    A chip that lacks the rounding of the model's kind refuses before the file is read, and says nothing of it.
    """
    errors = [one.unread for one in seen if one.unread is not None]
    told = [e for e in errors if not isinstance(e, RequantUnsupported)] or errors
    if len(errors) == len(seen) and len({e.text() for e in told}) == 1:
        raise told[0]
    return tuple(sorted((fit for one in seen for fit in one.fits), key=_rank))


@record(eq=False)
class _Job:
    """One model that chips are asked about."""

    model: Path
    options: Options
    toolkit: Toolkit
    key: str = field(default_factory=lambda: uuid.uuid4().hex)


@record(eq=False)
class _Seen:
    """What is said of some chips of one kind; `unread` is why the model could not be read for them."""

    fits: tuple[Fit, ...]
    unread: CompileError | None


def _looked(piece: tuple[_Job, tuple[Target, ...]]) -> _Seen:
    job, chips = piece
    look = kept(job.key, lambda: _Look(job.model, job.options, job.toolkit))
    return _Seen(tuple(map(look.fit, chips)), look.unread(chips[0]))


def _rank(fit: Fit) -> tuple[object, ...]:
    known = fit.milliseconds is not None
    lacks = max(0, (fit.arena_bytes or 0) - (fit.ram_bytes or fit.arena_bytes or 0))
    return not fit.fits, fit.arena_bytes is None, lacks, not known, fit.milliseconds or 0.0, fit.target


class _Look:
    """One model, compiled once for each kind of chip."""

    def __init__(self, model: Path, options: Options, tools: Toolkit) -> None:
        self._model, self._options, self._tools = model, options, tools
        self._graphs: dict[object, Graph | CompileError] = {}
        self._made: dict[Target, _Made] = {}
        self._smaller: dict[object, int | str] = {}

    def fit(self, chip: Target) -> Fit:
        """What is said of one chip."""
        kind = _kind(chip)
        if kind not in self._made:
            self._made[kind] = self._compiled(kind)
        made = self._made[kind]
        about = Fit(
            target=chip.name,
            maker=chip.maker,
            core=chip.core or chip.isa,
            fits=False,
            ram_bytes=chip.ram_bytes,
            flash_bytes=chip.flash_bytes,
        )
        if made.refusal:
            return replace(about, reason=made.refusal, rules=made.rules)
        arena, reason = made.arena_bytes, ""
        if chip.ram_bytes is not None and arena > chip.ram_bytes:
            arena, reason = self._by_itself(chip, arena)
        needed = made.weights_bytes + made.code_bytes
        if chip.flash_bytes is not None and needed > chip.flash_bytes:
            reason = "; ".join(filter(None, (reason, f"flash lacks {needed - chip.flash_bytes} B")))
        return replace(
            about,
            fits=not reason,
            arena_bytes=arena,
            flash_needed=needed,
            milliseconds=_milliseconds(made, chip),
            reason=reason,
        )

    def unread(self, chip: Target) -> CompileError | None:
        """Why the model could not be read for a chip."""
        found = self._graphs.get(_reading(_kind(chip)))
        return found if isinstance(found, CompileError) else None

    def _compiled(self, kind: Target) -> _Made:
        """The network for a kind of chip."""
        try:
            options = of_chip(replace(self._options, target=kind.name), kind)
            compiled = compile_graph(self._imported(kind, options), kind, options, tools=self._tools)
        except CompileError as error:
            first, *others = error.problems()
            said = first.text() + (f" (and {len(others)} more)" if others else "")
            return _Made(refusal=said, rules=tuple(Violation.of(e) for e in (first, *others)))
        return _Made(
            compiled.plan.arena_bytes,
            compiled.program.params_bytes,
            estimate_code_bytes(compiled.files, compiled.program.name, kind.isa),
            compiled.plan.graph,
            compiled.kernels,
        )

    def _imported(self, chip: Target, options: Options) -> Graph:
        """The model as it is imported for a chip; most chips want the same."""
        key = _reading(chip)
        if key not in self._graphs:
            try:
                self._graphs[key] = read_model(self._model, options, chip, self._tools)
            except CompileError as error:
                self._graphs[key] = error
        found = self._graphs[key]
        if isinstance(found, CompileError):
            raise found
        return found

    def _by_itself(self, chip: Target, arena: int) -> tuple[int, str]:
        """The arena of the plan that the chip's own memories get, and what it lacks."""
        key = (_kind(chip), tuple((m.bytes, m.cost) for m in chip.working))
        if key not in self._smaller:
            options = of_chip(replace(self._options, target=chip.name), chip)
            reached = reach(self._imported(chip, options), chip, options, self._tools)
            self._smaller[key] = reached.plan.arena_bytes if reached.plan else reached.problems[0].text()
        found = self._smaller[key]
        if isinstance(found, str):
            return arena, found
        lacks = found - sum(m.bytes or found for m in chip.working[:1])
        return found, f"RAM lacks {lacks} B" if lacks > 0 else ""


def _reading(chip: Target) -> object:
    """What of a chip decides how a model is read for it."""
    return chip.requant_modes, chip.requant_default, chip.float_default, chip.has_fpu, chip.dtypes


def _kind(chip: Target) -> Target:
    """The chip without what its generated C does not depend on, and without limits where it has no scratchpad."""
    memories = chip.memories if chip.dma is not None else _UNLIMITED
    cycles = replace(chip.cycles, source="") if chip.cycles else None
    bare = replace(chip, name="this chip", description="a chip", maker="", core="", clock=None, memories=memories)
    return replace(bare, toolchain=None, board=None, speed=None, cycles=cycles)


def _milliseconds(made: _Made, chip: Target) -> float | None:
    if chip.clock is None or made.graph is None or made.kernels is None:
        return None
    cycles = estimated_cycles(made.graph, made.kernels, chip)
    return None if cycles is None else 1000 * cycles / chip.clock.hz
