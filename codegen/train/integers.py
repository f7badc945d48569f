"""The integer network of a moment: settled from the numbers as they are, and run by the golden model.

Decides: that samples run together where every operator of the network takes several of them, and one after the other
elsewhere.  `codegen.settle` says which integers there are, `codegen.golden` what they are: training and evaluation look
here for every tensor's integers, and what is settled is the file as it will be read, so that what is trained is what is
compiled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen.frontends import REQUANT_KEY, real_bytes
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array, Mode
from codegen.ir.real import RealGraph
from codegen.quantizer.applied import applied
from codegen.quantizer.arithmetic import arithmetic_of
from codegen.quantizer.config import QuantConfig
from codegen.quantizer.scheme import Scheme
from codegen.real.storage import Quantize
from codegen.records import record
from codegen.settle.walk import settle
from codegen.train.reading import read_bytes

DEFAULT_MODE: Mode = "single"


@record(eq=False)
class Ran:
    """What a run gave: of each tensor the integers less its zero point, float32; of each output integers and reals."""

    centred: Mapping[str, Array]
    integers: Mapping[str, Array]
    reals: Mapping[str, Array]


@record(eq=False)
class Integers:
    """A quantized network: its file, and what that is in integers; `held` are the integer values of tensors."""

    file: bytes
    graph: Graph
    mode: Mode
    held: Mapping[str, str]

    def run(self, feeds: Mapping[str, Array]) -> Ran:
        """All samples: as many at once as the network takes."""
        count, at_once = len(next(iter(feeds.values()))), self.graph.inputs[0].model_shape[0]
        parts = ({name: x[i : i + at_once] for name, x in feeds.items()} for i in range(0, count, at_once))
        return _joined([self._run(part) for part in parts])

    def _run(self, feeds: Mapping[str, Array]) -> Ran:
        ins, outs = graph_ports(self.graph)
        values = run_graph(self.graph, network_feeds(ins, feeds))
        centred = {name: self._centred(values, value) for name, value in self.held.items() if value in values}
        integers = {port.name: values[port.value] for port in outs}
        return Ran(centred, integers, {port.name: port.to_model(values[port.value]) for port in outs})

    def _centred(self, values: Mapping[str, Array], value: str) -> Array:
        quant = self.graph.type(value).quant
        zero = 0 if quant is None else quant.zero_point
        return (values[value].astype(np.int64) - zero).astype(np.float32)


def _joined(parts: Sequence[Ran]) -> Ran:
    """The samples' results, of which those of tensors that have samples somewhere else than first are not known."""
    if len(parts) == 1:
        return parts[0]
    kinds = ([p.centred for p in parts], [p.integers for p in parts], [p.reals for p in parts])
    return Ran(*map(_concatenated, kinds))


def _concatenated(parts: Sequence[Mapping[str, Array]]) -> Mapping[str, Array]:
    first = (name for name, array in parts[0].items() if array.shape[:1] == (1,))
    return {name: np.concatenate([one[name] for one in parts]) for name in first}


def integers_of(graph: RealGraph, scheme: Scheme, config: QuantConfig, mode: Mode | None) -> Integers:
    """The integer network that a scheme makes of a float one; without a mode, its own or `single`.

    Raises:
        ModelRejected: LAM-IMPORT-001, with every problem of the network.
    """
    made = applied(graph, scheme).live()
    own = mode or arithmetic_of(made, config)[0] or DEFAULT_MODE
    held = {node.inputs[0]: node.outputs[0] for node in made.nodes if isinstance(node.op, Quantize)}
    file = real_bytes(made, {REQUANT_KEY: own})
    return Integers(file, settle(read_bytes(file), own), own, held)


def renewed(graph: RealGraph, numbers: Mapping[str, Array]) -> RealGraph:
    """The network with other numbers for some of its constants."""
    values = dict(graph.values)
    values.update({name: replace(values[name], data=data) for name, data in numbers.items() if name in values})
    return replace(graph, values=values)
