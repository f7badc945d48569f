"""Top-1 accuracy of the shared classifiers through the generated C, in every mode, beside ONNX Runtime.

    python benchmarks/accuracy.py [--shared DIR]

The least that each must reach is in tests/e2e/test_accuracy.py.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import codegen  # noqa: E402

CASES = (
    ("mlperf_tiny_onnx/kws_qdq", "kws01", "kws"),
    ("mlperf_tiny_onnx/resnet8_qdq", "cifar10_test600", "resnet8"),
    ("mlperf_tiny_onnx/vww_qdq", "coco_person96", "vww"),
    ("onnx/mnist_cnn_qdq", "mnist_test1000", "mnist_cnn"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    shared: Path = parser.parse_args().shared
    configs = Path(__file__).parent / "configs"
    print(f"{'model':32}{'data':18}{'single':>8}{'tflite':>8}{'ort':>8}{'ONNX Runtime':>14}")
    for model, data, config in CASES:
        shares = []
        for mode, engine in (("single", "c"), ("tflite", "c"), ("ort", "c"), ("ort", "float")):
            result = codegen.evaluate(
                shared / "models" / f"{model}.onnx",
                shared / "data" / f"{data}.npz",
                config=configs / f"{config}.toml",
                engine=engine,
                requant=mode,
            )
            shares.append(result.engines[0].value)
        print(f"{model:32}{data:18}" + "".join(f"{s:8.2%}" for s in shares[:3]) + f"{shares[3]:14.2%}", flush=True)


if __name__ == "__main__":
    main()
