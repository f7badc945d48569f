"""Runs the golden model and the generated C on the same inputs and compares every tensor, byte for byte."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from codegen.emit import write_project
from codegen.errors import OptionBad
from codegen.golden.compare import Difference, first_difference
from codegen.golden.interface import graph_ports, made_rows, network_feeds
from codegen.golden.interpreter import Stepper
from codegen.host import GoldenAnswers, Network
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from codegen.laws import check_nodes
from codegen.options import Options
from codegen.pipeline import Compiled, compile_file
from codegen.preprocess import Preprocess, load_preprocess
from codegen.preprocess.camera import Camera
from codegen.records import record
from codegen.report.manifest import said_arithmetic
from codegen.toolkit import HOUSE, Toolkit
from codegen.verbs.camera import FramesCheck, check_frames, with_camera
from codegen.verbs.camera_board import Golden, Pattern, frames_on_board, has_board, pattern_frame
from codegen.verbs.emulated import Trial, run_on_board
from codegen.verbs.postprocess import (
    FoundCheck,
    check_found,
    found_on_board,
    found_on_host,
    random_outputs,
    with_postprocess,
)
from codegen.verbs.reference import ReferenceCheck, compare_with
from codegen.verbs.samples import Sample, given_samples, random_samples
from codegen.verbs.sources import ModelSource, file_of, takes_model


@record
class TensorCheck:
    """One tensor, compared over all samples run so far."""

    tensor: str
    source: str
    shape: tuple[int, ...]
    dtype: str
    equal: bool


@record(kw_only=True)
class VerifyResult:
    """What was compared, and the first difference when there is one."""

    equal: bool
    target: str
    requant: str
    arithmetic: str
    samples: int
    checks: tuple[TensorCheck, ...]
    first_difference: Difference | None
    reference: ReferenceCheck | None = None
    preprocess: FramesCheck | None = None
    postprocess: FoundCheck | None = None

    @property
    def tensors_checked(self) -> int:
        """Tensors compared in each sample."""
        return len(self.checks)


@record(kw_only=True, eq=False)
class Checking:
    """On what C and golden are compared, how the C is built, and with which tools it is made."""

    inputs: Path | str | Mapping[str, Array] | Sequence[Sample] | None = None
    samples: int = 3
    seed: int = 0
    compiler: str | None = None
    flags: Sequence[str] | None = None
    reference: str | None = None
    preprocess: str | Path | None = None
    config: str | Path | None = None
    progress: Callable[[int], None] = lambda done: None
    toolkit: Toolkit = HOUSE


@takes_model
def verify(model: ModelSource, options: Options, checking: Checking) -> VerifyResult:
    """Compare golden and C on the samples; the C runs on the host, or on the target's board when it has one."""
    compiled = compile_file(file_of(model), options, checking.toolkit)
    check_nodes(compiled.graph)
    if checking.preprocess is not None:
        compiled = with_camera(compiled, Path(checking.preprocess), options)
    if checking.config is not None:
        compiled = with_postprocess(compiled, Path(checking.config), options)
    chosen = _samples(compiled.imported, checking)
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        project = Path(folder) / "project"
        write_project(project, compiled.files)
        difference, done, frames, found = _compared(compiled, project, chosen, checking)
    result = replace(_result(compiled, difference, done), preprocess=frames, postprocess=found)
    others = [check.equal for check in (frames, found) if check is not None]
    result = replace(result, equal=result.equal and all(others))
    if checking.reference is None:
        return result
    check = compare_with(checking.reference, file_of(model), compiled.imported, chosen[:done])
    return replace(result, equal=result.equal and check.equal, reference=check)


@record(eq=False)
class Expected:
    """One sample's network inputs, the tensors and outputs that the C must make, by the names of the final graph."""

    feeds: Mapping[str, Array]
    tensors: Mapping[str, Array]
    outputs: Mapping[str, Array]


