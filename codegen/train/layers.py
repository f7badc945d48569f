"""Layers that say themselves how they are quantized: the other way to ask, beside a configuration.

Decides: what their arguments mean in the quantizer's grammar.  A layer is plain torch until `prepare` reads it: a
product with its normalization and its activation in one piece, as the chip has it.  The arguments have the names of
Ingenic's training plug-in; what it computes is not documented, and no equality with it is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor, nn

from codegen.errors import LayerArgumentBad
from codegen.quantizer.config import QuantConfig, parse_config
from codegen.quantizer.config.levels import literal
from codegen.quantizer.places import Places
from codegen.records import record
from codegen.train.asking import Training
from codegen.train.learning import array_of
from codegen.train.naming import scope_of

_FLOAT = 32
_BYTE = 8
_WHERE = "the module"
_NOT_BELOW_ZERO = (nn.ReLU, nn.ReLU6, nn.Sigmoid, nn.Hardsigmoid)
_DEVICES = ("Txx", "T02", "T40", "T41", "Xs1", "Xs2")


@record(kw_only=True)
class Quantized:
    """How one layer is quantized.

    `weight_bitwidth` 2 to 8, `input_bitwidth` and `output_bitwidth` 2 to 8 or 16, of each of them 32 for real numbers;
    None leaves them to the configuration.  What is computed is cut at `clip_max_value`, weights begin with steps that
    hold `weight_factor` deviations of them, and ranges are learned as `learn` says.  With `quantize` False everything
    stays real.  `last_layer` gives real numbers unless `quantize_last_feature`.  `target_device` and `pre_lstm_layer`
    say nothing that is not known otherwise.
    """

    weight_bitwidth: int | None = None
    input_bitwidth: int | None = None
    output_bitwidth: int | None = None
    clip_max_value: float | None = None
    weight_factor: float | None = None
    learn: str | None = None
    quantize: bool = True
    first_layer: bool = False
    last_layer: bool = False
    quantize_last_feature: bool = False
    pre_lstm_layer: bool = False
    target_device: str = "Txx"

    def __post_init__(self) -> None:
        """LAM-TRAIN-008 for what means nothing."""
        _check("weight_bitwidth", self.weight_bitwidth, (None, *range(2, 9), _FLOAT), "2 to 8, or 32")
        for name in ("input_bitwidth", "output_bitwidth"):
            _check(name, getattr(self, name), (None, *range(2, 9), 16, _FLOAT), "2 to 8, 16 or 32")
        for name in ("clip_max_value", "weight_factor"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and 0 < value < float("inf")):
                raise LayerArgumentBad(f"is {value!r}, and takes a number above zero", where=name)
        _check("target_device", self.target_device, _DEVICES, ", ".join(_DEVICES))
        if self.quantize_last_feature and not self.last_layer:
            raise LayerArgumentBad("is said of a layer that is not the last_layer", where="quantize_last_feature")


_SAID = frozenset(field.name for field in fields(Quantized))


def _check(name: str, value: object, known: tuple[object, ...], takes: str) -> None:
    if isinstance(value, bool) or value not in known:
        raise LayerArgumentBad(f"is {value!r}, and takes {takes}", where=name)


class QuantLayer(nn.Module):  # type: ignore[misc]
    """A layer that says how it is quantized: `inner`, then a normalization and an activation, where there are any."""

    def __init__(self, inner: nn.Module, channels: int = 0, **words: Any) -> None:
        """`enable_batch_norm`, `activation_fn`, and the words of `Quantized`."""
        super().__init__()
        normed, activation = words.pop("enable_batch_norm", False), words.pop("activation_fn", None)
        unknown = [word for word in words if word not in _SAID]
        if unknown:
            raise LayerArgumentBad("is no argument of this layer", where=unknown[0])
        if activation is not None and not isinstance(activation, nn.Module):
            raise LayerArgumentBad(f"is {type(activation).__name__}, and takes a module", where="activation_fn")
        self.said = Quantized(**words)
        self.inner = inner
        self.norm = nn.BatchNorm2d(channels) if normed else None
        self.activation = activation

    def forward(self, *inputs: Tensor) -> Tensor:
        """Whatever is trained: as real numbers."""
        y = self.computed(*inputs)
        y = y if self.norm is None else self.norm(y)
        return y if self.activation is None else self.activation(y)

    def computed(self, *inputs: Tensor) -> Tensor:
        """What comes before the normalization."""
        return self.inner(*inputs)


class QuantConv2d(QuantLayer):
    """torch.nn.Conv2d's arguments, `enable_bias` for bias, and those of `QuantLayer`."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, **words: Any) -> None:
        """As the class says."""
        super().__init__(_made(nn.Conv2d, (in_channels, out_channels, kernel_size), words), out_channels, **words)


