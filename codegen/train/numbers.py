"""The numbers of a network in training: weights, biases and operands, and the ranges that hold everything.

Decides: what is a parameter, what it is called, and which integers all of it comes to at a moment.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import torch
from torch import Tensor, nn

from codegen.errors import NothingTrained, TrainingDiverged
from codegen.ir.quant import Array
from codegen.ir.real import RealGraph, RealNode, Stored
from codegen.quantizer.places import Constant
from codegen.quantizer.places import Tensor as Place
from codegen.quantizer.scheme import Scheme, Weight
from codegen.quantizer.spec import Spec
from codegen.quantizer.weights import least_scales
from codegen.real.normal import BatchNorm
from codegen.train.asking import Training, places_of
from codegen.train.learning import Grid, WeightGrid, array_of, biased, way_of
from codegen.train.naming import constant_path, put, tensor_path

Key = tuple[str, int]
_WEIGHTS = 1
_CALLED = {"weights": "weight", "bias": "bias", "activation": "operand"}
"""Parameters, by what they are to the network."""
_MOMENTS = (3, 4)
"""Inputs of a normalization that are statistics, and no parameters."""


class Moment:
    """What holds each tensor now, and each constant as its integers hold it."""

    def __init__(self, tensors: Mapping[str, Stored], graph: RealGraph) -> None:
        """Only the tensors are known."""
        self.tensors, self.graph = tensors, graph
        self.weights: dict[Key, Weight] = {}
        self.held: dict[Key, Tensor] = {}

    @property
    def scheme(self) -> Scheme:
        """What a quantizer would have decided."""
        return Scheme(self.tensors, self.weights)


class Numbers:
    """Of the network `graph`: `network` has its constants as parameters, `ranges` what is learned of ranges."""

    def __init__(self, graph: RealGraph, single: RealGraph, training: Training) -> None:
        """Ranges of weights are those that the configuration's methods find; the others are not known yet.

        `single` is the network for one sample: what has another shape there is no parameter.
        """
        self.places, self._training = places_of(graph, training.config), training
        self.network, self.ranges = nn.Module(), nn.Module()
        self._constants = self._take_constants(graph, single)
        self._weights = self._take_weights(graph)
        self._tensors = self._take_tensors()
        tied = {t.name: t.like for t in self.places.tensors if t.tied and t.like in self._tensors}
        self._holding = {name: name for name in self._tensors} | tied

    def begin(self, found: Mapping[str, Stored]) -> None:
        """Begin with these ranges of tensors."""
        for name, path in self._tensors.items():
            self.ranges.get_submodule(path).begin(found[name])

    def constants(self) -> dict[str, Array]:
        """The parameters as they are now, by the names of the network's constants."""
        return {name: array_of(self.network.get_parameter(path)) for name, path in self._constants.items()}

    def constant(self, graph: RealGraph, name: str, like: Tensor) -> Tensor:
        """A constant as real numbers, where `like` is."""
        if name in self._constants:
            return self.network.get_parameter(self._constants[name])
        data = graph.values[name].data
        assert data is not None, name
        return torch.as_tensor(np.asarray(data), device=like.device)

    def hold(self, name: str, x: Tensor, known: Mapping[str, Tensor]) -> Tensor:
        """A tensor as its integers hold it; what is only moved is held already."""
        if name not in self._holding:
            return x
        grid = self.ranges.get_submodule(self._tensors[self._holding[name]])
        given = known.get(name)
        return grid.hold(x, None if given is None else given.reshape(x.shape))

    def moment(self, graph: RealGraph, only: Collection[str] | None = None) -> Moment:
        """Everything as it is now, for the network of some number of samples; or constants of some nodes `only`.

        Raises:
            TrainingDiverged: LAM-TRAIN-006, a parameter is no number.
        """
        for root in (self.network, self.ranges):
            for name, parameter in root.named_parameters():
                if not torch.isfinite(parameter).all():
                    raise TrainingDiverged("is NaN or infinite", where=name)
        moment = Moment(self._stored(), graph)
        for constant in self.places.constants:
            if only is not None and constant.label not in only:
                continue
            if constant.role == "bias":
                self._add_bias(moment, constant)
            elif constant.key in self._weights:
                self._add_weight(moment, constant)
        return moment

    def parameter(self, constant: Constant) -> nn.Parameter | None:
        """What training changes of a constant."""
        path = self._constants.get(constant.name)
        return None if path is None else self.network.get_parameter(path)

    def grid(self, constant: Constant) -> WeightGrid | None:
        """What holds a constant that has a range of its own."""
        path = self._weights.get(constant.key)
        return None if path is None else self.ranges.get_submodule(path)

    def tensor_grid(self, name: str) -> Grid | None:
        """What holds a tensor that has a range of its own."""
        path = self._tensors.get(name)
        return None if path is None else self.ranges.get_submodule(path)

    def _take_constants(self, graph: RealGraph, single: RealGraph) -> dict[str, str]:
        """Real constants of more than one number become parameters: their paths, by the names of the values."""
        roles = {c.name: c.role for c in self.places.constants}
        paths: dict[str, str] = {}
        for node in graph.nodes:
            for place, name in enumerate(node.inputs):
                same = name in single.values and single.type(name).shape == graph.type(name).shape
                if name not in paths and same and _is_learned(graph, node, place):
                    paths[name] = constant_path(node, _CALLED[roles.get(name, "bias")], paths.values())
                    data = torch.tensor(np.asarray(graph.values[name].data, np.float32))
                    put(self.network, paths[name], nn.Parameter(data))
        return paths

    def _take_weights(self, graph: RealGraph) -> dict[Key, str]:
        """Ranges of weights and operands: their paths."""
        paths: dict[Key, str] = {}
        for constant in self.places.constants:
            spec = self._spec_of(constant)
            data = graph.values[constant.name].data
            if constant.role != "bias" and not spec.keep_float and data is not None:
                path = constant_path(self.places.node(constant), _CALLED[constant.role], paths.values())
                put(self.ranges, path, WeightGrid(spec, data, constant.axis))
                paths[constant.key] = path
        return paths

    def _take_tensors(self) -> dict[str, str]:
        """Ranges of what the network is given and computes, but of those that share another's: their paths."""
        paths: dict[str, str] = {}
        for tensor in self.places.tensors:
            spec = self._spec_of(tensor)
            if tensor.like or spec.keep_float:
                continue
            fixed = tensor.bounds is not None or spec.method == "fixed"
            paths[tensor.name] = tensor_path(tensor.name, [*paths.values(), *self._weights.values()])
            put(self.ranges, paths[tensor.name], Grid(spec, way_of(spec, fixed=fixed)))
        if not paths:
            raise NothingTrained("all of it stays float", where="module")
        return paths

    def _spec_of(self, what: Constant | Place) -> Spec:
        return self._training.spec(what.role, layer=what.layer, op_type=what.op_type, tensor=what.name)

    def _stored(self) -> dict[str, Stored]:
        found: dict[str, Stored] = {}
        for tensor in self.places.tensors:
            if tensor.name in self._tensors:
                found[tensor.name] = self.ranges.get_submodule(self._tensors[tensor.name]).stored()
            elif tensor.like in found and not self._spec_of(tensor).keep_float:
                found[tensor.name] = found[tensor.like]
        return found

    def _real(self, moment: Moment, constant: Constant) -> Tensor:
        """A constant's real numbers."""
        return self.constant(moment.graph, constant.name, next(iter(self.network.parameters())))

    def _add_weight(self, moment: Moment, constant: Constant) -> None:
        """A constant's integers; nothing where what it is multiplied with stays real."""
        floor: Array | float = 0.0
        if constant.role == "weights":
            reads = moment.tensors.get(self.places.node(constant).inputs[1 - constant.place])
            if reads is None:
                return
            floor = 0.0 if constant.axis is None else self._floor(moment, constant, float(reads.scale))
        grid = self.ranges.get_submodule(self._weights[constant.key])
        moment.held[constant.key], moment.weights[constant.key] = grid(self._real(moment, constant), floor)

    def _floor(self, moment: Moment, constant: Constant, reads: float) -> Array:
        """The least step of each output, so that its bias and its factor fit."""
        node = self.places.node(constant)
        held = moment.tensors.get(self.places.held_as(node.outputs[0]))
        outputs = self._real(moment, constant).shape[constant.axis]
        sizes = self._sizes(moment, node, outputs)
        return least_scales(sizes, reads, None if held is None else float(held.scale), outputs)

    def _sizes(self, moment: Moment, node: RealNode, outputs: int) -> Array | None:
        """How large the bias of each output is, in the largest of its groups."""
        bias = next((c for c in self.places.of(node) if c.role == "bias"), None)
        data = None if bias is None else np.abs(array_of(self._real(moment, bias)).reshape(-1))
        return None if data is None or data.size % outputs else data.reshape(-1, outputs).max(axis=0)

    def _add_bias(self, moment: Moment, constant: Constant) -> None:
        """A bias at the scale of its product; one whose product has none stays real."""
        reads = moment.tensors.get(self.places.node(constant).inputs[0])
        weight = moment.weights.get((constant.label, _WEIGHTS))
        if reads is None or weight is None or weight.stored.block or constant.name not in self._constants:
            return
        scale = (np.float64(float(reads.scale)) * weight.stored.scale.reshape(-1)).astype(np.float32)
        made = biased(self._real(moment, constant), scale, constant.axis, self._spec_of(constant).rounding)
        moment.held[constant.key], moment.weights[constant.key] = made


def _is_learned(graph: RealGraph, node: RealNode, place: int) -> bool:
    """Whether an input is a constant that training may change."""
    value = graph.values[node.inputs[place]]
    if value.data is None or not value.type.is_real or value.data.size < 2:
        return False
    return not (isinstance(node.op, BatchNorm) and place in _MOMENTS)
