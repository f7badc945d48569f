"""One random network with random options, and everything up to the Program; no C."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from codegen.errors import ArenaLimitUnreachable, ScratchpadTooSmall, StreamImpossible
from codegen.ir.graph import Graph
from codegen.ir.plan import Plan
from codegen.ir.program import Program
from codegen.ir.verify import verify_graph, verify_plan, verify_program
from codegen.kernels import select_kernels
from codegen.lower import lower_plan
from codegen.passes import Part, cut_strips, simplify, strips_of
from codegen.passes.cut_strips import CHANNELS, COLUMNS, entry
from codegen.pipeline import Options
from codegen.planning import make_plan
from codegen.prove import ShadowReport, prove
from codegen.target import Memory, Target, load_target
from tests.random_networks.draw import BYTES, Drawing, Unfit
from tests.random_networks.eager import scheduling
from tests.random_networks.float_motifs import REAL as IN_FLOAT
from tests.random_networks.float_motifs import real_numbers
from tests.random_networks.motifs import SINGLE, Step, classifier, several
from tests.random_networks.state_motifs import remembered
from tests.support.scratchpad import plan_on_cores, scratchpad

MOST_NODES = 24
SCRATCHPAD = 0.25
"""Share of networks for chips with a scratchpad."""
CORES = 0.5
"""Share of those for chips with several cores."""
STATE = 0.26
"""Share of networks with state; they take inputs whole, and run on chips without a scratchpad."""
REMEMBERED = 0.3
"""Share of their steps that keep something."""
REAL = 0.4
"""Share of networks with operators on real numbers."""
REAL_STEPS = 0.3
"""Share of their steps that compute in real numbers."""
EACH: tuple[Step, ...] = tuple(dict.fromkeys((*(step for step, _ in SINGLE), *IN_FLOAT)))
"""Steps of which each network has one, in turns, so that what is drawn or fits rarely is in many of them."""
TRIES = 4
"""How often that step is tried, for it may be unfit."""
OUTSIDE = 0.3
"""Share of networks of one input, which is not streamed, whose input lies outside the arena."""
STRIPS = 0.3
"""Share of those for chips without a scratchpad of which a part runs in strips, where one can."""
UNEVEN = 0.6
"""Share of those in columns whose strips end anywhere, and give up columns that were read."""
MEMORIES = 0.2
"""Share of the others for chips with three working memories."""
PLENTY = 1 << 21
"""Bytes of each core's scratchpad in which every random network fits."""
HOST = "host"


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A network and how it is to be compiled.  `graph` is what is scheduled: as drawn, or after the passes.

    `eager`: by the scheduler of eager.py.  `scratchpad_bytes`: the scratchpad of each of its `cores`, 0 where it has
    none.  `fast_bytes`: the first of its working memories, 0 where it has one without limit; the second has as much.
    `chip`: whose kernels it has, with the host's memory.
    """

    seed: int
    drawn: Graph
    graph: Graph
    options: Options
    eager: bool = False
    scratchpad_bytes: int = 0
    cores: int = 1
    fast_bytes: int = 0
    chip: str = HOST

    @property
    def text(self) -> str:
        """What reproduces it."""
        o = self.options
        how = f"limit {o.arena_limit}" if o.arena_limit is not None else o.goal
        taken = ", streamed" if o.stream_input else ", outside" if o.input_outside else ""
        more = f"{taken}{', eager' if self.eager else ''}"
        how = f"{self.scratchpad_bytes} B of scratchpad" if self.scratchpad_bytes else how
        how = f"{self.cores} cores with {how}" if self.cores > 1 else how
        how = f"{how}, {self.fast_bytes} B of fast memory" if self.fast_bytes else how
        how = f"{how}, kernels of {self.chip}" if self.chip != HOST else how
        return f"seed {self.seed}: {len(self.graph.nodes)} nodes, {how}{more}"


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A case with its plan, proved on integers."""

    case: Case
    plan: Plan
    program: Program
    shadow: ShadowReport


