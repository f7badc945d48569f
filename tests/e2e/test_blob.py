"""Weights of another build are refused, or give what golden gives for them; new weights fit an old image."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import onnx
import pytest
import tflite
from onnx import numpy_helper

from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import DType, Mode, Quant
from codegen.options import Options
from codegen.pipeline import Compiled, compile_file, compile_graph
from codegen.resources import resource_dir
from codegen.target import load_target
from tests.e2e.libraries import Library, loaded, status
from tests.e2e.projects import DIGITS, random_feeds, written
from tests.support.graphs import Sketch, conv_chain, residual
from tests.support.shared import shared_dir

MODES: tuple[Mode, ...] = ("single", "tflite", "ort")
STRUCTURE, ISA = slice(24, 40), slice(8, 24)


def compiled(graph: Graph, **options: object) -> Compiled:
    chosen = Options(weights="blob", vectors=0, **options)  # type: ignore[arg-type]
    return compile_graph(graph, load_target(chosen.target), chosen)


def blob(made: Compiled) -> bytes:
    return made.files["weights.bin"]


def image(made: Compiled, folder: Path) -> Library:
    folder.mkdir(exist_ok=True)
    return loaded(written(folder / "project", made), folder)


def check(library: Library, weights: bytes) -> str:
    return status(
        library.call("check_weights", ctypes.c_void_p(library.aligned(weights)), ctypes.c_size_t(len(weights)))
    )


def check_gives(library: Library, weights: Compiled) -> None:
    """The image, with these weights, gives the bytes of their own golden model."""
    assert library.init(library.memory(blob(weights))) == "LAM_OK"
    for feeds in random_feeds(weights, 2):
        expected = run_graph(weights.imported, feeds)[weights.imported.outputs[0].value]
        library.run(next(iter(feeds.values())))
        assert library.output().tobytes() == np.ascontiguousarray(expected).tobytes()


FORMS: dict[str, Callable[[int], Compiled]] = {
    **{mode: lambda seed, mode=mode: compiled(conv_chain(mode, seed), requant=mode) for mode in MODES},
    "smallest code": lambda seed: compiled(conv_chain("single", seed), goal="size"),
    "least memory": lambda seed: compiled(conv_chain("single", seed), goal="memory"),
    "plain C99": lambda seed: compiled(conv_chain("single", seed), target="generic"),
    "another name": lambda seed: compiled(replace(conv_chain("single", seed), name="kws_7")),
    "another network": lambda seed: compiled(residual("single", seed)),
}


def test_blobs_of_every_option_are_refused_or_right(tmp_path: Path) -> None:
    blobs = {name: [make(seed) for seed in (0, 1)] for name, make in FORMS.items()}
    accepted = set()
    for name in ("single", "tflite", "ort", "least memory", "plain C99"):
        library = image(blobs[name][0], tmp_path / name.replace(" ", "_"))
        for other, weights in product(FORMS, (0, 1)):
            if check(library, blob(blobs[other][weights])) == "LAM_OK":
                accepted.add((name, other, weights))
                check_gives(library, blobs[other][weights])
    assert accepted >= {(name, name, seed) for name, _, _ in accepted for seed in (0, 1)}
    assert ("single", "another name", 1) in accepted
    assert not {(a, b) for a, b, _ in accepted if {a, b} <= {*MODES, "plain C99"} and a != b}


def keyed(made: Compiled) -> bytes:
    """What an image compares."""
    return blob(made)[:44]


def all_forms(quick: bool) -> Iterator[Options]:
    """Every option on every target; quick: every mode and border on two, and the other targets as they come."""
    goals = ("balanced",) if quick else ("memory", "balanced", "speed", "size")
    others = ("cortex-m0plus", "cortex-m3", "cortex-m55", "esp32s3", "gap8-like", "generic", "ppc32", "rv32imc")
    for target, requant, layout, kind, goal in product(
        ("host", "cortex-m4"), MODES, ("nhwc", "model"), ("quantized", "model"), goals
    ):
        if requant in load_target(target).requant_modes:
            yield Options(
                target=target,
                requant=requant,
                weights="blob",
                io_layout=layout,
                io_type=kind,
                name="digits",
                vectors=0,
                goal=goal,
            )
    for target, requant, goal in product(others, ("single", "tflite"), goals):
        if target in ("gap8-like", "ppc32") or not quick:
            yield Options(target=target, requant=requant, weights="blob", name="digits", vectors=0, goal=goal)
    for target in ("host", "cortex-m4"):
        yield Options(target=target, weights="blob", name="digits", vectors=0, stream_input=True)


@pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_two_builds_with_one_header_have_one_blob(quick: bool) -> None:
    found: dict[bytes, set[bytes]] = {}
    modes: dict[bytes, set[str | None]] = {}
    for options in all_forms(quick):
        made = compile_file(DIGITS, options)
        found.setdefault(keyed(made), set()).add(blob(made))
        modes.setdefault(keyed(made), set()).add(options.requant or "single")
    assert [len(blobs) for blobs in found.values()] == [1] * len(found)
    assert [of for of in modes.values() if len(of) > 1] == []
    assert len(found) > 12


def test_expanded_weights_have_another_structure(tmp_path: Path) -> None:
    chip = (resource_dir("targets") / "chips" / "reference" / "host.toml").read_text(encoding="utf-8")
    assert "expand = true" in chip
    (tmp_path / "chip.toml").write_text(chip.replace("expand = true", "expand = false"))
    made = [
        compile_file(DIGITS, Options(target=t, weights="blob", vectors=0, goal="size"))
        for t in ("host", str(tmp_path / "chip.toml"))
    ]
    assert len(blob(made[0])) > len(blob(made[1]))
    assert blob(made[0])[24:36] != blob(made[1])[24:36]


def retrained_onnx(source: Path, target: Path, seed: int) -> Path:
    """The same network with other weights, biases and scales inside; inputs and outputs keep their scales."""
    model, rng = onnx.load(source), np.random.default_rng(seed)
    faces = {face.name for face in (*model.graph.input, *model.graph.output)}
    border = {n.input[1] for n in model.graph.node if faces & {*n.input, *n.output}}
    inner = {n.input[1] for n in model.graph.node if n.op_type == "QuantizeLinear"} - border
    for tensor in model.graph.initializer:
        data = numpy_helper.to_array(tensor)
        if data.dtype == np.int8 and data.ndim > 1:
            new = np.clip(data + rng.integers(-9, 10, data.shape), -127, 127)
        elif data.dtype == np.int32 and data.ndim == 1:
            new = data + rng.integers(-50, 50, data.shape)
        elif tensor.name in inner:
            new = data * rng.uniform(0.97, 1.03)
        else:
            continue
        tensor.CopyFrom(numpy_helper.from_array(np.asarray(new, data.dtype).reshape(data.shape), tensor.name))
    assert len(inner) > 2
    onnx.save(model, target)
    return target


@pytest.mark.parametrize("which", ["digits", pytest.param("kws", marks=pytest.mark.slow)])
def test_a_retrained_network_fits_the_old_image_on_every_target(which: str, tmp_path: Path) -> None:
    source = DIGITS if which == "digits" else shared_dir() / "models" / "mlperf_tiny_onnx" / "kws_qdq.onnx"
    again = retrained_onnx(source, tmp_path / "again.onnx", 1)
    for target in ("host", "generic", "cortex-m0plus", "cortex-m4", "cortex-m55", "gap8-like"):
        old, new = (compile_file(m, Options(target=target, weights="blob", vectors=0)) for m in (source, again))
        assert keyed(old) == keyed(new), target
        assert blob(old)[48:56] != blob(new)[48:56]
        assert json.loads(old.files["manifest.json"])["weights_id"] == blob(old)[48:56].hex()
        assert json.loads(old.files["manifest.json"])["weights_structure"] == blob(old)[STRUCTURE].hex()
        if target == "host":
            library = image(old, tmp_path)
            check_gives(library, new)
            check_gives(library, old)


def test_a_retrained_tflite_network_fits_the_old_image(tmp_path: Path) -> None:
    source = shared_dir() / "models" / "tflite" / "hello_world_int8.tflite"
    again = retrained_tflite(source.read_bytes(), tmp_path / "again.tflite", 3)
    for target in ("host", "cortex-m4"):
        old, new = (compile_file(m, Options(target=target, weights="blob", vectors=0)) for m in (source, again))
        assert keyed(old) == keyed(new)
        assert blob(old) != blob(new)
        if target == "host":
            check_gives(image(old, tmp_path), new)


def retrained_tflite(data: bytes, target: Path, seed: int) -> Path:
    """The same flatbuffer with other bytes in the larger tensors of weights."""
    model, changed, rng = tflite.Model.GetRootAs(data), bytearray(data), np.random.default_rng(seed)
    graph = model.Subgraphs(0)
    for index in range(graph.TensorsLength()):
        tensor = graph.Tensors(index)
        stored = model.Buffers(tensor.Buffer()).DataAsNumpy()
        if tensor.Type() == tflite.TensorType.INT8 and not isinstance(stored, int) and stored.size >= 16:
            start = data.index(stored.tobytes())
            new = np.clip(stored.view(np.int8) + rng.integers(-5, 6, stored.size), -127, 127).astype(np.int8)
            changed[start : start + stored.size] = new.tobytes()
    assert bytes(changed) != data
    target.write_bytes(changed)
    return target


def lonely(weights: Sequence[int]) -> Graph:
    """A convolution and a dense layer; the convolution's channels have all-zero weights where `weights` has a 0."""
    sketch = Sketch("lonely", seed=2)
    y = sketch.conv(sketch.input((1, 6, 6, 4)), 8)
    name = sketch.nodes[-1].inputs[1]
    value = sketch.values[name]
    assert value.data is not None
    keep = np.array(weights, np.int8).reshape(8, 1, 1, 1)
    sketch.values[name] = replace(value, data=value.data * keep)
    return sketch.graph(sketch.conv(y, 4))


