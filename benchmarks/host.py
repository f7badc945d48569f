"""The generated C on this machine beside LiteRT (XNNPACK) and ONNX Runtime: one thread, in turns; see README.md."""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from tiny import ROOT, c_runner, ort_runner

from codegen.golden.interface import graph_ports, network_feeds
from codegen.host import host_flags
from codegen.pipeline import Options, compile_file
from codegen.verbs.samples import Sample, open_samples, random_samples

SHARED = ROOT.parent / "shared"
MODELS = SHARED / "models" / "mlperf_tiny_onnx"
TFLITE = SHARED / "models" / "mlperf_tiny"
TFLITE_ONLY = {"mobilenet_v2": SHARED / "models" / "tflite" / "mobilenet_v2_int8.tflite"}
"""Models of which there is no float ONNX file that ONNX Runtime could quantize."""
NAMES = ("resnet8", "kws", "vww", "ad", *TFLITE_ONLY)
CALIBRATION = {"resnet8": "cifar10_calib200", "kws": "kws01", "vww": "coco_person96"}
FEATURES = ("avx2", "fma", "avx_vnni", "avx512f", "avx512bw", "avx512vl", "avx512_vnni", "amx_int8")
BATCH_S = 0.05
Runner = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Row:
    """Microseconds per inference, medians, and the median ratios of the pairs; None where an engine has no model."""

    model: str
    lamina_us: float
    litert_us: float
    ort_us: float | None
    over_litert: float
    over_ort: float | None
    over_faster: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=NAMES, choices=NAMES)
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default: %(default)s)")
    parser.add_argument("--flags", default=" ".join(host_flags()), help="of the C compiler (default: %(default)s)")
    parser.add_argument("--qdq", action="store_true", help="our C is that of the QDQ files, where there are any")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    rows = [measure(name, given.flags.split(), given.rounds, qdq=given.qdq) for name in given.models]
    if given.json:
        print(json.dumps({"processor": processor(), "flags": given.flags, "rows": [asdict(r) for r in rows]}, indent=1))
    else:
        print_table(rows, given.flags, given.rounds)


def measure(name: str, flags: Sequence[str], rounds: int, *, qdq: bool = False) -> Row:
    """One model on the engines that have it, in turns."""
    source = TFLITE_ONLY.get(name, TFLITE / f"{name}_int8.tflite")
    ours = MODELS / f"{name}_qdq.onnx" if qdq and name not in TFLITE_ONLY else source
    compiled = compile_file(ours, Options(target="host"))
    feeds = network_feeds(ports := graph_ports(compiled.imported)[0], random_samples(ports, 1, seed=0)[0])
    with tempfile.TemporaryDirectory(prefix="lamina-bench-") as folder:
        runners: list[Runner] = [
            c_runner(compiled, feeds[compiled.graph.inputs[0].value], flags, Path(folder)),
            litert_runner(source),
            *([] if name in TFLITE_ONLY else [ort_unsigned(name, calibration(name), Path(folder))]),
        ]
        counts = [batch_size(run) for run in runners]
        times = [[seconds(run, n) / n * 1e6 for run, n in zip(runners, counts, strict=True)] for _ in range(rounds)]
    medians = [round(statistics.median(turn), 1) for turn in zip(*times, strict=True)]
    ratios = [round(statistics.median(t[0] / t[i] for t in times), 2) for i in range(1, len(runners))]
    return Row(
        name,
        lamina_us=medians[0],
        litert_us=medians[1],
        ort_us=medians[2] if len(medians) > 2 else None,
        over_litert=ratios[0],
        over_ort=ratios[1] if len(ratios) > 1 else None,
        over_faster=round(statistics.median(t[0] / min(t[1:]) for t in times), 2),
    )


def calibration(name: str) -> list[Sample]:
    """What the float network is quantized by: recorded samples where there are any."""
    ports = graph_ports(compile_file(MODELS / f"{name}_qdq.onnx", Options(target="host")).imported)[0]
    if name not in CALIBRATION:
        return [random_samples(ports, 1, seed=s)[0] for s in range(8)]
    data, config = SHARED / "data" / f"{CALIBRATION[name]}.npz", ROOT / "benchmarks" / "configs" / f"{name}.toml"
    found = open_samples(data, ports, config)
    return [found[i] for i in range(50)]


def seconds(run: Runner, count: int) -> float:
    """Processor time of this thread, in which all three engines compute: other work on the machine disturbs it less."""
    start = time.thread_time()
    run(count)
    return time.thread_time() - start


def batch_size(run: Runner) -> int:
    """Inferences that take about BATCH_S, after a warm-up."""
    run(2)
    tried = max(2, min(50, round(BATCH_S / max(seconds(run, 2) / 2, 1e-7))))
    return max(1, round(BATCH_S / max(seconds(run, tried) / tried, 1e-7)))


def litert_runner(model: Path) -> Runner:
    """LiteRT with its default delegate, XNNPACK; the input is set once."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(str(model), num_threads=1)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        data = np.random.default_rng(0).integers(-128, 127, detail["shape"], endpoint=True)
        interpreter.set_tensor(detail["index"], data.astype(detail["dtype"]))

    def run(count: int) -> None:
        for _ in range(count):
            interpreter.invoke()

    return run


def ort_unsigned(name: str, samples: Sequence[Sample], folder: Path) -> Runner:
    """ONNX Runtime on the float model quantized to uint8 activations and int8 weights, calibrated on the samples."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.left = iter(samples)

        def get_next(self) -> Sample | None:
            return next(self.left, None)

    logging.getLogger().setLevel(logging.ERROR)  # it advises to optimize the graph first, which its session does itself
    quantized = folder / f"{name}_u8s8.onnx"
    kinds = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8}
    quantize_static(
        MODELS / f"{name}_f32.onnx", quantized, Reader(), quant_format=QuantFormat.QDQ, per_channel=True, **kinds
    )
    runner = ort_runner(quantized, samples[0])
    assert runner is not None
    return runner


def processor() -> str:
    """The processor's name, and those of its features that matter here."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    name = next((line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")), "?")
    words = set(text.split())
    return f"{name} ({', '.join(f for f in FEATURES if f in words)})"


def print_table(rows: Sequence[Row], flags: str, rounds: int) -> None:
    print(f"{processor()}; {flags}; medians of {rounds} interleaved rounds, microseconds per inference\n")
    heads = ("model", "lamina", "LiteRT XNNPACK", "ONNX Runtime u8", "/ LiteRT", "/ ORT", "/ the faster")
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for row in rows:
        print("| " + " | ".join("-" if v is None else str(v) for v in asdict(row).values()) + " |")


if __name__ == "__main__":
    sys.exit(main())
