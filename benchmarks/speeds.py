"""What each kernel of a core takes: the [speed.kernels] tables of targets/cores/, counted on the emulated chips.

    python benchmarks/speeds.py --chips cortex-m4 --write
    python benchmarks/speeds.py --types s8 --parts alone --kernels softmax matmul --write      these lines alone
    python benchmarks/speeds.py --chips cortex-m3 --types f32 --write       those of real numbers; the others stay

Networks of synthetic layers (benchmarks/layers.py) are profiled (`lamina profile --cycles`) in rounds: in each one a
layer gets a kernel that has not been counted for it yet, until all that serve it are.  What a thousand of each amount
(codegen.report.speed.Work.amounts) take with a kernel is then fitted, so that layers left out are met best.  `--write`
puts the table into the core's file; run it again when kernels have changed.  benchmarks/estimates.py says how far whole
networks are off.  Kinds of layers, which serve where a kernel is unknown, are fitted to the same counts.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import codegen
from benchmarks.layers import model
from codegen.errors import CompileError
from codegen.ir.form import Form
from codegen.ir.op import NodeView
from codegen.kernels import TABLE, KernelTable
from codegen.options import Options
from codegen.pipeline import reach, read_model
from codegen.planning import met
from codegen.records import record
from codegen.report.speed import lanes_of, work_of
from codegen.resources import resource_dir
from codegen.target import BESIDE, FEATURES, OFFERED, load_target
from codegen.target.parts import AMOUNTS
from codegen.toolkit import HOUSE

NO_LIMIT = re.compile(r"^bytes = .*\n", re.MULTILINE)
EXPANDED = "\n[weights]\nexpand = true\n"
CHIPS = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55", "cortex-m7", "rv32imc", "rv64gcv", "esp8266")
SAME: Mapping[str, tuple[str, ...]] = {
    "cortex-m0plus": ("cortex-m0",),
    "cortex-m4": ("cortex-m33",),
    "rv32imc": ("rv32imac", "rv32imafc"),
}
"""Cores that run the same kernels, as their files say; without a table of cycles, they are instructions.

Lines of real numbers are those of cores that have an FPU alike.
"""
DTYPES = ("s8", "s4", "f32")
WAYS: Mapping[str, tuple[dict[str, Any], ...]] = {"s8": ({}, {"requant": "tflite"}), "s4": ({},), "f32": ({},)}
"""TFLite's rounding takes more instructions on some cores, and its files are half of what there is; layers with weights
stand behind a ReLU there, as most of theirs do."""
FLUSHED = {"float_sums": "flushed"}
"""How layers of real numbers are summed by Helium's vectors, and only by them as it is meant."""
OF_HELIUM = {kernel.name for kernel in TABLE.kernels if "mve" in kernel.needs}
WEIGHTED: Mapping[str, tuple[bool, ...]] = {"s8": (True, False), "s4": (True,), "f32": (True, False)}
"""Layers without weights have a network of their own, so that the memory of small chips holds either."""
HEAD = "# Of a thousand products, outputs, rows, gathered, pieces, edge pieces of a kernel (benchmarks/speeds.py)."
TABLE_TEXT = r"# Of a thousand[^\n]*\nkernels = \[.*?\n\]\n"
ROUNDS = 5
BESIDE_OWN = {FEATURES[isa]: FEATURES[level] for isa, level in OFFERED.items()}
RUNS = {kernel.name: kernel.run for kernel in TABLE.kernels}
Rates = tuple[int, ...]
_MOST, _LEAST, WHOLE, REAL = 5, 1e-3, 8, 32


@record
class Sample:
    """What there is to do in a layer, and the instructions and cycles that it took."""

    kind: str
    bits: int
    amounts: tuple[int, ...]
    instructions: int
    cycles: int


@record(slots=False)
class Unseen(KernelTable):
    """The house's kernels; of a node those that have been counted for a layer of its sizes come last."""

    seen: frozenset[tuple[str, object]] = frozenset()

    def fitting(self, view: NodeView, features: frozenset[str]) -> Iterator[Form]:
        """The first form that was not counted, of the level's and those that come beside them, or all if none is."""
        forms = list(super().fitting(view, BESIDE_OWN.get(features, features)))
        fresh = [form for form in forms if (form.kernel, sizes(view)) not in self.seen]
        return iter(fresh[:1] or forms)


