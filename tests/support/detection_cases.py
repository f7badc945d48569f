"""Random detectors: TFLite_Detection_PostProcess on codes, scores and anchors, real or of bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from flatbuffers import flexbuffers

from codegen.frontends.tflite.nodes import CUSTOM
from codegen.ir.quant import Array
from tests.support.tflite_models import Model

NAME = "TFLite_Detection_PostProcess"
OPERATOR = CUSTOM + NAME
USUAL: Mapping[str, Any] = {
    "max_detections": 5,
    "max_classes_per_detection": 1,
    "detections_per_class": 4,
    "use_regular_nms": False,
    "nms_score_threshold": 0.25,
    "nms_iou_threshold": 0.5,
    "num_classes": 3,
    **{f"{axis}_scale": 10.0 for axis in "yx"},
    **{f"{axis}_scale": 5.0 for axis in "hw"},
}
"""Options."""
KINDS = ("float32", "uint8", "int8")
_BYTES = 256


def told(**changed: Any) -> bytes:
    """The options with some changed, or left out where they are None."""
    return bytes(flexbuffers.Dumps({n: v for n, v in {**USUAL, **changed}.items() if v is not None}))


def model(shapes: tuple[tuple[int, ...], ...], own: bytes, rows: int = 5, anchors: Array | None = None) -> Model:
    """Codes and scores of real numbers, and constant anchors."""
    m, sides = Model(), shapes[2]
    known = np.full(sides, 0.5, np.float32) if anchors is None else anchors
    inputs = [m.input(shape, "float32") for shape in shapes[:2]]
    outputs = [m.output(shape, "float32") for shape in ((1, rows, 4), (1, rows), (1, rows), (1,))]
    m.op(NAME, [*inputs, m.const(known)], outputs, custom=own)
    return m


class Detector:
    """A detector of one shape, and as many inputs for it as are asked for.

    `outside` is the model for interpreters that take no int8: it has a DEQUANTIZE before the operator.
    Scores of bytes differ from each other, for partly sorted equal ones stand in the order of the sort.
    """

    def __init__(self, seed: int) -> None:
        self._rng = rng = np.random.default_rng([6, seed])
        self.kind = KINDS[seed % len(KINDS)]
        classes, behind = int(rng.integers(1, 7)), int(rng.integers(0, 2))
        most = 40 if self.kind == "float32" else _BYTES // (classes + behind)
        self._count, self._columns = int(rng.integers(1, min(41, most + 1))), classes + behind
        self._length = int(rng.integers(4, 7))
        self.regular, self.each = bool(rng.integers(2)), int(rng.integers(1, 4))
        self.most = int(rng.integers(1, 12))
        chosen = {"max_detections": self.most, "max_classes_per_detection": self.each, "num_classes": classes}
        chosen |= {"use_regular_nms": self.regular, "detections_per_class": int(rng.integers(1, 12))}
        chosen |= {"nms_score_threshold": float(rng.choice([0.0, 0.25, 0.5])), "h_scale": float(rng.choice([5.0, 2.5]))}
        self._own = told(**chosen, nms_iou_threshold=float(rng.choice([0.1, 0.45, 0.6, 1.0])))
        self.each_class = min(self.each, classes)
        real = np.concatenate([rng.random((self._count, 2)), rng.random((self._count, 2)) * 0.4 + 0.1], 1)
        self._anchors = real.astype(np.float32)
        self.data, self.outside = self._model(apart=False), self._model(apart=self.kind == "int8")

    def _model(self, *, apart: bool) -> bytes:
        m, low = Model(), -128 if self.kind == "int8" else 0
        shapes = ((1, self._count, self._length), (1, self._count, self._columns))
        scales = ((0.05, low + 128), (1 / _BYTES, low)) if self.kind != "float32" else ((), ())
        inputs = [m.input(shape, self.kind, *scale) for shape, scale in zip(shapes, scales, strict=True)]
        if self.kind == "float32":
            inputs.append(m.const(self._anchors))
        else:
            whole = np.clip(np.round(self._anchors * 255) + low, low, low + 255).astype(self.kind)
            inputs.append(m.const(whole, 1 / 255, low))
        if apart:
            plain = [m.tensor(m.graph.tensors[i].shape, "float32") for i in inputs]
            for place, real in zip(inputs, plain, strict=True):
                m.op("DEQUANTIZE", [place], [real], version=2)
            inputs = plain
        rows = self.most * self.each
        outputs = [m.output(shape, "float32") for shape in ((1, rows, 4), (1, rows), (1, rows), (1,))]
        m.op(NAME, inputs, outputs, custom=self._own)
        return m.bytes()

    def inputs(self) -> list[Array]:
        """Random codes and scores."""
        rng, shape = self._rng, (1, self._count, self._length)
        if self.kind == "float32":
            codes, scores = rng.standard_normal(shape) * 2, rng.random((1, self._count, self._columns))
            return [codes.astype(np.float32), scores.astype(np.float32)]
        low = -128 if self.kind == "int8" else 0
        scores = rng.permutation(_BYTES)[: self._count * self._columns].reshape(1, self._count, self._columns)
        return [(a + low).astype(self.kind) for a in (rng.integers(0, _BYTES, shape), scores)]

    def used(self, count: int) -> Array:
        """Which rows a detector writes that has found so many."""
        rows = np.zeros((self.most, self.each), bool)
        if self.regular:
            rows.reshape(-1)[:count] = True
        else:
            rows[:count, : self.each_class] = True
        return rows.reshape(-1)
