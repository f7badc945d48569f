"""The table of translators: which function reads which layer, family by family, and how many bottoms it takes."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.frontends.caffe.real import elementwise, movement, normal, window
from codegen.frontends.caffe.real.reading import Translator

TRANSLATORS: Mapping[str, Translator] = {
    **elementwise.TRANSLATORS,
    **movement.TRANSLATORS,
    **normal.TRANSLATORS,
    **window.TRANSLATORS,
}
BOTTOMS: Mapping[str, tuple[int, int]] = {}
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
