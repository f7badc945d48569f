"""One quantizer of others on one model, in a Python that has nothing but that tool installed.

    PYTHON other_tools.py TOOL VARIANT SCHEME MODEL.onnx CALIB.npz OUT.onnx

Imports nothing of Lamina: the tools pin versions of onnx, torch and numpy that do not go together.  `CALIB.npz` holds
one array, f32[N, ..] under the input's name.  The last line printed is the processor seconds and the most megabytes
that the tool took.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import onnx

SAMPLES = 64
"""Of those that learn: no more are looked at."""
Feeds = list[dict[str, Any]]


def main() -> None:
    tool, variant, scheme, model, calib, out = sys.argv[1:]
    with np.load(calib) as file:
        ((name, samples),) = file.items()
    TOOLS[tool](variant, scheme, model, [{name: x[None]} for x in samples], out)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"{used.ru_utime + used.ru_stime:.1f} {used.ru_maxrss / 1024:.0f}")


class Reader:
    """Samples as ONNX Runtime and those that follow it ask for them."""

    def __init__(self, feeds: Feeds) -> None:
        self._feeds = feeds
        self.rewind()

    def rewind(self) -> None:
        """From the first one on."""
        self._left: Iterator[dict[str, Any]] = iter(self._feeds)

    reset_iter = rewind

    def get_next(self) -> dict[str, Any] | None:
        """The next one."""
        return next(self._left, None)

    def __len__(self) -> int:
        return len(self._feeds)


def by_onnxruntime(variant: str, scheme: str, model: str, feeds: Feeds, out: str) -> None:
    """`quantize_static` with ranges of extremes or by a percentile."""
    from onnxruntime import quantization as q

    q.quantize_static(
        model,
        out,
        Reader(feeds if variant == "MinMax" else feeds[:32]),
        quant_format=q.QuantFormat.QDQ,
        per_channel=scheme != "tensor",
        activation_type=q.QuantType.QInt16 if scheme == "a16" else q.QuantType.QInt8,
        weight_type=q.QuantType.QInt4 if scheme == "w4" else q.QuantType.QInt8,
        calibrate_method=getattr(q.CalibrationMethod, variant),
        extra_options={"CalibPercentile": 99.99},
    )


def by_nncf(variant: str, scheme: str, model: str, feeds: Feeds, out: str) -> None:
    """Fast bias correction, one scale per tensor of activations, ranges of extremes."""
    import nncf
    from nncf.quantization import advanced_parameters as advanced
    from nncf.quantization.range_estimator import RangeEstimatorParametersSet

    words = advanced.AdvancedQuantizationParameters(
        weights_quantization_params=advanced.QuantizationParameters(per_channel=scheme == "channel"),
        activations_quantization_params=advanced.QuantizationParameters(per_channel=False),
        activations_range_estimator_params=RangeEstimatorParametersSet.MINMAX,
    )
    preset = nncf.QuantizationPreset.MIXED
    data = nncf.Dataset(feeds)
    made = nncf.quantize(onnx.load(model), data, preset=preset, subset_size=len(feeds), advanced_parameters=words)
    onnx.save(made, out)


def by_aimet(variant: str, scheme: str, model: str, feeds: Feeds, out: str) -> None:
    """Ranges with a share left out, or of extremes behind equalised layers; or weights by AdaRound."""
    from pathlib import Path

    import aimet_onnx
    from aimet_onnx.common.defs import QuantScheme
    from aimet_onnx.cross_layer_equalization import equalize_model

    loaded = onnx.load(model)
    if variant == "equalised":
        equalize_model(loaded)
    known = Path(aimet_onnx.__file__).parent / "common" / "quantsim_config"
    config = known / ("default_config.json" if scheme == "tensor" else "default_config_per_channel.json")
    network = aimet_onnx.QuantizationSimModel(
        loaded,
        param_type=aimet_onnx.int4 if scheme == "w4" else aimet_onnx.int8,
        activation_type=aimet_onnx.int16 if scheme == "a16" else aimet_onnx.int8,
        quant_scheme=QuantScheme.post_training_tf_enhanced if variant == "enhanced" else QuantScheme.min_max,
        config_file=str(config),
        providers=["CPUExecutionProvider"],
    )
    few = feeds[:: max(1, len(feeds) // SAMPLES)][:SAMPLES]
    if variant == "adaround":
        if scheme == "w4":
            aimet_onnx.apply_seq_mse(network, few)
        aimet_onnx.apply_adaround(network, few, num_iterations=1000)
    network.compute_encodings(feeds)
    made = network.to_onnx_qdq(export_int32_bias=True, prequantize_constants=True, force_activation_as="signed")
    onnx.save(made, out)


def by_quark(variant: str, scheme: str, model: str, feeds: Feeds, out: str) -> None:
    """Powers of two (XINT8), or scales of extremes; weights to the nearest, or by AdaRound."""
    from quark.onnx import ModelQuantizer
    from quark.onnx.quantization.config import algorithm, spec
    from quark.onnx.quantization.config.config import QConfig

    if scheme == "pot":
        layers = spec.QLayerConfig(activation=spec.XInt8Spec(), weight=spec.XInt8Spec())
    else:
        per = spec.QuantGranularity.Tensor if scheme == "tensor" else spec.QuantGranularity.Channel
        data = spec.Int16Spec(symmetric=True) if scheme == "a16" else spec.Int8Spec(symmetric=False)
        weights = spec.Int8Spec(symmetric=True, quant_granularity=per)
        layers = spec.QLayerConfig(activation=data, weight=weights)
    learned = algorithm.AdaRoundConfig(learning_rate=0.1, num_iterations=1000, data_size=SAMPLES)
    config = QConfig(
        global_config=layers,
        algo_config=[learned] if variant == "adaround" else [],
        ForceQuantizeNoInputCheck=True,
    )
    ModelQuantizer(config).quantize_model(model, out, Reader(feeds))


def by_ppq(variant: str, scheme: str, model: str, feeds: Feeds, out: str) -> None:
    """The platform of that scheme, with biases corrected, or trained thresholds at powers of two."""
    import esp_ppq.lib  # noqa: F401  (registers what the platforms need)
    import torch
    from esp_ppq import TargetPlatform
    from esp_ppq.api import QuantizationSettingFactory, quantize_onnx_model
    from esp_ppq.api.interface import export_ppq_graph

    platforms = {"channel": "TRT_INT8", "tensor": "PPL_DSP_INT8", "pot": "ESPDL_S3_INT8"}
    factory = QuantizationSettingFactory
    setting = factory.espdl_setting() if scheme == "pot" else factory.default_setting()
    setting.quantize_parameter_setting.baking_parameter = scheme != "pot"
    if variant == "bias":
        setting.bias_correct = True
        setting.bias_correct_setting.steps = 32
        setting.bias_correct_setting.collecting_device = "cpu"
    else:
        setting.tqt_optimization = True
        trained = setting.tqt_optimization_setting
        trained.steps, trained.block_size, trained.collecting_device, trained.lr = 500, 4, "cpu", 1e-5
    tensors = [torch.from_numpy(x) for feed in feeds for x in feed.values()]
    graph = quantize_onnx_model(
        model,
        calib_dataloader=tensors,
        calib_steps=min(len(tensors), 200),
        input_shape=list(tensors[0].shape),
        collate_fn=lambda x: x,
        platform=getattr(TargetPlatform, platforms[scheme]),
        setting=setting,
        device="cpu",
        verbose=0,
    )
    export_ppq_graph(graph, platform=TargetPlatform.ONNXRUNTIME, graph_save_to=out, config_save_to=None)


TOOLS: Mapping[str, Callable[[str, str, str, Feeds, str], None]] = {
    "onnxruntime": by_onnxruntime,
    "nncf": by_nncf,
    "aimet-onnx": by_aimet,
    "amd-quark": by_quark,
    "esp-ppq": by_ppq,
}
"""By the name under which pip installs them."""

if __name__ == "__main__":
    main()