def _compared(
    compiled: Compiled, project: Path, chosen: Sequence[Sample], checking: Checking
) -> tuple[Difference | None, int, FramesCheck | None, FoundCheck | None]:
    """The first difference, how many of the samples were compared, and the same of frames and of what is found."""
    expected = _expectations(compiled, chosen)
    if compiled.target.board is not None:
        difference, found = _on_board(compiled, project, list(expected), checking)
        frames = None if checking.preprocess is None else _frames_beside(compiled, project, checking)
        return difference, len(chosen), frames, found
    answers = GoldenAnswers(compiled.program)
    with Network(project, trace=True, compiler=checking.compiler, flags=checking.flags, answers=answers) as net:
        difference, done = _on_host(net, expected, len(chosen), checking.progress)
        frames = None if checking.preprocess is None else _frames(compiled, net, checking)
    return difference, done, frames, _found(compiled, project, chosen[:done], checking)


def _on_board(
    compiled: Compiled, project: Path, expected: Sequence[Expected], checking: Checking
) -> tuple[Difference | None, FoundCheck | None]:
    """The same of the target's board, in one run of it."""
    cases = [(e.feeds, e.tensors, e.outputs) for e in expected]
    others = [] if compiled.emit.post is None else _others(compiled, checking)
    steps = len(cases) // (2 if compiled.imported.states else 1)
    said = run_on_board(compiled, project, Trial(cases=cases, steps=steps, others=others))
    if compiled.emit.post is None:
        return said.difference, None
    names = [port.value for port in graph_ports(compiled.graph)[1]]
    held = [e.outputs for e in expected] + [dict(zip(names, arrays, strict=True)) for arrays in others]
    return said.difference, check_found(compiled, found_on_board(compiled, held, said.found), compiled.target.name)


def _frames_beside(compiled: Compiled, project: Path, checking: Checking) -> FramesCheck:
    """Frames on the target's board; on this machine where the program for boards does not run the network."""
    if not has_board(compiled):
        with Network(project, compiler=checking.compiler, flags=checking.flags) as net:
            return _frames(compiled, net, checking)
    camera = _camera(_how(checking))
    frames = [pattern_frame(camera, index, checking.seed) for index in range(checking.samples)]
    expected = itertools.islice(expected_of_frames(compiled, frames, _how(checking)), len(frames))
    found = frames_on_board(compiled, project, expected, Pattern(checking.seed)).difference
    where, count = compiled.target.name, len(frames)
    return FramesCheck(equal=found is None, where=where, format=camera.format, frames=count, first_difference=found)


def _frames(compiled: Compiled, net: Network, checking: Checking) -> FramesCheck:
    """Random frames of the camera through golden and C: rows of the input, and outputs."""
    rng, camera = np.random.default_rng(checking.seed), _camera(_how(checking))
    frames = [rng.integers(0, 256, camera.frame_bytes, np.uint8) for _ in range(checking.samples)]
    return check_frames(net, frames, expected_of_frames(compiled, frames, _how(checking)))


def _found(compiled: Compiled, project: Path, chosen: Sequence[Sample], checking: Checking) -> FoundCheck | None:
    """What golden and the C find in outputs, on this machine."""
    if compiled.emit.post is None:
        return None
    ports, _ = graph_ports(compiled.imported)
    feeds = (network_feeds(ports, sample) for sample in chosen)
    with Network(project, compiler=checking.compiler, flags=checking.flags) as net:
        return check_found(compiled, found_on_host(net, feeds, _others(compiled, checking)), "host")


def _others(compiled: Compiled, checking: Checking) -> list[list[Array]]:
    """Random outputs, as many as there are samples."""
    return list(random_outputs(compiled.graph, checking.seed, checking.samples))


def _how(checking: Checking) -> Preprocess:
    return load_preprocess(Path(checking.preprocess or ""))


def _camera(how: Preprocess) -> Camera:
    assert how.camera is not None, "it was compiled"
    return how.camera