def draw_graph(seed: int) -> Drawing:
    """The network of a seed, before it has outputs."""
    d = Drawing(f"r{seed}", seed)
    h, w, c = d.pick((d.int(5, 24), d.int(16, 24))), d.int(5, 24), d.int(1, 8)
    x = d.input((1, h, w, c), d.pick(BYTES))
    if d.chance(0.12):
        z = d.input((1, h, w, d.int(1, 4)), d.pick(BYTES), name="z")
        x = d.concat(3, x, z)
    wanted = d.int(3, 18)
    memory = np.random.default_rng(
        [seed, 1]
    )  # networks without state are the same with and without those that keep one
    share = REMEMBERED if memory.random() < STATE else 0.0
    reals = np.random.default_rng([seed, 2])
    real_share = REAL_STEPS if reals.random() < REAL else 0.0
    in_turn = TRIES
    for _ in range(60):
        if len(d.nodes) >= wanted:
            break
        if in_turn and len(d.nodes) >= wanted // 2:
            y = _try(d, x, EACH[seed % len(EACH)])
            in_turn, x = in_turn - 1 if y == x else 0, y
            continue
        usual = real_numbers if reals.random() < real_share else several
        x = _try(d, x, remembered if memory.random() < share else usual)
    if d.chance(0.25):
        x = _try(d, x, classifier)
    return d if d.nodes else draw_graph(seed + (1 << 32))


def _try(d: Drawing, x: str, step: object) -> str:
    """The step's result, or x when the step was unfit; then nothing of it is left."""
    values, nodes, data, states = dict(d.values), list(d.nodes), dict(d.data), list(d.states)
    try:
        assert callable(step)
        y = str(step(d, x))
    except Unfit:
        y = x
    if not d.is_byte(y) or (len(d.shape(y)) != 4 and step is not classifier) or len(d.nodes) > MOST_NODES:
        y = x
    if y == x:
        d.values, d.nodes, d.data, d.states = values, nodes, data, states
    return y


def draw_case(seed: int, chip: str = HOST) -> Case:
    """Network and options of a seed, for a chip's kernels."""
    d = draw_graph(seed)
    drawn = replace(d.finished(), name=f"r{seed}")
    verify_graph(drawn)
    graph = simplify(drawn) if d.chance(0.5) else drawn
    options = Options(goal=d.pick(("memory",) * 5 + ("balanced", "speed")))
    if d.chance(SCRATCHPAD) and not graph.states:
        cores = d.pick((2, 3, 4, 8)) if d.chance(CORES) else 1
        return _in_scratchpad(Case(seed, drawn, graph, options, cores=cores, chip=chip), d)
    if len(graph.inputs) == 1 and d.chance(0.35) and not graph.states:
        options = replace(options, stream_input=True)
    strips = np.random.default_rng([seed, 3])  # other networks stay what they are without it
    if len(graph.inputs) == 1 and not options.stream_input and strips.random() < OUTSIDE:
        options = replace(options, input_outside=True)
    if strips.random() < STRIPS:
        graph = _in_strips(graph, strips)
    case = _possible(Case(seed, drawn, graph, options, eager=d.chance(0.5), chip=chip))
    if d.chance(0.35):
        ends = [replace(case, options=replace(case.options, goal=o)) for o in ("memory", "speed")]
        sizes = [plan_of(end).arena_bytes for end in ends]
        case = replace(case, options=replace(case.options, arena_limit=d.int(min(sizes), max(sizes))))
    return _in_memories(case, d) if d.chance(MEMORIES) else case


def _in_strips(graph: Graph, random: np.random.Generator) -> Graph:
    """The network with a run of its nodes in strips, where some can be cut; else itself."""
    found: list[Part] = []
    for stop in range(1, len(graph.nodes) + 1):
        shape = graph.type(graph.nodes[stop - 1].outputs[0]).shape
        for axis in (COLUMNS, CHANNELS) if len(shape) == 4 else ():
            count = int(random.integers(2, 6))
            if shape[axis] >= count:
                found += [part for start in range(stop) if fits(graph, part := Part(start, stop, count, axis))]
    return cut_strips(graph, [_drawn_ends(graph, found[random.integers(len(found))], random)])[0] if found else graph