def sizes(view: NodeView) -> object:
    """What layers of equal cost have in common."""
    return (
        type(view.op).__name__,
        getattr(view.op, "name", ""),
        tuple(t.shape for t in (*view.ins, *view.outs)),
        view.ins[0].dtype,
    )


UNLIKE = "float_unary"
"""A kernel whose functions take 7 to 600 instructions for an element in software, where one rate tells nothing."""


def roomy(chip: str, folder: Path) -> str:
    """A file of the chip without limits of memory, as the board that emulates it has room for all layers at once.

    Weights may take what they want where kernels with wide ones come beside the others.
    """
    (file,) = resource_dir("targets").rglob(f"chips/*/{chip}.toml")
    path = folder / f"{chip}.toml"
    path.write_text(NO_LIMIT.sub("", file.read_text()) + (EXPANDED if load_target(chip).isa in BESIDE else ""))
    return str(path)


def samples(chip: str, path: Path, rounds: int = ROUNDS, **words: Any) -> dict[str, list[Sample]]:
    """By kernel, what the layers of a network took, in the target's own arithmetic or as options say it."""
    found: dict[str, list[Sample]] = defaultdict(list)
    seen: set[tuple[str, object]] = set()
    target, options = met(Options(target=chip, **words), path)
    graph = reach(read_model(path, options, target), target, options).graph
    views = {node.name: graph.view(node) for node in graph.nodes}
    for _ in range(rounds):
        tools = replace(HOUSE, table=Unseen(seen=frozenset(seen)))
        try:
            layers = codegen.profile(path, chip, cycles=target.cycles is not None, toolkit=tools, **words).layers
        except CompileError as error:
            print(f"# {chip} {path.stem}: {str(error).splitlines()[0]}", file=sys.stderr)
            break
        before = len(seen)
        for layer in layers:
            view = views[layer.name]
            if layer.instructions and (layer.kernel, sizes(view)) not in seen:
                seen.add((layer.kernel, sizes(view)))
                work, lanes = work_of(view, RUNS[layer.kernel]), lanes_of(view, target.speed)
                told = layer.instructions, layer.cycles or layer.instructions
                found[layer.kernel].append(Sample(work.kind, work.bits, work.amounts(lanes), *told))
        if len(seen) == before:
            break
    return found


def fitted(amounts: Sequence[Sequence[int]], counted: Sequence[int]) -> Rates:
    """What a thousand of each amount take, none below 0, of those five at most by which layers left out are met best.

    Every layer counts by its square root, so that neither the large ones alone decide nor the small ones.
    """
    wanted = np.array(counted, float)
    weight = 1 / np.sqrt(wanted)
    scaled, told = np.array(amounts, float) * weight[:, None], wanted * weight
    best: tuple[float, np.ndarray] | None = None
    for count in range(1, min(_MOST, len(told)) + 1):
        for kept in itertools.combinations(range(AMOUNTS), count):
            found = _left_out(scaled[:, kept], told)
            if found is not None and (best is None or found[0] < best[0] * 0.98):
                rates = np.zeros(AMOUNTS)
                rates[list(kept)] = found[1]
                best = found[0], rates
    assert best is not None
    return tuple(round(1000 * rate) for rate in best[1])


def _left_out(amounts: np.ndarray, told: np.ndarray) -> tuple[float, np.ndarray] | None:
    """The error of each layer by rates that are fitted to all others, and the rates of all; None below 0."""
    rates, _, rank, _ = np.linalg.lstsq(amounts, told, rcond=None)
    if rank < amounts.shape[1] or (rates < 0).any() or not rates.any():
        return None
    leverage = (amounts * np.linalg.pinv(amounts).T).sum(1)
    apart = (amounts @ rates - told) / np.maximum(1 - leverage, _LEAST)
    return float((apart**2).sum()), rates


