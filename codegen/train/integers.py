"""The integer network of a moment: settled from the numbers as they are, and run by the golden model.

Decides nothing: `codegen.settle` says which integers there are, `codegen.golden` what they are.  Training and
evaluation look here for every tensor's integers, so that what is trained is what is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from codegen.golden.interface import PortSpec, graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array, Mode
from codegen.ir.real import RealGraph
from codegen.quantizer.applied import applied
from codegen.quantizer.arithmetic import arithmetic_of
from codegen.quantizer.config import QuantConfig
from codegen.quantizer.scheme import Scheme
from codegen.real.storage import Quantize
from codegen.settle.walk import settle

DEFAULT_MODE: Mode = "single"


@dataclass(frozen=True, slots=True, eq=False)
class Integers:
    """A quantized network and its integer form.  `held` are the integer values of tensors by their names."""

    real: RealGraph
    graph: Graph
    mode: Mode
    held: Mapping[str, str]

    def run(self, feeds: Mapping[str, Array]) -> Mapping[str, Array]:
        """All integers, by the names of the graph's values."""
        ports, _ = graph_ports(self.graph)
        return run_graph(self.graph, network_feeds(ports, feeds))

    def centred(self, values: Mapping[str, Array], tensor: str) -> Array | None:
        """A tensor's integers less their zero point, float32; None where the network holds no integers of it."""
        value = self.held.get(tensor, "")
        if value not in values:
            return None
        quant = self.graph.type(value).quant
        zero = 0 if quant is None else quant.zero_point
        return (values[value].astype(np.int64) - zero).astype(np.float32)

    def outputs(self) -> tuple[PortSpec, ...]:
        """What the network gives."""
        return graph_ports(self.graph)[1]


def integers_of(graph: RealGraph, scheme: Scheme, config: QuantConfig, mode: Mode | None) -> Integers:
    """The integer network that a scheme makes of a float one; without a mode, its own or `single`.

    Raises:
        ModelRejected: LAM-IMPORT-001, with every problem of the network.
    """
    made = applied(graph, scheme).live()
    own = mode or arithmetic_of(made, config)[0] or DEFAULT_MODE
    held = {node.inputs[0]: node.outputs[0] for node in made.nodes if isinstance(node.op, Quantize)}
    return Integers(made, settle(made, own), own, held)


def renewed(graph: RealGraph, numbers: Mapping[str, Array]) -> RealGraph:
    """The network with other numbers for some of its constants."""
    values = dict(graph.values)
    values.update({name: replace(values[name], data=data) for name, data in numbers.items() if name in values})
    return replace(graph, values=values)
