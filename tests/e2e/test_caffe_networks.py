"""Caffe networks of published structure: as OpenCV computes them; in C, float and quantized, as golden has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import codegen
from tests.e2e.test_caffe_layers import rows_found
from tests.support.caffe import caffemodel, drawn, run_opencv, run_ours, written
from tests.support.caffe_networks import PUBLISHED, Grown

_CLOSE = 1e-5


def in_files(name: str, folder: Path) -> tuple[Path, Grown]:
    net = PUBLISHED[name]()
    path = written(folder, net.text, net.blobs, name)
    path.with_suffix(".caffemodel").write_bytes(caffemodel(net.blobs, legacy=net.is_legacy))
    return path, net


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_network_is_as_opencv_computes_it(name: str, tmp_path: Path) -> None:
    path, net = in_files(name, tmp_path)
    feeds = {"data": drawn(np.random.default_rng(1), net.shape, 1.0)}
    ((face, ours),) = run_ours(path, feeds).items()
    theirs = run_opencv(path, feeds, [face])[face]
    ours, theirs = rows_found(ours, theirs) if name == "ssd" else (ours, theirs)
    assert np.ptp(theirs) > 0.01
    np.testing.assert_allclose(ours, theirs, rtol=_CLOSE, atol=_CLOSE)


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_network_in_float_and_quantized_is_golden_to_the_bit(name: str, tmp_path: Path) -> None:
    path, net = in_files(name, tmp_path)
    assert codegen.verify(path, samples=1, flags=("-O0",)).equal
    samples = {"data": drawn(np.random.default_rng(1), (8, *net.shape[1:]), 1.0)}
    codegen.quantize(path, samples, tmp_path / "q.onnx", recipe="fast")
    assert codegen.verify(tmp_path / "q.onnx", samples=1, flags=("-O0",)).equal