class QuantDepthwiseConv2d(QuantLayer):
    """A convolution of each channel by itself."""

    def __init__(self, in_channels: int, kernel_size: Any, **words: Any) -> None:
        """As QuantConv2d, without groups."""
        words["groups"] = in_channels
        super().__init__(_made(nn.Conv2d, (in_channels, in_channels, kernel_size), words), in_channels, **words)


class QuantConvTranspose2d(QuantLayer):
    """torch.nn.ConvTranspose2d's arguments, and those of QuantConv2d."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, **words: Any) -> None:
        """As the class says."""
        inner = _made(nn.ConvTranspose2d, (in_channels, out_channels, kernel_size), words)
        super().__init__(inner, out_channels, **words)


class QuantLinear(QuantLayer):
    """torch.nn.Linear's arguments, and those of QuantConv2d."""

    def __init__(self, in_features: int, out_features: int, **words: Any) -> None:
        """As the class says."""
        super().__init__(_made(nn.Linear, (in_features, out_features), words), **words)


class QuantBatchNorm2d(QuantLayer):
    """A normalization by itself."""

    def __init__(self, num_features: int, **words: Any) -> None:
        """Its channels, and the words of `QuantLayer`."""
        super().__init__(nn.BatchNorm2d(num_features), **words)


class QuantAdd(QuantLayer):
    """The sum of two tensors (a shortcut)."""

    def __init__(self, **words: Any) -> None:
        """The words of `QuantLayer`."""
        super().__init__(nn.Identity(), **words)

    def computed(self, *inputs: Tensor) -> Tensor:
        """Their sum."""
        return inputs[0] + inputs[1]


class QuantMul(QuantAdd):
    """The product of two tensors."""

    def computed(self, *inputs: Tensor) -> Tensor:
        """Their product."""
        return inputs[0] * inputs[1]


class QuantAvgPool2d(QuantLayer):
    """torch.nn.AvgPool2d's arguments, and those of `QuantLayer`."""

    def __init__(self, kernel_size: Any, **words: Any) -> None:
        """As the class says."""
        super().__init__(_made(nn.AvgPool2d, (kernel_size,), words), **words)


class QuantAdaptiveAvgPool2d(QuantLayer):
    """torch.nn.AdaptiveAvgPool2d's output_size, and the arguments of `QuantLayer`."""

    def __init__(self, output_size: Any, **words: Any) -> None:
        """As the class says."""
        super().__init__(nn.AdaptiveAvgPool2d(output_size), **words)


class QuantUpsample(QuantLayer):
    """Each pixel several times."""

    def __init__(self, scale_factor: int = 2, **words: Any) -> None:
        """How often, and the words of `QuantLayer`."""
        super().__init__(nn.Upsample(scale_factor=scale_factor, mode="nearest"), **words)


class QuantSEBlock(QuantLayer):
    """Channels times what they come to on average, through two layers (squeeze and excitation)."""

    def __init__(self, channels: int, hidden: int, **words: Any) -> None:
        """The channels, how many there are between the two layers, and the words of `QuantLayer`."""
        first, second = nn.Conv2d(channels, hidden, 1), nn.Conv2d(hidden, channels, 1)
        super().__init__(nn.Sequential(nn.AdaptiveAvgPool2d(1), first, nn.ReLU(), second, nn.Sigmoid()), **words)

    def computed(self, *inputs: Tensor) -> Tensor:
        """The input times the shares of its channels."""
        return inputs[0] * self.inner(inputs[0])


