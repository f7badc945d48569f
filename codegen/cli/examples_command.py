"""lamina examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.cli.progress import Progress

if TYPE_CHECKING:
    from codegen.api import CopiedExamples


@click.command("examples", cls=Command, example="lamina examples -o examples")
@click.option("-o", "--out", default="examples", show_default=True, metavar="DIR", help="A new folder.")
@json_option
@common
def command(out: str, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Copy the examples into a folder: networks, and finished firmware for each ecosystem."""
    from codegen import api

    with Progress("examples", quiet=quiet):
        result = api.copy_examples(out)
    show(_text, result, as_json=as_json, quiet=quiet)


def _text(r: CopiedExamples) -> str:
    return "\n".join(["Each has a README.md:", *(f"  {r.folder}/{name}" for name in r.examples)])
