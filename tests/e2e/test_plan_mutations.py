"""A plan with one number changed is refused: a ring one row shorter, a distance one step smaller, two offsets swapped.

Whether a change is harmful is reasoned from the lives of bytes (tests/support/lifetimes.py), not found by trial.
Rings and distances are as small as they can be, so that every such change is; of swaps, those that bring living bytes
together.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import pytest

from codegen.errors import StreamImpossible
from codegen.ir.form import Form
from codegen.ir.graph import Graph
from codegen.ir.plan import Group, Plan, Storage
from codegen.ir.program import Program
from codegen.ir.quant import DType
from codegen.ir.verify import IrError, verify_plan, verify_program
from codegen.kernels import select_kernels
from codegen.lower import lower
from codegen.ops import Concat, Slice
from codegen.passes import simplify
from codegen.pipeline import Options, read_model
from codegen.planning import make_plan
from codegen.prove import shadow_run
from codegen.target import load_target
from tests.random_networks.cases import draw_case, planned
from tests.support.graphs import HALF, Sketch, conv_chain, residual, separable
from tests.support.graphs import apart as side_by_side
from tests.support.lifetimes import Life, harmful, least_distance, least_distance_behind, lifetimes, roots
from tests.support.real import LARGE, MODELS, model_path

SWAPS = 40
"""Pairs of offsets tried per plan."""
SOME = 10
"""Rings and pairs tried of a large network."""
RANDOM = range(7_000_000, 7_000_024)


@dataclass(frozen=True, eq=False)
class Subject:
    """A sound plan, and what is known of it."""

    plan: Plan
    kernels: Mapping[int, Form]
    program: Program
    lives: Mapping[str, Life]
    most: int = 1 << 30

    def refused(self, plan: Plan) -> bool:
        """Whether verifiers or the shadow run refuse the plan."""
        try:
            verify_plan(plan)
            program = lower(plan, self.kernels)
            verify_program(program)
            shadow_run(program)
        except IrError:
            return True
        return False

    def some(self, items: list[str]) -> list[str]:
        """All of them, or a fixed choice of many."""
        return sorted(random.Random(1).sample(items, min(len(items), self.most)))


def subject(plan: Plan, kernels: Mapping[int, Form], most: int = 1 << 30) -> Subject:
    program = lower(plan, kernels)
    return Subject(plan, kernels, program, lifetimes(program, plan), most)


def plans_of(graph: Graph, most: int = 1 << 30, chip: str = "host") -> Iterator[Subject]:
    """The smallest plans, with the input whole and row by row."""
    target = load_target(chip)
    kernels = select_kernels(graph, target.isa)
    for streamed in (False, True):
        try:
            plan = make_plan(graph, kernels, target, Options(goal="memory", stream_input=streamed))
        except StreamImpossible:
            continue
        yield subject(plan, kernels, most)


def moved(plan: Plan, places: Mapping[str, Storage], arena_bytes: int = 0) -> Plan:
    """The plan with some memories elsewhere, their views with them."""
    own = roots(plan)
    storage = {n: replace(p, offset=places[own[n]].offset) if own[n] in places else p for n, p in plan.storage.items()}
    return replace(plan, storage={**storage, **places}, arena_bytes=max(plan.arena_bytes, arena_bytes))


# The three changes


def check_rings(given: Subject) -> int:
    """Every tensor that is a ring, or could be one, with one row less is refused; how many there were."""
    inner = [n for n in _inner(given.plan) if given.plan.storage[n].rows > 1]
    chosen = given.some(inner)
    for name in chosen:
        place = given.plan.storage[name]
        changed = moved(given.plan, {name: replace(place, ring=place.ring - 1)})
        if place.ring > 1:
            assert harmful(changed, given.lives, [name]), f"{name}: {place.ring} rows are more than it needs"
        assert given.refused(changed), f"{name}: {place.ring - 1} rows are enough for the verifier"
    return len(chosen)


def _inner(plan: Plan) -> list[str]:
    """Tensors that are made and read in one group of several nodes, and a streamed input."""
    group_of = {i: g for g, group in enumerate(plan.groups) if len(group.nodes) > 1 for i in group.nodes}
    readers: dict[str, set[int]] = {}
    for index, node in enumerate(plan.graph.nodes):
        for name in node.inputs:
            readers.setdefault(name, set()).add(group_of.get(index, -1 - index))
    made = {o: group_of.get(i, -1) for i, node in enumerate(plan.graph.nodes) for o in node.outputs}
    kept = plan.graph.output_values
    inner = [n for n, g in made.items() if g >= 0 and n not in kept and readers.get(n) == {g}]
    return inner + ([plan.streamed] if plan.streamed else [])


def check_distances(given: Subject) -> int:
    """Pairs that share bytes, alone in new memory: at their least distance accepted, one step nearer refused."""
    plan, count = given.plan, 0
    backwards = {name for name in given.lives for group in plan.groups if group.backwards and _makes(plan, group, name)}
    for out, dying in _pairs(given):
        low, high = (dying, out) if out in backwards else (out, dying)
        a, b = plan.storage[low], plan.storage[high]
        step = max(plan.graph.type(n).dtype.bytes for n in (out, dying))
        rule = least_distance_behind if out in backwards else least_distance
        least = rule(plan.storage[out], given.lives[out], given.lives[dying])
        if out not in backwards and dying in given.lives[out].over:
            least = max(least, given.lives[out].over[dying].least)
        assert b.offset - a.offset >= least
        if least < step:
            continue
        least = -(-least // step) * step
        assert not given.refused(apart(plan, low, high, least)), f"{out} over {dying} at {least} B is sound"
        nearer = apart(plan, low, high, least - step)
        assert harmful(nearer, given.lives, [out])
        assert given.refused(nearer), f"{out} over {dying} at {least - step} B"
        count += 1
    return count


def _makes(plan: Plan, group: Group, name: str) -> bool:
    return any(name in plan.graph.nodes[i].outputs for i in group.nodes)


def apart(plan: Plan, low: str, high: str, distance: int) -> Plan:
    """The plan with two memories above all others, `distance` bytes from the start of one to the other's."""
    a, b = plan.storage[low], plan.storage[high]
    base = -(-plan.arena_bytes // 16) * 16
    places = {low: replace(a, offset=base), high: replace(b, offset=base + distance)}
    return moved(plan, places, base + max(a.bytes, distance + b.bytes))


def _pairs(given: Subject) -> list[tuple[str, str]]:
    """(out, dying): whole memories that share bytes although both live in one group."""
    plan = given.plan
    found = []
    for a, b in combinations(sorted(given.lives), 2):
        x, y = plan.storage[a], plan.storage[b]
        over = x.offset < y.offset + y.bytes and y.offset < x.offset + x.bytes
        if over and x.ring == x.rows and y.ring == y.rows:
            for out, dying in ((a, b), (b, a)):
                met = given.lives[dying].read.max() >= given.lives[out].born.min() > given.lives[dying].born.min()
                found += [(out, dying)] if met else []
    return found[: given.most]


def check_swaps(given: Subject) -> int:
    """Two memories in each other's place are refused when that brings living bytes together."""
    pairs = list(combinations(sorted(given.lives), 2))
    random.Random(2).shuffle(pairs)
    count = 0
    for a, b in pairs[: min(SWAPS, given.most)]:
        x, y = given.plan.storage[a], given.plan.storage[b]
        places = {a: replace(x, offset=y.offset), b: replace(y, offset=x.offset)}
        changed = moved(given.plan, places)
        outside = any(p.offset + p.bytes > given.plan.arena_bytes for p in places.values())
        if outside or harmful(changed, given.lives, [a, b]):
            assert given.refused(changed), f"{a} and {b} swapped"
            count += 1
    return count


def check(given: Subject) -> tuple[int, int, int]:
    assert not given.refused(given.plan)
    assert not harmful(given.plan, given.lives, given.lives)
    return check_rings(given), check_distances(given), check_swaps(given)


@pytest.mark.parametrize("make", [conv_chain, residual, separable])
@pytest.mark.parametrize("chip", ["host", "cortex-m4"])
def test_changed_plans_of_small_networks_are_refused(make: object, chip: str) -> None:
    assert callable(make)
    for given in plans_of(simplify(make()), chip=chip):
        assert sum(check(given)) > 3


@pytest.mark.parametrize("outputs", [16, 8, 4])
def test_pixels_are_read_before_what_lies_over_them_is_written(outputs: int) -> None:
    """Nothing reads the last row again: that its pixels are read in time follows from where both rows lie alone."""
    s = Sketch("points")
    graph = s.graph(s.conv(s.input((1, 6, 5, 8)), outputs, 1))
    kernels, end = select_kernels(graph, load_target("cortex-m4").isa), 2 * 6 * 5 * 16
    scratch = {0: kernels[0].scratch_bytes}
    plan = replace(side_by_side(graph), scratch={0: end}, scratch_bytes=scratch, arena_bytes=end + scratch[0])
    x, y = plan.storage["x"], plan.storage[graph.nodes[0].outputs[0]]
    least = max(0, y.bytes - x.bytes)
    for distance, sound in ((least, True), (least - 1, False), (least + 1, True)):
        storage = {"x": replace(x, offset=16 + distance), graph.nodes[0].outputs[0]: replace(y, offset=16)}
        program = lower(replace(plan, storage=storage), kernels)
        if sound:
            shadow_run(program)
        else:
            with pytest.raises(IrError):
                shadow_run(program)


def rows_moved(kind: str) -> Graph:
    """A network of one node that may make its rows over those of its first input, x."""
    s = Sketch(kind)
    x = s.input((1, 6, 5, 8))
    if kind == "left":
        return s.graph(s.apply(Slice((0, 0, 2, 0), (1, 6, 3, 8), (1, 1, 1, 1), over=True), x))
    axis, shape = {"columns": (2, (1, 6, 3, 8)), "channels": (3, (1, 6, 5, 4))}[kind]
    return s.graph(s.apply(Concat(axis, (None, None), DType.S8, HALF, over=True), x, s.input(shape, name="more")))


@pytest.mark.parametrize("kind", ["columns", "channels", "left"])
def test_rows_are_moved_before_what_lies_over_them_is_written(kind: str) -> None:
    """A join, or what gives columns up, lies over what it reads as far as operators promise, and not a byte further.

    (Some kernels would be right a few bytes further, as those that move a row's columns at once; no plan asks for it.)
    In particular the last row of a join, behind which nothing is read that could be missed, does not end behind the one
    that it is made of; and no row meets that of the other input, which is read when the first part is written.
    """
    graph = rows_moved(kind)
    kernels, plan, (out,) = select_kernels(graph, load_target("host").isa), side_by_side(graph), graph.output_values
    y = plan.storage[out]
    least = {"x": max(0, y.bytes - plan.storage["x"].bytes)}
    if kind != "left":
        least["more"] = y.bytes - (y.rows - 1) * plan.storage["more"].row_bytes
    for read, distance in least.items():
        sound, nearer = apart(plan, out, read, distance), apart(plan, out, read, distance - 1)
        given = subject(sound, kernels)
        assert not given.refused(sound)
        assert not harmful(sound, given.lives, [out])
        assert harmful(nearer, given.lives, [out])
        assert given.refused(nearer)


def test_changed_plans_of_random_networks_are_refused() -> None:
    totals = [0, 0, 0]
    for case in map(draw_case, RANDOM):
        if case.scratchpad_bytes:
            continue
        found = planned(case)
        if found.plan.regions:
            continue
        kernels = select_kernels(found.case.graph, load_target("host").isa)
        totals = [a + b for a, b in zip(totals, check(subject(found.plan, kernels)), strict=True)]
    assert min(totals) > len(RANDOM) / 3, totals


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_changed_plans_of_real_models_are_refused(name: str) -> None:
    graph = simplify(read_model(model_path(name), Options(), load_target("host")))
    totals = [check(given) for given in plans_of(graph, SOME if name in LARGE else 1 << 30)]
    assert all(sum(t) > 0 for t in totals), totals
