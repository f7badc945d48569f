"""lamina help."""

from __future__ import annotations

import click

from codegen.cli.console import Command, say
from codegen.cli.group import GROUP, unknown_command


@click.command("help", cls=Command, example="lamina help compile")
@click.argument("name", metavar="[COMMAND]", required=False)
@click.pass_context
def command(ctx: click.Context, name: str | None) -> None:
    """Show the help of a command, or of all."""
    above = ctx.parent
    assert above is not None, "the command is one of a group"
    if name is None:
        say(above.get_help())
        return
    found = GROUP.get_command(above, name)
    if found is None:
        ctx.fail(unknown_command(name))
    with click.Context(found, info_name=name, parent=above) as inner:
        say(found.get_help(inner))
