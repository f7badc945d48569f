"""TFLite Micro's signal operators: golden, real numbers and the C give its bytes, run after run."""

from __future__ import annotations

import re
import subprocess
import wave
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.emit import write_project
from codegen.frontends.tflite.real import read_real
from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import Stepper
from codegen.host import Network
from codegen.ir.quant import Array
from codegen.pipeline import Compiled, Options, compile_file
from codegen.real.engine import RealEngine
from tests.e2e.test_tflite_operators import golden
from tests.support.shared import shared_dir
from tests.support.signal_cases import SIGNAL_MAKERS, draw_signal
from tests.support.tflite_cases import Drawn
from tests.support.tflite_models import run_tflm
from tests.support.tools import require_module

SOUNDS = ("no", "noise", "silence", "yes")
STEP, SIZE = 320, 480
RUNS = 8
LABELS = ("silence", "unknown", "yes", "no")
ON_NAMES = pytest.mark.parametrize("name", SIGNAL_MAKERS)


def complete(name: str, outputs: Sequence[Array]) -> list[Array]:
    """The outputs, without frames of which the flag behind them says that they are not complete."""
    flagged = name in ("SignalFramer", "SignalStacker") and not outputs[1]
    return list(outputs[1:] if flagged else outputs)


def check(name: str, seed: int, folder: Path) -> None:
    case = draw_signal(name, seed)
    wanted = run_tflm(case.data, *case.inputs)
    for found in (golden(case, folder), real(case, folder)):
        for run, (want, have) in enumerate(zip(wanted, found, strict=True)):
            for x, y in zip(complete(name, want), complete(name, have), strict=True):
                assert (x.shape, x.dtype) == (y.shape, y.dtype)
                assert np.array_equal(x, y), f"seed {seed}, run {run}"


def real(case: Drawn, folder: Path) -> Iterator[list[Array]]:
    """What the RealGraph gives, run by run."""
    path = folder / "real.tflite"
    path.write_bytes(case.data)
    graph = read_real(path)
    engine = RealEngine(graph)
    for inputs in case.inputs:
        found = engine.run(dict(zip(graph.inputs, inputs, strict=True)))
        yield list(found.values())


@ON_NAMES
def test_golden_is_tflite_micro(name: str, tmp_path: Path) -> None:
    require_module("tflite_micro")
    for seed in range(12):
        check(name, seed, tmp_path)


@ON_NAMES
def test_c_is_golden(name: str, tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(draw_signal(name, 1).data)
    assert codegen.verify(tmp_path / "m.tflite", samples=RUNS).equal


@pytest.mark.slow
@ON_NAMES
def test_golden_is_tflite_micro_on_many(name: str, tmp_path: Path) -> None:
    require_module("tflite_micro")
    for seed in range(100, 400):
        check(name, seed, tmp_path)


@pytest.mark.slow
@ON_NAMES
def test_c_is_golden_on_many(name: str, tmp_path: Path) -> None:
    for seed in range(10, 16):
        (tmp_path / "m.tflite").write_bytes(draw_signal(name, seed).data)
        assert codegen.verify(tmp_path / "m.tflite", samples=RUNS).equal, f"seed {seed}"


def recording(word: str) -> Array:
    """16000 samples."""
    with wave.open(str(shared_dir() / f"data/micro_speech/{word}_1000ms.wav")) as file:
        return np.frombuffer(file.readframes(file.getnframes()), np.int16)


def frames(word: str) -> list[Array]:
    sound = recording(word)
    return [sound[None, s : s + SIZE] for s in range(0, len(sound) - SIZE + 1, STEP)]


@pytest.fixture(scope="module")
def front_end() -> Compiled:
    """The features of micro_speech."""
    return compile_file(shared_dir() / "models/tflite/audio_preprocessor_int8.tflite", Options(vectors=0))


@pytest.fixture(scope="module")
def wanted() -> dict[str, Array]:
    """TFLite Micro's features of each recording."""
    require_module("tflite_micro")
    data = (shared_dir() / "models/tflite/audio_preprocessor_int8.tflite").read_bytes()
    return {word: np.stack([out[0] for out in run_tflm(data, *((f,) for f in frames(word)))]) for word in SOUNDS}


def test_features_are_tflite_micro_at_every_frame(
    front_end: Compiled, wanted: dict[str, Array], tmp_path: Path
) -> None:
    """Golden's and the C's; the C begins anew by its reset, as it stands in its arena."""
    write_project(tmp_path / "c", front_end.files)
    ports, _ = graph_ports(front_end.imported)
    with Network(tmp_path / "c", flags=("-O1",)) as network:
        for word in SOUNDS:
            network.reset()
            stepper = Stepper(front_end.graph)
            for frame, want in zip(frames(word), wanted[word], strict=True):
                feeds = network_feeds(ports, {ports[0].name: frame})
                (have,) = (stepper.run(feeds)[o.value] for o in front_end.graph.outputs)
                (made,) = network.run({network.inputs[0].name: frame}).values()
                assert np.array_equal(want, have)
                assert np.array_equal(want, made)


MAIN = """
#include <stdio.h>
static int16_t samples[16000];
int main(void)
{
    return begin() && fread(samples, 2, 16000, stdin) == 16000u ? heard(samples) : 9;
}
"""


def test_the_program_of_the_page_hears_words(tmp_path: Path) -> None:
    """Its labels by its exit code."""
    page = (Path(__file__).parents[2] / "docs" / "audio.md").read_text()
    (program,) = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    (tmp_path / "main.c").write_text(program + MAIN)
    folders = {"sound": "audio_preprocessor_int8", "word": "micro_speech_int8"}
    for name, model in folders.items():
        made = compile_file(shared_dir() / f"models/tflite/{model}.tflite", Options(vectors=0, name=name))
        write_project(tmp_path / name, made.files)
    sources = [str(p) for name in folders for p in sorted((tmp_path / name / "src").glob("*.c"))]
    includes = [f"-I{tmp_path / name / part}" for name in folders for part in ("include", "runtime")]
    words = ["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", *includes, str(tmp_path / "main.c"), *sources]
    subprocess.run([*words, "-o", str(tmp_path / "heard")], check=True)
    for spoken, label in {"no": "no", "yes": "yes", "noise": "silence", "silence": "silence"}.items():
        done = subprocess.run([str(tmp_path / "heard")], input=recording(spoken).tobytes(), check=False)
        assert LABELS[done.returncode] == label


def test_tables_are_small(front_end: Compiled) -> None:
    """The window takes 960 bytes, cosines 1,024, weights of channels 944; TFLite Micro holds turns in memory."""
    assert front_end.program.arena_bytes <= 2220
    assert front_end.program.packed_bytes <= 3760
