"""Features of sound: instructions per frame on an emulated Cortex-M4, and TFLite Micro's numbers at every frame."""

from __future__ import annotations

import argparse
import sys
import tempfile
import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen.emit import write_project  # noqa: E402
from codegen.host import Network  # noqa: E402
from codegen.ir.quant import Array  # noqa: E402
from codegen.pipeline import Options, compile_file  # noqa: E402
from codegen.verbs.profile import Measuring, profile  # noqa: E402
from codegen.verbs.tflite_engines import TfliteEngine  # noqa: E402

SHARED = ROOT.parent / "shared"
MODEL = SHARED / "models" / "tflite" / "audio_preprocessor_int8.tflite"
SIZE, STEP, RATE = 480, 320, 16000
CHIP = "cortex-m4"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, compare, and print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default=CHIP, help="a chip with an emulated board (default: %(default)s)")
    given = parser.parse_args(arguments)
    on_chip(given.target)
    with tempfile.TemporaryDirectory(prefix="lamina-bench-") as folder:
        write_project(Path(folder) / "c", compile_file(MODEL, Options(vectors=0)).files)
        with Network(Path(folder) / "c") as network:
            for path in sorted((SHARED / "data" / "micro_speech").glob("*.wav")):
                same, count = equal_frames(network, path)
                print(f"{path.stem}: {same} of {count} frames equal TFLite Micro's")


def on_chip(target: str) -> None:
    """Instructions of one frame, operator by operator."""
    found = profile(MODEL, Options(target=target), Measuring())
    assert found.instructions is not None
    print("| operator | instructions |\n| --- | ---: |")
    for layer in found.layers:
        print(f"| {layer.name} ({layer.kernel}) | {layer.instructions:,} |")
    rate = found.instructions * RATE / STEP / 1e6
    print(f"| all | {found.instructions:,} |\n")
    print(f"{rate:.2f} M instructions per second of sound, arena {found.arena_bytes:,} B\n")


def equal_frames(network: Network, path: Path) -> tuple[int, int]:
    """How many frames of a recording have TFLite Micro's features, and how many there are."""
    engine, same, count = TfliteEngine("tflm", MODEL), 0, 0
    network.reset()
    for frame in frames(path):
        (want,) = engine.run({engine.inputs[0].name: frame}).values()
        (have,) = network.run({network.inputs[0].name: frame}).values()
        same, count = same + np.array_equal(want, have), count + 1
    return same, count


def frames(path: Path) -> list[Array]:
    """The frames of a recording."""
    with wave.open(str(path)) as file:
        sound = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    return [sound[None, start : start + SIZE] for start in range(0, len(sound) - SIZE + 1, STEP)]


if __name__ == "__main__":
    sys.exit(main())
