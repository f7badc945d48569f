"""Each Caffe layer on random sizes, parameters and weights: our numbers are those of OpenCV's reader."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import numpy as np
import onnx
import pytest

from codegen.errors import CompileError
from codegen.frontends import import_model, read_real, real_bytes
from codegen.frontends.caffe.real.translators import TRANSLATORS
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import Stepper
from codegen.ir.quant import Array
from tests.support.caffe import run_opencv, run_ours, written
from tests.support.caffe_cases import CASES
from tests.support.outsider import ort_session

WITHOUT_OUTSIDER = {
    "Bias": "OpenCV has no layer of this name; tests/unit/frontends/test_caffe.py adds",
    "Upsample": "likewise; tests/unit/frontends/test_caffe.py repeats",
    "ConvolutionDepthwise": "OpenCV has no layer of this name; tests/unit/frontends/test_caffe.py compares Convolution",
    "DepthwiseConvolution": "likewise",
}
DETECTOR = "DetectionOutput"
_CLOSE = 1e-5


def rows_found(y: Array, theirs: Array) -> tuple[Array, Array]:
    """The rows of what is found, in Caffe's order: OpenCV has the best score of all labels first, and 0 behind."""
    count = int((theirs[0, 0, :, 2] > 0).sum())
    assert (y[0, 0, count:] == -1).all()
    assert y.shape == theirs.shape
    found = theirs[0, 0, :count]
    return y[0, 0, :count], found[np.lexsort((-found[:, 2], found[:, 1]))]


def check(name: str, seed: int, folder: Path) -> None:
    case = CASES[name](np.random.default_rng(seed))
    path = written(folder, case.text, case.blobs)
    ours = run_ours(path, case.feeds)
    theirs = run_opencv(path, case.feeds, list(ours))
    for face, y in ours.items():
        found = theirs[face].reshape(y.shape) if y.ndim < 2 else theirs[face]  # OpenCV's arrays have two axes or more
        y, found = rows_found(y, found) if name == DETECTOR else (y, found)
        assert y.shape == found.shape, f"seed {seed}, {face}"
        np.testing.assert_allclose(y, found, rtol=_CLOSE, atol=_CLOSE, err_msg=f"seed {seed}, {face}")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", CASES)
def test_a_layer_is_as_opencv_computes_it(name: str, tmp_path: Path) -> None:
    for seed in range(50):
        check(name, seed, tmp_path)


@pytest.mark.parametrize("name", CASES)
def test_a_layer_is_settled_and_written_as_it_is_read(name: str, tmp_path: Path) -> None:
    for seed in range(3):
        case = CASES[name](np.random.default_rng(seed))
        path = written(tmp_path, case.text, case.blobs)
        wanted = run_ours(path, case.feeds)
        graph = import_model(path, mode="single", io_type="model", io_layout="model")
        ports, results = graph_ports(graph)
        values = Stepper(graph).run(network_feeds(ports, case.feeds))
        session = ort_session(onnx.ModelProto.FromString(real_bytes(read_real(path))))
        faces = [output.name for output in session.get_outputs()]
        for port in results:
            np.testing.assert_allclose(port.to_model(values[port.value]), wanted[port.name], rtol=1e-5, atol=1e-5)
        for face, y in zip(faces, session.run(None, case.feeds), strict=True):
            np.testing.assert_allclose(y, wanted[face], rtol=1e-4, atol=1e-5)


ODD = ("0", "-1", "1e30", "inf", "nan", "4294967295", "2147483647", "-2147483648", "3", "99", "0.5", "true")


@pytest.mark.parametrize("name", CASES)
def test_odd_numbers_are_read_or_refused(name: str, tmp_path: Path) -> None:
    for seed in range(15):
        rng = np.random.default_rng(seed)
        case = CASES[name](rng)
        text, places = case.text, [m.span(1) for m in re.finditer(r": (-?[0-9.e+-]+|true|false)(?=[ }])", case.text)]
        first, last = places[int(rng.integers(len(places)))]
        path = written(tmp_path, text[:first] + str(rng.choice(ODD)) + text[last:], case.blobs)
        with contextlib.suppress(CompileError):
            import_model(path, mode="single", io_type="model", io_layout="model")


def test_every_layer_that_is_read_has_cases() -> None:
    assert set(TRANSLATORS) == CASES.keys() | WITHOUT_OUTSIDER.keys()