def table(found: Mapping[str, Sequence[Sample]]) -> list[str]:
    """The lines of `kernels` in [speed]: a kernel's instructions and cycles by kind and width of weights."""
    lines = []
    for kernel, counted in sorted(found.items()):
        for kind, packed, bits in sorted({(sample.kind, sample.bits != WHOLE, sample.bits) for sample in counted}):
            own = [sample for sample in counted if (sample.kind, sample.bits) == (kind, bits)]
            amounts = [sample.amounts for sample in own]
            instructions, cycles = (
                list(fitted(amounts, told)) for told in ([s.instructions for s in own], [s.cycles for s in own])
            )
            rates = f"instructions = {instructions}, cycles = {cycles}"
            width = f", bits = {bits}" if packed else ""
            lines.append(f'    {{ name = "{kernel}", kind = "{kind}"{width}, {rates} }},')
    return [HEAD, "kernels = [", *lines, "]"]


def _of(line: str) -> tuple[str, str, bool, int]:
    """The order of a table's lines: by kernel, by kind, and those of other bits than 8 behind."""
    _, name, _, kind, rest = line.split('"')
    bits = re.search(r"bits = (\d+)", rest)
    width = int(bits[1]) if bits else WHOLE
    return name, kind, width != WHOLE, width


def write(core: Path, lines: Sequence[str], only: Collection[str] = ()) -> None:
    """Put the table into [speed] of the core's file in place of an older one; of kernels `only`, their lines."""
    text = core.read_text()
    old = re.search(TABLE_TEXT, text, flags=re.DOTALL)
    if only and old is not None:
        made = {_of(line): line for line in lines[2:-1] if _of(line)[0] in only}
        found = {_of(line): line for line in old[0].splitlines()[2:-1]} | made
        lines = [*lines[:2], *(found[key] for key in sorted(found)), lines[-1]]
    text = re.sub(TABLE_TEXT, "", text, flags=re.DOTALL)
    core.write_text(text.replace("[speed]\n", "\n".join(["[speed]", *lines, ""]), 1))


def _is_of_reals(line: str) -> bool:
    name, _, _, width = _of(line)
    return width == REAL or "f32" in name or name.startswith("float_")


def main() -> None:
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--types", nargs="+", default=DTYPES)
    parser.add_argument(
        "--parts", nargs="+", default=("weighted", "alone"), help="networks: of layers with weights, without"
    )
    parser.add_argument("--kernels", nargs="+", default=(), help="replace the lines of these alone")
    parser.add_argument("--write", action="store_true", help="into targets/cores/")
    parser.add_argument("--folder", type=Path, default=Path("build"), help="for the networks")
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    for name in given.chips:
        chip = roomy(name, given.folder)
        found: dict[str, list[Sample]] = defaultdict(list)
        parts = [part == "weighted" for part in given.parts]
        for dtype, weighted in ((kind, part) for kind in given.types for part in WEIGHTED[kind] if part in parts):
            for words in WAYS[dtype]:
                rectified = weighted and bool(words)
                path = given.folder / f"layers_{dtype}{'_relu' if rectified else '' if weighted else '_alone'}.onnx"
                path.write_bytes(model(dtype, weighted=weighted, rectified=rectified))
                for kernel, counted in samples(chip, path, **words).items():
                    found[kernel] += counted
            if (dtype, weighted) == ("f32", True) and "mve" in FEATURES[load_target(chip).isa]:
                for kernel, counted in samples(chip, path, **FLUSHED).items():
                    found[kernel] += counted if kernel in OF_HELIUM else []
        if not load_target(chip).has_fpu:
            found.pop(UNLIKE, None)
        lines = table(found)
        print("\n".join([f"# {name}", *lines]), flush=True)
        only = given.kernels or (() if set(given.types) == set(DTYPES) else set(found))
        for core in (load_target(chip).core, *SAME.get(name, ())) if given.write else ():
            file = resource_dir("targets") / "cores" / f"{core}.toml"
            alike = load_target(chip).has_fpu == ("has_fpu = true" in file.read_text())
            kept = [line for line in lines[2:-1] if alike or not _is_of_reals(line)]
            write(file, [*lines[:2], *kept, lines[-1]], only)


if __name__ == "__main__":
    main()
