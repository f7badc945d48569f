"""Names of what the images of a batch have of a tensor, the tensors of the whole batch again, and what images wait.

Decides: how a part is called.  Passes put their own marks behind that name, as behind any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from codegen.ir.graph import Graph
from codegen.ir.quant import Array

_MARK = re.compile(r":image\d+")
_PART = re.compile(r"(?P<whole>.*):image(?P<image>\d+)")
_WHOLE = 0
"""The number of no image."""


def of_image(name: str, image: int) -> str:
    """What one image has of a tensor; images count from 1."""
    return f"{name}:image{image}"


def of_batch(name: str) -> str:
    """The name without what says which image it is of: equal for what is the same of each image."""
    return _MARK.sub("", name)


def waiting_bytes(graph: Graph) -> int:
    """Bytes of the inputs of all images but one, where a batch is taken image by image."""
    if all(of_batch(name) == name for name in graph.values):
        return 0
    kinds = [graph.type(port.value) for port in graph.inputs]
    return sum(kind.bytes - kind.bytes // kind.shape[0] for kind in kinds if kind.shape)


def with_batches(tensors: Mapping[str, Array]) -> dict[str, Array]:
    """The tensors, those of single images joined under the name of the whole, which stays where it is there."""
    parts: dict[str, dict[int, Array]] = {}
    for name, array in tensors.items():
        part = _PART.fullmatch(name)
        whole, image = (part["whole"], int(part["image"])) if part else (name, _WHOLE)
        parts.setdefault(whole, {})[image] = array
    return {name: _joined(images) for name, images in parts.items()}


def _joined(images: Mapping[int, Array]) -> Array:
    return images[_WHOLE] if _WHOLE in images else np.concatenate([images[image] for image in sorted(images)])
