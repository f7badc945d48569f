"""lamina link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.report.columns import Size, size_text
from codegen.report.table import text_pairs, text_table

if TYPE_CHECKING:
    from codegen.api import Linked


@click.command("link", cls=Command, example="lamina link build/kws build/person -o build/shared")
@click.argument("projects", nargs=-1, required=True, metavar="PROJECT PROJECT...")
@click.option("-o", "--out", required=True, metavar="DIR", help="Folder of the header, which is called as it is.")
@click.option("-t", "--target", metavar="NAME", help="The chip that they have to fit; the projects' own.")
@click.option("--force", is_flag=True, help="Replace files of the folder that were edited, too.")
@json_option
@common
def command(
    projects: tuple[str, ...],
    out: str,
    target: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Write the header with the working memory that compiled projects share in one firmware."""
    from codegen import api

    show(_text, api.link(projects, out, target=target, force=force), as_json=as_json, quiet=quiet)


def _text(made: Linked) -> str:
    sizes = ((m.name, size_text(m.one_bytes), size_text(m.all_bytes)) for m in made.memories)
    rows = [(n.name, Size(n.arena_bytes), Size(n.weights_bytes), Size(n.code_estimate_bytes)) for n in made.networks]
    pairs = [
        *((name, f"{one} one at a time, {every} all at once") for name, one, every in sizes),
        ("weights", f"{size_text(made.weights_bytes)} in the image"),
        ("code", f"about {size_text(made.code_estimate_bytes)} with -Os, by rule of thumb"),
        ("checked", f"against the memories of {made.target}" if made.target else "against no chip: -t names one"),
    ]
    table = text_table(["network", "arena", "weights", "code"], rows)
    return "\n".join([str(made.header), "", table, "", text_pairs(pairs), *(f"  note: {n}" for n in made.notes)])
