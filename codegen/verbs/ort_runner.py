"""Networks on ONNX Runtime, where it is installed: as `RealEngine`, and faster.

Decides: that a network which cannot be written as ONNX, or that the runtime refuses, at once or when it runs, runs in
numpy instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from codegen.errors import CompileError, EngineFailed
from codegen.frontends import real_bytes
from codegen.ir.quant import Array
from codegen.ir.real import RealGraph
from codegen.quantizer.scheme import Runner, Running
from codegen.real.engine import RealEngine
from codegen.records import record
from codegen.verbs.float_engine import has_runtime, session_of


@record
class OrtRunner:
    """Opens networks on ONNX Runtime, graph optimization off, one thread.  `outputs_only` leaves out what is inside."""

    outputs_only: bool = False

    def __call__(self, graph: RealGraph) -> Running:
        """The network, ready to run."""
        return _opened(graph, graph.outputs if self.outputs_only else _computed(graph)) or RealEngine(graph)


def whole_run(graph: RealGraph) -> Running | None:
    """The network's outputs on ONNX Runtime, which is installed, where that takes it."""
    return _opened(graph, graph.outputs)


def _opened(graph: RealGraph, shown: Sequence[str]) -> Running | None:
    try:
        return _OrtRunning(graph, shown)
    except CompileError:
        return None


def best_runner(*, outputs_only: bool = False) -> Runner:
    """ONNX Runtime where it is installed, numpy otherwise."""
    return OrtRunner(outputs_only) if has_runtime() else RealEngine


def _computed(graph: RealGraph) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for node in graph.nodes for name in node.outputs))


class _OrtRunning:
    def __init__(self, graph: RealGraph, shown: Sequence[str]) -> None:
        shown = tuple(dict.fromkeys(shown))
        self._graph = replace(graph, outputs=shown, faces=tuple(f"{i}" for i in range(len(shown))))
        self._run = session_of(real_bytes(self._graph))
        self._instead: RealEngine | None = None

    def tensors(self, feeds: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
        """Each tensor with its name: inputs first."""
        given = {name: feeds[name] for name in self._graph.inputs}
        yield from given.items()
        yield from zip(self._graph.outputs, self._made(given), strict=True)

    def _made(self, given: Mapping[str, Array]) -> Sequence[Array]:
        if self._instead is None:
            try:
                return self._run(given)
            except EngineFailed:
                self._instead = RealEngine(self._graph)
        return list(self._instead.run(given).values())
