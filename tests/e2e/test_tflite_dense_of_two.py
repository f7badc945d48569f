"""FULLY_CONNECTED whose weights the network computes: how a converter writes a product of two matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.frontends.tflite.importer import read_ports
from codegen.ir.quant import Array
from tests.support.tflite_models import Model, run_litert

X, W, Y = (0.05, 3), (0.02, -7), (0.11, 5)
FLOATS = ((3, 6), (2, 3, 6))


def model(shape: tuple[int, ...], kind: str, *, bias: bool = False, keep: bool = False) -> tuple[bytes, list[Array]]:
    rng = np.random.default_rng(len(shape))
    m, plain = Model(), kind == "float32"
    x, w = (m.input(s, kind, *(() if plain else q)) for s, q in ((shape, X), ((4, 6), W)))
    b = [m.const(np.arange(4, dtype=np.float32))] if bias else [-1]
    y = m.output((*shape[:-1], 4) if keep else (int(np.prod(shape[:-1])), 4), kind, *(() if plain else Y))
    m.op(
        "FULLY_CONNECTED",
        [x, w, *b],
        [y],
        "FullyConnectedOptions",
        FusedActivationFunction=1,
        KeepNumDims=keep,
        version=4,
    )
    sizes = (shape, (4, 6))
    if plain:
        return m.bytes(), [rng.normal(size=s).astype(np.float32) for s in sizes]
    return m.bytes(), [rng.integers(-128, 128, s).astype(np.int8) for s in sizes]


@pytest.mark.parametrize("engine", ["golden", "c"])
@pytest.mark.parametrize("shape", FLOATS, ids=str)
@pytest.mark.parametrize(("kind", "bias"), [("float32", False), ("float32", True), ("int8", False)])
def test_both_sides_are_computed(kind: str, bias: bool, shape: tuple[int, ...], engine: str, tmp_path: Path) -> None:
    data, inputs = model(shape, kind, bias=bias, keep=len(shape) > 2)
    path = tmp_path / "m.tflite"
    path.write_bytes(data)
    (((wanted,)),) = run_litert(data, inputs)
    names = [port[0] for port in read_ports(path)[0]]
    (found,) = codegen.run(path, dict(zip(names, inputs, strict=True)), engine=engine).values()
    assert found.shape == wanted.shape
    steps = np.abs(found.astype(np.float64) - wanted).max()
    assert steps <= (1e-5 * np.abs(wanted).max() if kind == "float32" else 1)