def test_kernels_that_weights_decide_are_refused_or_right(tmp_path: Path) -> None:
    """Channels without weights may get a shorter kernel, and one factor for all channels may be stored once."""
    nets = [compiled(lonely(kept)) for kept in ([1] * 8, [1] * 7 + [0], [0] * 8, [0, 1] * 4)]
    sketch = Sketch("lonely", seed=2)
    shifted = Quant(0.5, 4)
    padded = sketch.conv(sketch.conv(sketch.input((1, 6, 6, 4), quant=shifted), 8), 4)
    nets.append(compiled(sketch.graph(padded)))
    accepted = 0
    for i, made in enumerate(nets):
        library = image(made, tmp_path / str(i))
        for weights in nets:
            if check(library, blob(weights)) == "LAM_OK":
                check_gives(library, weights)
                accepted += 1
    assert accepted >= len(nets)


def test_another_scale_at_the_border_is_refused_by_name(tmp_path: Path) -> None:
    made = []
    for scale in (0.5, 0.25):
        sketch = Sketch("border", seed=1)
        made.append(compiled(sketch.graph(sketch.conv(sketch.input((1, 5, 5, 2), DType.S8, Quant(scale, 0)), 3))))
    library = image(made[0], tmp_path)
    assert check(library, blob(made[1])) == "LAM_ERROR_WEIGHTS_INTERFACE"
    assert blob(made[0])[24:36] == blob(made[1])[24:36]


