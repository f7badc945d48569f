"""lamina targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.report.columns import size_text
from codegen.report.table import text_pairs, text_table

if TYPE_CHECKING:
    from codegen.api import Target
    from codegen.target import Memory


@click.command("targets", cls=Command, example="lamina targets cortex-m4")
@click.argument("name", required=False)
@json_option
@common
def command(name: str | None, as_json: bool, quiet: bool, verbose: bool) -> None:
    """List the chips that are known; with NAME (or a .toml file), everything about one."""
    from codegen import api

    if name is None:
        found = api.targets()
        show(_list, found, as_json=as_json, quiet=quiet)
    else:
        target = api.describe_target(name)
        show(_one, target, as_json=as_json, quiet=quiet)


_COLUMNS = ("target", "core", "clock", "RAM", "flash", "emulated", "description")


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
    pairs += [(f"rule {', '.join(r.operators) or 'of all'}", f"{r.sentence}  [{r.source}]") for r in t.rules]
    return f"{t.name}: {t.description}\n{text_pairs(pairs)}"


def _place(memory: Memory) -> str:
    return "" if memory.address is None else f" at 0x{memory.address:08X}"


def _size(size: int | None) -> str:
    return "no limit" if size is None else size_text(size)
