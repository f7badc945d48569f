"""Samples for a model out of a data file: read, preprocessed, one mapping of input names to arrays per sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np

from codegen.errors import CountBad, DataDoesNotFit, OptionBad
from codegen.golden import interface
from codegen.golden.interface import PortSpec, graph_ports
from codegen.ir.quant import Array, DType, Quant
from codegen.options import Options
from codegen.pipeline import read_model
from codegen.preprocess import (
    Data,
    Given,
    Preprocess,
    Wanted,
    check_fed,
    check_given,
    decode_jpeg,
    jpeg_slices,
    load_preprocess,
    need,
    read_data,
)
from codegen.records import record
from codegen.target import load_target
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.kinds import Progress as Progress
from codegen.verbs.kinds import Sample as Sample
from codegen.verbs.sources import ModelSource, file_of, takes_model

_LOOKED_AT = 16
"""Samples, spread over the data, by which it is judged whether they can be what the input takes."""


class Port(interface.Port, Protocol):
    """What a sample must know of a model's input."""

    @property
    def dtype(self) -> DType | None:
        """What is stored for it; None where that is not known."""
        ...

    @property
    def quant(self) -> Quant | None:
        """What the stored integers mean; None for floats, and where that is not known."""
        ...


@record(eq=False)
class Samples:
    """`count` samples, made when they are asked for."""

    count: int
    where: str
    _get: Callable[[int], Sample]

    def __len__(self) -> int:
        """Number of samples."""
        return self.count

    def __getitem__(self, index: int) -> Sample:
        """One sample by the model's input names, in the model's own shape and type."""
        if not 0 <= index < self.count:
            raise IndexError(index)
        return self._get(index)


def open_samples(path: Path, inputs: Sequence[Port], config: Path | None = None, limit: int | None = None) -> Samples:
    """The samples of a data file for a model with these inputs.

    A model with one input finds them under `x` (or its own name; `jpeg` and `offset` when the configuration says so).
    The arrays of a model with several inputs have the names of the inputs.  Each array is one sample in the model's
    own shape, or many along its first axis.

    Raises:
        DataFileBad: LAM-API-003, and LAM-API-004 and -005 for arrays that are missing or do not fit; the ids of
            config.py and preprocess.py; LAM-API-030 for data that cannot be what the input takes.
    """
    check_count(limit)
    samples = data_samples(*read_data(path), inputs, config)
    return samples if limit is None else replace(samples, count=min(limit, samples.count))


def data_samples(data: Data, where: str, inputs: Sequence[Port], config: Path | None = None) -> Samples:
    """The samples of data that was read, as those of its file; `where` is what errors call it."""
    how = load_preprocess(config)
    return _open(data.arrays, inputs, replace(how, jpeg=True) if data.pictures else how, where)


def given_samples(inputs: Sequence[Port], given: str | Path | Mapping[str, Array], count: int) -> list[Sample]:
    """At most `count` samples of a data file, or of arrays by name, without a configuration."""
    check_count(count)
    if isinstance(given, Mapping):
        samples = _open(dict(given), inputs, Preprocess(), "the arrays")
    else:
        samples = open_samples(Path(given), inputs)
    return [samples[i] for i in range(min(count, samples.count))]


def samples_of(arrays: Mapping[str, Array], inputs: Sequence[Port], config: Path | None = None) -> Samples:
    """The samples of arrays by name, as those of a data file."""
    return _open(dict(arrays), inputs, load_preprocess(config), "the arrays")


def random_samples(ports: Sequence[PortSpec], count: int, seed: int) -> list[Sample]:
    """Random samples over the whole range of each input; the same for the same seed."""
    check_count(count)
    if seed < 0:
        raise OptionBad(f"{seed}", where="seed", hint="give a whole number of 0 or more")
    rng = np.random.default_rng(seed)
    return [{port.name: _random(port, rng) for port in ports} for _ in range(count)]


def _random(port: PortSpec, rng: np.random.Generator) -> Array:
    """Every quantized value is as likely as any other; floats are normal."""
    if port.dtype.is_float:
        return rng.standard_normal(port.model_shape).astype(np.float32)
    q = rng.integers(port.dtype.low, port.dtype.high, port.model_shape, endpoint=True)
    if port.model_dtype != "float32":
        return q.astype(port.model_dtype)
    assert port.quant is not None, "an integer that stands for a float has a scale"
    return ((q - port.quant.zero_point) * np.float64(port.quant.scale)).astype(np.float32)


def _open(arrays: dict[str, Array], inputs: Sequence[Port], how: Preprocess, where: str) -> Samples:
    samples = _found(arrays, inputs, how, where)
    if samples.count < 1:
        raise DataDoesNotFit("no samples", where=where)
    return samples


def _found(arrays: dict[str, Array], inputs: Sequence[Port], how: Preprocess, where: str) -> Samples:
    if how.jpeg:
        need(arrays, "jpeg", where)
        need(arrays, "offset", where)
        return _pictures(arrays, inputs, how, where)
    if len(inputs) == 1:
        return _single(_named_or_x(arrays, inputs[0].name, where), inputs[0], how, where)
    return _several({p.name: need(arrays, p.name, where) for p in inputs}, inputs, where)


