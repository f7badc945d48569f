"""ONNX Runtime as an oracle: every quantized tensor of a model, graph optimisation off."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from codegen.verbs.samples import Sample
from tests.support.outsider import ort_session


class Oracle:
    """Runs a model in ONNX Runtime with each integer tensor of `graph` that the model also has as an output."""

    def __init__(self, path: Path, graph: Graph) -> None:
        model = onnx.load(path)
        made = {name for node in model.graph.node for name in node.output}
        given = {i.name for i in model.graph.input}
        own = {o.name for o in model.graph.output}
        wanted = {v.source for v in graph.values.values() if v.source and not v.is_const and not v.type.dtype.is_float}
        self.names = sorted(n for n in wanted if n in made and n not in given)
        kinds = _integer_types(model)
        self.names = [n for n in self.names if n in kinds]
        extra = [onnx.helper.make_tensor_value_info(n, kinds[n], None) for n in self.names if n not in own]
        model.graph.output.extend(extra)
        self.session = ort_session(model)

    def tensors(self, sample: Sample) -> dict[str, Array]:
        """Every wanted tensor of one sample, in the model's layout."""
        made = self.session.run(self.names, dict(sample)) if self.names else []
        return dict(zip(self.names, made, strict=True))


_ZERO_POINT_INPUT = {
    "QuantizeLinear": 2,
    "QLinearConv": 7,
    "QLinearMatMul": 7,
    "QLinearAdd": 7,
    "QLinearMul": 7,
    "QGemm": 8,
    "QLinearAveragePool": 4,
    "QLinearGlobalAveragePool": 4,
    "QLinearSigmoid": 4,
    "QLinearLeakyRelu": 4,
    "QLinearSoftmax": 4,
    "QLinearConcat": 1,
}
"""Which input of an operator holds the zero point of its result, whose type is the result's."""


def _integer_types(model: onnx.ModelProto) -> dict[str, int]:
    """Element types of the tensors that QuantizeLinear and QLinear operators make."""
    consts = {i.name: i.data_type for i in model.graph.initializer}
    found: dict[str, int] = {}
    for node in model.graph.node:
        place = _ZERO_POINT_INPUT.get(node.op_type)
        if place is not None and len(node.input) > place and node.input[place] in consts:
            found[node.output[0]] = consts[node.input[place]]
    return found


def run_forced(graph: Graph, feeds: dict[str, Array], oracle: dict[str, Array]) -> dict[str, tuple[Array, Array]]:
    """Each layer of the imported graph run on the oracle's inputs: by tensor, (ours, the oracle's).

    After each tensor that the oracle also has, its value goes on instead of ours, so errors do not add up.
    """
    values = {name: value.data for name, value in graph.values.items() if value.data is not None}
    values.update(feeds)
    pairs: dict[str, tuple[Array, Array]] = {}
    for node in graph.nodes:
        results = node.op.golden([values[i] for i in node.inputs])
        for name, made in zip(node.outputs, results, strict=True):
            source = graph.values[name].source
            if source in oracle and oracle[source].shape == made.shape and made.dtype == oracle[source].dtype:
                pairs[source] = (made, oracle[source])
                values[name] = oracle[source]
            else:
                values[name] = made
    return pairs


def share_equal(ours: Array, theirs: Array) -> tuple[int, int, int]:
    """Elements that differ, elements, largest difference."""
    gap = np.abs(ours.astype(np.int64) - theirs.astype(np.int64))
    return int((gap > 0).sum()), int(gap.size), int(gap.max(initial=0))