def _drawn_ends(graph: Graph, part: Part, random: np.random.Generator) -> Part:
    """The part, perhaps in strips of columns that end anywhere and give up those that were read."""
    wide = graph.type(graph.nodes[part.stop - 1].outputs[0]).shape[part.axis]
    ends = tuple(sorted((random.permutation(wide - 1)[: part.strips - 1] + 1).tolist()))
    other = replace(part, ends=ends, frees=True) if random.random() < UNEVEN else part
    return other if part.axis == COLUMNS and fits(graph, other) else part


def fits(graph: Graph, part: Part) -> bool:
    """Whether the nodes are a part that can be cut so: one tensor is read of those before, one behind."""
    last = graph.nodes[part.stop - 1]
    made = {out for node in graph.nodes[part.start : part.stop] for out in node.outputs}
    behind = {name for node in graph.nodes[part.stop :] for name in node.inputs} | graph.output_values
    alone = made & behind == set(last.outputs) and len(last.outputs) == 1
    return alone and entry(graph, part.start, part.stop) is not None and strips_of(graph, part) is not None


def _possible(case: Case) -> Case:
    """The case, without streaming where the network does not allow it."""
    if case.options.stream_input:
        try:
            plan_of(case)
        except StreamImpossible:
            return replace(case, options=replace(case.options, stream_input=False))
    return case


def _in_scratchpad(case: Case, d: Drawing) -> Case:
    """The case for a chip with a scratchpad: as much as its groups would like, or less."""
    plan = plan_of(replace(case, scratchpad_bytes=PLENTY))
    scratchpad = plan.scratchpad
    assert scratchpad is not None
    size = scratchpad.bytes * d.int(25, 100) // 100
    while True:
        smaller = replace(case, scratchpad_bytes=size)
        try:
            plan_of(smaller)
        except ScratchpadTooSmall:
            size += 1 + size // 4
        else:
            return smaller


def _in_memories(case: Case, d: Drawing) -> Case:
    """The case for a chip with three working memories, the fast one smaller than the smallest arena."""
    smallest = plan_of(replace(case, options=replace(case.options, goal="memory", arena_limit=None))).arena_bytes
    size = max(1, smallest * d.int(10, 95) // 100)
    while not _is_planned(replace(case, fast_bytes=size)):
        size += 1 + size // 4
    return replace(case, fast_bytes=size)


def _is_planned(case: Case) -> bool:
    """Whether the fast memory holds something at least."""
    try:
        return plan_of(case).arena_bytes <= case.fast_bytes
    except ArenaLimitUnreachable:
        return False


def target_of(case: Case) -> Target:
    """The chip that the case is for."""
    host = load_target(HOST)
    plain = replace(load_target(case.chip), memories=host.memories)
    if case.fast_bytes:
        fast = Memory("sram", "ram", case.fast_bytes, "drawn")
        slow = (Memory("tcm-2", "ram", case.fast_bytes, "drawn", cost=2), Memory("psram", "psram", None, "any", cost=7))
        return replace(plain, memories=(*slow, fast))
    return scratchpad(case.scratchpad_bytes * case.cores, case.cores) if case.scratchpad_bytes else plain


@lru_cache(maxsize=2)
def plan_of(case: Case) -> Plan:
    """The scheduler's plan; that of a case just drawn is not made again."""
    target = target_of(case)
    kernels = select_kernels(case.graph, target.isa)
    with scheduling(eager=case.eager):
        if case.cores > 1:
            return plan_on_cores(case.graph, kernels, target)
        return make_plan(case.graph, kernels, target, case.options)


def planned(case: Case) -> Planned:
    """The case as a Program; IrError when the plan is unsound."""
    kernels = select_kernels(case.graph, target_of(case).isa)
    plan = plan_of(case)
    verify_plan(plan)
    program = lower_plan(plan, kernels)
    verify_program(program)
    if case.options.arena_limit is not None:
        assert plan.arena_bytes <= case.options.arena_limit, case.text
    return Planned(case, plan, program, prove(program))
