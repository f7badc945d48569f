"""Custom operators behind detectors, whose options are a flexbuffer: of boxes, and of poses.

Source: tensorflow/lite/kernels/detection_postprocess.cc; google-coral/libcoral, coral/posenet/posenet_decoder_op.cc.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from codegen.errors import AttributeBad, FormUnsupported, InputsDoNotFit
from codegen.frontends.tflite.flex import read_options
from codegen.frontends.tflite.nodes import CUSTOM, TfliteNode
from codegen.frontends.tflite.real.context import RealContext, Table
from codegen.frontends.tflite.real.signals import option, real_option
from codegen.frontends.tflite.records import stored_of
from codegen.ir.real import RealOp
from codegen.real.detections import Detections
from codegen.real.poses import Poses

_MOST = 1 << 16
_PER_CLASS = 100
"""Where the options do not say it."""
_INPUTS, _OUTPUTS = 3, 4
_SCALES = (2.0**-100, 2.0**100)


def detections(ctx: RealContext, node: TfliteNode) -> None:
    """TFLite_Detection_PostProcess: boxes, classes, scores and their count."""
    _find(ctx, node, lambda: _boxes(node))


def poses(ctx: RealContext, node: TfliteNode) -> None:
    """PosenetDecoderOp: keypoints, their scores, scores of poses and their count."""
    _find(ctx, node, lambda: _poses(node))


def _find(ctx: RealContext, node: TfliteNode, read: Callable[[], RealOp]) -> None:
    """An operator on three tensors of real numbers with four results of float32."""
    if (len(node.inputs), len(node.outputs)) != (_INPUTS, _OUTPUTS):
        found = f"{len(node.inputs)} inputs and {len(node.outputs)} outputs, it has {_INPUTS} and {_OUTPUTS}"
        raise InputsDoNotFit(found, where=node.where)
    for index in range(_INPUTS):
        ctx.of_one_kind(node, index, "f")
    op = read()
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


def _poses(node: TfliteNode) -> Poses:
    told = read_options(node.custom, node.where)
    op = Poses(
        most=option(node, told, "max_detections", 1, _MOST),
        least=real_option(node, told, "score_threshold", (0.0, 1.0)),
        radius=real_option(node, told, "nms_radius", (0.0, _SCALES[1] ** 0.25)),
        stride=option(node, told, "stride", 1, _MOST),
    )
    if math.isnan(op.begin):
        raise AttributeBad(f"option score_threshold is {op.least}, which no score exceeds", where=node.where)
    return op


def _boxes(node: TfliteNode) -> Detections:
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


TRANSLATORS: Table = {
    CUSTOM + "PosenetDecoderOp": poses,
    CUSTOM + "TFLite_Detection_PostProcess": detections,
}
"""By the type of the operator."""
