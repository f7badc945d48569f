"""TFLite's operators on real numbers as RealGraphs, against LiteRT's reference kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.frontends.tflite.importer import read_ports
from codegen.frontends.tflite.real import read_real
from codegen.frontends.tflite.real.translators import TRANSLATORS
from codegen.real.engine import RealEngine
from tests.support.detection_cases import OPERATOR as DETECTIONS
from tests.support.pose_cases import OPERATOR as POSES
from tests.support.signal_cases import SIGNAL_NAMES
from tests.support.tflite_models import run_litert
from tests.support.tflite_real_cases import CASES

NO_REFERENCE = ("CEIL", "ELU", "ROUND", "LOCAL_RESPONSE_NORMALIZATION")
"""Of these LiteRT has no reference kernel, or one whose window, unlike TensorFlow's, lacks its last channel."""
WITH_STATES = {
    *("SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM"),
    *("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE"),
}
"""Those of test_tflite_states.py."""


@pytest.mark.parametrize("name", CASES)
def test_an_operator_gives_what_litert_gives(name: str, tmp_path: Path) -> None:
    case = CASES[name]()
    path = tmp_path / "m.tflite"
    path.write_bytes(case.data)
    graph = read_real(path)
    feeds = dict(zip(graph.inputs, case.inputs, strict=True))
    (wanted,) = run_litert(case.data, case.inputs, reference=name not in NO_REFERENCE)
    for exact in (True, False):
        found = RealEngine(graph, exact=exact).run(feeds)
        for have, want in zip(found.values(), wanted, strict=True):
            assert (have.shape, have.dtype) == (want.shape, want.dtype)
            largest = float(np.abs(want.astype(np.float64)).max())
            np.testing.assert_allclose(have, want, rtol=0, atol=1e-5 * largest if want.dtype.kind == "f" else 0)


@pytest.mark.parametrize("name", CASES)
def test_a_float_file_compiles_to_what_litert_gives(name: str, tmp_path: Path) -> None:
    case = CASES[name]()
    path = tmp_path / "m.tflite"
    path.write_bytes(case.data)
    feeds = {port[0]: x for port, x in zip(read_ports(path)[0], case.inputs, strict=True)}
    (wanted,) = run_litert(case.data, case.inputs, reference=name not in NO_REFERENCE)
    for have, want in zip(codegen.run(path, feeds).values(), wanted, strict=True):
        assert have.shape == want.shape
        largest = float(np.abs(want.astype(np.float64)).max())
        np.testing.assert_allclose(have, want, rtol=0, atol=1e-5 * largest if want.dtype.kind == "f" else 0)


def test_every_operator_has_a_case() -> None:
    elsewhere = {*SIGNAL_NAMES, DETECTIONS, POSES}
    assert set(TRANSLATORS) - elsewhere == {name.split()[0] for name in CASES} | WITH_STATES
    assert set(TRANSLATORS) >= elsewhere, "those of test_signals.py, of test_detections.py and of test_poses.py"
