"""run: one model on one engine; numpy in, numpy out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from codegen.arguments import takes_declared
from codegen.configuration import config_table
from codegen.datafiles import path_given
from codegen.errors import DumpUnsupported, SeveralOutputs
from codegen.golden.interface import join_batch, split_batch
from codegen.ir.quant import Array
from codegen.options import Options
from codegen.pipeline import read_model
from codegen.postprocess import Decoder
from codegen.preprocess import write_npz
from codegen.records import record
from codegen.target import load_target
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.engines import Engine, Opening, open_engine
from codegen.verbs.postprocess import decoder_of
from codegen.verbs.samples import Progress, Sample, array_sample, check_count, open_samples
from codegen.verbs.sources import ModelSource, file_of, takes_model
from codegen.verbs.tflite_engines import RUNTIMES


@record(kw_only=True)
class Running:
    """On which engine the model runs, made with what, and whether tensors inside the network are wanted too."""

    engine: str = "golden"
    dump_all: bool = False
    toolkit: Toolkit = HOUSE


@record(kw_only=True)
class Feeding(Running):
    """As `Running`, and how the data file becomes samples."""

    config: str | Path | None = None
    limit: int | None = None
    progress: Progress | None = None
    said: Callable[[str], None] | None = None
    """Called with what the user should know of how the engine ran, if there is anything."""
    found: Callable[[Mapping[str, Array]], None] | None = None
    """Called with what each sample's outputs mean, where the file has a `[postprocess]` table."""


@takes_model
def run(model: ModelSource, x: Mapping[str, Array] | Array, options: Options, how: Running) -> dict[str, Array] | Array:
    """One inference, or one per sample of a batch; a network with state begins as after a reset, and samples are steps.

    For one array the only output itself (LAM-API-011 when there are several), unless `how.dump_all` asks for more.
    """
    with _opened(model, options, how) as engine:
        given = x if isinstance(x, Mapping) else array_sample(np.asarray(x), engine.inputs)
        sample = {name: np.asarray(array) for name, array in given.items()}
        outputs = join_batch([_once(engine, one, how.dump_all) for one in split_batch(engine.inputs, sample)])
    if isinstance(x, Mapping) or how.dump_all:
        return outputs
    if len(outputs) != 1:
        raise SeveralOutputs(f"{len(outputs)} outputs: {', '.join(outputs)}", where=str(model))
    return next(iter(outputs.values()))


@takes_model
def run_file(model: ModelSource, data: str | Path, options: Options, how: Feeding) -> dict[str, Array]:
    """Every sample of a data file through the model: results joined along the first axis."""
    check_count(how.limit)
    made: list[dict[str, Array]] = []
    decoder = _decoder(file_of(model), options, how)
    with _opened(model, options, how) as engine:
        samples = open_samples(Path(data), engine.inputs, None if how.config is None else Path(how.config), how.limit)
        for index in range(samples.count):
            made.append(_once(engine, samples[index], how.dump_all))
            if decoder is not None and how.found is not None:
                how.found(decoder.run(made[-1]))
            if how.progress is not None:
                how.progress(index + 1, samples.count)
        if how.said is not None and engine.note:
            how.said(engine.note)
    return join_batch(made)


@takes_declared
def save_arrays(path: str | Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays to a .npz file, whole or not at all (LAM-API-008)."""
    write_npz(path_given(path, "path"), arrays)


def _decoder(model: Path, options: Options, how: Feeding) -> Decoder | None:
    """What makes sense of outputs, where somebody asks."""
    if how.config is None or how.found is None or config_table(Path(how.config), "postprocess") is None:
        return None
    graph = read_model(model, replace(options, vectors=0), load_target(options.target), how.toolkit)
    return decoder_of(Path(how.config), graph)


def _opened(model: ModelSource, options: Options, how: Running) -> Engine:
    """The engine with the model; what it cannot dump is refused before the model is loaded."""
    if how.engine in ("float", *RUNTIMES) and how.dump_all:
        raise DumpUnsupported("gives outputs only", where=f"engine {how.engine}")
    opening = Opening(dump=how.dump_all, toolkit=how.toolkit)
    return open_engine(how.engine, file_of(model), replace(options, vectors=0), opening)


def _once(engine: Engine, sample: Sample, dump_all: bool) -> dict[str, Array]:
    return engine.dump(sample) if dump_all else engine.run(sample)
