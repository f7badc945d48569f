"""Samples answered by one engine and judged by one metric, run after run of them: what each worker of many does.

Decides: that an engine is opened once in each process, however many runs of samples it gets, and that a network with
state is one run, for its samples are steps of one sequence.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from codegen.errors import DataDoesNotFit
from codegen.golden.interface import PortSpec, graph_ports
from codegen.ir.graph import Graph
from codegen.ir.quant import Array, DType
from codegen.metrics import AveragePrecision, Metric, PooledArea, Seen
from codegen.options import Options
from codegen.pipeline import read_model
from codegen.preprocess import need, read_data
from codegen.records import record
from codegen.spread import kept
from codegen.target import load_target
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.engines import Engine, Opening, open_engine
from codegen.verbs.finding import finder
from codegen.verbs.kinds import DataGiven, Progress
from codegen.verbs.samples import Samples, data_samples


@record(kw_only=True)
class Question:
    """One engine for a model, its samples, and the metric; `key` tells it from every other one."""

    model: Path
    options: Options
    engine: str
    metric: Metric
    data: DataGiven
    config: Path | None
    limit: int | None
    toolkit: Toolkit = HOUSE
    key: str = field(default_factory=lambda: uuid.uuid4().hex)


@record(eq=False)
class Answers:
    """What the metric saw in a run of samples, a digest of each sample's outputs, and the engine's seconds."""

    verdicts: list[Any]
    digests: list[bytes]
    seconds: float
    note: str


class Answering:
    """An engine with its samples open; closed as the engine is."""

    def __init__(self, question: Question) -> None:
        """Open both."""
        self._question = question
        opening = Opening(toolkit=question.toolkit)
        with ExitStack() as held:
            self._engine: Engine = held.enter_context(
                open_engine(question.engine, question.model, question.options, opening)
            )
            data, where = read_data(question.data)
            self._samples = data_samples(data, where, self._engine.inputs, question.config)
            self._truths = _labels(question, data.arrays, self._samples, where)
            boxes = isinstance(question.metric, AveragePrecision | PooledArea)
            self._finder = finder(question.config, self._graph, data) if boxes else None
            self._held = held.pop_all()

    @property
    def count(self) -> int:
        """Number of samples."""
        limit = self._question.limit
        return self._samples.count if limit is None else min(limit, self._samples.count)

    def run(self, places: range, progress: Progress | None = None) -> Answers:
        """The answers to some samples, in order."""
        verdicts: list[Any] = []
        digests: list[bytes] = []
        seconds = 0.0
        for place in places:
            sample = self._samples[place]
            start = time.perf_counter()
            outputs = self._engine.run(sample)
            seconds += time.perf_counter() - start
            seen = self._seen(sample, outputs) if self._finder is None else self._found(place, sample, outputs)
            verdicts.append(self._question.metric.judge(seen, self._truths[place]))
            digests.append(_digest(outputs))
            if progress is not None:
                progress(len(verdicts), len(places))
        return Answers(verdicts, digests, seconds, self._engine.note)

    def close(self) -> None:
        """Give back what the engine holds."""
        self._held.close()

    def _found(self, place: int, sample: Mapping[str, Array], outputs: Mapping[str, Array]) -> Seen:
        """What the outputs mean, where a metric is about that."""
        assert self._finder is not None, "it was asked for"
        return Seen(sample, self._finder.found(place, outputs))

    def _seen(self, sample: Mapping[str, Array], outputs: Mapping[str, Array]) -> Seen:
        arrays = (*sample.values(), *outputs.values())
        if not self._question.metric.real or all(a.dtype.kind == "f" for a in arrays):
            return Seen(sample, outputs)
        inputs, results = self._ports
        return Seen(_meant(sample, inputs), _meant(outputs, results))

    @cached_property
    def _ports(self) -> tuple[dict[str, PortSpec], dict[str, PortSpec]]:
        """What the network's integers mean, by the model's names."""
        inputs, outputs = ({p.name: p for p in ports} for ports in graph_ports(self._graph))
        return inputs, outputs

    @cached_property
    def _graph(self) -> Graph:
        """The model as it was read."""
        asked = self._question
        return read_model(asked.model, asked.options, load_target(asked.options.target), asked.toolkit)


def has_state(question: Question) -> bool:
    """Whether what a sample is answered depends on those before it."""
    asked = replace(question.options, vectors=0)
    return bool(read_model(question.model, asked, load_target(asked.target), question.toolkit).states)


def answer_there(piece: tuple[Question, range]) -> Answers:
    """A run of samples in a worker's process, whose engine stays open for the next one."""
    question, places = piece
    return kept(question.key, lambda: Answering(question)).run(places)


def _labels(question: Question, arrays: Mapping[str, Array], samples: Samples, where: str) -> Any:
    """What is true of each sample, when as many are told as there are samples."""
    keys = question.metric.keys
    need(arrays, keys[0], where)
    truths = question.metric.truths({k: arrays[k] for k in keys if k in arrays}, where)
    wanted = samples.count if question.limit is None else min(question.limit, samples.count)
    if len(truths) < wanted or (question.limit is None and len(truths) != wanted):
        raise DataDoesNotFit(f"{len(truths)} labels for {samples.count} samples", where=where)
    return truths


def _digest(outputs: Mapping[str, Array]) -> bytes:
    """SHA-256 of what a sample is answered: each output's type, shape and bytes."""
    made = hashlib.sha256()
    for array in outputs.values():
        made.update(f"{array.dtype.str}{array.shape}".encode())
        made.update(np.ascontiguousarray(array).tobytes())
    return made.digest()


def _meant(arrays: Mapping[str, Array], ports: Mapping[str, PortSpec]) -> dict[str, Array]:
    return {name: _real(array, ports.get(name)) for name, array in arrays.items()}


def _real(array: Array, port: PortSpec | None) -> Array:
    """The reals that an array of integers means; the array where it means nothing else."""
    if port is None or port.quant is None or array.dtype.kind not in "iu":
        return array
    shift = 1 << 15 if port.model_dtype == "uint16" and port.dtype is DType.S16 else 0
    steps = array.astype(np.int64) - shift - np.int64(port.quant.zero_point)
    return np.asarray(steps * np.float64(port.quant.scale), np.float32)
