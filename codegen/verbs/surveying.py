"""What `inspect` says of a model that cannot be imported: all its problems, what can be read, how to quantize it.

A float model's operators are counted on real numbers, and its layers are shown as they would be once quantized: the
ranges are made up, which changes no count and no size.
"""

from __future__ import annotations

import math
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from codegen.errors import CompileError
from codegen.frontends import Survey, Vocabulary, read_real
from codegen.ir.real import Multiplying, RealGraph
from codegen.options import Options
from codegen.verbs.inspection import FloatInput, LayerRow, OperatorRow, Quantizing
from codegen.verbs.sources import shown

Cost = tuple[int, int]
"""MACs and parameters."""


def all_problems(survey: Survey, error: CompileError) -> tuple[CompileError, ...]:
    """What made the import fail, and what reading on has found, each once."""
    found = {e.text(): e for e in (*error.problems(), *survey.problems)}
    return tuple(found.values())


def real_graph(model: Path, options: Options, survey: Survey, known: Vocabulary) -> RealGraph | None:
    """A float model on real numbers, where all of it can be read."""
    try:
        return read_real(model, shapes=dict(options.shapes), known=known) if survey.is_float else None
    except CompileError:
        return None


def operator_rows(survey: Survey, layers: Sequence[LayerRow], real: RealGraph | None) -> tuple[OperatorRow, ...]:
    """The model's own operators, with what they cost: on real numbers, or the layers that they become."""
    costs = _layer_costs(survey, layers) if real is None else _real_costs(real)
    violated = {name: row.violation for row in layers for name in row.source if row.violation}
    kinds = dict.fromkeys(node.operator for node in survey.nodes)
    return tuple(_operator(kind, survey, costs, violated) for kind in kinds)


def _layer_costs(survey: Survey, layers: Sequence[LayerRow]) -> Mapping[str, Cost]:
    """MACs and parameters by the name of the node that a layer stands for first; 0 for one that has none of its own."""
    costs = {node.name: (0, 0) for node in survey.nodes if not node.problem}
    for row in layers:
        for name in row.source[:1]:
            if name in costs:
                macs, parameters = costs[name]
                costs[name] = (macs + row.macs, parameters + row.parameters)
    return costs


def _real_costs(graph: RealGraph) -> Mapping[str, Cost]:
    """MACs and parameters by the model's nodes; a constant counts where it is first read."""
    costs: dict[str, Cost] = defaultdict(lambda: (0, 0))
    left = {v.name: v.data.size for v in graph.values.values() if v.data is not None and v.type.is_real}
    for node in graph.nodes:
        macs, parameters = costs[node.name]
        made = node.op.macs([graph.type(i) for i in node.inputs]) if isinstance(node.op, Multiplying) else 0
        costs[node.name] = (macs + made, parameters + sum(left.pop(i, 0) for i in node.inputs))
    return costs


def _operator(kind: str, survey: Survey, costs: Mapping[str, Cost], violated: Mapping[str, str]) -> OperatorRow:
    nodes = [n for n in survey.nodes if n.operator == kind]
    broken = [n.problem or violated.get(n.name, "") for n in nodes]
    known = [costs[n.name] for n in nodes if n.name in costs]
    return OperatorRow(
        operator=kind,
        count=len(nodes),
        refused=sum(map(bool, broken)),
        violations=tuple(dict.fromkeys(filter(None, broken))),
        macs=sum(macs for macs, _ in known) if known else None,
        parameters=sum(parameters for _, parameters in known) if known else None,
    )


def weights_at_8_bits(graph: RealGraph) -> int:
    """Bytes of the trained numbers with 8 bits each, biases and other vectors with 32."""
    known = (v.type for v in graph.values.values() if v.data is not None and v.type.is_real)
    return sum(math.prod(t.shape) * (1 if len(t.shape) > 1 else 4) for t in known)


def quantizing(model: Path, survey: Survey, real: RealGraph | None) -> Quantizing:
    """How a float model becomes one of integers."""
    if real is None:
        inputs = tuple(FloatInput(i.name, i.model_shape, i.model_dtype) for i in survey.inputs)
    else:
        inputs = tuple(FloatInput(name, real.type(name).shape, str(real.type(name).dtype)) for name in real.inputs)
    made = f"{model.stem}_int8.onnx"
    line = f"lamina quantize {shlex.quote(shown(model))} --calib CALIB.npz -o {shlex.quote(made)}"
    return Quantizing(inputs, (line,))
