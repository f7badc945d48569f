"""Train the digits example, export it to ONNX and quantize it to int8.

Decides the network, its training and its calibration; writes `digits.onnx`, the float network, `digits_calib.npz`, the
training images to quantize it by, `digits_qdq.onnx`, what ONNX Runtime's quantizer makes of both, and
`digits_test.npz`, the held-out images.  Neither training nor calibration sees a held-out image, and nothing is chosen
by the held-out accuracy.  What Lamina does with the files is shown in README.md.
"""

import argparse
import tempfile
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import torch
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

SEED = 2024
HELD_OUT = 360
CALIBRATION = 256
EPOCHS = 60
BATCH = 64
OPSET = 17
IR_VERSION = 8

Labelled = tuple[np.ndarray, np.ndarray]


def conv(c_in: int, c_out: int, size: int = 3, groups: int = 1) -> nn.Sequential:
    """A convolution that keeps height and width, with the BatchNorm that the export folds into it."""
    layer = nn.Conv2d(c_in, c_out, size, padding=size // 2, groups=groups, bias=False)
    return nn.Sequential(OrderedDict(conv=layer, norm=nn.BatchNorm2d(c_out)))


class Residual(nn.Module):
    """y = relu(x + conv(relu(conv(x)))).  x, y: f32[N, C, H, W]."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = conv(channels, channels)
        self.relu = nn.ReLU()
        self.second = conv(channels, channels)
        self.relu_out = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return f32[N, C, H, W]."""
        return self.relu_out(x + self.second(self.relu(self.first(x))))


class Digits(nn.Module):
    """Five convolutions, two of them in a residual block.  f32[N, 1, 8, 8] in 0..1 -> logits f32[N, 10]."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = conv(1, 16)
        self.stem_relu = nn.ReLU()
        self.depthwise = conv(16, 16, groups=16)
        self.depthwise_relu = nn.ReLU()
        self.pointwise = conv(16, 24, size=1)
        self.pointwise_relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2)
        self.residual = Residual(24)
        self.mean = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.classify = nn.Linear(24, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return logits, f32[N, 10]."""
        x = self.stem_relu(self.stem(x))
        x = self.depthwise_relu(self.depthwise(x))
        x = self.pool(self.pointwise_relu(self.pointwise(x)))
        return self.classify(self.flatten(self.mean(self.residual(x))))


def load_split() -> tuple[Labelled, Labelled]:
    """Return the training and the held-out part, stratified by digit: each x f32[n, 1, 8, 8] in 0..1, y s64[n]."""
    digits = load_digits()
    x = (digits.images / 16).astype(np.float32)[:, None]
    y = digits.target.astype(np.int64)
    train_x, test_x, train_y, test_y = train_test_split(x, y, test_size=HELD_OUT, stratify=y, random_state=SEED)
    return (train_x, train_y), (test_x, test_y)


def shifted(x: torch.Tensor) -> torch.Tensor:
    """Return each image moved by -1, 0 or 1 pixels along each axis, zeros moving in."""
    padded = nn.functional.pad(x, (1, 1, 1, 1))
    windows = padded.unfold(2, 8, 1).unfold(3, 8, 1)  # [N, 1, row shift, column shift, 8, 8]
    row, column = torch.randint(3, (2, len(x)))
    return windows[torch.arange(len(x)), :, row, column]


def train(data: Labelled) -> Digits:
    """Return the network trained on `data`, in evaluation mode."""
    x, y = (torch.from_numpy(part) for part in data)
    net = Digits()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=1e-2)
    steps = EPOCHS * -(-len(x) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=steps)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(x)).split(BATCH):
            loss = nn.functional.cross_entropy(net(shifted(x[batch])), y[batch], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return net.eval()


def export(net: Digits, path: Path) -> None:
    """Write the float network to `path`, for one image, its tensors named after its modules."""
    with warnings.catch_warnings():
        # The older exporter: it folds BatchNorm and, unlike the newer one, needs no package beyond torch.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            net,
            (torch.zeros(1, 1, 8, 8),),
            path,
            dynamo=False,
            opset_version=OPSET,
            input_names=["image"],
            output_names=["logits"],
        )
    model = onnx.load(path)
    rename(model.graph)
    strip(model)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def rename(graph: onnx.GraphProto) -> None:
    """Name every node after its module (`/residual/first/conv/Conv` becomes `residual_first`), its tensors after it."""
    kept = {value.name for value in (*graph.input, *graph.output)}
    constants = {tensor.name for tensor in graph.initializer}
    names: dict[str, str] = {}
    for node in graph.node:
        *scope, op_type = node.name.strip("/").split("/")
        node.name = "_".join(part for part in scope if part != "conv") or op_type.lower()
        if node.name == "residual":  # the Add: it belongs to the block itself, not to a module of its own
            node.name = f"residual_{op_type.lower()}"
        roles = zip(node.input, ("", "_weight", "_bias"), strict=False)
        names |= {name: node.name + role for name, role in roles if name in constants}
        names |= {name: node.name for name in node.output if name not in kept}
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    for tensor in graph.initializer:
        tensor.name = names[tensor.name]
    del graph.value_info[:]


