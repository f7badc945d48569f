"""The table of translators: which function reads which layer, family by family, and how many bottoms it takes."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.frontends.caffe.real import boxes, detections, elementwise, movement, normal, window
from codegen.frontends.caffe.real.reading import Translator

TRANSLATORS: Mapping[str, Translator] = {
    **boxes.TRANSLATORS,
    **detections.TRANSLATORS,
    **elementwise.TRANSLATORS,
    **movement.TRANSLATORS,
    **normal.TRANSLATORS,
    **window.TRANSLATORS,
}
_MANY = 1 << 20
BOTTOMS: Mapping[str, tuple[int, int]] = {
    "Bias": (1, 2),
    "Concat": (1, _MANY),
    "Crop": (2, 2),
    "DetectionOutput": (3, 3),
    "Eltwise": (2, _MANY),
    "PriorBox": (2, 2),
    "Scale": (1, 2),
}
"""Bottoms at least and at most, of layers that take other than one."""
TRAINING = (
    "Accuracy",
    "ContrastiveLoss",
    "EuclideanLoss",
    "HDF5Output",
    "HingeLoss",
    "InfogainLoss",
    "MultinomialLogisticLoss",
    "SigmoidCrossEntropyLoss",
    "Silence",
    "SoftmaxWithLoss",
)
"""Layers that only training and its tests need."""
