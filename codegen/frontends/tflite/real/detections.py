"""TFLite_Detection_PostProcess: the custom operator behind SSD detectors, whose options are a flexbuffer.

Source: tensorflow/lite/kernels/detection_postprocess.cc.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from codegen.errors import FormUnsupported, InputsDoNotFit
from codegen.frontends.tflite.flex import read_options
from codegen.frontends.tflite.nodes import CUSTOM, TfliteNode
from codegen.frontends.tflite.real.context import RealContext
from codegen.frontends.tflite.real.signals import option, real_option
from codegen.frontends.tflite.records import stored_of
from codegen.real.detections import Detections

_MOST = 1 << 16
_PER_CLASS = 100
"""Where the options do not say it."""
_INPUTS, _OUTPUTS = 3, 4


def detections(ctx: RealContext, node: TfliteNode) -> None:
    """Boxes, classes, scores and their count."""
    if (len(node.inputs), len(node.outputs)) != (_INPUTS, _OUTPUTS):
        found = f"{len(node.inputs)} inputs and {len(node.outputs)} outputs, it has {_INPUTS} and {_OUTPUTS}"
        raise InputsDoNotFit(found, where=node.where)
    for index in range(_INPUTS):
        ctx.of_one_kind(node, index, "f")
    op = _read(node)
    tensors = [ctx.result(node, i) for i in range(_OUTPUTS)]
    odd = next((t for t in tensors if stored_of(t, node.where) is not None), None)
    if odd is not None:
        hint = "leave what it finds in float32: its results have no scale"
        raise FormUnsupported(f"detections as {odd.kind} with a scale", where=node.where, hint=hint)
    made = ctx.written(node, op, ctx.values_of(node), [t.name for t in tensors], tensors[0].name)
    for index, (tensor, value) in enumerate(zip(tensors, made, strict=True)):
        if tensor.shape == () and tensor.kind == "float32":  # the runtime says the shape, and the file need not
            ctx.values[tensor.index] = value
        else:
            ctx.bind(node, value, index)


def _read(node: TfliteNode) -> Detections:
    told = read_options(node.custom, node.where)
    usual = {"detections_per_class": _PER_CLASS, "use_regular_nms": 0, **told}
    least = real_option(node, told, "nms_score_threshold")
    limit = real_option(node, told, "nms_iou_threshold", (math.ulp(0.0), 1.0))
    scales = [real_option(node, told, f"{axis}_scale", _SCALES) for axis in "yxhw"]
    return Detections(
        most=option(node, told, "max_detections", 1, _MOST),
        classes=option(node, told, "num_classes", 1, _MOST),
        least=least,
        limit=limit,
        scales=(scales[0], scales[1], scales[2], scales[3]),
        each=option(node, told, "max_classes_per_detection", 1, _MOST),
        per_class=option(node, usual, "detections_per_class", 1, (1 << 31) - 1),
        regular=bool(option(node, usual, "use_regular_nms", 0, 1)),
    )


_SCALES = (2.0**-100, 2.0**100)

DETECTIONS: Mapping[str, Callable[[RealContext, TfliteNode], None]] = {
    CUSTOM + "TFLite_Detection_PostProcess": detections,
}
"""By the type of the operator."""
