"""Train the network of whistled commands and quantize it, with numpy and Lamina alone.

Decides the sounds, the network and its training; writes `whistle.onnx`, quantized.  Sounds are made up: a whistle
glides up, glides down or holds its tone, over noise.  The network takes 32 frames of 64 samples at 4 kHz and gives
four numbers, the greatest of which is the command.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import codegen

COMMANDS = ("none", "up", "down", "hold")
RATE, SAMPLES, FRAMES = 4000, 64, 32
TONES = 12  # Hz: 400, 525, ... 1775, two filters each
LENGTH = 1600  # samples of a whistle
SEED = 7
CLIPS, CALIBRATION, STEPS, BATCH = 3000, 64, 600, 100

Labelled = tuple[np.ndarray, np.ndarray]
Weights = dict[str, np.ndarray]


def whistle(rng: np.random.Generator, command: str) -> np.ndarray:
    """Return f64[LENGTH] in -1..1: the tone of a command, a triangle or a sine."""
    low, high, steady = rng.uniform(500, 800), rng.uniform(1200, 1600), rng.uniform(500, 1600)
    first, last = {"up": (low, high), "down": (high, low), "hold": (steady, steady)}[command]
    phase = np.cumsum(np.linspace(first, last, LENGTH)) / RATE + rng.uniform()
    triangle = 4 * np.abs(phase % 1 - 0.5) - 1
    return triangle if rng.uniform() < 0.5 else np.sin(2 * np.pi * phase)


def clip(rng: np.random.Generator, label: int) -> np.ndarray:
    """Return f32[FRAMES, SAMPLES] in -1..1: a whole whistle somewhere, or noise, or the edge of a whistle."""
    size = FRAMES * SAMPLES
    sound = rng.normal(0, rng.uniform(0.002, 0.05), size)
    heard = COMMANDS[label] if label else str(rng.choice(COMMANDS))
    if heard != "none":
        edge = int(rng.integers(0, LENGTH // 3))
        begin = int(rng.integers(0, size - LENGTH)) if label else int(rng.choice([edge - LENGTH, size - edge]))
        first, last = max(begin, 0), min(begin + LENGTH, size)
        sound[first:last] += rng.uniform(0.2, 0.9) * whistle(rng, heard)[first - begin : last - begin]
    return np.clip(sound, -1, 1).astype(np.float32).reshape(FRAMES, SAMPLES)


def clips(seed: int, count: int) -> Labelled:
    """Return x f32[count, 1, FRAMES, SAMPLES] and y s64[count]."""
    rng = np.random.default_rng(seed)
    y = np.arange(count) % len(COMMANDS)
    return np.stack([clip(rng, int(label)) for label in y])[:, None], y


def filters() -> np.ndarray:
    """Return f32[2 * TONES, SAMPLES]: a cosine and a sine of each tone under a Hann window."""
    turns = np.outer(400 + 125 * np.arange(TONES), np.arange(SAMPLES)) / RATE
    waves = np.concatenate([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)])
    return (waves * np.hanning(SAMPLES) / (SAMPLES / 4)).astype(np.float32)


def taps(x: np.ndarray, stride: int) -> np.ndarray:
    """Return f[N, T', 3 * C] of f[N, T, C]: each frame with the ones beside it, zeros beyond the ends."""
    padded = np.pad(x, ((0, 0), (1, 1), (0, 0)))
    return np.concatenate([padded[:, k : k + x.shape[1] : stride] for k in range(3)], axis=2)


def untaps(grad: np.ndarray, frames: int, stride: int) -> np.ndarray:
    """Return the gradient of what `taps` was given."""
    channels = grad.shape[2] // 3
    padded = np.zeros((len(grad), frames + 2, channels), grad.dtype)
    for k in range(3):
        padded[:, k : k + frames : stride] += grad[:, :, k * channels : (k + 1) * channels]
    return padded[:, 1:-1]


def gradients(w: Weights, x: np.ndarray, y: np.ndarray) -> Weights:
    """Return the gradients of the mean cross entropy, by the names of the weights.  x: f[N, FRAMES, 2 * TONES]."""
    near = taps(x, 1)
    first = np.maximum(near @ w["glide"] + w["glide_bias"], 0)
    wide = taps(first, 2)
    second = np.maximum(wide @ w["shape"] + w["shape_bias"], 0)
    mean = second.mean(axis=1)
    logits = mean @ w["command"] + w["command_bias"]
    likely = np.exp(logits - logits.max(axis=1, keepdims=True))
    likely /= likely.sum(axis=1, keepdims=True)
    likely[np.arange(len(y)), y] -= 1
    likely /= len(y)
    back = np.where(second > 0, (likely @ w["command"].T)[:, None] / second.shape[1], 0)
    deep = np.where(first > 0, untaps(back @ w["shape"].T, first.shape[1], 2), 0)
    return {
        "command": mean.T @ likely,
        "command_bias": likely.sum(axis=0),
        "shape": np.einsum("ntc,ntd->cd", wide, back),
        "shape_bias": back.sum(axis=(0, 1)),
        "glide": np.einsum("ntc,ntd->cd", near, deep),
        "glide_bias": deep.sum(axis=(0, 1)),
    }


def train(data: Labelled) -> Weights:
    """Return the weights behind the filters, by Adam."""
    x = np.abs(data[0][:, 0] @ filters().T)
    rng = np.random.default_rng(SEED)
    sizes = {"glide": (6 * TONES, 16), "shape": (48, 16), "command": (16, len(COMMANDS))}
    w = {name: rng.normal(0, np.sqrt(2 / size[0]), size).astype(np.float32) for name, size in sizes.items()}
    w |= {f"{name}_bias": np.zeros(size[1], np.float32) for name, size in sizes.items()}
    mean, square = ({name: np.zeros_like(value) for name, value in w.items()} for _ in range(2))
    for step in range(1, STEPS + 1):
        chosen = rng.integers(0, len(x), BATCH)
        for name, grad in gradients(w, x[chosen], data[1][chosen]).items():
            mean[name] += 0.1 * (grad - mean[name])
            square[name] += 0.01 * (grad * grad - square[name])
            by = mean[name] / (1 - 0.9**step) / (np.sqrt(square[name] / (1 - 0.99**step)) + 1e-8)
            w[name] -= (0.01 * (1 - step / STEPS) * by).astype(np.float32)
    return w


def exported(w: Weights) -> onnx.ModelProto:
    """Return the float network: audio f32[1, 1, FRAMES, SAMPLES] -> command f32[1, 4]."""
    in_time = {name: w[name].reshape(3, -1, 16).transpose(2, 1, 0)[..., None] for name in ("glide", "shape")}
    constants = {"tones_weight": filters()[:, None, None], **{f"{n}_weight": v for n, v in in_time.items()}}
    constants |= {"command_weight": w["command"].T, **{n: v for n, v in w.items() if n.endswith("bias")}}
    nodes = [
        helper.make_node("Conv", ["audio", "tones_weight"], ["tones"], "tones", kernel_shape=[1, SAMPLES]),
        helper.make_node("Abs", ["tones"], ["loudness"], "loudness"),
    ]
    for name, stride, source in (("glide", 1, "loudness"), ("shape", 2, "glide_relu")):
        window = {"kernel_shape": [3, 1], "pads": [1, 0, 1, 0], "strides": [stride, 1]}
        inputs = [source, f"{name}_weight", f"{name}_bias"]
        nodes.append(helper.make_node("Conv", inputs, [name], name, **window))
        nodes.append(helper.make_node("Relu", [name], [f"{name}_relu"], f"{name}_relu"))
    nodes += [
        helper.make_node("GlobalAveragePool", ["shape_relu"], ["mean"], "mean"),
        helper.make_node("Flatten", ["mean"], ["flat"], "flat"),
        helper.make_node("Gemm", ["flat", "command_weight", "command_bias"], ["command"], "command", transB=1),
    ]
    audio = helper.make_tensor_value_info("audio", TensorProto.FLOAT, [1, 1, FRAMES, SAMPLES])
    command = helper.make_tensor_value_info("command", TensorProto.FLOAT, [1, len(COMMANDS)])
    initializers = [numpy_helper.from_array(np.ascontiguousarray(v), name) for name, v in constants.items()]
    graph = helper.make_graph(nodes, "whistle", [audio], [command], initializers)
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="lamina-examples")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write whistle.onnx.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder to write (default: this one)")
    path: Path = parser.parse_args().out / "whistle.onnx"
    model = exported(train(clips(SEED, CLIPS)))
    onnx.checker.check_model(model, full_check=True)
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, Path(folder) / "float.onnx")
        codegen.quantize(Path(folder) / "float.onnx", clips(SEED + 1, CALIBRATION)[0], Path(folder) / "whistle.onnx")
        path.write_bytes((Path(folder) / "whistle.onnx").read_bytes())
    x, y = clips(SEED + 2, 400)
    right = codegen.run(path, x).argmax(axis=1) == y
    print(f"{path.name}  {path.stat().st_size} bytes  {right.sum()} of {len(y)} made-up clips right")


if __name__ == "__main__":
    main()
