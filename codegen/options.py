"""What a compilation may be told: one frozen record, which every verb takes and which is sound when it exists.

Decides: which options there are, their defaults, and which values they may have.  Leaves to `pipeline` whether a target
offers the requantization, and to the importers whether the shapes fit a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import index
from typing import Literal, get_args

from codegen.arguments import check_fields
from codegen.errors import OptionBad, ShapeBad
from codegen.old_names import OLD_MODES, current
from codegen.records import record

Goal = Literal["memory", "balanced", "speed", "size"]
"""Which memory plan to take; `Options` says what each means."""
GOALS: tuple[Goal, ...] = get_args(Goal)
By = Literal["layer", "type", "tensor"]
"""What is quantized together: a layer's constants and results, those of all layers of an operator, or one tensor."""
RecipeName = Literal["fast", "default", "best"]
"""How much is tried on a network that is quantized."""
ShapePairs = tuple[tuple[str, tuple[int, ...]], ...]
ShapesGiven = Mapping[str, Sequence[int]] | None
"""Shapes for inputs of which the model leaves dimensions open, by the inputs' names."""
CHOICES = {
    "weights": ("c", "blob"),
    "io_layout": ("nhwc", "model"),
    "io_type": ("quantized", "model"),
    "goal": GOALS,
    "float_sums": ("separate", "fused", "flushed"),
    "float_weights": ("own", "f32", "f16", "bf16", "s8", "s4", "s8g32", "s4g32"),
}
"""The values of options that have no others."""
_LEFT_TO_THE_TARGET = ("goal", "float_sums")
"""Those of which None is a value too."""

PACKAGES = ("arduino", "cmake", "cmsis-pack", "cpp", "esp-idf", "micropython", "platformio", "rust", "zephyr")
"""Build systems and languages that a project is put into packages for."""
MOST_VERSION_SIGNS = 100
LEAST_BUFFER = 256
MOST_BUFFER = 64 << 20
"""Bytes of a weights buffer at least and at most: the header of a blob goes through it, too, and no chip has more."""
MOST_RECOMPUTE = 400
"""Per cent of a network's multiply-accumulates: strips of one column may be that bad, and nobody wants worse."""
MOST_VECTORS = 1000
"""Samples of a self-test: each is a run of the golden model."""


