"""Build the smallest network that runs: convolution, Relu, global average pool, quantized as QDQ.

Decides every number of the network; nothing is trained.  Writes `tiny_qdq.onnx`.
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SEED = 12
CHANNELS = 4
OPSET = 17
IR_VERSION = 8

IMAGE_SCALE, IMAGE_ZERO_POINT = 1 / 255, -128  # 0..1
WEIGHT_SCALE = (0.004, 0.003, 0.005, 0.002)
RELU_SCALE, RELU_ZERO_POINT = 0.006, -128  # 0..1.53, so that the clamp is Relu's own
MEAN_SCALE, MEAN_ZERO_POINT = 0.004, -128  # 0..1.02


def constants() -> dict[str, np.ndarray | np.generic]:
    """Return the weights s8[4, 1, 3, 3], the bias s32[4] and every scale and zero point, by tensor name."""
    rng = np.random.RandomState(SEED)  # the generator whose numbers numpy promises never to change
    weight_scale = np.array(WEIGHT_SCALE, np.float32)
    return {
        "image_scale": np.float32(IMAGE_SCALE),
        "image_zero_point": np.int8(IMAGE_ZERO_POINT),
        "weight_quantized": rng.randint(-127, 128, (CHANNELS, 1, 3, 3)).astype(np.int8),
        "weight_scale": weight_scale,
        "weight_zero_point": np.zeros(CHANNELS, np.int8),
        "bias_quantized": rng.randint(0, 20000, CHANNELS).astype(np.int32),
        "bias_scale": np.float32(IMAGE_SCALE) * weight_scale,
        "bias_zero_point": np.zeros(CHANNELS, np.int32),
        "relu_scale": np.float32(RELU_SCALE),
        "relu_zero_point": np.int8(RELU_ZERO_POINT),
        "mean_scale": np.float32(MEAN_SCALE),
        "mean_zero_point": np.int8(MEAN_ZERO_POINT),
    }


def quantized(name: str, source: str, result: str) -> list[onnx.NodeProto]:
    """Return QuantizeLinear and DequantizeLinear, which carry the float tensor `source` as int8 to `result`."""
    parameters = [f"{name}_scale", f"{name}_zero_point"]
    return [
        helper.make_node("QuantizeLinear", [source, *parameters], [f"{name}_quantized"], f"{name}_quantize"),
        helper.make_node("DequantizeLinear", [f"{name}_quantized", *parameters], [result], f"{name}_dequantize"),
    ]


def dequantized(name: str) -> onnx.NodeProto:
    """Return the DequantizeLinear of a constant, one scale per output channel."""
    inputs = [f"{name}_quantized", f"{name}_scale", f"{name}_zero_point"]
    return helper.make_node("DequantizeLinear", inputs, [name], f"{name}_dequantize", axis=0)


def tiny() -> onnx.ModelProto:
    """Return the network: image f32[1, 1, 8, 8] in 0..1 -> mean f32[1, 4, 1, 1]."""
    nodes = [
        dequantized("weight"),
        dequantized("bias"),
        *quantized("image", "image", "image_dequantized"),
        helper.make_node(
            "Conv", ["image_dequantized", "weight", "bias"], ["conv"], "conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]
        ),
        helper.make_node("Relu", ["conv"], ["relu"], "relu"),
        *quantized("relu", "relu", "relu_dequantized"),
        helper.make_node("GlobalAveragePool", ["relu_dequantized"], ["pool"], "pool"),
        *quantized("mean", "pool", "mean"),
    ]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])
    mean = helper.make_tensor_value_info("mean", TensorProto.FLOAT, [1, CHANNELS, 1, 1])
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants().items()]
    graph = helper.make_graph(nodes, "tiny", [image], [mean], initializers)
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="lamina-examples")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write tiny_qdq.onnx.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder to write (default: this one)")
    path: Path = parser.parse_args().out / "tiny_qdq.onnx"
    model = tiny()
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
    print(f"{path.name}  {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
