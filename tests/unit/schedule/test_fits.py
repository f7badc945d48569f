"""A network that does not fit: by how much, where, and what would help."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codegen.errors import ArenaTooSmall, FlashTooSmall
from codegen.ir.plan import Plan
from codegen.schedule import check_fits, find_peak, limit_unreachable, residents, used_bytes
from codegen.schedule.live import Resident
from codegen.target import Memory, Target, load_target
from tests.e2e.projects import pair, pulled_plan
from tests.graphs import apart, residual


def chip(ram: int, flash: int = 1 << 20) -> Target:
    memories = (Memory("sram", "ram", ram, "none"), Memory("flash", "flash", flash, "none"))
    return replace(load_target("host"), name="small", memories=memories)


@pytest.fixture
def plan() -> Plan:
    """600 bytes: the input and the output in the same 480, a ring of 120."""
    return pulled_plan(pair())


def test_what_fits_is_not_refused(plan: Plan) -> None:
    check_fits(plan, 1 << 20, chip(600))


def test_too_little_ram_is_refused_with_the_numbers(plan: Plan) -> None:
    with pytest.raises(ArenaTooSmall) as caught:
        check_fits(plan, 0, chip(500))
    said = caught.value.text()
    for part in ("needs 600 B", "has 500 B", "100 B too few", "at n0_conv2d .. n1_conv2d", "x 480 B", "480 B at"):
        assert part in said, part
    assert "--stream-input" in said


def test_streaming_is_not_proposed_where_it_cannot_help(plan: Plan) -> None:
    assert "--stream-input" not in limit_unreachable(replace(plan, streamed="x"), 500).text()
    late = apart(residual())
    peak = find_peak(late)
    assert ("--stream-input" in limit_unreachable(late, 1).text()) == any(r.kind == "input" for r in peak.live)


def test_streaming_that_is_not_enough_alone_says_so(plan: Plan) -> None:
    assert "not enough alone" in limit_unreachable(plan, 10).text()
    assert "not enough alone" not in limit_unreachable(plan, 500).text()


def test_an_unreachable_limit_names_the_smallest_arena_and_the_peak(plan: Plan) -> None:
    said = limit_unreachable(plan, 500).text()
    for part in ("LAM-SCHEDULE-303 pair", "limit is 500 B", "arena found is 600 B", "100 B more", "raise --arena"):
        assert part in said, part
    assert "most is in use at n0_conv2d .. n1_conv2d, 600 B: " in said


def test_too_little_flash_is_refused(plan: Plan) -> None:
    with pytest.raises(FlashTooSmall, match="1 B too few"):
        check_fits(plan, 101, chip(600, 100))


def test_shared_bytes_count_once() -> None:
    def at(offset: int, size: int) -> Resident:
        return Resident("t", "", "tensor", offset, size, 0, 0)

    assert used_bytes([at(0, 10), at(5, 10), at(40, 4)]) == 19
    assert used_bytes([at(0, 10), at(2, 3)]) == 10
    assert used_bytes([]) == 0


def test_every_tensor_has_its_lifetime() -> None:
    plan = apart(residual())
    found = {r.name: r for r in residents(plan)}
    nodes = plan.graph.nodes
    assert (found["x"].kind, found["x"].first, found["x"].last) == ("input", 0, 0)
    skip = found[nodes[0].outputs[0]]
    assert (skip.first, skip.last, skip.layer) == (0, 2, nodes[0].name)
    output = found[plan.graph.outputs[0].value]
    assert (output.kind, output.first, output.last) == ("output", 3, 3)
