"""What products, outputs and elements cost on the emulated chips: the [speed] tables of targets/cores/.

    python benchmarks/speeds.py --chips cortex-m4

Fitted to the instructions that `lamina profile --cycles` counts, and the cycles that it estimates, of the layers of
kws, resnet8 and ad, by kind of layer; vww is left out, and says how far the estimate of a whole network is off.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import codegen
from codegen.options import Options
from codegen.pipeline import reach, read_model
from codegen.planning import met
from codegen.report.profile import Profile
from codegen.report.speed import KINDS, Work, work_of

FITTED = ("kws", "resnet8", "ad")
HELD_OUT = ("vww",)
CHIPS = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55", "cortex-m7", "rv32imc")
Pair = tuple[int, int]


def works(model: Path, chip: str) -> dict[str, Work]:
    """Kind and amount of each layer's work, by name."""
    target, options = met(Options(target=chip), model)
    graph = reach(read_model(model, options, target), target, options).graph
    return {node.name: work_of(graph.view(node)) for node in graph.nodes}


def fitted(samples: Sequence[tuple[Work, int]]) -> Pair:
    """What a hundred products take, and a hundred outputs besides: the least error of the layers' sum, none below 0.

    Every layer counts by its square root, so that neither the large ones alone decide nor the small ones.  Outputs
    count where layers of a kind have more and fewer products for each.
    """
    work = np.array([[w.products, w.outputs] for w, _ in samples], float)
    if samples[0][0].kind in ("grouped", "element", "pair"):
        work[:, 1] = 0
    counted = np.array([count for _, count in samples], float)
    weight = 1 / np.sqrt(counted)
    tries = [np.linalg.lstsq(work * keep * weight[:, None], counted * weight, rcond=None)[0] * keep for keep in _KEPT]
    good = [t for t in tries if (t >= 0).all()]
    best = min(good, key=lambda t: float((((work @ t) - counted) ** 2 / counted).sum()))
    return round(100 * best[0]), round(100 * best[1])


_KEPT = (np.array([1.0, 1.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))


def rates(done: Mapping[str, dict[str, Work]], counted: Mapping[str, Profile]) -> dict[str, tuple[Pair, Pair]]:
    """Instructions and cycles by kind of layer."""
    found = {}
    for kind in KINDS:
        layers = [
            (done[name][layer.name], layer)
            for name in FITTED
            for layer in counted[name].layers
            if layer.name in done[name] and done[name][layer.name].kind == kind and layer.instructions
        ]
        found[kind] = tuple(
            fitted([(w, getattr(x, what) or 1) for w, x in layers]) for what in ("instructions", "cycles")
        )
    return found


def main() -> None:
    """Print the tables, and the error of each network's whole estimate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--models", type=Path, default=Path("../shared/models"))
    given = parser.parse_args()
    for chip in given.chips:
        models = {name: given.models / "mlperf_tiny" / f"{name}_int8.tflite" for name in (*FITTED, *HELD_OUT)}
        done = {name: works(path, chip) for name, path in models.items()}
        counted = {name: codegen.profile(path, chip, cycles=True) for name, path in models.items()}
        found = rates(done, counted)
        print(f"# {chip}")
        for kind, (instructions, cycles) in found.items():
            print(f"[speed.{kind}]\ninstructions = {list(instructions)}\ncycles = {list(cycles)}")
        for name, layers in done.items():
            print(f"# {name:8}" + "".join(_error(layers, found, counted[name], i) for i in (0, 1)), flush=True)


def _error(layers: Mapping[str, Work], found: Mapping[str, tuple[Pair, Pair]], counted: Profile, which: int) -> str:
    """The whole network's estimate over its count."""
    made = sum(w.products * found[w.kind][which][0] + w.outputs * found[w.kind][which][1] for w in layers.values())
    wanted = (counted.instructions, counted.cycles)[which] or 1
    return f"  {('instructions', 'cycles')[which]} {made / 100 / wanted:.3f}"


if __name__ == "__main__":
    main()
