"""Each Caffe layer on random sizes, parameters and weights: our numbers are those of OpenCV's reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.frontends.caffe.real.translators import TRANSLATORS
from tests.support.caffe import run_opencv, run_ours, written
from tests.support.caffe_cases import CASES

WITHOUT_OUTSIDER = {
    "Bias": "OpenCV has no layer of this name; tests/unit/frontends/test_caffe.py adds",
    "Upsample": "likewise; tests/unit/frontends/test_caffe.py repeats",
    "ConvolutionDepthwise": "OpenCV has no layer of this name; tests/unit/frontends/test_caffe.py compares Convolution",
    "DepthwiseConvolution": "likewise",
}
_CLOSE = 1e-5


def check(name: str, seed: int, folder: Path) -> None:
    case = CASES[name](np.random.default_rng(seed))
    path = written(folder, case.text, case.blobs)
    ours = run_ours(path, case.feeds)
    theirs = run_opencv(path, case.feeds, list(ours))
    for face, y in ours.items():
        found = theirs[face].reshape(y.shape) if y.ndim < 2 else theirs[face]  # OpenCV's arrays have two axes or more
        assert y.shape == found.shape, f"seed {seed}, {face}"
        np.testing.assert_allclose(y, found, rtol=_CLOSE, atol=_CLOSE, err_msg=f"seed {seed}, {face}")


@pytest.mark.parametrize("name", CASES)
def test_a_layer_is_as_opencv_computes_it(name: str, tmp_path: Path) -> None:
    for seed in range(50):
        check(name, seed, tmp_path)


def test_every_layer_that_is_read_has_cases() -> None:
    assert set(TRANSLATORS) == CASES.keys() | WITHOUT_OUTSIDER.keys()
