"""Names of parameters: those of the module's own layers, where torch.onnx has told them.

Decides: `/stem/conv/Conv` of the file is `stem.conv`, so that a weight is `stem.conv.weight` as it was in the module.
"""

from __future__ import annotations

from collections.abc import Container

from torch import nn

from codegen.ir.names import free_name
from codegen.ir.real import RealNode

_OUTPUT = "_output_"


def path_of(name: str) -> str:
    """The module that a node of the file stands in, or the node itself where it stands in none."""
    parts = [part.replace(".", "_") for part in name.split("/") if part]
    parts = parts[:-1] if len(parts) > 1 else parts
    return ".".join(f"{part}_" if hasattr(nn.Module, part) else part for part in parts) or "node"


def constant_path(node: RealNode, role: str, taken: Container[str]) -> str:
    """What a constant of a node is called."""
    return free_name(f"{path_of(node.name)}.{role}", taken, "_")


def tensor_path(name: str, taken: Container[str]) -> str:
    """What a tensor's range is called: the module, or the operator, that computes it."""
    plain = name.partition(_OUTPUT)[0] or name
    return free_name(f"{path_of(plain)}.output", taken, "_")


def put(root: nn.Module, path: str, child: nn.Module | nn.Parameter) -> None:
    """Place a module or a parameter at a path of names, with empty modules on the way."""
    *way, last = path.split(".")
    for part in way:
        if part not in root._modules:
            root.add_module(part, nn.Module())
        root = root._modules[part]
    if isinstance(child, nn.Module):
        root.add_module(last, child)
    else:
        root.register_parameter(last, child)
