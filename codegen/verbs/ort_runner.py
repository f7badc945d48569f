"""Networks on ONNX Runtime, where it is installed: as `RealEngine`, and faster.

Decides: that a network which cannot be written as ONNX, or that the runtime refuses, runs in numpy instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from codegen.errors import CompileError
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
        named = tuple(f"{i}" for i in range(len(shown)))
        self._graph, self._shown = graph, shown
        self._session: Any = session_of(real_bytes(replace(graph, outputs=shown, faces=named)))

    def tensors(self, feeds: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
        """Each tensor with its name: inputs first."""
        given = {name: feeds[name] for name in self._graph.inputs}
        yield from given.items()
        yield from zip(self._shown, self._session.run(None, given), strict=True)
