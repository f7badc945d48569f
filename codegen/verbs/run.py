"""run: one model on one engine; numpy in, numpy out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, overload

import numpy as np

from codegen.errors import DumpUnsupported, SeveralOutputs
from codegen.golden.interface import join_batch, split_batch
from codegen.ir.quant import Array
from codegen.options import ShapesGiven, shape_pairs
from codegen.pipeline import Options
from codegen.preprocess import write_npz
from codegen.schedule import Optimize
from codegen.verbs.compile import check_options
from codegen.verbs.engines import Engine, open_engine
from codegen.verbs.samples import Progress, Sample, array_sample, check_count, open_samples
from codegen.verbs.sources import ModelSource, file_of, takes_model
from codegen.verbs.tflite_engines import RUNTIMES


@overload
def run(
    model: ModelSource,
    x: Mapping[str, Array],
    engine: str = "golden",
    target: str = "host",
    *,
    requant: str | None = None,
    optimize: Optimize | None = None,
    arena_limit: int | None = None,
    stream_input: bool = False,
    shapes: ShapesGiven = None,
    dump_all: bool = False,
) -> dict[str, Array]: ...


@overload
def run(
    model: ModelSource,
    x: Array,
    engine: str = "golden",
    target: str = "host",
    *,
    requant: str | None = None,
    optimize: Optimize | None = None,
    arena_limit: int | None = None,
    stream_input: bool = False,
    shapes: ShapesGiven = None,
    dump_all: Literal[False] = False,
) -> Array: ...


@overload
def run(
    model: ModelSource,
    x: Array,
    engine: str = "golden",
    target: str = "host",
    *,
    requant: str | None = None,
    optimize: Optimize | None = None,
    arena_limit: int | None = None,
    stream_input: bool = False,
    shapes: ShapesGiven = None,
    dump_all: Literal[True],
) -> dict[str, Array]: ...


@takes_model
def run(
    model: ModelSource,
    x: Mapping[str, Array] | Array,
    engine: str = "golden",
    target: str = "host",
    *,
    requant: str | None = None,
    optimize: Optimize | None = None,
    arena_limit: int | None = None,
    stream_input: bool = False,
    shapes: ShapesGiven = None,
    dump_all: bool = False,
) -> dict[str, Array] | Array:
    """One inference, or one per sample of a batch; a network with state begins as after a reset, and samples are steps.

    Args:
        model: an ONNX or TFLite file: its path, its bytes, the open file, or an onnx.ModelProto.
        x: a mapping of the model's input names to arrays, or one array for the only input; in the model's own layout
            and type.  Real numbers of another type than float32 are rounded to the nearest one.  A model of shape
            [1, ...] takes [n, ...], and every model [n, *shape], sample by sample.
        engine: `golden` (the numpy model), `c` (the generated C on this machine), `float` (ONNX Runtime), `litert`
            or `tflm` (TFLite models on LiteRT and TFLite Micro).
        target: whose requantization and code are run.
        requant: as in `compile_model`.
        optimize: memory plan of the engine `c`, as in `compile_model`; so are the next two.
        arena_limit: bytes its working memory may have.
        stream_input: push its input row by row.
        shapes: of inputs with open dimensions, as in `compile_model`.
        dump_all: also every tensor inside the network, by the model's name where it has one.

    Returns:
        A mapping of output names to arrays, of all samples along the first axis; for one array the only output itself
        (LAM-API-011 when there are several), unless `dump_all` asks for more.
    """
    _check_dump(engine, dump_all)
    options = _options(target, requant, optimize, arena_limit, stream_input, shapes)
    with open_engine(engine, file_of(model), options, dump=dump_all) as opened:
        given = x if isinstance(x, Mapping) else array_sample(np.asarray(x), opened.inputs)
        sample = {name: np.asarray(array) for name, array in given.items()}
        outputs = join_batch([_once(opened, one, dump_all) for one in split_batch(opened.inputs, sample)])
    if isinstance(x, Mapping) or dump_all:
        return outputs
    if len(outputs) != 1:
        raise SeveralOutputs(f"{len(outputs)} outputs: {', '.join(outputs)}", where=str(model))
    return next(iter(outputs.values()))


@takes_model
def run_file(
    model: ModelSource,
    data: str | Path,
    engine: str = "golden",
    target: str = "host",
    *,
    requant: str | None = None,
    optimize: Optimize | None = None,
    arena_limit: int | None = None,
    stream_input: bool = False,
    shapes: ShapesGiven = None,
    dump_all: bool = False,
    config: str | Path | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Array]:
    """Every sample of a data file through the model: results joined along the first axis.

    Of a network with state the samples are steps, in order, the first one after a reset.
    """
    _check_dump(engine, dump_all)
    check_count(limit)
    found: list[dict[str, Array]] = []
    options = _options(target, requant, optimize, arena_limit, stream_input, shapes)
    with open_engine(engine, file_of(model), options, dump=dump_all) as opened:
        samples = open_samples(Path(data), opened.inputs, None if config is None else Path(config), limit)
        for index in range(samples.count):
            found.append(_once(opened, samples[index], dump_all))
            if progress is not None:
                progress(index + 1, samples.count)
    return join_batch(found)


def save_arrays(path: str | Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays to a .npz file, whole or not at all (LAM-API-008)."""
    write_npz(Path(path), arrays)


def _options(
    target: str,
    requant: str | None,
    optimize: Optimize | None,
    limit: int | None,
    stream: bool,
    shapes: ShapesGiven,
) -> Options:
    """The options of an engine; LAM-IMPORT-030 for a bad one."""
    options = Options(
        target=target,
        requant=requant,
        vectors=0,
        optimize=optimize,
        arena_limit=limit,
        stream_input=stream,
        shapes=shape_pairs(shapes),
    )
    check_options(options)
    return options


def _once(engine: Engine, sample: Sample, dump_all: bool) -> dict[str, Array]:
    return engine.dump(sample) if dump_all else engine.run(sample)


def _check_dump(engine: str, dump_all: bool) -> None:
    """Refuse early what would fail only after the model is loaded."""
    if engine in ("float", *RUNTIMES) and dump_all:
        raise DumpUnsupported("gives outputs only", where=f"engine {engine}")
