"""Every shared network with labels through the generated C, by its own metric, beside what other runtimes gave.

    python benchmarks/scores.py [--shared DIR] [--limit N] [--scheduler WHO] [NAME ...]

Where the data has no labels of its own they are made here: windows that the anomaly detector knows well and the same
with bands raised, photographs and their thirds, the float network's own regions and faces.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import codegen  # noqa: E402
from benchmarks.quantizing import data as d  # noqa: E402
from codegen.options import Options  # noqa: E402
from codegen.pipeline import compile_file  # noqa: E402
from codegen.preprocess import Placing, load_preprocess  # noqa: E402
from codegen.verbs.engines import Opening, open_engine  # noqa: E402
from codegen.verbs.postprocess import decoder_of  # noqa: E402
from codegen.verbs.samples import open_samples  # noqa: E402

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """A network, its samples and labels, its configuration, its metric, and what the shared README says of it."""

    model: str
    data: str | Callable[[d.Data], Arrays]
    metric: str = "top1"
    config: str | None = None
    known: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only models whose names hold one of these")
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--limit", type=int)
    parser.add_argument("--scheduler")
    given = parser.parse_args()
    onnxruntime.set_default_logger_severity(3)
    files = d.Data(given.shared)
    print(f"{'model':44}{'metric':>12}{'samples':>9}{'C':>10}{'known':>10}")
    for case in CASES:
        if given.names and not any(name in case.model for name in given.names):
            continue
        found = codegen.evaluate(
            given.shared / "models" / case.model,
            given.shared / "data" / f"{case.data}.npz" if isinstance(case.data, str) else case.data(files),
            metric=case.metric,
            config=None if case.config is None else ROOT / "benchmarks" / "configs" / f"{case.config}.toml",
            limit=given.limit,
            scheduler=given.scheduler,
        )
        value = f"{100 * found.value:.2f}" if found.unit in ("share",) else f"{found.value:.3f}"
        print(f"{case.model:44}{case.metric:>12}{found.count:9}{value:>10}{case.known:>10}", flush=True)


def _behind(name: str) -> Callable[[d.Data], Arrays]:
    """Labels of 1001 classes, of which the first is none."""

    def made(files: d.Data) -> Arrays:
        kept = files.file(name)
        return {"jpeg": kept["jpeg"], "offset": kept["offset"], "y": kept["y"] + 1}

    return made


def _words(files: d.Data) -> Arrays:
    kept = files.file("strww_calib45")
    return {"x": kept["x"], "y": kept["y"]}


def _enlarged(files: d.Data) -> Arrays:
    photos = [d.luma(p) for p in files.photos("coco_detect48")]
    return {"x": np.stack([small for small, _ in photos]), "y": np.stack([whole for _, whole in photos])}


def _anomalies(files: d.Data) -> Arrays:
    """Windows as the float detector gives them back, twice over, and the same with 16 of 128 bands 4 dB louder."""
    windows = d.mel_windows(files.sound("speech_16k_12s.wav"))
    session = onnxruntime.InferenceSession(files.folder.parent / "models/mlperf_tiny_onnx/ad_f32.onnx")
    name = session.get_inputs()[0].name
    for _ in range(2):
        windows = np.concatenate([session.run(None, {name: w[None]})[0] for w in windows])
    rng = np.random.default_rng(1)
    raised = windows.reshape(len(windows), 5, 128).copy()
    for window in raised:
        window[:, rng.choice(128, 16, replace=False)] += 4
    return {
        "x": np.stack([windows, raised.reshape(windows.shape)], axis=1).reshape(-1, 640).astype(np.float32),
        "y": np.tile([0, 1], len(windows)),
    }


def _regions(files: d.Data) -> Arrays:
    """The portraits that the float network sees in photographs."""
    x = np.stack([d.portrait(p) for p in files.photos("coco_detect48")]).astype(np.float32)
    session = onnxruntime.InferenceSession(files.folder.parent / "models/onnx/sinet_portrait_f32.onnx")
    name = session.get_inputs()[0].name
    y = np.stack([session.run(None, {name: one[None]})[0][0].argmax(axis=0) for one in x])
    return {"x": x, "y": y.astype(np.int64)}


def _faces(files: d.Data) -> Arrays:
    """The faces that the float network finds in photographs."""
    config = ROOT / "benchmarks" / "configs" / "yunet.toml"
    model, kept = files.folder.parent / "models/onnx/yunet_n_320_f32.onnx", files.file("coco_detect48")
    photos = {"jpeg": kept["jpeg"], "offset": kept["offset"]}
    graph = compile_file(model, Options(vectors=0)).graph
    decoder, placing = decoder_of(config, graph), Placing(load_preprocess(config), photos)
    with open_engine("float", model, Options(vectors=0), Opening()) as engine:
        samples = open_samples(files.folder / "coco_detect48.npz", engine.inputs, config)
        found = [decoder.run(engine.run(samples[i])) for i in range(samples.count)]
    boxes = [placing.boxes(f["box"], i) for i, f in enumerate(found)]
    label = np.concatenate([f["label"] for f in found])
    image = np.repeat(np.arange(len(found)), [len(f["label"]) for f in found])
    return {**photos, "box": np.concatenate(boxes), "box_class": label, "box_image": image}


CASES = (
    Case("mlperf_tiny/resnet8_int8.tflite", "cifar10_test600", config="resnet8_int8", known="89.17"),
    Case("mlperf_tiny_onnx/resnet8_f32.onnx", "cifar10_test600", config="resnet8", known="89.67"),
    Case("mlperf_tiny_onnx/resnet8_qdq.onnx", "cifar10_test600", config="resnet8", known="88.67"),
    Case("mlperf_tiny_onnx/resnet8_qdq_sym.onnx", "cifar10_test600", config="resnet8", known="87.00"),
    Case("mlperf_tiny_onnx/resnet8_qop_u8s8.onnx", "cifar10_test600", config="resnet8", known="88.33"),
    Case("mlperf_tiny/kws_int8.tflite", "kws01", config="kws_int8", known="90.1"),
    Case("mlperf_tiny_onnx/kws_f32.onnx", "kws01", config="kws", known="91.3"),
    Case("mlperf_tiny_onnx/kws_qdq.onnx", "kws01", config="kws", known="92.0"),
    Case("mlperf_tiny_onnx/kws_qdq_sym.onnx", "kws01", config="kws", known="90.1"),
    Case("mlperf_tiny/vww_int8.tflite", "coco_person96", config="vww_int8", known="83.5"),
    Case("mlperf_tiny_onnx/vww_f32.onnx", "coco_person96", config="vww", known="83.5"),
    Case("mlperf_tiny_onnx/vww_qdq.onnx", "coco_person96", config="vww", known="83.5"),
    Case("mlperf_tiny_onnx/vww_qdq_sym.onnx", "coco_person96", config="vww", known="79.4"),
    Case("mlperf_tiny/strww_int8.tflite", _words, config="strww_int8", known="91.1"),
    Case("onnx/mnist_cnn_f32.onnx", "mnist_test1000", config="mnist_cnn", known="98.7"),
    Case("onnx/mnist_cnn_qdq.onnx", "mnist_test1000", config="mnist_cnn", known="98.7"),
    Case("tflite/mobilenet_v2_int8.tflite", "imagenet_eval400", config="mobilenet_v2_int8", known="75.75"),
    Case("tflite/mobilenet_v2_int8.tflite", "imagenet_eval400", "top5", "mobilenet_v2_int8", "96.25"),
    Case(
        "tflite/mobilenet_v1_025_128_uint8.tflite",
        _behind("imagenet_eval400"),
        config="mobilenet_v1_uint8",
        known="44.75",
    ),
    Case("onnx/espcn_x3_f32.onnx", _enlarged, "psnr", known="25.09"),
    Case("onnx/espcn_x3_qdq.onnx", _enlarged, "psnr", known="23.77"),
    Case("mlperf_tiny_onnx/ad_f32.onnx", _anomalies, "auc", "ad"),
    Case("mlperf_tiny_onnx/ad_qdq.onnx", _anomalies, "auc", "ad"),
    Case("mlperf_tiny_onnx/ad_qdq_sym.onnx", _anomalies, "auc", "ad"),
    Case("onnx/sinet_portrait_f32.onnx", _regions, "miou"),
    Case("onnx/fastestdet_352_qdq.onnx", "coco_detect48", "pooled_ap50", "fastestdet", "24.6"),
    Case("onnx/yunet_n_320_qdq.onnx", _faces, "pooled_ap50", "yunet"),
)

if __name__ == "__main__":
    main()
