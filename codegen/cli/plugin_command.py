"""lamina plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from codegen.cli.console import Command, common, json_option, show
from codegen.cli.progress import Progress
from codegen.report.table import text_table

if TYPE_CHECKING:
    from codegen.api import PluginCheck


_WAY = "'test': lamina plugin test my_ops.py"


class _Words(click.Choice[str]):
    """The words behind `lamina plugin`; a mistyped one is met with those that there are."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        """What comes behind the command."""
        return f"It is {_WAY}"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word."""
        if value not in self.choices:
            self.fail(f"there is no {value!r}, but {_WAY}", param, ctx)
        return str(value)


@click.command("plugin", cls=Command, example="lamina plugin test examples/plugins/median/median_ops.py")
@click.argument("what", type=_Words(["test"]))
@click.argument("plugin")
@click.option(
    "-t", "--target", "targets", multiple=True, help="Run the C on this chip's emulated board too; several times."
)
@json_option
@common
def command(what: str, plugin: str, targets: tuple[str, ...], as_json: bool, quiet: bool, verbose: bool) -> int:
    """Try the laws that every operator keeps on the cases of PLUGIN, a file or an installed package's; its code is run.

    The laws are of its answers (which rows are read, types, memory), and of its C: equal to golden to the bit, under
    sanitizers too.  Exit code 1 where one is broken.
    """
    from codegen import api

    with Progress("trying the laws", quiet=quiet):
        found = api.check_plugin(plugin, targets)
    record = {
        "plugin": found.plugin,
        "ok": found.ok,
        "laws": [
            {
                "operator": c.operator,
                "law": c.law,
                "sentence": c.sentence,
                "cases": c.cases,
                "ok": c.ok,
                "found": c.found,
                "details": list(c.details),
            }
            for c in found.checks
        ],
    }
    show(_text, found, as_json=as_json, quiet=quiet and found.ok, record=record)
    return 0 if found.ok else 1


def _text(found: PluginCheck) -> str:
    rows = [(c.operator, c.law, "ok" if c.ok else "FAILED", c.cases, c.sentence) for c in found.checks]
    lines = [text_table(["operator", "law", "result", "cases", "what holds"], rows, keep=5)]
    broken = [c for c in found.checks if not c.ok]
    for c in broken:
        lines += [f"LAM-PLUGIN-009 {c.operator}, {c.law}: {c.found}", *c.details]
    kept = len(found.checks) - len(broken)
    lines.append(f"{found.plugin}: {kept} of {len(found.checks)} laws are kept")
    return "\n".join(lines)