def test_a_refused_blob_leaves_the_old_weights_in_use(tmp_path: Path) -> None:
    old, other = compiled(conv_chain()), compiled(residual())
    library = image(old, tmp_path)
    check_gives(library, old)
    assert check(library, blob(other)) != "LAM_OK"
    assert status(library.call("run", library.net)) == "LAM_OK"


def damaged(good: bytes, rng: np.random.Generator) -> bytes:
    """A blob with a few bits flipped, an end cut off, a part overwritten or moved, or nothing of it left."""
    data, kind = bytearray(good), rng.integers(5)
    at = int(rng.integers(len(data)))
    if kind == 0:
        for _ in range(int(rng.integers(1, 9))):
            data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        del data[at:]
    elif kind == 2:
        data[at : at + 16] = rng.bytes(min(16, len(data) - at))
    elif kind == 3:
        data[at:at] = rng.bytes(1)
    else:
        data[:] = rng.bytes(len(data))
    return bytes(data)


def test_damaged_blobs_are_refused(tmp_path: Path) -> None:
    made = compiled(conv_chain())
    library, rng = image(made, tmp_path), np.random.default_rng(11)
    seen = set()
    for _ in range(1000):
        wrong = damaged(blob(made), rng)
        if wrong[: len(blob(made))] != blob(made):
            seen.add(check(library, wrong))
            library.keep.clear()
    assert "LAM_OK" not in seen
    assert len(seen) >= 4
