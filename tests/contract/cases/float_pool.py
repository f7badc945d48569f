"""The mean of a window of real numbers."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.ops.float32 import FloatAveragePool2D, FloatGlobalAveragePool
from tests.contract.case import F32, Case, t, window

_PADDED = window(3, 2, 1, 1, 1)


def cases() -> Iterator[Case]:
    """All of them."""
    yield Case("valid", FloatAveragePool2D(window(2, 2), window(2, 2)), (t(F32, 1, 6, 7, 5),))
    yield Case("padded", FloatAveragePool2D(_PADDED, _PADDED, low=0.0), (t(F32, 1, 5, 6, 4),))
    yield Case("counted", FloatAveragePool2D(_PADDED, _PADDED, (1, 1), (1, 0)), (t(F32, 1, 5, 6, 3),))
    yield Case("dilated", FloatAveragePool2D(window(3, 1, 2, 2, 0), window(2, 3, 2, 1, 2)), (t(F32, 1, 7, 8, 6),))
    yield Case("global", FloatGlobalAveragePool(), (t(F32, 1, 5, 3, 9),))
    yield Case("global_held", FloatGlobalAveragePool(-1.0, 1.0), (t(F32, 1, 1, 4, 2),))
