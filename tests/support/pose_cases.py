"""Random maps of keypoints and of offsets, and PosenetDecoderOp on them, real or of bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flatbuffers import flexbuffers

from codegen.frontends.tflite.nodes import CUSTOM
from codegen.ir.quant import Array
from codegen.ops.float32.poses import CHANNELS
from codegen.real.poses import Poses
from tests.support.tflite_models import Model

NAME = "PosenetDecoderOp"
OPERATOR = CUSTOM + NAME
USUAL: Mapping[str, Any] = {"max_detections": 5, "score_threshold": 0.3, "stride": 16, "nms_radius": 10.0}
"""Options."""
_REACH = (2.0, 10.0, 20.0)
"""Standard deviations of scores and offsets."""


def told(**changed: Any) -> bytes:
    """The options with some changed, or left out where they are None."""
    return bytes(flexbuffers.Dumps({n: v for n, v in {**USUAL, **changed}.items() if v is not None}))


def results(most: int) -> tuple[tuple[int, ...], ...]:
    """Shapes of keypoints, their scores, scores of poses and their count."""
    return (1, most, 17, 2), (1, most, 17), (1, most), (1,)


def model(shapes: Sequence[tuple[int, ...]], own: bytes, most: int = 5, kind: str = "float32") -> Model:
    """A network of the operator alone, on real numbers or on bytes that span those of `drawn`."""
    m, low = Model(), -128 if kind == "int8" else 0
    scales = [(4 * reach / 128, low + 128) if kind != "float32" else () for reach in _REACH]
    inputs = [m.input(shape, kind, *scale) for shape, scale in zip(shapes, scales, strict=False)]
    m.op(NAME, inputs, [m.output(shape, "float32") for shape in results(most)], custom=own)
    return m


@dataclass(frozen=True, eq=False)
class Drawn:
    """Maps, what is asked for, and its options."""

    maps: list[Array]
    op: Poses

    @property
    def own(self) -> bytes:
        named = {"max_detections": self.op.most, "score_threshold": self.op.least, "nms_radius": self.op.radius}
        return told(**named)


def drawn(seed: int) -> Drawn:
    """Scores of which few stand out, and offsets that lead to any place."""
    rng = np.random.default_rng([8, seed])
    height, width = (int(rng.integers(1, 9)) for _ in range(2))
    most = int(rng.integers(1, 8))
    sizes = zip(CHANNELS, _REACH, strict=True)
    maps = [(rng.standard_normal((1, height, width, c)) * reach).astype(np.float32) for c, reach in sizes]
    least, radius = (float(np.float32(rng.choice(of))) for of in ((0.1, 0.3, 0.45, 0.5), (0.0, 4.0, 10.0, 20.0)))
    return Drawn(maps, Poses(most, least, radius, 16))
