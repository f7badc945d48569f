"""Numbers about an applied operator that a chip's rules may speak of: windows, attributes, shapes, widths of types.

Decides: what a fact is called.  Leaves to the target which values it allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from codegen.ir.op import NodeView
from codegen.ir.quant import TensorType
from codegen.ir.shape import Window

_AXES = {"h": "height", "w": "width"}

FACTS = {
    "kernel_height": "taps of a window along the rows; kernel_width along the columns",
    "stride_height": "step of a window along the rows; stride_width along the columns",
    "dilation_height": "distance of a window's taps along the rows; dilation_width along the columns",
    "pad_height": "the larger padding at the ends of the rows; pad_width of the columns",
    "groups": "or any other attribute that is a whole number or true (1) or false (0), by its name",
    "inputs": "tensors read that are not constants",
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
    found["inputs"] = sum(data is None for data in view.consts)
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
        elif isinstance(value, int):
            yield field.name, int(value)


def _tensor(side: str, tensor: TensorType) -> dict[str, int]:
    sizes = dict(zip(("channels", "width", "height", "batch"), reversed(tensor.shape), strict=False))
    sizes |= {"rank": len(tensor.shape), "elements": tensor.elements, "bits": _bits(tensor)}
    return {f"{side}_{name}": size for name, size in sizes.items()}


def _bits(tensor: TensorType) -> int:
    return 8 * tensor.dtype.bytes
