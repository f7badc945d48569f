"""How near `lamina profile --estimate` is to the counts of the emulated chips, of whole networks.

    python benchmarks/estimates.py --chips cortex-m4 cortex-m55

Estimated over counted instructions of one inference.  The rates are of synthetic layers (benchmarks/speeds.py), so that
each network here is a stranger to them.  A network that a chip does not run is a dash, as is one without estimate.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import codegen
from codegen.errors import CompileError

CHIPS = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55", "cortex-m7", "rv32imc")
NETWORKS = (
    "mlperf_tiny/kws_int8.tflite",
    "mlperf_tiny/resnet8_int8.tflite",
    "mlperf_tiny/vww_int8.tflite",
    "mlperf_tiny/ad_int8.tflite",
    "mlperf_tiny/strww_int8.tflite",
    "mlperf_tiny_onnx/kws_qdq.onnx",
    "mlperf_tiny_onnx/resnet8_qdq.onnx",
    "onnx/mnist_cnn_qdq.onnx",
    "onnx/espcn_x3_qdq.onnx",
    "tflite/micro_speech_int8.tflite",
    "tflite/hello_world_int8.tflite",
    "tflite/mobilenet_v1_025_128_uint8.tflite",
    "dialects/resnet__ort_dyn21_qdq_s8w4.onnx",
    "dialects/mbv2__ort_qdq13_s8_pc.onnx",
    "mlperf_tiny/kws_f32.tflite",
    "mlperf_tiny/ad_f32.tflite",
)
DIGITS = Path(__file__).resolve().parents[1] / "examples" / "digits" / "digits_qdq.onnx"


def ratio(network: Path, chip: str) -> float | None:
    """Estimated over counted instructions; None where there is one of them only."""
    try:
        found = codegen.profile(network, chip)
    except CompileError:
        return None
    if found.instructions is None or found.estimated_instructions is None:
        return None
    return found.estimated_instructions / found.instructions


def main() -> None:
    """Print a line for each network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--models", type=Path, default=Path("../shared/models"))
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    given = parser.parse_args()
    print(f"| network | {' | '.join(given.chips)} |\n|---|{'---|' * len(given.chips)}")
    for network in (DIGITS, *(given.models / name for name in given.networks)):
        cells = [ratio(network, chip) for chip in given.chips]
        said = " | ".join("-" if cell is None else f"{cell:.2f}" for cell in cells)
        print(f"| {network.stem} | {said} |", flush=True)


if __name__ == "__main__":
    main()
