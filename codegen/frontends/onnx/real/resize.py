"""Resize and Upsample: factors or sizes, of all axes or of some.  Source: onnx/docs/Operators.md.

Decides: that files of PyTorch and of ONNX Runtime's tools mean sizes where factors with aligned corners give a length
that is not whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.errors import ShapeMismatch
from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.ir.quant import Array
from codegen.real.resize import Resize
from codegen.real.taps import Stretch, last_place
from codegen.settle.builder import MAX_ELEMENTS

_COORDINATES = (
    *("align_corners", "asymmetric", "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel"),
    *("tf_crop_and_resize", "tf_half_pixel_for_nn"),
)
_POLICIES = ("stretch", "not_larger", "not_smaller")


def resize(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Resize; before operator set 11 it is Upsample that may shrink."""
    if r.opset < 11:
        return _upsampled(r, node, r.const(node, 1))
    x = r.value(node, 0)
    stretches = _stretches(r, node, x)
    op = Resize(
        stretches,
        node.string("mode", "nearest", ("nearest", "linear", "cubic")),  # type: ignore[arg-type]
        node.string("coordinate_transformation_mode", "half_pixel", _COORDINATES),  # type: ignore[arg-type]
        node.string("nearest_mode", "round_prefer_floor", ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")),  # type: ignore[arg-type]
        node.real("cubic_coeff_a", -0.75),
        node.flag("exclude_outside"),
        node.flag("antialias"),
        node.real("extrapolation_value", 0.0),
    )
    return [r.apply(op, [x], node)]


def upsample(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Upsample: factors as an input or, before operator set 9, as an attribute."""
    scales = np.array(node.reals("scales"), np.float32) if node.has("scales") else r.const(node, 1)
    return _upsampled(r, node, scales)


def _upsampled(r: Reading, node: OnnxNode, scales: Array) -> Sequence[str]:
    x = r.value(node, 0)
    shape = r.type(x).shape
    mode = node.string("mode", "nearest", ("nearest", "linear", "bilinear"))
    axes = tuple(range(len(shape)))
    stretches = tuple(_scaled(node, shape, axes, _factors(node, scales, axes), (0.0, 1.0) * len(shape)))
    op = Resize(_settled(stretches, shape, ""), "nearest" if mode == "nearest" else "linear", "asymmetric", "floor")
    return [r.apply(op, [x], node)]


def _stretches(r: Reading, node: OnnxNode, x: str) -> tuple[Stretch | None, ...]:
    """What happens to each axis."""
    shape = r.type(x).shape
    axes = r.axes(node, node.integers("axes", tuple(range(len(shape)))), len(shape))
    roi, scales, sizes = (_given(r, node, i) for i in (1, 2, 3))
    crops = node.string("coordinate_transformation_mode", "half_pixel", _COORDINATES) == "tf_crop_and_resize"
    parts = tuple(float(v) for v in roi.reshape(-1)) if crops and roi is not None else (0.0,) * len(axes)
    if not all(math.isfinite(v) for v in parts):
        raise ShapeMismatch(f"a part of the tensor from {list(parts)}", where=node.where)
    parts = parts if len(parts) == 2 * len(axes) else (0.0,) * len(axes) + (1.0,) * len(axes)
    pairs = tuple(v for i in range(len(axes)) for v in (parts[i], parts[i + len(axes)]))
    if scales is not None:
        made = _scaled(node, shape, axes, _factors(node, scales, axes), pairs)
        if node.string("coordinate_transformation_mode", "half_pixel", _COORDINATES) == "align_corners":
            made = _aligned(r, node, [shape[a] for a in axes], made)
    elif sizes is not None and sizes.dtype.kind in "iu" and sizes.shape == (len(axes),):
        made = _sized(node, shape, axes, [int(n) for n in sizes], pairs)
    else:
        raise ShapeMismatch("neither factors nor a size for each axis", where=node.where)
    by_axis = dict(zip(axes, made, strict=True))
    mode = "crop" if crops else ""
    return _settled(tuple(by_axis.get(i) for i in range(len(shape))), shape, mode)


def _given(r: Reading, node: OnnxNode, index: int) -> Array | None:
    """An input that is there and not empty."""
    array = r.optional_const(node, index)
    return array if array is not None and array.size else None


def _factors(node: OnnxNode, scales: Array, axes: Sequence[int]) -> list[float]:
    factors = [float(s) for s in scales.reshape(-1)] if scales.dtype.kind == "f" else []
    if len(factors) != len(axes) or not all(math.isfinite(s) and 0 < s <= MAX_ELEMENTS for s in factors):
        raise ShapeMismatch(
            f"factors {[float(s) for s in scales.reshape(-1)[:8]]} of {len(axes)} axes", where=node.where
        )
    return factors


def _scaled(
    node: OnnxNode, shape: Sequence[int], axes: Sequence[int], factors: Sequence[float], parts: Sequence[float]
) -> list[Stretch]:
    """Sizes are cut off, of products in float32 as in ONNX Runtime; of a part of the tensor they are the part's."""
    made = []
    for i, (axis, factor) in enumerate(zip(axes, factors, strict=True)):
        size = float(np.float32(shape[axis] * (parts[2 * i + 1] - parts[2 * i])) * np.float32(factor))
        if not 1 <= size <= MAX_ELEMENTS:
            raise ShapeMismatch(f"an axis of {shape[axis]} resized by {factor}", where=node.where)
        made.append(Stretch(math.floor(size), factor, parts[2 * i], parts[2 * i + 1]))
    return made


def _aligned(r: Reading, node: OnnxNode, lengths: Sequence[int], made: list[Stretch]) -> list[Stretch]:
    """Factors as those of the sizes, in a file of PyTorch or ONNX Runtime, which align the last elements of tensors."""
    if r.aligns_by_size:
        return [Stretch(s.size, s.size / n) for s, n in zip(made, lengths, strict=True)]
    for stretch, length in zip(made, lengths, strict=True):
        if last_place(stretch, length) != stretch.size - 1:
            whole = f"{length} elements by {stretch.scale:g} are {length * stretch.scale:g}"
            r.note(
                f"{node.where} aligns corners by factors: {whole}, of which ONNX has the place of the last one; "
                "PyTorch and ONNX Runtime go by the size, which a model with sizes in place of factors has"
            )
    return made


def _sized(
    node: OnnxNode, shape: Sequence[int], axes: Sequence[int], sizes: Sequence[int], parts: Sequence[float]
) -> list[Stretch]:
    """One factor for all axes where the aspect ratio is kept."""
    policy = node.string("keep_aspect_ratio_policy", "stretch", _POLICIES)
    if not axes or any(not 1 <= n <= MAX_ELEMENTS for n in sizes) or any(shape[a] < 1 for a in axes):
        raise ShapeMismatch(f"a tensor {list(shape)} resized to {list(sizes)}", where=node.where)
    factors = [n / shape[a] for n, a in zip(sizes, axes, strict=True)]
    if policy != "stretch":
        factor = np.float32(min(factors) if policy == "not_larger" else max(factors))
        factors = [float(factor)] * len(axes)
        sizes = [math.floor(float(factor * np.float32(shape[a])) + 0.5) for a in axes]
    ends = [(parts[2 * i], parts[2 * i + 1]) for i in range(len(axes))]
    return [Stretch(n, f, *e) for n, f, e in zip(sizes, factors, ends, strict=True)]


def _settled(stretches: Sequence[Stretch | None], shape: Sequence[int], mode: str) -> tuple[Stretch | None, ...]:
    """None for the axes that stay as they are."""
    return tuple(
        None if s is not None and not mode and s.scale == 1 and s.size == n else s
        for s, n in zip(stretches, shape, strict=True)
    )


TRANSLATORS: Table = {
    ("", "Resize"): resize,
    ("", "Upsample"): upsample,
}
