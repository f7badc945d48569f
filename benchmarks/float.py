"""Float networks: instructions on an emulated Cortex-M4F, and time here beside ONNX Runtime and the plain kernels.

MobileNetV2, whose file is the shared quantized one with its weights as floats, is no network for that chip: it is timed
here alone (`--models mobilenet_v2`).
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from emx import Peer
from quantizing.networks import dequantized
from tiny import ROOT, c_runner, in_pairs, ort_runner

from codegen.golden.interface import graph_ports, network_feeds
from codegen.golden.interpreter import run_graph
from codegen.host import host_flags
from codegen.pipeline import Options, compile_file
from codegen.verbs.profile import Measuring, profile
from codegen.verbs.samples import random_samples

MODELS = ROOT.parent / "shared" / "models"
NAMES = ("resnet8", "kws", "vww", "ad")
LARGE = "mobilenet_v2"
CHIP, HOST, PLAIN = "cortex-m4", "host", "generic"
HEADS = ("model", "MACs", "M instructions", "per MAC", "arena B", "here us", "/ ONNX Runtime", "/ plain kernels")
EMX_HEADS = ("emx M instructions", "/ emx's", "emx RAM B", "here / emx")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=NAMES, choices=(*NAMES, LARGE))
    parser.add_argument("--pairs", type=int, default=15, help="pairs of batches (default: %(default)s)")
    parser.add_argument("--float", dest="sums", default="separate", choices=("separate", "fused", "flushed"))
    parser.add_argument("--emx", metavar="PROGRAM", help="emx-onnx-cgen (from PyPI), measured in the same run")
    given = parser.parse_args(arguments)
    heads = HEADS + (EMX_HEADS if given.emx else ())
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for name in given.models:
        counted = on_chip(name, given.sums) if name != LARGE else ("-",) * 4
        row = (name, *counted, *here(name, given.pairs, given.sums))
        if given.emx and name != LARGE:
            row += beside_emx(name, given, float(counted[1]))
        print("| " + " | ".join(row) + " |", flush=True)


def on_chip(name: str, sums: str) -> tuple[str, ...]:
    """Products, instructions of one inference, instructions per product, arena."""
    found = profile(MODELS / "mlperf_tiny" / f"{name}_f32.tflite", Options(target=CHIP, float_sums=sums), Measuring())
    assert found.instructions is not None
    ratio = found.instructions / found.macs
    return f"{found.macs:,}", f"{found.instructions / 1e6:.2f}", f"{ratio:.2f}", f"{found.arena_bytes:,}"


def beside_emx(name: str, given: argparse.Namespace, millions: float) -> tuple[str, ...]:
    """Instructions of emx-onnx-cgen's C on the chip, ours as a share of them; its RAM; the share of its time here."""
    model = MODELS / "mlperf_tiny_onnx" / f"{name}_f32.onnx"
    fast = compile_file(model, Options(target=HOST, float_sums=given.sums))
    ports, _ = graph_ports(fast.imported)
    sample = random_samples(ports, 1, seed=0)[0]
    feeds = network_feeds(ports, sample)
    wanted = run_graph(fast.imported, feeds)[fast.imported.outputs[0].value]
    (x,) = (sample[p.name] for p in ports)
    with tempfile.TemporaryDirectory(prefix="lamina-bench-") as folder:
        peer = Peer(given.emx, model, x.size, math.prod(wanted.shape), Path(folder) / "emx")
        instructions, ram = peer.on_chip(CHIP)
        theirs = instructions / 1e6
        ours = c_runner(fast, feeds[fast.graph.inputs[0].value], host_flags(), Path(folder) / "fast")
        _, _, ratio = in_pairs(ours, peer.runner(x, wanted, host_flags()), given.pairs)
    assert ratio is not None
    return f"{theirs:.2f}", f"{millions / theirs:.2f}", f"{ram:,}", f"{ratio:.2f}"


def here(name: str, pairs: int, sums: str) -> tuple[str, ...]:
    """Microseconds, medians; and the median ratios of pairs in turns, one thread each."""
    with tempfile.TemporaryDirectory(prefix="lamina-bench-") as folder:
        return timed(float_file(name, Path(folder)), pairs, sums, Path(folder))


def float_file(name: str, folder: Path) -> Path:
    """The network's float ONNX file; that of the large one is made in the folder."""
    if name != LARGE:
        return MODELS / "mlperf_tiny_onnx" / f"{name}_f32.onnx"
    return dequantized(MODELS / "tflite" / "mobilenet_v2_int8.tflite", folder / f"{name}.onnx")


def timed(model: Path, pairs: int, sums: str, folder: Path) -> tuple[str, ...]:
    """The same of a file."""
    fast, plain = (compile_file(model, Options(target=t, float_sums=sums)) for t in (HOST, PLAIN))
    ports = graph_ports(fast.imported)[0]
    sample = random_samples(ports, 1, seed=0)[0]
    x = network_feeds(ports, sample)[fast.graph.inputs[0].value]
    run = c_runner(fast, x, host_flags(), folder / "fast")
    mine, _, over_ort = in_pairs(run, ort_runner(model, sample), pairs)
    _, _, over_plain = in_pairs(run, c_runner(plain, x, host_flags(), folder / "plain"), pairs)
    return f"{mine:.1f}", "-" if over_ort is None else f"{over_ort:.2f}", f"{over_plain:.2f}"


if __name__ == "__main__":
    sys.exit(main())
