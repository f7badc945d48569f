"""What each quantized network must reach: a score in its task's own measure, and dB of its outputs against float ones.

Scores are floors.  Decibels are the best of AIMET, Quark, PPQ, NNCF and ONNX Runtime on the same data, of which a
network must have 1 dB more.
"""

from __future__ import annotations

from collections.abc import Mapping

ABOVE = 1.0
"""dB above the best other quantizer."""

SCORES: Mapping[str, Mapping[str, float]] = {
    "resnet8": {"channel": 89.3, "tensor": 89.0, "pot": 89.2, "w4": 88.0},
    "kws": {"channel": 91.0, "tensor": 91.0, "pot": 90.75, "w4": 91.0},
    "vww": {"channel": 83.5, "tensor": 82.5, "pot": 82.5, "w4": 81.4},
    "mnist": {"channel": 98.7, "tensor": 98.7, "pot": 98.6, "w4": 98.5},
    "espcn": {"channel": 24.99, "tensor": 24.95, "pot": 24.85, "w4": 23.5},
    "ad": {"channel": 0.995},
    "fastestdet": {"channel": 0.248, "tensor": 0.240, "pot": 0.225, "w4": 0.20},
    "yunet": {"channel": 0.988, "pot": 0.97},
    "sinet": {"channel": 0.80},
    "resnet20": {"channel": 92.3, "pot": 92.0, "w4": 91.8},
    "mobilenet_v2": {"channel": 82.25, "tensor": 80.5, "pot": 79.0, "w4": 75.0},
    "mobilenet_v1_128": {"channel": 44.0, "tensor": 42.5, "pot": 42.5, "w4": 35.0},
    "mobilenet_v1_224": {"channel": 56.75, "tensor": 45.0, "pot_channel": 54.0, "w4": 44.0},
    "efficientnet": {"channel": 86.75, "tensor": 86.0, "w4": 84.5},
}
DECIBELS: Mapping[str, Mapping[str, float]] = {
    "resnet8": {"channel": 25.1, "tensor": 24.2, "pot": 21.3, "w4": 11.9, "a16": 29.2},
    "kws": {"channel": 30.2, "tensor": 30.2, "pot": 22.7, "w4": 19.0, "a16": 36.6},
    "vww": {"channel": 29.6, "tensor": 29.6, "pot": 19.6, "w4": 13.6, "a16": 34.1},
    "mnist": {"channel": 38.3, "tensor": 36.9, "pot": 31.1, "w4": 21.7, "a16": 43.0},
    "mobilenet_v1_128": {"channel": 18.6, "tensor": 7.9, "pot": 7.9, "w4": 1.2, "a16": 18.6},
    "mobilenet_v2": {"channel": 14.3, "tensor": 5.9, "pot": 4.9, "w4": -1.4, "a16": 21.6},
    "espcn": {"channel": 42.4, "tensor": 36.0, "pot": 32.3, "w4": 20.2, "a16": 42.4},
    "ad": {"channel": 20.6, "tensor": 20.4, "pot": 20.4, "w4": 20.4, "a16": 20.6},
    "yunet": {"channel": 15.7, "tensor": 9.5, "pot": 7.6, "w4": 1.4, "a16": 18.7},
    "fastestdet": {"channel": 14.5, "tensor": 9.6, "pot": 5.3, "w4": -2.9, "a16": 20.1},
    "sinet": {"channel": 11.6, "tensor": 10.2, "w4": 4.1, "a16": 27.6},
}


def schemes_of(model: str) -> tuple[str, ...]:
    """The schemes in which something is asked of a network."""
    return tuple(dict.fromkeys((*SCORES.get(model, {}), *DECIBELS.get(model, {}))))


def wanted_score(model: str, scheme: str) -> float | None:
    """The least score; None where none is asked."""
    return SCORES.get(model, {}).get(scheme)


def wanted_db(model: str, scheme: str) -> float | None:
    """The least dB; None where none is asked."""
    best = DECIBELS.get(model, {}).get(scheme)
    return None if best is None else best + ABOVE
