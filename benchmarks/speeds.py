"""What each kernel of a core takes: the [speed.kernels] tables of targets/cores/, counted on the emulated chips.

    python benchmarks/speeds.py --chips cortex-m4 --write

Networks of synthetic layers (benchmarks/layers.py) are profiled (`lamina profile --cycles`) in rounds: in each one a
layer gets a kernel that has not been counted for it yet, until all that serve it are.  What a thousand products,
outputs and rows of a kernel take is then fitted, so that layers are met best.  `--write` puts the table
into the core's file; run it again when kernels have changed.  benchmarks/estimates.py says how far whole networks are
off.  Kinds of layers, which serve where a kernel is unknown, are fitted to the same counts.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import codegen
from benchmarks.layers import model
from codegen.errors import CompileError
from codegen.ir.form import Form
from codegen.ir.op import NodeView
from codegen.kernels import KernelTable
from codegen.options import Options
from codegen.pipeline import reach, read_model
from codegen.planning import met
from codegen.records import record
from codegen.report.speed import Work, work_of
from codegen.resources import resource_dir
from codegen.target import load_target
from codegen.toolkit import HOUSE

CHIPS = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55", "cortex-m7", "rv32imc", "rv64gcv", "esp8266")
SAME = {"cortex-m0plus": ("cortex-m0",), "cortex-m4": ("cortex-m33",), "rv32imc": ("rv32imac", "rv32imafc")}
"""Cores that run the same kernels, as their files say; without a table of cycles, they are instructions."""
DTYPES = ("s8", "s4", "f32")
MODES: Mapping[str, tuple[str | None, ...]] = {"s8": (None, "tflite"), "s4": (None,), "f32": (None,)}
"""TFLite's rounding takes more instructions on some cores, and its files are half of what there is."""
HEAD = "# Of a thousand products, outputs and rows of each kernel (benchmarks/speeds.py --write)."
ROUNDS = 5
Rates = tuple[int, ...]
Sample = tuple[Work, int, int]
"""What there is to do, and the instructions and cycles that it took."""


@record(slots=False)
class Unseen(KernelTable):
    """The house's kernels; of a node those that have been counted for a layer of its sizes come last."""

    seen: frozenset[tuple[str, object]] = frozenset()

    def fitting(self, view: NodeView, features: frozenset[str]) -> Iterator[Form]:
        """The first form that was not counted, or all where there is none such."""
        forms = list(super().fitting(view, features))
        fresh = [form for form in forms if (form.kernel, sizes(view)) not in self.seen]
        return iter(fresh[:1] or forms)


def sizes(view: NodeView) -> object:
    """What layers of equal cost have in common."""
    return type(view.op).__name__, tuple(t.shape for t in (*view.ins, *view.outs)), view.ins[0].dtype


def samples(
    chip: str, dtype: str, folder: Path, rounds: int = ROUNDS, mode: str | None = None
) -> dict[str, list[Sample]]:
    """By kernel, what layers took, in the target's own arithmetic or that of `mode`."""
    path = folder / f"layers_{dtype}.onnx"
    path.write_bytes(model(dtype))
    found: dict[str, list[Sample]] = defaultdict(list)
    seen: set[tuple[str, object]] = set()
    target, options = met(Options(target=chip, requant=mode), path)
    graph = reach(read_model(path, options, target), target, options).graph
    views = {node.name: graph.view(node) for node in graph.nodes}
    for _ in range(rounds):
        tools = replace(HOUSE, table=Unseen(seen=frozenset(seen)))
        try:
            layers = codegen.profile(path, chip, cycles=target.cycles is not None, requant=mode, toolkit=tools).layers
        except CompileError as error:
            print(f"# {chip} {dtype}: {str(error).splitlines()[0]}", file=sys.stderr)
            break
        before = len(seen)
        for layer in layers:
            view = views[layer.name]
            if layer.instructions and (layer.kernel, sizes(view)) not in seen:
                seen.add((layer.kernel, sizes(view)))
                found[layer.kernel].append((work_of(view), layer.instructions, layer.cycles or layer.instructions))
        if len(seen) == before:
            break
    return found


def fitted(work: Sequence[Work], counted: Sequence[int]) -> Rates:
    """What a thousand products, outputs and rows take, none below 0: the least error of all layers.

    Every layer counts by its square root, so that neither the large ones alone decide nor the small ones.
    """
    amounts = np.array([[w.products, w.outputs, w.rows] for w in work], float)
    wanted = np.array(counted, float)
    weight = 1 / np.sqrt(wanted)
    scaled, told = amounts * weight[:, None], wanted * weight
    best: tuple[float, np.ndarray] | None = None
    for count in range(1, min(3, len(work)) + 1):
        for kept in itertools.combinations(range(3), count):
            rates = np.zeros(3)
            rates[list(kept)] = np.linalg.lstsq(scaled[:, kept], told, rcond=None)[0]
            error = float(((scaled @ rates - told) ** 2).sum())
            if (rates >= 0).all() and rates.any() and (best is None or error < best[0] * 0.98):
                best = error, rates
    assert best is not None
    return tuple(round(1000 * rate) for rate in best[1])


def table(found: Mapping[str, Sequence[Sample]]) -> list[str]:
    """The lines of `kernels` in [speed]: a kernel's instructions and cycles by kind and width of weights."""
    lines = []
    for kernel, counted in sorted(found.items()):
        for kind, bits in sorted({(work.kind, -work.bits) for work, _, _ in counted}):
            own = [sample for sample in counted if (sample[0].kind, -sample[0].bits) == (kind, bits)]
            instructions, cycles = (list(fitted([w for w, *_ in own], [c[which] for c in own])) for which in (1, 2))
            rates = f"instructions = {instructions}, cycles = {cycles}"
            narrow = "" if bits == -8 else f", bits = {-bits}"
            lines.append(f'    {{ name = "{kernel}", kind = "{kind}"{narrow}, {rates} }},')
    return [HEAD, "kernels = [", *lines, "]"]


def write(core: Path, lines: Sequence[str]) -> None:
    """Put the table into [speed] of the core's file, in place of an older one."""
    text = re.sub(rf"{re.escape(HEAD)}\nkernels = \[.*?\n\]\n", "", core.read_text(), flags=re.DOTALL)
    core.write_text(text.replace("[speed]\n", "\n".join(["[speed]", *lines, ""]), 1))


def main() -> None:
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--types", nargs="+", default=DTYPES)
    parser.add_argument("--write", action="store_true", help="into targets/cores/")
    parser.add_argument("--folder", type=Path, default=Path("build"), help="for the networks")
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    for chip in given.chips:
        found: dict[str, list[Sample]] = defaultdict(list)
        for dtype in given.types:
            for mode in MODES[dtype]:
                for kernel, counted in samples(chip, dtype, given.folder, mode=mode).items():
                    found[kernel] += counted
        lines = table(found)
        print("\n".join([f"# {chip}", *lines]), flush=True)
        if given.write:
            for core in (load_target(chip).core, *SAME.get(chip, ())):
                write(resource_dir("targets") / "cores" / f"{core}.toml", lines)


if __name__ == "__main__":
    main()
