"""lamina help."""

from __future__ import annotations

import re
from pathlib import Path

import click

from codegen.cli.console import Command, say, say_lines, say_page
from codegen.cli.group import GROUP, unknown_command
from codegen.resources import resource_dir, site

_ID = re.compile(r"LAM-[A-Z0-9-]+")


@click.command("help", cls=Command, example="lamina help compile\n  lamina help LAM-API-005\n  lamina help metrics")
@click.argument("name", metavar="[COMMAND | ID | PAGE]", required=False)
@click.pass_context
def command(ctx: click.Context, name: str | None) -> None:
    """Show the help of a command, or of all; explain an error by its id; print a page of the documentation."""
    above = ctx.parent
    assert above is not None, "the command is one of a group"
    if name is None:
        say(above.get_help())
        return
    found = GROUP.get_command(above, name)
    if found is not None:
        with click.Context(found, info_name=name, parent=above) as inner:
            say(found.get_help(inner))
        return
    is_id = _ID.fullmatch(name.upper()) is not None
    text = _error(name.upper()) if is_id else _page(name)
    if text is None and is_id:
        ctx.fail(f"No error has the id {name.upper()}; `lamina help errors` lists them.")
    if text is None:
        ctx.fail(f"{unknown_command(name)}; pages: {', '.join(sorted(_pages()))}")
    (say_lines if is_id else say_page)(text)
    if is_id and (address := site()) is not None:
        say(f"  {address}/errors.html")


def _error(code: str) -> str | None:
    """What docs/errors.md says of an id, or of one that was its name before."""
    for line in (resource_dir("docs") / "errors.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip("| ").split(" | ")]
        if code in (cells[0], cells[-1]):
            return "\n  ".join(cells)
    return None


def _page(name: str) -> str | None:
    """A page by its name, with or without `docs/` and `.md`."""
    path = _pages().get(name.removeprefix("docs/").removesuffix(".md"))
    return None if path is None else path.read_text(encoding="utf-8").rstrip("\n")


def _pages() -> dict[str, Path]:
    """Every page by its name, and the one on files of chips."""
    folder = resource_dir("docs")
    pages = {p.relative_to(folder).with_suffix("").as_posix(): p for p in folder.rglob("*.md")}
    return {**pages, "targets/README": resource_dir("targets") / "README.md"}
