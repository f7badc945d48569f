"""The outputs of another runtime beside the golden model's, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from codegen.golden.compare import Difference, first_difference
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import Stepper
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from codegen.pipeline import Options
from codegen.records import record
from codegen.verbs.engines import Engine, open_engine


@record
class ReferenceCheck:
    """How many bytes of all outputs were compared with a runtime's, and how many differ."""

    runtime: str
    samples: int
    bytes: int
    differing: int
    first_difference: Difference | None

    @property
    def equal(self) -> bool:
        """Whether every byte is the same."""
        return self.differing == 0


def compare_with(runtime: str, model: Path, graph: Graph, samples: Sequence[Mapping[str, Array]]) -> ReferenceCheck:
    """Run the golden model, which the C equals, and a runtime on the same inputs, one after the other.

    Args:
        runtime: an engine's name: `tflm` or `litert`.
        model: the model's file.
        graph: as imported.
        samples: inputs by the model's names.

    Raises:
        ExtraMissing: LAM-API-002, the runtime is not installed.
        EngineFailed: LAM-API-010, it refuses the model.
    """
    total = differing = 0
    first: Difference | None = None
    stepper = Stepper(graph)
    with open_engine(runtime, model, Options()) as engine:
        for sample in samples:
            for name, own, other in _pairs(engine, stepper, sample):
                raw = [np.ascontiguousarray(a).view(np.uint8).reshape(-1) for a in (own, other)]
                total += raw[0].size
                differing += int((raw[0] != raw[1]).sum())
                first = first or first_difference(name, other, own)
    return ReferenceCheck(runtime, len(samples), total, differing, first)


def _pairs(engine: Engine, stepper: Stepper, sample: Mapping[str, Array]) -> list[tuple[str, Array, Array]]:
    """Each output: its name, the golden model's array and the runtime's."""
    ports, results = graph_ports(stepper.graph)
    values = stepper.run(network_feeds(ports, sample))
    others = engine.run(sample)
    return [(p.name, p.to_model(values[p.value]), others[p.name]) for p in results]
