"""Convolutions, pools and what else has windows.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codegen.frontends.onnx.writer.writing import Place, Table, plainly
from codegen.ir.shape import Shape, Window
from codegen.real.integer import ConvInteger, MatMulInteger
from codegen.real.sampling import DeformConv
from codegen.real.unpool import ColumnsToImage, LpPool, MaxPoolPlaces, MaxUnpool
from codegen.real.window import AveragePool, Conv, ConvTranspose, MaxPool

_DILATED_AVERAGES = 19
_DILATED_POWERS = 18


def _pads(windows: Sequence[Window]) -> list[int]:
    return [*(w.pad_before for w in windows), *(w.pad_after for w in windows)]


def _steps(windows: Sequence[Window]) -> dict[str, Any]:
    return {
        "kernel_shape": [w.size for w in windows],
        "strides": [w.stride for w in windows],
        "dilations": [w.dilation for w in windows],
    }


def _are_dilated(windows: Sequence[Window]) -> bool:
    return any(w.dilation != 1 for w in windows)


def conv(place: Place, op: Conv | ConvInteger) -> None:
    """Conv and ConvInteger."""
    kind = "Conv" if isinstance(op, Conv) else "ConvInteger"
    place.write(kind, group=op.groups, pads=_pads(op.windows), **_steps(op.windows))


def conv_transpose(place: Place, op: ConvTranspose) -> None:
    """ConvTranspose: what the output has beyond the windows is said."""
    covered = [
        (n - 1) * w.stride + w.extent - w.pad_before - w.pad_after
        for n, w in zip(place.shape[2:], op.windows, strict=True)
    ]
    extra = [n - m for n, m in zip(op.out_spatial, covered, strict=True)]
    place.write(
        "ConvTranspose",
        group=op.groups,
        pads=_pads(op.windows),
        output_padding=extra if any(extra) else None,
        **_steps(op.windows),
    )


def max_pool(place: Place, op: MaxPool) -> None:
    """MaxPool."""
    place.write("MaxPool", pads=_pads(op.windows), **_steps(op.windows))


def max_pool_places(place: Place, op: MaxPoolPlaces) -> None:
    """MaxPool with the places."""
    place.write("MaxPool", pads=_pads(op.windows), storage_order=int(op.columns), **_steps(op.windows))


def average_pool(place: Place, op: AveragePool) -> None:
    """AveragePool; padding that counts is said apart from what rounding the size up adds."""
    steps: dict[str, Any] = _steps(op.windows)
    if _are_dilated(op.windows):
        place.writing.since(_DILATED_AVERAGES)
    else:
        del steps["dilations"]
    pads, rounded = _pads(op.windows), None
    if op.counted:
        counted = [*(before for before, _ in op.counted), *(after for _, after in op.counted)]
        pads, rounded = counted, int(counted != pads) or None
    place.write("AveragePool", pads=pads, ceil_mode=rounded, count_include_pad=int(bool(op.counted)), **steps)


def lp_pool(place: Place, op: LpPool) -> None:
    """LpPool."""
    steps: dict[str, Any] = _steps(op.windows)
    if _are_dilated(op.windows):
        place.writing.since(_DILATED_POWERS)
    else:
        del steps["dilations"]
    place.write("LpPool", pads=_pads(op.windows), p=op.p, **steps)


def max_unpool(place: Place, op: MaxUnpool) -> None:
    """MaxUnpool with windows of the stride 1 that make the counted shape."""
    kernel = [m - n + 1 for n, m in zip(place.type(0).shape[2:], op.counted[2:], strict=True)]
    shape = place.const(op.shape, "shape")
    place.write("MaxUnpool", [*place.inputs, shape], kernel_shape=kernel)


def columns_to_image(place: Place, op: ColumnsToImage) -> None:
    """Col2Im."""
    place.writing.since(18)
    steps = _steps(op.windows)
    block = place.const(steps.pop("kernel_shape"), "block")
    image = place.const(op.image, "image")
    place.write("Col2Im", [place.inputs[0], image, block], pads=_pads(op.windows), **steps)


def deform_conv(place: Place, op: DeformConv) -> None:
    """DeformConv."""
    place.writing.since(19)
    place.write(
        "DeformConv",
        kernel_shape=_listed(op.kernel),
        strides=_listed(op.strides),
        dilations=_listed(op.dilations),
        pads=_listed(op.pads),
        group=op.groups,
        offset_group=op.parts,
    )


def _listed(sizes: Shape) -> list[int]:
    return list(sizes)


SPELLINGS: Table = {
    AveragePool: average_pool,
    ColumnsToImage: columns_to_image,
    Conv: conv,
    ConvInteger: conv,
    ConvTranspose: conv_transpose,
    DeformConv: deform_conv,
    LpPool: lp_pool,
    MatMulInteger: plainly("MatMulInteger"),
    MaxPool: max_pool,
    MaxPoolPlaces: max_pool_places,
    MaxUnpool: max_unpool,
}
