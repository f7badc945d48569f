"""What is known of a model's variables while its operators are read in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.reader import Subgraph
from codegen.ir.quant import Array

Key = tuple[str, str]
"""A variable: its container and shared name, or "tensor" and the name of a tensor that operators update themselves."""


@dataclass(slots=True)
class Variables:
    """`graphs` are the model's; `handles` the tensors that name a variable.

    `now` is the value that each variable has at this point of the run, `states` the value with which the run began, for
    those that were read before they were assigned; `initial` is what CALL_ONCE assigned.
    """

    graphs: Sequence[Subgraph]
    handles: Mapping[int, Key] = field(init=False)
    now: dict[Key, str] = field(default_factory=dict)
    states: dict[Key, str] = field(default_factory=dict)
    initial: dict[Key, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find the handles of the network itself."""
        self.handles = handles_of(self.graphs[0])


def handles_of(graph: Subgraph) -> dict[int, Key]:
    """The variable that each result of a VAR_HANDLE names."""
    return {n.outputs[0]: _key(n) for n in graph.nodes if n.op_type == "VAR_HANDLE" and n.outputs}


def _key(node: TfliteNode) -> Key:
    """Container and shared name, which the options hold in this order."""
    return ("", "") if node.options is None else (node.options.text(0), node.options.text(1))
