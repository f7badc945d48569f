"""What each layer spends beside the least that its core could: a roofline.

Decides: the least is what the products take at the most that one instruction makes of them, or what the bytes that the
kernel was given and made take at the most that one instruction moves, whichever is more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.records import record
from codegen.report.profile import Profile
from codegen.target import Speed, load_target
from codegen.verbs.inspection import Inspection


@record(kw_only=True)
class LayerCost:
    """One layer: `spent` in the roof's unit, and the `least` instructions that its core could do it with.

    `moved_bytes` are those of rows that its calls were given and made, and of weights that they read; None where there
    is no plan.  `intensity` is products for each of these bytes.
    """

    layer: str
    operator: str
    macs: int
    moved_bytes: int | None
    intensity: float | None
    spent: int | None
    least: int | None


@record(kw_only=True)
class Roof:
    """A target's limits, most products and most bytes of one instruction, and its layers.

    `counted`: what is spent are instructions that were counted; else they are cycles, estimated.
    """

    target: str
    products: int
    bytes: int
    counted: bool
    layers: tuple[LayerCost, ...]


def roofs(looks: Sequence[Inspection], profiles: Sequence[Profile]) -> Iterator[Roof]:
    """Of each target whose core's file says its limits."""
    counted = {p.target: {x.name: x.instructions for x in p.layers} for p in profiles if p.instructions is not None}
    for look in looks:
        speed = load_target(look.target).speed
        if speed is not None and look.plan is not None:
            yield _roof(look, speed, counted.get(look.target))


def _roof(look: Inspection, speed: Speed, counted: dict[str, int | None] | None) -> Roof:
    work = {w.layer: w for g in look.plan.groups for w in g.work} if look.plan else {}
    rows: list[LayerCost] = []
    for row in look.layers:
        done = work.get(row.name)
        moved = done.read_bytes + done.written_bytes + done.weights_read_bytes if done else None
        rows.append(
            LayerCost(
                layer=row.name,
                operator=row.operator,
                macs=row.macs,
                moved_bytes=moved,
                intensity=row.macs / moved if moved else None,
                spent=row.cycles if counted is None else counted.get(row.name),
                least=None if moved is None else max(-(-row.macs // speed.products), -(-moved // speed.bytes)),
            )
        )
    return Roof(
        target=look.target,
        products=speed.products,
        bytes=speed.bytes,
        counted=counted is not None,
        layers=tuple(rows),
    )
