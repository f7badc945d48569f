"""lamina targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.report.columns import size_text
from codegen.report.table import text_pairs, text_table

if TYPE_CHECKING:
    from codegen.api import Target


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


def _list(found: tuple[Target, ...]) -> str:
    rows = [
        (t.name, t.isa, _size(t.ram_bytes), _size(t.flash_bytes), "yes" if t.board else "no", t.description)
        for t in found
    ]
    return text_table(["target", "isa", "RAM", "flash", "emulated", "description"], rows, keep=6)


def _one(t: Target) -> str:
    pairs: list[tuple[str, object]] = [
        ("isa", t.isa),
        ("byte order", t.byte_order),
        ("FPU", ("yes, with fused multiply-add" if t.has_fma else "yes") if t.has_fpu else "no"),
        ("requant", ", ".join(m + (" (default)" if m == t.requant_default else "") for m in t.requant_modes)),
        ("types", ", ".join(t.dtypes)),
        ("not supported", ", ".join(t.unsupported) or "-"),
        ("arena aligned to", f"{t.arena_align} B"),
    ]
    pairs += [(f"{m.kind} {m.name}", f"{_size(m.bytes)}  [{m.source}]") for m in t.memories]
    if t.toolchain is not None:
        pairs.append(("compiler", " ".join([t.toolchain.cc, *t.toolchain.cflags])))
    if t.board is not None:
        pairs.append(("emulator", " ".join(t.board.emulator)))
    pairs += [(f"rule {', '.join(r.operators) or 'of all'}", f"{r.sentence}  [{r.source}]") for r in t.rules]
    return f"{t.name}: {t.description}\n{text_pairs(pairs)}"


def _size(size: int | None) -> str:
    return "no limit" if size is None else size_text(size)
