"""Names of layers in PyTorch, as the quantizers built on it write them, and what they are in a model's file.

Decides: which operators a module's class becomes, and where a module's path is found in the names of nodes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

TYPES: Mapping[str, tuple[str, ...]] = {
    "Conv1d": ("Conv",),
    "Conv2d": ("Conv", "DepthwiseConv"),
    "Conv3d": ("Conv",),
    "ConvTranspose1d": ("ConvTranspose",),
    "ConvTranspose2d": ("ConvTranspose", "TransposeConv"),
    "Linear": ("Gemm", "MatMul", "FullyConnected"),
    "BatchNorm1d": ("BatchNormalization",),
    "BatchNorm2d": ("BatchNormalization",),
    "ReLU": ("Relu",),
    "ReLU6": ("Clip", "Relu6"),
    "LeakyReLU": ("LeakyRelu",),
    "PReLU": ("PRelu",),
    "Sigmoid": ("Sigmoid", "Logistic"),
    "Tanh": ("Tanh",),
    "Hardsigmoid": ("HardSigmoid",),
    "Hardswish": ("HardSwish",),
    "Softmax": ("Softmax",),
    "MaxPool2d": ("MaxPool",),
    "AvgPool2d": ("AveragePool",),
    "AdaptiveAvgPool2d": ("GlobalAveragePool", "AveragePool", "Mean", "ReduceMean"),
    "Add": ("Add",),
    "Mul": ("Mul",),
    "Concat": ("Concat", "Concatenation"),
    "Cat": ("Concat", "Concatenation"),
    "Upsample": ("Resize", "Upsample"),
    "LSTM": ("LSTM",),
    "GRU": ("GRU",),
    "Embedding": ("Gather",),
}
_MODULES = re.compile(r"\w+\[([^\[\]]+)\]")


def operators(layer_type: str) -> tuple[str, ...]:
    """The operators of a module's class, `torch.nn.Conv2d`; the class itself where it is not known."""
    name = layer_type.rpartition(".")[2]
    return TYPES.get(name, (name,))


def exported_name(layer_name: str) -> str | None:
    """A glob for the nodes of a module `Net::Net/Sequential[layer1]/Conv2d[0]/input.2` as PyTorch exports it to ONNX.

    A module that is numbered within another is written with that one's name before its number.
    """
    parts = _MODULES.findall(layer_name)
    if not parts or any(ch in part for part in parts for ch in "*?"):
        return None
    return "".join(f"/*{part}" if part.isdigit() else f"/{part}" for part in parts) + "/*"
