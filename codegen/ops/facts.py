"""Numbers about an applied operator that a chip's rules may speak of: windows, attributes, shapes, widths of types.

Decides: what a fact is called.  Leaves to the target which values it allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from itertools import zip_longest

from codegen.ir.op import NodeView
from codegen.ir.quant import Requant, TensorType
from codegen.ir.shape import Window

_AXES = {"h": "height", "w": "width"}

FACTS = {
    "kernel_height": "taps of a window along the rows; kernel_width along the columns",
    "stride_height": "step of a window along the rows; stride_width along the columns",
    "dilation_height": "distance of a window's taps along the rows; dilation_width along the columns",
    "pad_height": "the larger padding at the ends of the rows; pad_width of the columns",
    "groups": "or any other attribute that is a whole number or true (1) or false (0), by its name",
    "inputs": "tensors read that are not constants",
    "present": "1 of every operator: `at_most = 0` is for one that is not there at all",
    "depthwise": "1 where each channel has a window of its own (as many groups as channels), else 0",
    "broadcasts": "inputs, constants left out, that have another shape than the output",
    "weight_scales": "different factors by which sums become outputs: 1 where all weights have one scale",
    "in_zero_point": "how far the first input's zero point is from 0; out_zero_point of the first output",
    "first": "1 where it reads an input of the network, else 0",
    "last": "1 where no layer with products comes behind it, else 0",
    "in_height": "of the first input, NHWC; in_width, in_channels, in_batch, in_rank, in_elements, in_bits likewise",
    "out_height": "of the first output; out_width, out_channels, out_batch, out_rank, out_elements, out_bits likewise",
    "weight_bits": "bits of an element of the second input, where that is a constant",
}
"""What targets/README.md says of each."""


def facts(view: NodeView) -> dict[str, int]:
    """Every fact of one node, by name."""
    found = dict(_attributes(view.op))
    found |= _tensor("in", view.ins[0]) if view.ins else {}
    found |= _tensor("out", view.outs[0])
    found["inputs"], found["present"] = len(view.dynamic), 1
    found["broadcasts"] = sum(view.ins[i].shape != view.outs[0].shape for i in view.dynamic)
    found["depthwise"] = int(1 < found.get("groups", 0) == found.get("in_channels"))
    if len(view.consts) > 1 and view.consts[1] is not None:
        found["weight_bits"] = _bits(view.ins[1])
    return found


def _attributes(op: object) -> Iterator[tuple[str, int]]:
    for field in fields(op):  # type: ignore[arg-type]
        value = getattr(op, field.name)
        if isinstance(value, Window):
            axis = _AXES.get(field.name, field.name)
            yield f"kernel_{axis}", value.size
            yield f"stride_{axis}", value.stride
            yield f"dilation_{axis}", value.dilation
            yield f"pad_{axis}", max(value.pad_before, value.pad_after)
        elif isinstance(value, Requant):
            yield "weight_scales", len(set(zip_longest(value.multiplier, value.shift, value.scale)))
        elif isinstance(value, int):
            yield field.name, int(value)


def _tensor(side: str, tensor: TensorType) -> dict[str, int]:
    sizes = dict(zip(("channels", "width", "height", "batch"), reversed(tensor.shape), strict=False))
    if tensor.quant is not None:
        sizes["zero_point"] = abs(tensor.quant.zero_point)
    sizes |= {"rank": len(tensor.shape), "elements": tensor.elements, "bits": _bits(tensor)}
    return {f"{side}_{name}": size for name, size in sizes.items()}


def _bits(tensor: TensorType) -> int:
    return 8 * tensor.dtype.bytes
