"""Random TFLite models of one operator in the arithmetics that TFLite has not: the C gives what golden gives.

Where factors are shifts, the models' scales are powers of two.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.frontends.tflite import import_tflite
from codegen.golden.interface import graph_ports, network_feeds
from codegen.ir.graph import Graph
from codegen.ir.quant import DERIVED_MODES, Array, Mode, is_pot
from tests.e2e.test_tflite_operators import PAIRS
from tests.support.tflite_cases import MAKERS, Draw, Drawn
from tests.support.together import check_c_is_golden

_MODES: tuple[Mode, ...] = ("single", *DERIVED_MODES)
_QUICK = 6
"""Of so many pairs of an operator and a type the quick tests take one, all of them in the modes together."""


class Powers(Draw):
    """Draws scales that are powers of two."""

    def scale(self, low: float = 0.003, high: float = 0.3) -> float:
        return float(_power(np.float64(super().scale(low, high))))

    def weight_scales(self, count: int) -> Array:
        return _power(super().weight_scales(count)).astype(np.float32)


def _power(scales: Array) -> Array:
    return np.exp2(np.round(np.log2(scales)))


def drawn(name: str, kind: str, mode: Mode) -> Drawn:
    rng = np.random.default_rng([31, *name.encode(), *kind.encode()])
    return MAKERS[name][0]((Powers if is_pot(mode) else Draw)(rng, kind))


def fed(case: Drawn, mode: Mode, folder: Path) -> tuple[Graph, dict[str, Array]]:
    """The model's graph, and its first inputs."""
    (folder / "case.tflite").write_bytes(case.data)
    graph = import_tflite(folder / "case.tflite", mode=mode, io_type="model")
    ports, _ = graph_ports(graph)
    return graph, network_feeds(ports, {p.name: x for p, x in zip(ports, case.inputs[0], strict=True)})


def check(pairs: list[tuple[str, str]], mode: Mode, folder: Path) -> None:
    found = [fed(drawn(name, kind, mode), mode, folder) for name, kind in pairs]
    made = [(graph, feeds) for graph, feeds in found if graph.nodes]
    assert len(made) > len(pairs) * 0.9
    check_c_is_golden([graph for graph, _ in made], [feeds for _, feeds in made], folder / "c")


@pytest.mark.parametrize("mode", _MODES)
def test_c_is_golden(mode: Mode, tmp_path: Path) -> None:
    check(PAIRS[_MODES.index(mode) :: _QUICK], mode, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("mode", _MODES)
def test_c_is_golden_of_every_operator(mode: Mode, tmp_path: Path) -> None:
    check(PAIRS, mode, tmp_path)


@pytest.mark.parametrize("mode", ["single", "pot"])
def test_products_of_16_bits_have_a_kernel(mode: Mode, tmp_path: Path) -> None:
    check([("BATCH_MATMUL", "int16"), ("BATCH_MATMUL_8", "int16")], mode, tmp_path)