def expected_of_frames(compiled: Compiled, frames: Sequence[Array], how: Preprocess) -> Iterator[Golden]:
    """The input and the outputs that golden makes of each frame; with state twice over."""
    ports, _ = graph_ports(compiled.imported)
    samples = [{p.name: how.apply(frame, p.model_shape, p.model_dtype)} for frame in frames for p in ports]
    return ((e.feeds, e.outputs) for e in _expectations(compiled, samples))


def _samples(graph: Graph, checking: Checking) -> list[Sample]:
    ports, _ = graph_ports(graph)
    inputs = checking.inputs
    if inputs is None:
        return random_samples(ports, checking.samples, checking.seed)
    if isinstance(inputs, Sequence) and not isinstance(inputs, str):
        return _as_given(inputs)[: checking.samples]
    return given_samples(ports, inputs, checking.samples)


def _as_given(samples: Sequence[Sample]) -> list[Sample]:
    for sample in samples:
        if not isinstance(sample, Mapping):
            raise OptionBad(f"a sample is of type {type(sample).__name__}", where="inputs", hint="give arrays by name")
    return list(samples)


def _expectations(compiled: Compiled, samples: Sequence[Sample]) -> Iterator[Expected]:
    """What each sample must give; with state, what the samples must give as steps, and again after a reset."""
    for _ in range(2 if compiled.imported.states else 1):
        imported, final = Stepper(compiled.imported), Stepper(compiled.graph)
        for sample in samples:
            yield _expected(compiled, imported, final, sample)


def _expected(compiled: Compiled, before: Stepper, after: Stepper, sample: Sample) -> Expected:
    """Golden values for every tensor of the final graph; those of the imported graph where it has the same tensor."""
    ports, _ = graph_ports(compiled.imported)
    feeds = network_feeds(ports, sample)
    imported = before.run(feeds)
    by_source = {v.source: imported[v.name] for v in compiled.imported.values.values() if v.source and not v.is_const}
    final = after.run({i.value: feeds[i.value] for i in compiled.graph.inputs})
    tensors = {}
    for tensor in compiled.program.tensors:
        own = by_source.get(tensor.source)
        if own is None:
            own = final[tensor.value]
        elif tensor.perm is not None:
            own = np.ascontiguousarray(own.transpose(tensor.perm))
        final[tensor.value] = own
        tensors[tensor.value] = made_rows(own, compiled.shadow.rows[tensor.value])
    return Expected(feeds, tensors, {o.value: final[o.value] for o in compiled.graph.outputs})


def _on_host(
    net: Network, expected: Iterable[Expected], steps: int, progress: Callable[[int], None]
) -> tuple[Difference | None, int]:
    """The first difference, and how many of the samples were compared; a reset comes before each row of `steps`."""
    done = 0
    for run, item in enumerate(expected):
        if run % steps == 0:
            net.reset()
        outputs, traced = net.trace_raw(item.feeds)
        found = [(name, golden, traced[name]) for name, golden in item.tensors.items()]
        found += [(name, golden, outputs[name]) for name, golden in item.outputs.items()]  # as they are after the run
        for name, golden, actual in found:
            difference = first_difference(name, golden, actual)
            if difference is not None:
                return difference, min(run + 1, steps)
        done = min(run + 1, steps)
        progress(done)
    return None, done


def _result(compiled: Compiled, difference: Difference | None, done: int) -> VerifyResult:
    checks: list[TensorCheck] = []
    for tensor in compiled.program.tensors:
        wrong = difference is not None and tensor.value == difference.tensor
        checks.append(TensorCheck(tensor.value, tensor.source, tensor.shape, tensor.dtype.value, not wrong))
        if wrong:
            break
    return VerifyResult(
        equal=difference is None,
        target=compiled.target.name,
        requant=str(compiled.manifest["requant"]),
        arithmetic=said_arithmetic(compiled.manifest),
        samples=done,
        checks=tuple(checks),
        first_difference=difference,
    )