def _made(kind: Callable[..., nn.Module], sizes: tuple[Any, ...], words: dict[str, Any]) -> nn.Module:
    """A layer of torch, of the words that are its own; they are taken away."""
    own = {"bias": words.pop("enable_bias")} if "enable_bias" in words else {}
    ours = (*_SAID, "enable_batch_norm", "activation_fn")
    own |= {word: words.pop(word) for word in list(words) if word not in ours}
    try:
        return kind(*sizes, **own)
    except (TypeError, ValueError) as error:
        raise LayerArgumentBad(str(error), where=kind.__name__) from None


def said_by(module: nn.Module) -> QuantConfig:
    """What the layers of a module say, as a configuration."""
    layers = [(name, m) for name, m in module.named_modules() if isinstance(m, QuantLayer)]
    if not layers:
        return QuantConfig()
    quantize: dict[str, Any] = {"mixed": {"first": 0, "last": 0}}
    for _, layer in layers:
        quantize |= _of_network(layer.said)
    return parse_config({"quantize": quantize, "layer": [_entry(module, *layer) for layer in layers]}, _WHERE)


def check_widths(module: nn.Module, places: Places, training: Training) -> None:
    """LAM-TRAIN-008 where a layer says another width of what it reads than that has."""
    tensors = {t.name: t for t in places.tensors}
    for name, layer in module.named_modules():
        said = layer.said.input_bitwidth if isinstance(layer, QuantLayer) else None
        scope = scope_of(module, name)
        reads = next((n.inputs[0] for n in places.graph.nodes if n.name.startswith(scope)), "")
        if said is None or reads not in tensors:
            continue
        tensor = tensors[tensors[reads].like or reads]
        spec = training.spec(tensor.role, layer=tensor.layer, op_type=tensor.op_type, tensor=tensor.name)
        if said != (_FLOAT if spec.keep_float else spec.bits):
            found = f"is {said}, and what the layer reads has {_FLOAT if spec.keep_float else spec.bits} bits"
            raise LayerArgumentBad(found, where=f"input_bitwidth of {name}")


def _of_network(said: Quantized) -> Mapping[str, Any]:
    """What a layer says of the network's ends."""
    found: dict[str, Any] = {}
    if said.first_layer and said.input_bitwidth is not None:
        found["input"] = _bits(said.input_bitwidth)
    if said.last_layer and not said.quantize_last_feature:
        found["io"] = {"outputs": "float"}
    return found


def _entry(module: nn.Module, name: str, layer: QuantLayer) -> dict[str, Any]:
    said = layer.said
    entry: dict[str, Any] = {"name": f"{literal(scope_of(module, name))}*"}
    if not said.quantize:
        return entry | {"keep_float": True}
    return entry | {"weights": dict(_of_weights(layer)), "activation": dict(_of_results(layer))}


def _bits(bits: int) -> dict[str, Any]:
    return {"keep_float": True} if bits == _FLOAT else {"bits": bits}


def _of_weights(layer: QuantLayer) -> Iterator[tuple[str, Any]]:
    said = layer.said
    if said.weight_bitwidth is not None:
        yield from _bits(said.weight_bitwidth).items()
    if said.weight_factor is not None:
        yield "scales", [_spread_step(layer, said)]
        yield "learn", "lsq" if said.learn in (None, "pact", "lsq+") else said.learn
    elif said.learn not in (None, "pact", "lsq+"):
        yield "learn", said.learn


def _of_results(layer: QuantLayer) -> Iterator[tuple[str, Any]]:
    said = layer.said
    if said.output_bitwidth is not None:
        yield from _bits(said.output_bitwidth).items()
    if said.clip_max_value is not None:
        low = 0.0 if isinstance(layer.activation, _NOT_BELOW_ZERO) else -float(said.clip_max_value)
        yield "range", [low, float(said.clip_max_value)]
    if said.learn is not None:
        yield "learn", said.learn


def _spread_step(layer: QuantLayer, said: Quantized) -> float:
    """The step with which so many deviations of the weights are held, or all of them where that is less."""
    weights = next((p for name, p in layer.inner.named_parameters() if name.endswith("weight")), torch.ones(1))
    numbers = array_of(weights)
    reach = min(float(abs(numbers).max()), float(said.weight_factor or 0) * float(numbers.std()))
    bits = said.weight_bitwidth or _BYTE
    return max(reach, 1e-12) / ((1 << (bits - 1)) - 1)
