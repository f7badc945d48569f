"""The commands by name; each one's module is loaded when it is asked for."""

from __future__ import annotations

import difflib
import importlib

import click

from codegen.cli.console import say
from codegen.resources import VERSION

COMMANDS = {
    "compile": "a model to a C project",
    "link": "several projects in one firmware: the memory they share, and whether they go together",
    "quantize": "a float model and samples to a quantized model",
    "verify": "the C against the numpy model, every tensor, to the bit",
    "inspect": "what a target runs of a model, and what it costs",
    "report": "everything about a model on chips, as one page",
    "profile": "what each layer costs, counted on an emulated chip or timed here",
    "run": "one model on one engine, arrays in, arrays out",
    "sensitivity": "where quantizing a float model loses, and what would give it back",
    "compare": "two files of arrays, or a quantized model and its float one, tensor by tensor",
    "eval": "accuracy over a labelled set",
    "targets": "the chips that are known",
    "plugin": "operators of your own: try the laws that each one keeps",
    "demo": "an example network, from model to accuracy, on this machine",
    "examples": "the examples, firmware among them, copied into a folder",
    "doctor": "compilers, emulators and packages: what is here, and how to get the rest",
    "help": "the help of a command, an error by its id, or a page of the documentation",
}
"""Command to the line that `lamina --help` shows."""


class Commands(click.Group):
    """Loads a command's module on first use, so that `lamina --help` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of a first use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command called `name`, or None."""
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"codegen.cli.{name}_command")
        command = module.command
        assert isinstance(command, click.Command), name
        command.short_help = COMMANDS[name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the words name; a mistyped one is met with the closest."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(unknown_command(args[0]))
        return super().resolve_command(ctx, args)


def unknown_command(name: str) -> str:
    """What is said to a name that is no command's."""
    close = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
    if close:
        return f"No such command {name!r}. Did you mean {close[0]!r}?"
    return f"No such command {name!r}. The commands are {', '.join(COMMANDS)}."


@click.pass_context
def _help_without_command(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        say(ctx.get_help())


GROUP = Commands(
    name="lamina",
    help="Compiles neural networks to C99 that fits a small chip, bit for bit as its numpy model.",
    epilog="First steps: lamina demo.  Every command has an example: lamina COMMAND --help.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=False,
    invoke_without_command=True,
    callback=_help_without_command,
)
click.version_option(VERSION, prog_name="lamina")(GROUP)
