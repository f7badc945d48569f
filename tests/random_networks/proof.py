"""The proof: draw, plan, build, run and compare many networks, and say what they covered."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from codegen.spread import Spread
from tests.random_networks.batch import Batch, Fault
from tests.random_networks.cases import HOST, Planned, draw_case, planned
from tests.random_networks.coverage import Coverage

PER_BATCH = 30
SEEDS = 1_000_000
"""Networks of one seed."""


@dataclass(slots=True)
class Proof:
    """What came out."""

    coverage: Coverage = field(default_factory=Coverage)
    faults: list[Fault] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Proving:
    """How networks are proved: the compiler's flags, compilers at a time, or up to the shadow run alone.

    `chip`: whose kernels they have, which run here in plain C where they are assembly there.
    """

    flags: tuple[str, ...] = ("-O1",)
    jobs: int = 1
    plan_only: bool = False
    chip: str = HOST

    def __call__(self, numbers: range) -> Proof:
        """Those of a few numbers, wherever that is done."""
        proof = prove(numbers, flags=self.flags, jobs=self.jobs, plan_only=self.plan_only, chip=self.chip)
        for fault in proof.faults:  # at once, for a run may be ended before its end
            print(f"{fault.case}: {fault.what}", file=sys.stderr, flush=True)
        return proof


def prove_each(numbers: range, how: Proving, spread: Spread, tell: Callable[[str], None]) -> Proof:
    """Every network of these numbers, a batch's worth at a time, by whoever shares the work."""
    pieces = [numbers[i : i + PER_BATCH] for i in range(0, len(numbers), PER_BATCH)]
    whole = Proof()
    for part in spread.each(how, pieces, lambda done: tell(f"{min(done * PER_BATCH, len(numbers))} networks")):
        whole.coverage.join(part.coverage)
        whole.faults += part.faults
    return whole


def seeds(seed: int, count: int) -> range:
    """The networks of a seed."""
    return range(seed * SEEDS, seed * SEEDS + count)


def prove(
    numbers: Iterable[int],
    *,
    flags: tuple[str, ...] = ("-O1",),
    jobs: int = 1,
    plan_only: bool = False,
    chip: str = HOST,
    tell: Callable[[str], None] = lambda line: None,
) -> Proof:
    """Every network of these numbers; with `plan_only`, up to the shadow run."""
    proof = Proof()
    waiting: list[Planned] = []
    for number in numbers:
        found = _planned(number, chip, proof)
        if found is None:
            continue
        proof.coverage.add(found)
        waiting += [] if plan_only else [found]
        if len(waiting) == PER_BATCH:
            _run(waiting, proof, flags, jobs)
            tell(f"{proof.coverage.networks} networks, {len(proof.faults)} faults")
            waiting = []
    if waiting:
        _run(waiting, proof, flags, jobs)
    return proof


def _planned(number: int, chip: str, proof: Proof) -> Planned | None:
    try:
        return planned(draw_case(number, chip))
    except Exception as error:
        proof.faults.append(Fault(f"seed {number}", f"{type(error).__name__}: {error}"))
        return None


def _run(found: list[Planned], proof: Proof, flags: tuple[str, ...], jobs: int) -> None:
    with tempfile.TemporaryDirectory() as folder, Batch(found, Path(folder), flags, jobs) as batch:
        proof.faults += batch.faults()
