"""The commands by name; each one's module is loaded when it is asked for."""

from __future__ import annotations

import importlib

import click

from codegen.resources import VERSION

COMMANDS = {
    "compile": "a model to a C project",
    "verify": "the C against the numpy model, every tensor, to the bit",
    "inspect": "what a target runs of a model, and what it costs",
    "profile": "what each layer costs, counted on an emulated chip or timed here",
    "run": "one model on one engine, arrays in, arrays out",
    "compare": "two files of arrays, tensor by tensor",
    "eval": "accuracy over a labelled set",
    "targets": "the chips that are known",
    "demo": "an example network, from model to accuracy, on this machine",
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


GROUP = Commands(
    name="lamina",
    help="Compiles quantized neural networks to C99 that fits a small chip, bit for bit as its numpy model.",
    epilog="First steps: lamina demo.  Every command has an example: lamina COMMAND --help.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(VERSION, prog_name="lamina")(GROUP)
