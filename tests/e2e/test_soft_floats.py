"""Float layers on cores without an FPU: the bits of the golden model, what a user is told, what they take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen import api
from codegen.api import verify
from codegen.build import Net
from codegen.options import Options
from codegen.pipeline import compile_file
from codegen.target import list_targets, load_target
from tests.support.outsider import ort_session
from tests.support.shared import shared_dir
from tests.support.tools import require_board

CHIPS = ("cortex-m0plus", "cortex-m3", "rv32imc", "esp8266")
SCRATCHPADS = ("gap8", "gap8-like", "gap8-cores")
COUNTED = {
    ("cortex-m0plus", "onnx/mnist_cnn_f32.onnx"): 98_137_392,
    ("cortex-m0plus", "mlperf_tiny/ad_f32.tflite"): 42_304_744,
    ("cortex-m3", "onnx/mnist_cnn_f32.onnx"): 39_643_107,
    ("cortex-m3", "mlperf_tiny/kws_f32.tflite"): 175_080_528,
    ("rv32imc", "onnx/mnist_cnn_f32.onnx"): 96_585_940,
    ("rv32imc", "mlperf_tiny/ad_f32.tflite"): 41_944_911,
}
"""Instructions by `lamina profile`; none of these networks was part of what the rates are fitted to.

They make zeros (ReLU), which software multiplies in fewer steps than other numbers: the rates are for the latter.
"""


def digits() -> Path:
    return shared_dir() / "models" / "onnx" / "mnist_cnn_f32.onnx"


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Quantized convolutions with a table between them, then a mean, a dense layer and a Softmax of real numbers."""
    net, rng = Net("mixed"), np.random.default_rng(3)

    def weights(out: int, ins: int) -> object:
        return net.weights(rng.integers(-127, 128, (out, ins, 3, 3)).astype(np.int8), np.full(out, 0.004, np.float32))

    x = net.quantized(net.input("x", (1, 3, 8, 8)), 0.03)
    a = net.quantized(net.onnx.Relu(net.onnx.Conv(x, weights(8, 3), pads=[1] * 4, name="first")), 0.05)
    b = net.onnx.Mul(net.onnx.Sin(a, name="wave"), np.float32(1.3), name="louder")
    c = net.quantized(net.onnx.Conv(net.quantized(b, 0.02), weights(8, 8), name="second"), 0.1)
    flat = net.onnx.Flatten(net.onnx.GlobalAveragePool(c))
    net.output(net.onnx.Softmax(net.onnx.MatMul(flat, rng.normal(0, 0.5, (8, 5)).astype(np.float32), name="head")))
    path = tmp_path_factory.mktemp("mixed") / "mixed.onnx"
    path.write_bytes(net.to_onnx())
    return path


@pytest.mark.parametrize("chip", CHIPS)
def test_a_float_network_is_equal_on_a_chip_without_an_fpu(chip: str) -> None:
    require_board(chip)
    result = verify(digits(), target=chip, samples=1)
    assert result.equal, result.first_difference and result.first_difference.text()


@pytest.mark.parametrize(
    "asked", [{"float_sums": "fused"}, {"float_weights": "s8"}], ids=lambda asked: next(iter(asked))
)
@pytest.mark.parametrize("chip", ["cortex-m0plus", "cortex-m3", "rv32imc"])
def test_layers_of_both_kinds_are_equal_on_a_chip_without_an_fpu(chip: str, asked: dict[str, str], mixed: Path) -> None:
    require_board(chip)
    assert verify(mixed, target=chip, samples=2).equal
    assert verify(mixed, target=chip, samples=1, **asked).equal  # type: ignore[arg-type]


@pytest.mark.parametrize("chip", SCRATCHPADS)
def test_layers_in_a_scratchpad_are_equal(chip: str, mixed: Path) -> None:
    for model in (digits(), mixed):
        assert verify(model, target=chip, samples=1).equal


def test_the_mixed_network_is_near_onnx_runtime(mixed: Path) -> None:
    x = np.random.default_rng(0).normal(0, 1, (1, 3, 8, 8)).astype(np.float32)
    (expected,) = ort_session(mixed).run(None, {"x": x})
    found = api.run(mixed, x, target="cortex-m3")
    assert isinstance(found, np.ndarray)
    assert np.abs(found - expected).max() < 0.02


def test_who_compiles_for_a_chip_without_an_fpu_is_told_which_layers_and_their_share(mixed: Path) -> None:
    told, other = (compile_file(mixed, Options(target=t, vectors=0)).manifest["notes"] for t in ("rp2040", "cortex-m4"))
    notes = [note for note in told if "FPU" in note]  # type: ignore[attr-defined]
    assert len(notes) == 1
    assert notes[0].startswith("rp2040 has no FPU: ")
    assert "% of the products) are computed in software: " in notes[0]
    assert "head" in notes[0]
    assert "second" not in notes[0]
    assert not [note for note in other if "FPU" in note]  # type: ignore[attr-defined]


def test_a_network_of_integers_is_told_nothing() -> None:
    path = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits_qdq.onnx"
    assert not [n for n in compile_file(path, Options(target="rp2040")).manifest["notes"] if "FPU" in n]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("chip", "model"), COUNTED)
def test_estimates_are_near_what_the_emulated_cores_count(chip: str, model: str) -> None:
    found = api.profile(shared_dir() / "models" / model, chip, estimate=True)
    assert found.estimated_instructions == pytest.approx(COUNTED[chip, model], rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize(("chip", "model"), COUNTED)
def test_the_counts_are_as_they_stand_here(chip: str, model: str) -> None:
    require_board(chip)
    assert api.profile(shared_dir() / "models" / model, chip).instructions == pytest.approx(
        COUNTED[chip, model], rel=0.01
    )


def test_without_rates_of_real_numbers_nothing_is_estimated() -> None:
    """A sum has a kernel that integers have too, and takes sixteen times as much there."""
    net = Net("sum")
    net.output(net.onnx.Add(net.input("a", (1, 8)), net.input("b", (1, 8))))
    found = {t: api.profile(net.to_onnx(), t, estimate=True).estimated_cycles for t in ("esp8266", "cortex-m3")}
    assert found["esp8266"] is None
    assert found["cortex-m3"]


@pytest.mark.parametrize("name", list_targets())
def test_chips_take_real_numbers_but_for_those_whose_library_is_not_ieee(name: str) -> None:
    target = load_target(name)
    assert ("f32" in target.dtypes) == (target.isa != "avr")
