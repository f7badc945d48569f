"""Runs the golden model and the generated C on the same inputs and compares every tensor, byte for byte."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from codegen.emit import write_project
from codegen.golden.compare import Difference, first_difference
from codegen.golden.interface import graph_ports, made_rows, network_feeds
from codegen.golden.interpreter import Stepper
from codegen.host import Network
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from codegen.options import ShapesGiven, shape_pairs
from codegen.pipeline import Compiled, Options, compile_file
from codegen.schedule import Optimize
from codegen.verbs.compile import check_options
from codegen.verbs.emulated import run_on_board
from codegen.verbs.reference import ReferenceCheck, compare_with
from codegen.verbs.samples import Sample, given_samples, random_samples
from codegen.verbs.sources import ModelSource, file_of, takes_model


@dataclass(frozen=True, slots=True)
class TensorCheck:
    """One tensor, compared over all samples run so far."""

    tensor: str
    source: str
    shape: tuple[int, ...]
    dtype: str
    equal: bool


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """What was compared, and the first difference when there is one."""

    equal: bool
    target: str
    requant: str
    samples: int
    checks: tuple[TensorCheck, ...]
    first_difference: Difference | None
    reference: ReferenceCheck | None = None

    @property
    def tensors_checked(self) -> int:
        """Tensors compared in each sample."""
        return len(self.checks)


@takes_model
def verify(
    model: ModelSource,
    *,
    target: str = "host",
    requant: str | None = None,
    weights: str = "c",
    optimize: Optimize | None = None,
    arena_limit: int | None = None,
    stream_input: bool = False,
    shapes: ShapesGiven = None,
    inputs: Path | str | Mapping[str, Array] | Sequence[Sample] | None = None,
    samples: int = 3,
    seed: int = 0,
    compiler: str | None = None,
    flags: Sequence[str] | None = None,
    reference: str | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> VerifyResult:
    """Compare golden and C on `samples` inputs.

    The golden model runs the graph as imported, before any pass; tensors that a pass stored transposed are compared
    transposed.  Of a network with state the inputs are steps, one after the other from a reset on; all of them are run,
    and after another reset all once more.  The C runs on the host, or on the target's emulated board when there is one.

    Args:
        model: the model file, as in `compile_model`.
        target: where the C runs: a target without a board means the host.
        requant: requantization mode; the target's default when None.
        weights: `c` or `blob`.
        optimize: which plan, as in `compile_model`.
        arena_limit: bytes the arena may have, as in `compile_model`.
        stream_input: push the input row by row: odd rows are written where NAME_next_row says, even rows are copied by
            NAME_push_row.
        shapes: of inputs with open dimensions, as in `compile_model`.
        inputs: an .npz file, arrays by input name, or samples; random over the input's range when None.
        samples: how many at most.
        seed: of the random inputs.
        compiler: host compiler.
        flags: its optimisation flags; see `Network`.
        reference: `tflm` or `litert`: compare the outputs of a TFLite model with that runtime's too.
        progress: called with the number of samples done.
    """
    options = Options(
        target=target,
        requant=requant,
        weights=weights,
        optimize=optimize,
        arena_limit=arena_limit,
        stream_input=stream_input,
        shapes=shape_pairs(shapes),
    )
    check_options(options)
    compiled = compile_file(file_of(model), options)
    chosen = _samples(compiled.imported, inputs, samples, seed)
    expected = _expectations(compiled, chosen)
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        project = Path(folder) / "project"
        write_project(project, compiled.files)
        if compiled.target.board is not None:
            items = list(expected)
            difference = run_on_board(compiled, project, [(e.feeds, e.tensors, e.outputs) for e in items], len(chosen))
            done = len(chosen)
        else:
            with Network(project, trace=True, compiler=compiler, flags=flags) as net:
                difference, done = _on_host(net, expected, len(chosen), progress)
    result = _result(compiled, difference, done)
    if reference is None:
        return result
    check = compare_with(reference, file_of(model), compiled.imported, chosen[:done])
    return replace(result, equal=result.equal and check.equal, reference=check)


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """One sample's network inputs, the tensors and outputs that the C must make, by the names of the final graph."""

    feeds: Mapping[str, Array]
    tensors: Mapping[str, Array]
    outputs: Mapping[str, Array]


def _samples(graph: Graph, inputs: object, count: int, seed: int) -> list[Sample]:
    ports, _ = graph_ports(graph)
    if inputs is None:
        return random_samples(ports, count, seed)
    if isinstance(inputs, Sequence) and not isinstance(inputs, str):
        return list(inputs)[:count]
    assert isinstance(inputs, str | Path | Mapping)
    return given_samples(ports, inputs, count)


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
        samples=done,
        checks=tuple(checks),
        first_difference=difference,
    )
