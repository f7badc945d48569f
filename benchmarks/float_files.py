"""Every float file goes the whole way: quantized, compiled, verified; and the decibels that are left of each.

    python benchmarks/float_files.py [FILES ..] [--recipe fast] [--target cortex-m4] [--shared ../shared]

Without FILES: each `*_f32` file of the shared models, and the 17 networks behind the shared dialects, which PyTorch
exports here in four ways (TorchScript at opsets 13 and 17, dynamo at 18 and 21).  Samples are normal numbers, but for
detectors, whose outputs are nearly constant where nothing is seen: photographs.  The decibels are those of the worst
output; `benchmarks/quantizers.py` has those of real data.  A refusal is printed by its id; `verified` is golden beside
C, byte by byte.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from quantizing.tasks import Tasks  # noqa: E402

import codegen  # noqa: E402
from codegen.frontends import read_real  # noqa: E402

SAMPLES = 32
PHOTOGRAPHED = {"yunet_n_320_f32": "yunet", "fastestdet_352_f32": "fastestdet", "sinet_portrait_f32": "sinet"}
"""Files that are given photographs, and what benchmarks/quantizing calls them."""
EXPORTS: dict[str, dict[str, Any]] = {
    "ts13": {"dynamo": False, "opset_version": 13},
    "ts17": {"dynamo": False, "opset_version": 17},
    "dyn18": {"dynamo": True, "opset_version": 18, "external_data": False},
    "dyn21": {"dynamo": True, "opset_version": 21, "external_data": False},
}
"""What `torch.onnx.export` is given."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--recipe", default="fast")
    parser.add_argument("--target", default="cortex-m4")
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    given = parser.parse_args()
    print(f"{'network':34}{'SQNR dB':>9}{'layers':>8}{'real':>6}  {'':10}{'s':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for path in given.files or _all(given.shared, Path(folder)):
            started = time.process_time()
            print(
                f"{path.stem:34}{_way(path, given.recipe, given.target, given.shared, Path(folder))}",
                end="",
                flush=True,
            )
            print(f"{time.process_time() - started:7.1f}", flush=True)


def _all(shared: Path, folder: Path) -> Iterator[Path]:
    yield from sorted(p for p in (shared / "models").rglob("*_f32.*") if p.suffix in (".onnx", ".tflite"))
    yield from _exported(shared / "models" / "dialects" / "make", folder)


def _exported(made_by: Path, folder: Path) -> Iterator[Path]:
    """The networks behind the dialects as float ONNX files."""
    import torch

    sys.path.insert(0, str(made_by))
    import nets  # type: ignore[import-not-found]

    for name in nets.NETS:
        for kind, words in EXPORTS.items():
            path = folder / f"{name}_{kind}.onnx"
            network, inputs = nets.make(name)
            with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                torch.onnx.export(network, tuple(inputs), path, input_names=["x", "h"][: len(inputs)], **words)
            yield path


def _way(path: Path, recipe: str, target: str, shared: Path, folder: Path) -> str:
    """A row: the network's decibels, its layers, how many compute with real numbers, and whether C is golden's."""
    quantized = folder / "quantized.onnx"
    try:
        report = codegen.quantize(path, _samples(path, shared, folder), quantized, recipe=recipe, target=target).report
        layers = codegen.inspect(quantized, target, weights="blob").layers
        equal = codegen.verify(quantized, samples=2).equal
    except codegen.CompileError as error:
        return f"  {error.code} {error.text().splitlines()[0][:90]}"
    real = sum(layer.operator.startswith("Float") for layer in layers)
    shown = "" if report.sqnr is None else f"{report.sqnr:.1f}"
    return f"{shown:>9}{len(layers):8}{real:6}  {'verified' if equal else 'DIFFERS':10}"


def _samples(path: Path, shared: Path, folder: Path) -> Any:
    """f32 [N, ..] for each input; a leading 1 of the model's shape is left out."""
    if path.stem in PHOTOGRAPHED:
        return Tasks(shared, folder).task(PHOTOGRAPHED[path.stem]).calib[:SAMPLES]
    rng, graph = np.random.default_rng(0), read_real(path)
    shapes = {name: graph.type(name).shape for name in graph.inputs}
    return {
        name: rng.normal(0, 1, (SAMPLES, *shape[shape[:1] == (1,) :])).astype(np.float32)
        for name, shape in shapes.items()
    }


if __name__ == "__main__":
    main()