class Images(CalibrationDataReader):
    """Hands the calibration images to onnxruntime one by one."""

    def __init__(self, x: np.ndarray) -> None:
        self._images: Iterator[np.ndarray] = iter(x)

    def get_next(self) -> dict[str, np.ndarray] | None:
        """Return the next image as {"image": f32[1, 1, 8, 8]}, None after the last."""
        image = next(self._images, None)
        return None if image is None else {"image": image[None]}


def quantize(source: Path, destination: Path, x: np.ndarray) -> None:
    """Write `source` as QDQ: int8 activations with a zero point, int8 weights symmetric per output channel."""
    with tempfile.TemporaryDirectory() as scratch:
        shaped = Path(scratch) / "digits.onnx"
        quant_pre_process(source, shaped, skip_optimization=True, skip_symbolic_shape=True)  # adds the shapes, no more
        quantize_shaped(shaped, destination, x)
    model = onnx.load(destination)
    strip(model)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, destination)


def quantize_shaped(source: Path, destination: Path, x: np.ndarray) -> None:
    """As `quantize`, of a model that says all its shapes, with the notes of the tools in it."""
    quantize_static(
        source,
        destination,
        Images(x),
        quant_format=QuantFormat.QDQ,
        activation_type=QuantType.QInt8,
        weight_type=QuantType.QInt8,
        per_channel=True,
        extra_options={"ActivationSymmetric": False, "WeightSymmetric": True},
    )


def strip(model: onnx.ModelProto) -> None:
    """Remove what is not the network: notes and stack traces, cached shapes, unused operator sets."""
    graph = model.graph
    for item in (model, graph, *graph.node, *graph.input, *graph.output, *graph.initializer):
        item.ClearField("doc_string")
        item.ClearField("metadata_props")
    del graph.value_info[:]
    used = {node.domain for node in graph.node}
    opsets = [opset for opset in model.opset_import if opset.domain in used]
    del model.opset_import[:]
    model.opset_import.extend(opsets)
    model.ir_version = IR_VERSION
    model.producer_name, model.producer_version = "lamina-examples", ""
    graph.name = "digits"


def accuracy(path: Path, data: Labelled) -> float:
    """Return the part of `data` that onnxruntime classifies rightly, graph optimization off."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    x, y = data
    logits = np.concatenate([session.run(None, {"image": image[None]})[0] for image in x])
    return float(np.mean(logits.argmax(axis=1) == y))


def main() -> None:
    parser = argparse.ArgumentParser(description="Train, export and quantize the digits example.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder to write (default: this one)")
    out: Path = parser.parse_args().out
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    train_part, held_out = load_split()
    quantized = out / "digits_qdq.onnx"
    float_model, samples = out / "digits.onnx", train_part[0][:CALIBRATION]
    export(train(train_part), float_model)
    quantize(float_model, quantized, samples)
    print(f"float      {accuracy(float_model, held_out):.2%} of {HELD_OUT} held-out images")
    print(f"quantized  {accuracy(quantized, held_out):.2%}, {quantized.stat().st_size} bytes")
    np.savez_compressed(out / "digits_calib.npz", x=samples)
    np.savez_compressed(out / "digits_test.npz", x=held_out[0], y=held_out[1])


if __name__ == "__main__":
    main()
