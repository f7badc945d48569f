"""lamina targets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.cli.options import scheduler_option, shape_option
from codegen.cli.progress import Progress
from codegen.report.columns import size_text
from codegen.report.table import text_pairs, text_table

if TYPE_CHECKING:
    from codegen.api import Fit, Target
    from codegen.target import Accelerator, Memory, Rule


@click.command("targets", cls=Command, example="lamina targets cortex-m4")
@click.argument("name", required=False)
@click.option(
    "--fits",
    "models",
    multiple=True,
    metavar="MODEL",
    help="Rank the chips by whether this network fits, and how fast; several times: a table of networks and chips.",
)
@click.option("--stream-input", is_flag=True, help="With --fits: the input comes row by row.")
@shape_option
@scheduler_option
@json_option
@common
def command(
    name: str | None,
    models: tuple[str, ...],
    stream_input: bool,
    shapes: Mapping[str, tuple[int, ...]] | None,
    scheduler: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """List the chips that are known; with NAME (or a .toml file), everything about one; with --fits, those it fits."""
    from codegen import api

    if models:
        with Progress("trying the chips", quiet=quiet) as progress:
            found_each = api.fits_each(
                models, name, stream_input=stream_input, shapes=shapes or {}, scheduler=scheduler, progress=progress
            )
        if len(models) == 1:
            show(_fits, found_each[0], as_json=as_json, quiet=quiet)
        else:
            show(_matrix, dict(zip(models, found_each, strict=True)), as_json=as_json, quiet=quiet)
    elif stream_input or shapes or scheduler:
        raise click.UsageError("--stream-input, --shape and --scheduler go with --fits MODEL")
    elif name is None:
        found = api.targets()
        show(_list, found, as_json=as_json, quiet=quiet)
    else:
        target = api.describe_target(name)
        show(_one, target, as_json=as_json, quiet=quiet)


_COLUMNS = ("target", "core", "clock", "RAM", "flash", "emulated", "description")


def _fits(found: tuple[Fit, ...]) -> str:
    """Those that it fits, and the others with what they lack."""
    rows = [
        (f.target, f.core, "yes" if f.fits else "no", _time(f.milliseconds), *map(_needed, _pairs(f)), f.reason or "-")
        for f in found
    ]
    table = text_table(["target", "core", "fits", "about ms", "arena / RAM", "flash", "why not"], rows, keep=4)
    return f"{table}\n\nfits {sum(f.fits for f in found)} of {len(found)}; {_ABOUT}"


def _matrix(found: Mapping[str, tuple[Fit, ...]]) -> str:
    """A row for each chip, a column for each network: about how many milliseconds where it fits."""
    names = [Path(model).stem for model in found]
    by_chip: dict[str, list[Fit]] = {}
    for fits in found.values():
        for fit in fits:
            by_chip.setdefault(fit.target, []).append(fit)
    ordered = sorted(by_chip.items(), key=lambda item: (-sum(f.fits for f in item[1]), item[0]))
    rows = [(chip, fits[0].core, *map(_cell, fits)) for chip, fits in ordered]
    counts = ", ".join(f"{name} {sum(f.fits for f in fits)}" for name, fits in zip(names, found.values(), strict=True))
    table = text_table(["target", "core", *names], rows, keep=2 + len(names))
    return f"{table}\n\nof {len(by_chip)} chips fit: {counts}; {_ABOUT}"


def _cell(fit: Fit) -> str:
    if not fit.fits:
        return _lacking(fit)
    return "yes" if fit.milliseconds is None else f"{_time(fit.milliseconds)} ms"


def _lacking(fit: Fit) -> str:
    """By how much it does not fit; `no` where the chip does not run it."""
    pairs = zip(("RAM", "flash"), _pairs(fit), strict=True)
    lacks = [f"-{size_text(a - b)} {name}" for name, (a, b) in pairs if a is not None and b is not None and a > b]
    return ", ".join(lacks) or "no"


_ABOUT = "flash is weights and about the code at -Os, RAM without stack and firmware, milliseconds are estimates"


def _pairs(fit: Fit) -> tuple[tuple[int | None, int | None], ...]:
    return (fit.arena_bytes, fit.ram_bytes), (fit.flash_needed, fit.flash_bytes)


def _needed(pair: tuple[int | None, int | None]) -> str:
    needed, there = pair
    return "-" if needed is None else f"{size_text(needed)} / {_size(there)}"


def _time(milliseconds: float | None) -> str:
    return "-" if milliseconds is None else f"{milliseconds:.3g}" if milliseconds < 100 else f"{milliseconds:.0f}"


def _list(found: tuple[Target, ...]) -> str:
    """One table with a line before each maker's chips; those that no maker sells come first."""
    ordered = sorted(found, key=lambda t: (t.maker.lower(), t.name))
    head, rule, *lines = text_table(_COLUMNS, [_row(t) for t in ordered], keep=1, least=("emulated", "clock")).split(
        "\n"
    )
    said, maker = [head, rule], None
    for t, line in zip(ordered, lines, strict=False):
        if t.maker != maker:
            said += ["", f"{t.maker or _NO_MAKER}:"]
        said.append(line)
        maker = t.maker
    return "\n".join([*said, *lines[len(ordered) :]])