@record(kw_only=True)
class Reading:
    """How a data file becomes samples: the file with its `[preprocess]` table, how many, what reads the model."""

    config: str | Path | None = None
    limit: int | None = None
    toolkit: Toolkit = HOUSE


@takes_model
def read_samples(model: ModelSource, data: str | Path, options: Options, reading: Reading) -> list[Sample]:
    """The samples of a data file for a model file, preprocessed, by the model's input names."""
    inputs, _ = graph_ports(read_model(file_of(model), options, load_target(options.target), reading.toolkit))
    config = None if reading.config is None else Path(reading.config)
    samples = open_samples(Path(data), inputs, config, reading.limit)
    return [samples[i] for i in range(samples.count)]


def check_count(count: int | None) -> None:
    """LAM-API-012 for a number of samples below one."""
    if count is not None and count < 1:
        raise CountBad(f"{count} samples")


def array_sample(x: Array, inputs: Sequence[Port]) -> Sample:
    """A bare array as the only input's sample."""
    if len(inputs) != 1:
        names = ", ".join(p.name for p in inputs)
        raise DataDoesNotFit(f"one array, the model has {len(inputs)} inputs: {names}", where="x")
    return {inputs[0].name: np.asarray(x)}


def _named_or_x(arrays: dict[str, Array], name: str, where: str) -> Array:
    return arrays[name] if name in arrays else need(arrays, "x", where)


def _pictures(arrays: dict[str, Array], inputs: Sequence[Port], how: Preprocess, where: str) -> Samples:
    files = jpeg_slices(arrays)
    if len(inputs) != 1:
        raise DataDoesNotFit(f"pictures, the model has {len(inputs)} inputs", where=where)
    port = inputs[0]

    def raw(index: int) -> Array:
        return decode_jpeg(files[index], index)

    return _checked(Samples(len(files), where, _applied(raw, port, how)), raw, port, how)


def _single(x: Array, port: Port, how: Preprocess, where: str) -> Samples:
    frame = how.camera is not None and how.camera.is_frame(x)
    if frame or (how == Preprocess() and _without_ones(x.shape) == _without_ones(port.model_shape)):
        x = x[None]
    if x.ndim < 1:
        raise DataDoesNotFit("x is a single number", where=where)

    def raw(index: int) -> Array:
        return np.asarray(x[index]) if how.camera is None else how.camera.picture(np.asarray(x[index]))

    return _checked(Samples(len(x), where, _applied(raw, port, how.behind)), raw, port, how.behind)


def _applied(raw: Callable[[int], Array], port: Port, how: Preprocess) -> Callable[[int], Sample]:
    """Samples of the file as the model's."""
    return lambda index: {port.name: how.apply(raw(index), port.model_shape, port.model_dtype)}


def _checked(samples: Samples, raw: Callable[[int], Array], port: Port, how: Preprocess) -> Samples:
    """The samples, when they can be what the input takes; LAM-API-030 with the table that would make them so."""
    if not samples.count:
        return samples
    wanted = Wanted(port.name, port.model_shape, port.model_dtype, port.dtype, port.quant)
    places = sorted({int(i) for i in np.linspace(0, samples.count - 1, min(_LOOKED_AT, samples.count))})
    seen = [raw(i) for i in places]
    if seen[0].dtype.kind not in "biuf" or not seen[0].size:
        return samples
    given = Given(seen, samples.where)
    check_given(given, how, wanted)
    check_fed([samples[i][port.name] for i in places], given, how, wanted)
    return samples


def _without_ones(shape: tuple[int, ...]) -> list[int]:
    return [n for n in shape if n != 1]


def _several(arrays: dict[str, Array], inputs: Sequence[Port], where: str) -> Samples:
    counts = {p.name: _stacked(arrays[p.name], p, where) for p in inputs}
    count = next(iter(counts.values()))
    if any(n != count for n in counts.values()):
        listed = ", ".join(f"{name} has {n}" for name, n in counts.items())
        raise DataDoesNotFit(f"different numbers of samples: {listed}", where=where)
    plain = Preprocess()

    def get(index: int) -> Sample:
        return {p.name: plain.apply(_pick(arrays[p.name], p, index), p.model_shape, p.model_dtype) for p in inputs}

    return Samples(count, where, get)


def _stacked(x: Array, port: Port, where: str) -> int:
    """Number of samples in one array of several."""
    if x.shape == port.model_shape:
        return 1
    if x.shape[1:] in (port.model_shape, port.model_shape[1:]):
        return len(x)
    raise DataDoesNotFit(f"{port.name} is {list(x.shape)}, the model has {list(port.model_shape)}", where=where)


def _pick(x: Array, port: Port, index: int) -> Array:
    return x if x.shape == port.model_shape else np.asarray(x[index])
