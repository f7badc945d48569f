"""The options of Options on the command line: every command on a model takes them, by one decorator.

Decides: how they are spelled there, and which spellings of sizes and shapes are understood.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import click

from codegen.cli.console import Decorated
from codegen.cli.renamed import Renamed
from codegen.errors import CaffemodelAlone
from codegen.old_names import OLD_MODES
from codegen.options import CHOICES

_UNITS = {"": 1, "K": 1024, "M": 1024 * 1024}
_MODES = ("single", "tflite", "ort", "mul8", "pot", "pot_half_even", "pot_half_down", "pot_half_away")


def _shapes(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> Mapping[str, tuple[int, ...]] | None:
    """Shapes by name; a usage error for what is not NAME=1,3,224,224, or for a name that comes twice."""
    found: dict[str, tuple[int, ...]] = {}
    for value in values:
        name, _, sizes = value.rpartition("=")
        if not name or not re.fullmatch(r" *-?[0-9]{1,15} *(, *-?[0-9]{1,15} *)*", sizes):
            raise click.BadParameter(f"{value!r} is no shape; write NAME=1,3,224,224", ctx, param)
        if name in found:
            raise click.BadParameter(f"two shapes for {name!r}", ctx, param)
        found[name] = tuple(int(size) for size in sizes.split(","))
    return found or None


def _bytes(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A number of bytes above zero: 65536, 64K or 1M (1024 and 1024 * 1024 bytes); else a usage error."""
    if value is None:
        return None
    found = re.fullmatch(r"([0-9]{1,15})([kKmM]?)", value.strip())
    size = int(found[1]) * _UNITS[found[2].upper()] if found else 0
    if size < 1:
        raise click.BadParameter(f"{value!r} is no number of bytes; write 65536, 64K or 1M", ctx, param)
    return size


def _buffer(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """As `_bytes`, and 0 for none."""
    return 0 if value == "0" else _bytes(ctx, param, value)


def _percent(ctx: click.Context, param: click.Parameter, value: str | None) -> float:
    """A share in per cent, with or without the sign: 40 or 40%; else a usage error."""
    found = re.fullmatch(r"([0-9]{1,4}(?:\.[0-9]{1,6})?)\s*%?", (value or "0").strip())
    if found is None:
        raise click.BadParameter(f"{value!r} is no share in per cent; write 40 or 40%", ctx, param)
    return float(found[1])


def _choice(flag: str, text: str, default: str | None = None) -> Decorated:
    values = CHOICES[flag[2:].replace("-", "_")]
    return click.option(flag, type=click.Choice(values), default=default, show_default=default is not None, help=text)


def _with_weights(ctx: click.Context, param: click.Parameter, model: str) -> str:
    """MODEL, and the weights of a Caffe network behind a comma."""
    weights = ctx.meta.get(_WEIGHTS)
    if weights is None:
        return model
    if not model.endswith(_NETWORK):
        raise CaffemodelAlone(f"--caffemodel {weights} goes with a prototxt", where=model)
    return f"{model},{weights}"


def _kept(ctx: click.Context, param: click.Parameter, weights: str | None) -> None:
    ctx.meta[_WEIGHTS] = weights


_NETWORK, _WEIGHTS = ".prototxt", "lamina.caffemodel"
caffemodel_option = click.option(
    "--caffemodel",
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_kept,
    help="Weights of a Caffe network (MODEL is its prototxt); else the .caffemodel of its name beside it.",
)
model_argument = click.argument("model", callback=_with_weights)
target_option = click.option(
    "-t", "--target", default="host", show_default=True, help="A name of `lamina targets`, or a .toml file."
)
shape_option = click.option(
    "--shape",
    "shapes",
    multiple=True,
    callback=_shapes,
    metavar="NAME=N,N,..",
    help="Shape of an input whose dimensions the model leaves open; an open batch is 1 without.",
)
plugin_option = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    metavar="FILE.py",
    help="Operators of your own: a file, or the name of an installed package's. Its code is run.",
)
_MODEL_OPTIONS = (
    model_argument,
    caffemodel_option,
    target_option,
    plugin_option,
    click.option(
        "--requant",
        type=Renamed(_MODES, OLD_MODES),
        metavar="MODE",
        help=f"Rounding of results: {', '.join(_MODES)}; TFLite's own for its models, else the target's default.",
    ),
    shape_option,
    _choice("--weights", "C arrays or a file.", "c"),
    click.option(
        "--weights-buffer",
        callback=_buffer,
        metavar="BYTES",
        help="Read the weights' file by a hook, through so much of the arena: flash that is not mapped (0: it is).",
    ),
    click.option(
        "--pin",
        "pinned",
        multiple=True,
        metavar="LAYER",
        help="With --weights-buffer: a layer (or a pattern) whose weights are read once and stay in the arena.",
    ),
    click.option(
        "--map",
        "mapped",
        multiple=True,
        metavar="LAYER",
        help="With --weights-buffer: a layer (or a pattern) whose weights are part of the image, read in place.",
    ),
    _choice("--io-layout", "Axes at the C interface.", "nhwc"),
    _choice("--io-type", "Types there.", "quantized"),
    _choice(
        "--goal", "Which memory plan to take; by default what the target says. size: balanced, with the smallest code."
    ),
    click.option(
        "--float",
        "float_sums",
        type=click.Choice(CHOICES["float_sums"]),
        help="Sums of real products: each product rounded; each step once (fused multiply-add); or as Helium has them, "
        "without numbers below the least normal one (flushed).",
    ),
    _choice(
        "--float-weights",
        "What float layers' weights are stored as, and so rounded to; own: in the file's 4, 8 or 16 bits, not rounded.",
        "own",
    ),
    click.option("--arena-limit", callback=_bytes, metavar="BYTES", help="Working memory at most, such as 64K."),
    click.option("--stream-input", is_flag=True, help="Take the input row by row; it is never held whole."),
    click.option(
        "--input-outside",
        is_flag=True,
        help="Read the input where the firmware has it (a frame, flash), not in the arena.",
    ),
    click.option(
        "--max-recompute",
        metavar="PERCENT",
        callback=_percent,
        help="Run parts of the network in strips: how many per cent of its products may be made again to save memory.",
    ),
)


def model_options(function: Decorated) -> Decorated:
    """MODEL, and what a compilation may be told; in the help they come in the order above."""
    for option in reversed(_MODEL_OPTIONS):
        function = option(function)
    return function


stack_option = click.option(
    "--measure-stack", is_flag=True, help="Measure the stack on the emulated chip; needs its compiler and emulator."
)
preprocess_option = click.option(
    "--preprocess", metavar="FILE", help="TOML file whose [preprocess] table, of a camera, becomes C with the network."
)
config_option = click.option(
    "--config",
    metavar="FILE",
    help="TOML file of the model: its tables [preprocess], [postprocess], and of compile [weights].",
)
scheduler_option = click.option(
    "--scheduler",
    metavar="WHO",
    help="Who shares the work: local, local:N processes, or a Dask scheduler's tcp://HOST:PORT.",
)
