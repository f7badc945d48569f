"""Banks of the scratchpad: what moves and what computes is kept apart where there is room, and the count is true."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.api import verify
from codegen.emit import write_project
from codegen.host import Network
from codegen.ir.program import ScratchpadProgram
from codegen.pipeline import Compiled, Options, compile_graph
from codegen.prove import bank_conflicts
from codegen.target import load_target
from tests.e2e.projects import DIGITS
from tests.e2e.test_scratchpad import CASES, GRAPHS, check
from tests.support.graphs import residual
from tests.support.scratchpad import branches, compile_scratchpad


def scratchpad_of(made: Compiled) -> ScratchpadProgram:
    assert made.program.scratchpad is not None
    return made.program.scratchpad


def conflicts(made: Compiled, bank_bytes: int) -> int:
    found = bank_conflicts(replace(scratchpad_of(made), bank_bytes=bank_bytes))
    assert found is not None
    return found


@pytest.mark.one_in(9)
@pytest.mark.parametrize(("name", "size"), CASES)
def test_banks_are_never_used_worse_than_without_the_preference(name: str, size: int, tmp_path: Path) -> None:
    """Same groups, steps and commands in any case; a large memory has no conflict left."""
    banks = 8
    plain, steered = compile_scratchpad(GRAPHS[name](), size), compile_scratchpad(GRAPHS[name](), size, banks=banks)
    assert scratchpad_of(steered).bytes <= size
    assert [c.act for c in scratchpad_of(steered).commands] == [c.act for c in scratchpad_of(plain).commands]
    before, after = conflicts(plain, size // banks), conflicts(steered, size // banks)
    assert after <= before
    if size == 65536:
        assert after == 0 < before
    write_project(tmp_path / "project", steered.files)
    with Network(tmp_path / "project", trace=True, flags=("-O1",)) as net:
        assert check(steered, net) == []


def test_the_count_between_its_ends() -> None:
    """One bank: every call during a transfer.  A bank per byte: only calls that read what is being stored."""
    made = compile_scratchpad(branches(), 5000)
    scratchpad = scratchpad_of(made)
    during = flying = 0
    for command in scratchpad.commands:
        flying += (command.act in ("load", "store", "params")) - (command.act == "wait")
        during += command.count if command.act == "run" and flying else 0
    assert conflicts(made, scratchpad.bytes) == during > 0
    counts = [conflicts(made, size) for size in (1, 64, 512, 2048, scratchpad.bytes)]
    assert counts == sorted(counts)
    assert counts[0] < counts[2] < counts[-1]
    assert bank_conflicts(scratchpad) is None


def test_a_transfer_moved_into_the_bank_of_a_kernel_is_counted() -> None:
    """Parameters that come where a layer has its own are in its way."""
    made = compile_scratchpad(residual(), 65536, banks=8)
    scratchpad = scratchpad_of(made)
    assert bank_conflicts(scratchpad) == 0
    loads = [c for c in scratchpad.commands if c.act == "params"]
    assert loads
    run = next(c for c in scratchpad.commands if c.act == "run")
    at = scratchpad.calls[run.index].params_offset
    moved = tuple(replace(p, offset=at) for p in scratchpad.params)
    assert (bank_conflicts(replace(scratchpad, params=moved)) or 0) > 0


def test_cores_have_whole_banks_or_none() -> None:
    options = Options(target="gap8-cores", vectors=0)
    target = load_target("gap8-cores")
    for banks, expected in ((8, True), (7, False)):
        memories = tuple(replace(m, banks=banks) if m.kind == "scratchpad" else m for m in target.memories)
        made = compile_graph(branches(), replace(target, memories=memories), options)
        assert scratchpad_of(made).cores > 1
        assert (scratchpad_of(made).bank_bytes > 0) == expected


def test_the_chip_with_banks_says_what_it_counts() -> None:
    made = compile_graph(residual(), load_target("sophgo-like"), Options(target="sophgo-like"))
    record, plan = made.manifest["scratchpad"], made.manifest["plan"]
    assert isinstance(record, dict)
    assert isinstance(plan, dict)
    assert (record["bank_bytes"], record["bank_conflicts"], plan["bank_conflicts"]) == (1 << 20, 0, 0)
    assert verify(DIGITS, target="sophgo-like", samples=1).equal
