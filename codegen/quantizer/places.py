"""Which tensors and constants of a float network a quantizer gives integers, and which are part of their reader.

Decides: a tensor that the next node makes part of its maker (a bias, an activation, BatchNormalization behind a
product) has no integers of its own; one that is only moved has those of what it was moved from; the results of
functions between known bounds have scales that depend on nothing.  Leaves to the configuration how many bits there are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from codegen.ir.real import HeldBy, Joined, RealGraph, RealNode, RealValue, Tie
from codegen.quantizer.spec import Role
from codegen.real.elementwise import Binary, Clip, Function, PRelu
from codegen.real.movement import MOVING, Concat, Pad
from codegen.real.normal import BatchNorm
from codegen.real.product import Gemm, MatMul
from codegen.real.reduce import Reduce, Softmax
from codegen.real.resize import Resize
from codegen.real.storage import Dequantize, Quantize
from codegen.real.window import Conv, ConvTranspose, MaxPool
from codegen.records import record

PRODUCTS = (Conv, ConvTranspose, Gemm, MatMul)
"""Operators that sum products of their first input with weights."""
_MOVING = (MaxPool, *MOVING)
_EXTREMES = ("Max", "Min")
_SHARES = ("Sigmoid", "HardSigmoid")


@record
class Tensor:
    """A tensor that is given integers, and the `layer` that computes it, a node of the model.

    `like` is the tensor whose integers it has, since it is only moved from there, or plays the same part; `bounds` are
    known without samples; `tied` says that it is not moved;
    wide integers reach from -`reach` to `reach` at least, and `headroom` times as far as samples say.
    """

    name: str
    role: Role
    layer: str
    op_type: str
    like: str = ""
    bounds: tuple[float, float] | None = None
    reach: float = 0.0
    headroom: float = 1.0
    tied: bool = False


@record
class Constant:
    """A constant that is given integers: the `place`-th input of the node called `label`, of the model's `layer`.

    `axis` is that of the output channels, None where there is none; a bias belongs to the products of inputs 0 and 1.
    """

    label: str
    place: int
    name: str
    role: Role
    layer: str
    op_type: str
    axis: int | None = None

    @property
    def key(self) -> tuple[str, int]:
        """What it is called in a Scheme."""
        return self.label, self.place


class Places:
    """The tensors and constants of one network.  `kept` are names of nodes whose results and constants stay real."""

    def __init__(self, graph: RealGraph, kept: Collection[str] = ()) -> None:
        self.graph = graph
        self.kept = frozenset(kept)
        self._readers: dict[str, list[RealNode]] = {}
        for node in graph.nodes:
            for name in node.inputs:
                self._readers.setdefault(name, []).append(node)
        self.folded = frozenset(name for n in graph.nodes for name in n.outputs if self._is_folded(n, name))
        """Tensors that become part of the node behind them."""

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        """What is given integers, in the order in which it is computed."""
        found = [Tensor(name, "input", name, "Input") for name in self.graph.inputs if self._is_real(name)]
        known = {t.name for t in found}
        for node in self.graph.nodes:
            made = [self._tensor(node, name, known) for name in node.outputs if self._is_given(node, name)]
            known.update(t.name for t in made)
            found += made
        return _tied(found, _together(self.graph.ties, self._of_one_scale(found)))

    @property
    def wide(self) -> Mapping[str, int]:
        """The bits of what asks for them where nobody else does, by its name."""
        return {name: tie.bits for tie in self.graph.ties if tie.bits for name in tie.names}

    @cached_property
    def _joined(self) -> Mapping[str, HeldBy]:
        """Of operators that join the house's, whose integers hold the result, by the node's label."""
        values, found = self.graph.values, {}
        for node in self.graph.nodes:
            if isinstance(node.op, Joined):
                known = [i for i, name in enumerate(node.inputs) if values[name].data is not None]
                found[node.label] = node.op.held_by([values[name].type for name in node.inputs], known)
        return found

    def _of_one_scale(self, found: Sequence[Tensor]) -> Sequence[Tie]:
        """What an operator that keeps the scale of its inputs wants of them, where it has several."""
        like = {t.name: t.like or t.name for t in found}
        ties = []
        for node in self.graph.nodes:
            if self._joined.get(node.label) == "inputs":
                names = {like[name] for name in node.inputs if name in like}
                while names != (further := {like[name] for name in names}):
                    names = further
                ties += [Tie(frozenset(names), bits=0)] if len(names) > 1 else []
        return ties

    @cached_property
    def constants(self) -> tuple[Constant, ...]:
        """Weights, biases and operands, in the order of the nodes that read them."""
        return tuple(c for node in self.graph.nodes for c in self._constants(node))

    def value(self, constant: Constant) -> RealValue:
        """The constant itself."""
        return self.graph.values[constant.name]

    @cached_property
    def _nodes(self) -> dict[str, RealNode]:
        return {node.label: node for node in self.graph.nodes}

    @cached_property
    def _of_node(self) -> dict[str, list[Constant]]:
        found: dict[str, list[Constant]] = {}
        for constant in self.constants:
            found.setdefault(constant.label, []).append(constant)
        return found

    def node(self, constant: Constant) -> RealNode:
        """The node that reads a constant."""
        return self._nodes[constant.label]

    def of(self, node: RealNode) -> Sequence[Constant]:
        """The constants of a node."""
        return self._of_node.get(node.label, ())

    def held_as(self, name: str) -> str:
        """The tensor whose integers hold a result: itself, or what it becomes part of."""
        while name in self.folded:
            name = self._readers[name][0].outputs[0]
        return name

    def _is_real(self, name: str) -> bool:
        return self.graph.type(name).is_real and name not in self.kept

    def _is_given(self, node: RealNode, name: str) -> bool:
        """Whether a result is given integers: a real one that is not folded, of a node that is not kept real."""
        return self._is_real(name) and name not in self.folded and node.name not in self.kept

    def _tensor(self, node: RealNode, name: str, known: Collection[str]) -> Tensor:
        keeps = self._joined.get(node.label) == "inputs"
        sources = [i for i in node.inputs if i in known] if keeps else node.inputs[:1]
        source = sources[0] if sources else ""
        like = source if (keeps or moves_only(node.op)) and source in known else ""
        return Tensor(name, "activation", node.name, node.op_type, like, None if like else natural_bounds(node.op))

    def _is_folded(self, node: RealNode, name: str) -> bool:
        """Whether the next node becomes part of this one: an activation, a bias."""
        readers = self._readers.get(name, [])
        if len(readers) != 1 or name in self.graph.outputs or not isinstance(node.op, (*PRODUCTS, BatchNorm, Binary)):
            return False
        reader = readers[0].op
        if isinstance(reader, Clip) or (isinstance(reader, Function) and reader.name == "Relu"):
            return True
        return self._is_bias(node, readers[0]) or (isinstance(node.op, PRODUCTS) and isinstance(reader, BatchNorm))

    def _is_bias(self, node: RealNode, reader: RealNode) -> bool:
        """Whether a constant with a number for each output is added to a product with known weights."""
        if not isinstance(node.op, MatMul) or reader.op != Binary("Add"):
            return False
        values, rank = self.graph.values, len(self.graph.type(node.outputs[0]).shape)
        shapes = [values[i].type.shape for i in reader.inputs if values[i].data is not None]
        even = any(len(shape) <= rank and all(n == 1 for n in shape[:-1]) for shape in shapes)
        return even and values[node.inputs[0]].data is None and values[node.inputs[1]].data is not None

    def _constants(self, node: RealNode) -> Sequence[Constant]:
        if node.name in self.kept or any(i in self.folded for i in node.inputs):
            return ()  # it becomes part of a product that waits for its scale: its constant is a bias or a factor
        made = []
        for place, (role, axis) in (_places(node) if self._joined.get(node.label) != "real" else {}).items():
            if place < len(node.inputs) and self._is_constant(node.inputs[place]):
                name = node.inputs[place]
                rank = len(self.graph.type(name).shape)
                at = axis if axis is None or -rank <= axis < rank else None
                known = at if at is None else at % rank
                made.append(Constant(node.label, place, name, role, node.name, node.op_type, known))
        return made

    def _is_constant(self, name: str) -> bool:
        """Whether it is one that a quantizer makes integers: real, more than a single number, not stored already."""
        value = self.graph.values[name]
        return value.data is not None and value.stored is None and value.type.is_real and value.data.size > 1


def _together(ties: Sequence[Tie], more: Sequence[Tie]) -> Sequence[Tie]:
    """The ties, of which those that meet are one."""
    found = list(ties)
    for tie in more:
        met = [t for t in found if t.names & tie.names]
        for other in met:
            found.remove(other)
            most = max(tie.bits, other.bits), max(tie.reach, other.reach), max(tie.headroom, other.headroom)
            tie = Tie(tie.names | other.names, *most)
        found.append(tie)
    return found


def _tied(tensors: Sequence[Tensor], ties: Sequence[Tie]) -> tuple[Tensor, ...]:
    """The tensors, of which those of a tie are like the first of them."""
    of = {name: tie for tie in ties for name in tie.names}
    leaders: dict[Tie, Tensor] = {}
    made = []
    for tensor in tensors:
        tie = None if tensor.like else of.get(tensor.name)
        if tie is None:
            made.append(tensor)
        elif tie in leaders:
            made.append(replace(tensor, like=leaders[tie].name, bounds=None, tied=True))
        else:
            bounds = tensor.bounds if len(tie.names) == 1 else None
            leaders[tie] = replace(tensor, bounds=bounds, reach=tie.reach, headroom=tie.headroom)
            made.append(leaders[tie])
    return tuple(made)


def _places(node: RealNode) -> Mapping[int, tuple[Role, int | None]]:
    """Inputs whose constants are made integers: what they are, and the axis of the output channels."""
    match node.op:
        case Conv():
            return {1: ("weights", 0), 2: ("bias", 0)}
        case ConvTranspose():
            return {1: ("weights", 1), 2: ("bias", 0)}
        case Gemm(turn_b=turned, alpha=alpha, beta=beta):
            weights: Mapping[int, tuple[Role, int | None]] = {0: ("weights", None), 1: ("weights", 0 if turned else 1)}
            return {**weights, 2: ("bias", -1)} if alpha == beta == 1 else weights
        case MatMul():
            return {0: ("weights", None), 1: ("weights", -1)}
        case PRelu():
            return {1: ("activation", None)}
        case Concat():
            return dict.fromkeys(range(len(node.inputs)), ("activation", None))
        case Binary(kind="Add" | "Sub" | "Mul"):
            return {0: ("activation", None), 1: ("activation", None)}
        case Joined(operands=operands):
            return dict.fromkeys(operands, ("activation", None))
        case _:
            return {}


def moved_from(graph: RealGraph) -> Callable[[str], str]:
    """What tells of a value from which it was only moved."""
    makers = {output: node for node in graph.nodes for output in node.outputs}

    def root(name: str) -> str:
        while (maker := makers.get(name)) is not None and moves_only(maker.op):
            name = maker.inputs[0]
        return name

    return root


def moves_only(op: object) -> bool:
    """Whether each element of the result is one of the first input's, or zero."""
    match op:
        case Pad(mode=mode, value=value):
            return mode != "constant" or value == 0
        case Resize(mode=mode, outside=outside):
            return mode == "nearest" and outside == 0
        case Reduce(kind=kind):
            return kind in _EXTREMES
        case _:
            return isinstance(op, _MOVING)


def natural_bounds(op: object) -> tuple[float, float] | None:
    """Least and greatest result, where these are few and the operator gives no others."""
    match op:
        case Softmax(log=False):
            return 0.0, 1.0
        case Function(name=name) if name in _SHARES:
            return 0.0, 1.0
        case Function(name="Tanh"):
            return -1.0, 1.0
        case _:
            return None


def is_quantized(graph: RealGraph) -> bool:
    """Whether anything in a network is held as integers."""
    stored = any(v.stored is not None for v in graph.values.values())
    return stored or any(isinstance(n.op, Quantize | Dequantize) for n in graph.nodes)
