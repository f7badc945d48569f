"""Names of parameters: those of the module's own layers, where torch.onnx has told them.

Decides: `/stem/conv/Conv` of the file is `stem.conv`, and `/stem/stem.0/Conv` is `stem.0`, so that a weight is
`stem.conv.weight` as it was in the module.
"""

from __future__ import annotations

from collections.abc import Container

from torch import nn

from codegen.ir.names import free_name
from codegen.ir.real import RealNode

_OUTPUT = "_output_"


def path_of(name: str) -> str:
    """The module that a node of the file stands in, or the node itself where it stands in none."""
    parts = [part for part in name.split("/") if part]
    scopes = parts[:-1] if len(parts) > 1 else parts
    before = ["", *scopes[:-1]]
    found = ".".join(part.removeprefix(f"{prior}.") for prior, part in zip(before, scopes, strict=True))
    return ".".join(_free(part) for part in found.split(".") if part) or "node"


def _free(part: str) -> str:
    """A name that torch's modules do not have for themselves."""
    return f"{part}_" if hasattr(nn.Module, part) else part


def scope_of(root: nn.Module, path: str) -> str:
    """How torch.onnx begins the names of nodes in a module of `root`: "/features/features.0/" for features[0]."""
    scopes: list[str] = []
    module, last = root, ""
    for part in path.split(".") if path else ():
        listed = isinstance(module, nn.Sequential | nn.ModuleList | nn.ModuleDict) and last
        if listed and not isinstance(module, nn.Sequential):
            scopes.pop()
        last = f"{last}.{part}" if listed else part
        scopes.append(last)
        module = module.get_submodule(part)
    return "/".join(["", *scopes, ""])


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