@record(kw_only=True)
class Options:
    """What a compilation may be told; LAM-IMPORT-030 and -050 for a value that does not exist.

    Attributes:
        target: a name that `targets()` lists, or the path of a .toml file.
        requant: `single`, `tflite`, `ort`, `mul8`, `pot` or `pot_half_even`, `pot_half_down`, `pot_half_away`; when
            None that which the model's file names, the arithmetic of its format, or else the target's default.
        weights: `c` for C arrays, `blob` for a file weights.bin.
        io_layout: `nhwc`, or `model` for the model's own order of axes.
        io_type: `quantized`, or `model` for the model's own element types.
        name: the network's name, prefix of every C identifier; the file's name when None.
        vectors: samples of the self-test, 1000 at most.
        goal: which memory plan to take: `memory` the smallest, `speed` the fastest, `balanced` the fastest that is
            little larger than the smallest, `size` the same with the smallest code.  None is what the target's file
            says, else `balanced`.
        arena_limit: bytes of working memory; the fastest plan within them is taken, and LAM-SCHEDULE-303 raised when
            there is none.  Without it the target's RAM is the limit.
        stream_input: the C takes the input row by row (NAME_push_row) and never holds it whole; LAM-SCHEDULE-304 when
            that cannot be.
        input_outside: the input lies where the caller has it (a camera's frame, flash), outside the arena, and is only
            read; LAM-SCHEDULE-307 when that cannot be.
        max_recompute: per cent of multiply-accumulates that may be made more than once, so that parts of the network
            run in strips: as many as goal and limit ask for.  0 for none.
        model_version: what the firmware may be told of the model's version (NAME_MODEL_VERSION, NAME_info).
        labels: what the numbers of an output mean, in order; of the first output whose last axis has as many
            (LAM-EMIT-006 when there is none).  Without them those that the model's file carries, if they fit.
        package: names of PACKAGES, whose files are written beside the project's own; `("all",)` for all of them.
        float_sums: of products of real numbers: `separate` rounds each product before it is added, `fused` rounds once
            in each step, as instructions for that do, `flushed` knows no numbers below 2^-126, as Helium's vectors.
            None is what the target's file says, else `separate`.
        float_weights: what the weights of float layers are stored as: integers of 8 or 4 bits, float16 or bfloat16
            where the file holds them so, exactly, and float32 otherwise (`own`); `f32` themselves; else the next
            float16 (`f16`), bfloat16 (`bf16`), or integer of 8 or 4 bits times a scale of its output (`s8`, `s4`), in
            dense layers of each 32 inputs of it (`s8g32`, `s4g32`); the numbers so held are the network's weights.
        shapes: of inputs whose dimensions the model leaves open, by name, as pairs or as a mapping; an open first one
            is a batch of 1 without (LAM-IMPORT-050 .. 052).
        weights_buffer: bytes of the arena through which weights are read, by a hook, from flash that is not mapped; it
            makes `weights` a blob.  LAM-SCHEDULE-306 where a layer needs more at a time.  0 for weights that are
            mapped; None is what the target's file says, else 0.
        pinned: with a buffer, layers whose weights are read once, when the network is initialised, and stay in the
            arena; names, or patterns of them (`conv*`).
        mapped: with a buffer, layers whose weights are part of the image and read in place; likewise.
    """

    target: str = "host"
    requant: str | None = None
    weights: str = "c"
    io_layout: str = "nhwc"
    io_type: str = "quantized"
    name: str | None = None
    vectors: int = 2
    goal: Goal | None = None
    arena_limit: int | None = None
    stream_input: bool = False
    input_outside: bool = False
    max_recompute: float = 0.0
    model_version: str = ""
    labels: tuple[str, ...] = ()
    package: tuple[str, ...] = ()
    float_sums: str | None = None
    float_weights: str = "own"
    shapes: ShapePairs = ()
    weights_buffer: int | None = None
    pinned: tuple[str, ...] = ()
    mapped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no option may be; take names of the past for those of today."""
        check_fields(self)
        object.__setattr__(self, "requant", current(self.requant, OLD_MODES, "requant"))
        if not isinstance(self.shapes, tuple):
            object.__setattr__(self, "shapes", shape_pairs(self.shapes))
        if "all" in self.package:
            object.__setattr__(self, "package", PACKAGES)
        for package in self.package:
            _check_choice("package", package, (*PACKAGES, "all"))
        object.__setattr__(self, "package", tuple(dict.fromkeys(self.package)))
        for option, values in CHOICES.items():
            _check_choice(option, getattr(self, option), values)
        self._check_buffer()
        self._check_input()
        if not 0 <= self.vectors <= MOST_VECTORS:
            raise OptionBad(f"{self.vectors}", where="vectors", hint=f"give a whole number of 0 to {MOST_VECTORS}")
        if len(self.model_version) > MOST_VERSION_SIGNS:
            raise OptionBad(
                f"{len(self.model_version)} characters", where="model_version", hint="give 100 characters at most"
            )
        if self.arena_limit is not None and self.arena_limit < 1:
            raise OptionBad(
                f"{self.arena_limit!r}", where="arena_limit", hint="give a whole number of bytes, 1 or more"
            )

    @property
    def plain(self) -> Options:
        """The same for a project to be measured: its weights as C arrays, read in place, and no self-test."""
        return replace(self, weights="c", weights_buffer=0, pinned=(), mapped=(), vectors=0)

    def _check_input(self) -> None:
        """Refuse two homes for the input, and what is no share of a network's work."""
        if self.stream_input and self.input_outside:
            hint = "leave one out: rows that are pushed lie in the arena"
            raise OptionBad("true beside stream_input", where="input_outside", hint=hint)
        if not 0 <= self.max_recompute <= MOST_RECOMPUTE:
            hint = f"give per cent of the network's multiply-accumulates, 0 to {MOST_RECOMPUTE}"
            raise OptionBad(f"{self.max_recompute!r}", where="max_recompute", hint=hint)

    def _check_buffer(self) -> None:
        """Refuse a buffer that holds no header, and one that no chip has room for."""
        if not self.weights_buffer:
            return
        if not LEAST_BUFFER <= self.weights_buffer <= MOST_BUFFER:
            hint = f"give a whole number of bytes, {LEAST_BUFFER} to {MOST_BUFFER}; 0 for weights that are mapped"
            raise OptionBad(f"{self.weights_buffer!r}", where="weights_buffer", hint=hint)
        object.__setattr__(self, "weights", "blob")


def _check_choice(option: str, given: object, values: Sequence[str]) -> None:
    if given not in values and not (given is None and option in _LEFT_TO_THE_TARGET):
        raise OptionBad(f"{given!r}", where=option, hint=f"choose one of {', '.join(values)}")


def shape_pairs(shapes: ShapesGiven) -> ShapePairs:
    """The shapes as options hold them; LAM-IMPORT-050 for what is no shape."""
    if shapes is None:
        return ()
    if not isinstance(shapes, Mapping):
        raise ShapeBad(f"{shapes!r} is no mapping of names to shapes", where="shapes")
    return tuple((str(name), _sizes(str(name), shape)) for name, shape in shapes.items())


def _sizes(name: str, shape: Sequence[int]) -> tuple[int, ...]:
    try:
        sizes = tuple(index(n) for n in shape)
    except TypeError as error:
        raise ShapeBad(f"the shape is {shape!r}", where=f"input '{name}'") from error
    if min(sizes, default=0) < 1 or isinstance(shape, bytes):
        raise ShapeBad(f"the shape is {list(sizes)}", where=f"input '{name}'")
    return sizes
