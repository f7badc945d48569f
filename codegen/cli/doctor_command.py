"""lamina doctor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.report.table import text_table

if TYPE_CHECKING:
    from codegen.api import Diagnosis


@click.command("doctor", cls=Command, example="lamina doctor --json")
@json_option
@common
def command(as_json: bool, quiet: bool, verbose: bool) -> int:
    """List the compilers, emulators and optional packages that are here, and how to get the missing ones."""
    from codegen import api

    result = api.doctor()
    show(_text, result, as_json=as_json, quiet=quiet)
    return 0 if result.healthy else 1


def _text(result: Diagnosis) -> str:
    rows = [(f.name, f.kind, "yes" if f.found else "no", f.purpose) for f in result.findings]
    parts = [
        f"lamina {result.version}, Python {result.python}",
        text_table(["name", "kind", "here", "for"], rows),
    ]
    missing = dict.fromkeys(f.get for f in result.findings if not f.found)
    if missing:
        parts.append("\n".join(["to get what is missing (programs: on Debian):", *(f"  {how}" for how in missing)]))
    needed = [f.name for f in result.findings if f.needed and not f.found]
    said = "everything that is needed is here" if not needed else f"needed and missing: {', '.join(needed)}"
    return "\n\n".join([*parts, said])
