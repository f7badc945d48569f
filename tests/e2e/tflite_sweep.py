"""Random TFLite models of one operator each at the ends of their numbers, compared with TFLite's own kernels.

python -m tests.e2e.tflite_sweep --count 2000 --seed 1

Scales lie between 2^-27 and 2^20, zero points at the ends of their type, shapes are of one element or hold large
windows.  int8 and int16 run on TFLite Micro, uint8 on LiteRT's reference kernels.  A model that either side refuses is
counted, not compared; one that ends the interpreter's process is passed over.  After a fault, `--only SEED` runs that
model alone.

Where TFLite's own arithmetic leaves 32 bits without notice there is nothing to compare with (docs/tflite.md): below
2^-27 the bounds of RELU6 and the tables of TANH do, and 16-bit sums do whose factor is 2^7 and more.  Nor is there
where DIV and RSQRT shift by more than 31, and comparisons, of scales of 1 and more, to the right by less than nothing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from codegen.errors import CompileError
from codegen.frontends.tflite import import_tflite
from codegen.frontends.tflite.reader import read_model
from codegen.ir.graph import Graph, Node
from codegen.ir.quant import DType, Mode
from codegen.ops import Compare, Dense, Div, MatMul
from tests.e2e.test_tflite_operators import PAIRS, differing, golden
from tests.support.tflite_cases import LIMITS, LITERT_ONLY, MAKERS, Draw, Drawn, slack
from tests.support.tflite_models import run_litert, run_tflm

CHUNK = 50


class Extreme(Draw):
    """Draws from the ends: one power of two for all scales of a model, seldom another one for each."""

    widest = 12

    def __init__(self, rng: np.random.Generator, kind: str) -> None:
        super().__init__(rng, kind)
        self.base = self._power()

    def _power(self) -> float:
        return float(2.0 ** self.rng.integers(-22, 22)) if self.rng.integers(3) else 1.0

    def size(self, low: int = 1, high: int = 14) -> int:
        chosen = int(self.rng.integers(4))
        return low if chosen == 0 else high if chosen == 1 else super().size(low, high)

    def scale(self, low: float = 0.003, high: float = 0.3) -> float:
        factor = self._power() if self.rng.integers(6) == 0 else self.base
        return float(np.float32(np.clip(super().scale(low, high) * factor, 2.0**-27, 2.0**20)))

    def zero(self) -> int:
        low, high = LIMITS[self.kind]
        return 0 if self.kind == "int16" else int(self.pick(low, high, super().zero()))  # type: ignore[call-overload]


def extreme_case(seed: int) -> tuple[str, str, Drawn]:
    """Operator, type of activations and model: the same ones for the same seed."""
    rng = np.random.default_rng([seed, 1709])
    name, kind = PAIRS[int(rng.integers(len(PAIRS)))]
    return name, kind, MAKERS[name][0](Extreme(rng, kind))


def _leaves_32_bits(path: Path) -> bool:
    """Whether TFLite narrows a 64-bit product to 32 bits before it is clamped, or shifts a number out of them."""
    scales = [t.scale.max() for t in read_model(path).subgraphs[0].tensors if t.scale.size and t.data is None]
    if scales and max(scales) >= min(scales) * 2.0**22:
        return True
    graph = import_tflite(path, mode="tflite", io_type="model")
    if any(isinstance(node.op, Div) and node.op.scaling()[1] < 0 for node in graph.nodes):
        return True
    compared = [node.op for node in graph.nodes if isinstance(node.op, Compare)]
    if any(op.a and op.b and max(op.a.scale, op.b.scale) >= 1 for op in compared):
        return True
    return any(_is_narrowed(graph, node) or _is_lost_single(graph, node) for node in graph.nodes)


def _is_narrowed(graph: Graph, node: Node) -> bool:
    """Whether a sum of 64 bits, multiplied by a factor of 15, can leave the 32 bits that TFLite keeps of it."""
    requant = getattr(node.op, "requant", None)
    if requant is None or not 0 < max(requant.multiplier) < 1 << 15:
        return False
    if not isinstance(node.op, MatMul):
        return bool(min(requant.shift) < 8)
    a, b = (graph.type(value) for value in node.inputs[:2])
    largest = a.shape[-1] * a.dtype.low * b.dtype.low
    return bool(largest * max(requant.multiplier) >> min(requant.shift) >= 1 << 31)


def _is_lost_single(graph: Graph, node: Node) -> bool:
    """Whether a sum of uint8 products, rounded once as LiteRT does, leaves 32 bits when it is multiplied."""
    x = graph.type(node.inputs[0])
    if not isinstance(node.op, Dense) or x.dtype is not DType.U8 or node.op.requant is None:
        return False
    multiplier, exponent = max(node.op.requant.multiplier), max(node.op.requant.shift)
    return bool(x.shape[-1] * 255 * 255 * multiplier * 2.0 ** (exponent - 31) >= 2.0**31)


def _root_is_lost(path: Path) -> bool:
    """Whether RSQRT, whose numbers have 20 more bits, shifts its result by more than 31."""
    x, y = (float(t.scale[0]) for t in read_model(path).subgraphs[0].tensors)
    return bool(np.sqrt(x) * y > 2.0**12)


def verdict(seed: int, folder: Path) -> tuple[str, str]:
    """What became of one model: equal, refused (and by whom) or wrong; and its operator, with the reason."""
    name, kind, case = extreme_case(seed)
    told = f"{name} {kind}"
    # LiteRT's FULLY_CONNECTED with one scale rounds once
    mode: Mode = "single" if (name, kind) == ("FULLY_CONNECTED", "uint8") else "tflite"
    try:
        found = golden(case, folder, mode)
    except CompileError as error:
        return "refused", f"{told}: {error.problems()[0].code}"
    if _leaves_32_bits(folder / "case.tflite") or (name == "RSQRT" and _root_is_lost(folder / "case.tflite")):
        return "beyond 32 bits in TFLite", told
    try:
        wanted = (run_litert if kind == "uint8" or name in LITERT_ONLY else run_tflm)(case.data, *case.inputs)
    except (RuntimeError, ValueError):
        return "refused by the interpreter", told
    for want, have in zip(wanted, found, strict=True):
        for x, y in zip(want, have, strict=True):
            if wrong := differing(x, y, slack(name, kind)):
                return "wrong", f"{told}: {wrong} of {x.size} numbers"
    return "equal", told


def _chunk(first: int, end: int, line: Connection) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, end):
            line.send((seed, *verdict(seed, Path(folder))))


def sweep(first: int, end: int) -> Iterator[tuple[int, str, str]]:
    """Seed, verdict and reason of every model; each chunk has a process of its own, which an interpreter may end."""
    context = multiprocessing.get_context("spawn")
    while first < end:
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=_chunk, args=(first, min(first + CHUNK, end), theirs))
        child.start()
        theirs.close()
        try:
            while True:
                found = ours.recv()
                first = found[0] + 1
                yield found
        except EOFError:
            child.join()
        if child.exitcode:
            name, kind, _ = extreme_case(first)
            yield first, "the interpreter's end", f"{name} {kind}"
            first += 1


def main() -> int:
    """Print what became of the models; 1 when one is wrong."""
    parser = argparse.ArgumentParser(description="random TFLite models at the ends of their numbers")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1, help="the first of the seeds")
    parser.add_argument("--only", type=int, help="one seed alone, in this process")
    given = parser.parse_args()
    if given.only is not None:
        with tempfile.TemporaryDirectory() as folder:
            print(*verdict(given.only, Path(folder)))
        return 0
    counts: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    for seed, kind, reason in sweep(given.seed, given.seed + given.count):
        counts[kind] += 1
        if kind == "refused":
            refusals[reason] += 1
        elif kind not in ("equal", "refused by the interpreter", "beyond 32 bits in TFLite"):
            print(f"seed {seed}: {kind}: {reason}", flush=True)
    print(", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())))
    for reason, n in refusals.most_common():
        print(f"  {n} refused: {reason}")
    return int(counts["wrong"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
