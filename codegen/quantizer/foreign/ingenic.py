"""Reads configurations of Ingenic's Magik: of its converter (SOC, INPUT ..), its quantizer, its training operators.

Decides: which of their keys are ours.  Most are about files and images, which `--calib` and a `[preprocess]` table
give; what training found (clipping thresholds) is in the network already.  Those are notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from codegen.quantizer.config import General, Io, Mixed, QuantConfig
from codegen.quantizer.config.config import soundness
from codegen.quantizer.config.findings import Findings
from codegen.quantizer.config.kinds import FLAG, TEXT, Kind, is_number, one_of, real, whole
from codegen.quantizer.config.levels import ALL, Level, in_order
from codegen.quantizer.config.settings import Correct
from codegen.quantizer.spec import Role

Values = Mapping[str, object]
_BITS = whole(2, 8, 16, 32)
_NUMBERS = Kind("a number or a list of numbers", lambda v: _numbers(v))
_TEXTS = Kind("a text or a list of texts", lambda v: [TEXT.read(t) for t in (v if isinstance(v, list) else [v])])
_SIZES = Kind("a list of sizes", lambda v: [whole(1, 1 << 24).read(n) for n in v] if isinstance(v, list) else _no())
KEYS: Mapping[str, Kind] = {
    "SOC": TEXT,
    "INPUT": _TEXTS,
    "INPUT_SHAPE": _SIZES,
    "MEAN": _NUMBERS,
    "NORMAL": _NUMBERS,
    "COLOR": _TEXTS,
    "OUTPUT": _TEXTS,
    "QUANT_DATASET_PATH": TEXT,
    "format": one_of("RGB", "BGR", "RGBA", "GRAY"),
    "width": whole(1, 1 << 16),
    "height": whole(1, 1 << 16),
    "path": TEXT,
    "used_image_num": whole(1, 1 << 20),
    "feature_quantize_method": one_of("KL", "ADMM", "EMA", "DAQS"),
    "weight_quantize_method": one_of("MAX_ABS", "ADMM", "DAQS"),
    "feature_calibration_method": one_of("MSE", "KL"),
    "weight_calibration_method": one_of("ADMM", "MSE"),
    "feature_calibration_loop_size": whole(1, 1 << 20),
    "weight_calibration_loop_size": whole(1, 1 << 20),
    "weight_bitwidth": _BITS,
    "input_bitwidth": _BITS,
    "output_bitwidth": _BITS,
    "target_device": TEXT,
    "fixpoint": FLAG,
    "set_ahead_layers_8bit": whole(0, 64),
    "set_hinder_layers_8bit": whole(0, 64),
    "input_mean": _NUMBERS,
    "input_var": _NUMBERS,
    "quantize_model_input": FLAG,
    "quantize_last_feature": FLAG,
    "clip_max_value": real(1e-6, 1e6, "a number above zero"),
    "weight_factor": real(1e-6, 1e6, "a number above zero"),
    "auto_bitwidth": FLAG,
    "auto_threshold": FLAG,
}
_NOTES: Mapping[str, str] = {
    "SOC": "give the chip with -t",
    "target_device": "give the chip with -t",
    "INPUT": "the inputs are the model's",
    "INPUT_SHAPE": "give sizes that the model leaves open with --shape",
    "OUTPUT": "the network is not cut: its outputs are the model's",
    "QUANT_DATASET_PATH": "give samples with --calib",
    "path": "give samples with --calib",
    "width": "the model says the size; a [preprocess] table resizes",
    "height": "the model says the size; a [preprocess] table resizes",
    "fixpoint": "the network is always judged by its integers",
    "clip_max_value": "ranges are found by samples; a ReLU6 that was trained bounds its result itself",
    "weight_factor": "ranges of weights are those of the weights",
    "quantize_model_input": "inputs are integers; `lamina compile --io-type model` takes real numbers and rounds them",
    "auto_bitwidth": "widths are chosen with `--weights mixed`",
    "auto_threshold": "ranges are found by samples",
    "feature_calibration_loop_size": "searches end where nothing gets better",
    "weight_calibration_loop_size": "searches end where nothing gets better",
}
_FEATURES = {"KL": "entropy", "EMA": "moving_average", "ADMM": "mse", "DAQS": "mse", "MSE": "mse"}


def _no() -> Any:
    raise ValueError


def _numbers(value: object) -> list[float]:
    listed: list[Any] = value if isinstance(value, list) else [value]
    if not listed or not all(is_number(v) for v in listed):
        raise ValueError
    return [float(v) for v in listed]


def is_ingenic(document: Values) -> bool:
    """Whether a JSON document has keys that only these configurations have."""
    return bool(document.keys() & (KEYS.keys() - {"target_device", "format", "width", "height", "path"}))


def parse_ingenic(document: Values, file: str) -> QuantConfig:
    """The configuration; LAM-QUANT-002 and -003 for its keys, -005 for what they come to, -006 with all of it."""
    findings = Findings(file)
    read = findings.values(document, KEYS, "")
    levels = list(_levels(read, file))
    findings.add(soundness(levels))
    findings.end()
    searched = {"ADMM", "DAQS"} & {read.get("weight_quantize_method"), read.get("weight_calibration_method")}
    return QuantConfig(
        levels=in_order(levels),
        general=General(samples=read.get("used_image_num")),
        correct=Correct(weights="descent" if searched else None),
        mixed=Mixed(first=read.get("set_ahead_layers_8bit"), last=read.get("set_hinder_layers_8bit")),
        io=Io(outputs=_held(read, "quantize_last_feature")),
        notes=tuple(_notes(read)),
    )


def _held(read: Mapping[str, Any], key: str) -> Any:
    return {True: "quantized", False: "float", None: None}[read.get(key)]


def _levels(read: Mapping[str, Any], file: str) -> Iterator[Level]:
    asked: list[tuple[Role, str, str]] = [
        ("weights", "weight_bitwidth", ""),
        ("input", "input_bitwidth", ""),
        ("activation", "output_bitwidth", ""),
    ]
    for role, key, _ in asked:
        if key in read:
            values: dict[str, object] = {"keep_float": True} if read[key] == 32 else {"bits": read[key]}
            yield Level(values=values, rank=ALL, role=role, place=f"{file}, {key}")
    for key in ("feature_quantize_method", "feature_calibration_method"):
        if key in read:
            values = {"method": _FEATURES[read[key]], "symmetric": True}
            yield Level(values=values, rank=ALL, role="activation", place=f"{file}, {key}")
    if "weight_quantize_method" in read:
        method = "minmax" if read["weight_quantize_method"] == "MAX_ABS" else "mse"
        yield Level(values={"method": method}, rank=ALL, role="weights", place=f"{file}, weight_quantize_method")


def _notes(read: Mapping[str, Any]) -> Iterator[str]:
    for key in read:
        if key in _NOTES:
            yield f"{key}: {_NOTES[key]}"
    if any(read.get(key) in ("ADMM", "DAQS") for key in ("feature_quantize_method", "weight_quantize_method")):
        yield "ADMM, DAQS: ranges of least squared error; weights are rounded by descent on the layer's result"
    yield from _preprocess(read)


def _preprocess(read: Mapping[str, Any]) -> Iterator[str]:
    """The `[preprocess]` table that says the same of images."""
    keys = {"mean": ("MEAN", "input_mean"), "std": ("NORMAL", "input_var"), "color": ("COLOR", "format")}
    said = {ours: next((read[key] for key in theirs if key in read), None) for ours, theirs in keys.items()}
    color = said.pop("color")
    lines = [f"{key} = {value}" for key, value in said.items() if value is not None]
    lines += [f'color = "{(color if isinstance(color, str) else color[0]).lower()}"'] if color else []
    if lines:
        yield f"images: say it in a [preprocess] table: {', '.join(lines)}"
