"""What a profile says: counts or times per layer, and the memory of the linked image.  Records, and their text."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.report.table import text_pairs, text_table


@dataclass(frozen=True, slots=True)
class ProfiledLayer:
    """One layer: instructions on an emulated chip, microseconds on the host; None is what was not measured."""

    name: str
    operator: str
    kernel: str
    macs: int
    calls: int
    instructions: int | None
    microseconds: float | None


@dataclass(frozen=True, slots=True)
class Profile:
    """One inference, measured.

    `instructions` (on chips) or `microseconds` (on the host) is the whole inference, without any hook.  `schedule_...`
    is what no layer's kernel takes: the walk over rows, the pointers to them, the calls.  `hook` is what reading the
    timer once took, in the same unit; it has been taken off each layer.  `text_bytes`, `rodata_bytes` (weights
    included) and `ram_bytes` (arena, state) are what the network adds to a linked image, `stack_bytes` its deepest
    stack; None where the target has no such image.
    """

    model: str
    target: str
    requant: str
    optimize: str
    flags: str
    macs: int
    instructions: int | None
    microseconds: float | None
    schedule_instructions: int | None
    schedule_microseconds: float | None
    hook: float
    layers: tuple[ProfiledLayer, ...]
    text_bytes: int | None
    rodata_bytes: int | None
    weights_bytes: int
    ram_bytes: int | None
    arena_bytes: int
    stack_bytes: int | None


def profile_text(profile: Profile) -> str:
    """The table of layers, the totals and the memory."""
    return f"{_layers(profile)}\n\n{profile.model} on {profile.target}\n{text_pairs(_totals(profile))}"


def _layers(profile: Profile) -> str:
    counted = profile.instructions is not None
    rows = [_row(x, _amount(x.instructions, x.microseconds), profile) for x in profile.layers]
    rest = _amount(profile.schedule_instructions, profile.schedule_microseconds)
    whole = _amount(profile.instructions, profile.microseconds)
    rows.append(("(schedule)", "", "", None, None, *_shares(rest, 0, whole)))
    rows.append(
        ("(all)", "", "", profile.macs, sum(x.calls for x in profile.layers), *_shares(whole, profile.macs, whole))
    )
    unit = "instructions" if counted else "us"
    each = "per MAC" if counted else "ns per MAC"
    return text_table(["layer", "operator", "kernel", "MACs", "calls", unit, each, "%"], rows)


def _row(layer: ProfiledLayer, amount: float, profile: Profile) -> tuple[object, ...]:
    whole = _amount(profile.instructions, profile.microseconds)
    return (layer.name, layer.operator, layer.kernel, layer.macs, layer.calls, *_shares(amount, layer.macs, whole))


def _amount(instructions: int | None, microseconds: float | None) -> float:
    return instructions if instructions is not None else microseconds or 0.0


def _shares(amount: float, macs: int, whole: float) -> tuple[object, object, object]:
    """The amount, its part for each MAC (nanoseconds when it is a time), and its share of the whole in percent."""
    counted = isinstance(amount, int)
    each = amount / macs * (1 if counted else 1000) if macs else None
    return (
        amount if counted else _Fixed(amount, 1),
        None if each is None else _Fixed(each, 2),
        _Fixed(100 * amount / whole if whole else 0.0, 1),
    )


class _Fixed(float):
    """A number with a fixed count of decimals in a table."""

    def __new__(cls, value: float, decimals: int) -> _Fixed:
        made = super().__new__(cls, value)
        made.decimals = decimals
        return made

    decimals: int

    def __format__(self, spec: str) -> str:
        return f"{float(self):.{self.decimals}f}"


def _totals(p: Profile) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = [("requant", p.requant), ("plan", p.optimize), ("compiler", p.flags)]
    if p.instructions is not None:
        pairs.append(("instructions", p.instructions))
    if p.microseconds is not None:
        pairs.append(("microseconds", f"{p.microseconds:.1f}"))
    pairs.append(("timer", f"{p.hook:.4g} per reading, taken off"))
    pairs.append(("arena", f"{p.arena_bytes} B"))
    sizes = [("text", p.text_bytes), ("rodata", p.rodata_bytes), ("RAM", p.ram_bytes), ("stack", p.stack_bytes)]
    notes = {"rodata": f", weights {p.weights_bytes} B"}
    pairs += [(name, f"{size} B{notes.get(name, '')}") for name, size in sizes if size is not None]
    return pairs