_NO_MAKER = "this machine, and cores with the memories of a well-known chip"


def _row(t: Target) -> tuple[object, ...]:
    ram = f"{_size(t.ram_bytes)}{' +' if len(t.working) > 1 else ''}"
    return t.name, t.core or t.isa, _clock(t), ram, _size(t.flash_bytes), "yes" if t.board else "no", t.description


def _clock(t: Target) -> str:
    return f"{t.clock.hz / 1e6:g} MHz" if t.clock else "-"


def _one(t: Target) -> str:
    pairs: list[tuple[str, object]] = [
        ("maker", t.maker or "-"),
        ("core", t.core or "-"),
        ("clock", f"{_clock(t)}  [{t.clock.source}]" if t.clock else "-"),
        ("isa", t.isa),
        ("byte order", t.byte_order),
        ("FPU", ("yes, with fused multiply-add" if t.has_fma else "yes") if t.has_fpu else "no"),
        ("requant", ", ".join(m + (" (default)" if m == t.requant_default else "") for m in t.requant_modes)),
        ("types", ", ".join(t.dtypes)),
        ("not supported", ", ".join(t.unsupported) or "-"),
        ("arena aligned to", f"{t.arena_align} B"),
    ]
    pairs += [(f"{m.kind} {m.name}", f"{_size(m.bytes)}{_place(m)}  [{m.source}]") for m in t.memories]
    if t.toolchain is not None:
        pairs.append(("compiler", " ".join([t.toolchain.cc, *t.toolchain.cflags])))
    if t.board is not None:
        pairs.append(("emulator", " ".join(t.board.emulator)))
    pairs += [_rule(r) for r in t.rules]
    said = f"{t.name}: {t.description}\n{text_pairs(pairs)}"
    return said if t.accelerator is None else f"{said}\n\n{_accelerator(t.accelerator)}"


def _accelerator(found: Accelerator) -> str:
    """Its rules; what becomes of the layers that break one."""
    rest = "is left to the core" if found.rest == "cpu" else "is refused (LAM-TARGET-020)"
    first = f"{found.title}: a layer that breaks a rule {rest}  [{found.source}]"
    return f"{first}\n{text_pairs([_rule(r) for r in found.rules])}"


def _rule(rule: Rule) -> tuple[str, object]:
    instead = f"; instead: {rule.instead}" if rule.instead else ""
    return f"rule {_of(rule.operators)}", f"{rule.sentence}{instead}  [{rule.source}]"


def _of(operators: tuple[str, ...]) -> str:
    more = f" and {len(operators) - _SHOWN} more" if len(operators) > _SHOWN else ""
    return f"{', '.join(operators[:_SHOWN]) or 'of all'}{more}"


_SHOWN = 3
"""Operators of a rule that are named before it."""


def _place(memory: Memory) -> str:
    return "" if memory.address is None else f" at 0x{memory.address:08X}"


def _size(size: int | None) -> str:
    return "no limit" if size is None else size_text(size)
