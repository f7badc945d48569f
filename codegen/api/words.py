"""The keywords that public functions take, and how they become the records of the verbs.

Decides: that a keyword goes before the same field of `options`, and that words of the past are still understood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar

from codegen.ir.quant import Array
from codegen.old_names import OLD_WORDS, current
from codegen.options import Goal, Options, RecipeName, ShapesGiven, shape_pairs
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.kinds import Calibration, DataGiven, Progress, Sample
from codegen.verbs.sources import ModelSource

_Record = TypeVar("_Record")


class OptionWords(TypedDict, total=False):
    """`options` and the fields of Options, but for `target`, which each function says by itself."""

    options: Options
    requant: str | None
    weights: str
    io_layout: str
    io_type: str
    name: str | None
    vectors: int
    goal: Goal | None
    arena_limit: int | None
    stream_input: bool
    input_outside: bool
    max_recompute: float
    model_version: str
    labels: tuple[str, ...]
    package: tuple[str, ...]
    float_sums: str | None
    float_weights: str
    shapes: ShapesGiven
    weights_buffer: int | None
    pinned: tuple[str, ...]
    mapped: tuple[str, ...]


class JoiningWords(TypedDict, total=False):
    """Of whatever reads a model with operators of one's own."""

    toolkit: Toolkit
    plugins: Sequence[Any]


class ToolWords(OptionWords, JoiningWords, total=False):
    """Of whatever makes something of a model."""


class WritingWords(ToolWords, total=False):
    """Of `compile_model`."""

    measure_stack: bool
    force: bool
    calib: Calibration | None
    config: str | Path | None
    preprocess: str | Path | None
    weights_only: bool
    fits: str | Path | None


class CheckingWords(ToolWords, total=False):
    """Of `verify`."""

    inputs: Path | str | Mapping[str, Array] | Sequence[Sample] | None
    samples: int
    seed: int
    compiler: str | None
    flags: Sequence[str] | None
    reference: str | None
    preprocess: str | Path | None
    config: str | Path | None
    progress: Callable[[int], None]


class MeasuringWords(ToolWords, total=False):
    """Of `profile`."""

    opt_level: str | None
    cycles: bool
    estimate: bool
    repeats: int | None


class RunningWords(ToolWords, total=False):
    """Of `run`."""

    dump_all: bool


class PlainWords(ToolWords, total=False):
    """Of `run` when it gives the only output itself."""

    dump_all: Literal[False]


class DumpingWords(ToolWords):
    """Of `run` when it gives every tensor."""

    dump_all: Literal[True]


class FeedingWords(RunningWords, total=False):
    """Of `run_file`."""

    config: str | Path | None
    limit: int | None
    progress: Progress | None
    said: Callable[[str], None] | None
    found: Callable[[Mapping[str, Array]], None] | None


class QuantizingWords(JoiningWords, total=False):
    """Of `quantize`."""

    config: str | Path | None
    weights: int | str | None
    activations: int | str | None
    scales: str | None
    granularity: str | None
    table_in: str | Path | None
    table_out: str | Path | None
    samples: int | None
    seed: int | None
    keep_float: Sequence[str]
    recipe: RecipeName | None
    budget: str | Mapping[str, int] | None
    stop_after: str | None
    eval_data: DataGiven | Iterable[Sample] | None
    metric: str | None
    max_drop: float | None
    scheduler: str | None
    progress: Progress | None


class BesideWords(JoiningWords, total=False):
    """Of `compare_quantized`."""

    config: str | Path | None
    samples: int | None
    progress: Progress | None


class ReportWords(ToolWords, total=False):
    """Of `report`."""

    chips: bool
    others: Sequence[ModelSource]
    measure: bool
    float_model: ModelSource | None
    data: Calibration | None
    config: str | Path | None
    samples: int | None
    sensitivity: bool
    eval_data: DataGiven | Iterable[Sample] | None
    metric: str
    engine: str
    limit: int | None
    scheduler: str | None
    against: str | Path | None


class FittingWords(ToolWords, total=False):
    """Of `fits` and `fits_each`."""

    scheduler: str | None
    progress: Progress | None


class JudgingWords(ToolWords, total=False):
    """Of `evaluate`."""

    config: str | Path | None
    limit: int | None
    scheduler: str | None
    progress: Progress | None


def options_of(target: str | None, words: Mapping[str, Any]) -> Options:
    """The options of a call: those given whole, changed by what is said besides; TypeError for a word that is none."""
    said = {current(word, OLD_WORDS, "keyword"): value for word, value in words.items()}
    whole: Options = said.pop("options", Options())
    unknown = [word for word in said if word not in _OPTIONS]
    if unknown:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}")
    if "shapes" in said:
        said["shapes"] = shape_pairs(said["shapes"])
    return replace(whole, **said) if target is None else replace(whole, target=target, **said)


def parted(target: str | None, words: Mapping[str, Any], record: type[_Record]) -> tuple[Options, _Record]:
    """The options of a call, and the verb's own record."""
    said = joined({current(word, OLD_WORDS, "keyword"): value for word, value in words.items()})
    own = {word: said.pop(word) for word in _names(record) if word in said}
    return options_of(target, said), record(**own)


def joined(words: Mapping[str, Any]) -> dict[str, Any]:
    """The words, with the plug-ins that are named in the toolkit."""
    said = dict(words)
    plugins = said.pop("plugins", ())
    if plugins:
        said["toolkit"] = with_plugins(said.get("toolkit", HOUSE), plugins)
    return said


def with_plugins(toolkit: Toolkit, plugins: Sequence[Any]) -> Toolkit:
    """The toolkit with the plug-ins that are named; LAM-PLUGIN-001 .. -006."""
    if not plugins:
        return toolkit
    from codegen.plugin import tools_with  # whose code is run for those who name one

    return tools_with(plugins, toolkit)


def _names(record: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(record))


_OPTIONS = frozenset(_names(Options))
