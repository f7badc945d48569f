"""AffineGrid of one image and of several: ONNX Runtime's grid."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from codegen.errors import ModelRejected
from codegen.frontends import read_real
from codegen.real.engine import RealEngine
from tests.support.onnx_files import onnx_model, port
from tests.support.outsider import ort_session

SIZES = [(1, 3, 4, 5), (2, 1, 3, 2), (1, 2, 2, 3, 4), (2, 1, 4, 2, 3)]


def _file(folder: Path, size: tuple[int, ...], corners: int, theta: tuple[int, ...]) -> onnx.ModelProto:
    node = helper.make_node("AffineGrid", ["x", "size"], ["y"], align_corners=corners)
    model = onnx_model([node], [port("x", theta)], [port("y")], {"size": np.array(size, np.int64)}, sets=20)
    onnx.save(model, folder / "m.onnx")
    return model


@pytest.mark.parametrize("corners", [0, 1])
@pytest.mark.parametrize("size", SIZES)
def test_a_grid_is_that_of_onnxruntime(size: tuple[int, ...], corners: int, tmp_path: Path) -> None:
    axes = len(size) - 2
    x = np.random.default_rng(1).normal(size=(size[0], axes, axes + 1)).astype(np.float32)
    model = _file(tmp_path, size, corners, x.shape)
    (wanted,) = ort_session(model).run(None, {"x": x})
    (found,) = RealEngine(read_real(tmp_path / "m.onnx")).run({"x": x}).values()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("size", "theta"), [((2, 1, 3, 3), (1, 2, 3)), ((1, 1, 3), (1, 1, 2)), ((1, 1, 0, 2), (1, 2, 3))]
)
def test_matrices_that_do_not_fit_the_grid_are_refused(
    size: tuple[int, ...], theta: tuple[int, ...], tmp_path: Path
) -> None:
    _file(tmp_path, size, 0, theta)
    with pytest.raises(ModelRejected, match=r"LAM-IMPORT-014 .*matrices"):
        read_real(tmp_path / "m.onnx")
