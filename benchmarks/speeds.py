"""What a hundred products and elements cost on the emulated chips: the [speed] tables of targets/cores/.

    python benchmarks/speeds.py --chips cortex-m4

Fitted to the cycles that `lamina profile --cycles` estimates of the layers of kws, resnet8 and ad, by kind of layer;
vww is left out, and says how far the estimate of a whole network is off.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import codegen
from codegen.options import Options
from codegen.pipeline import reach, read_model
from codegen.planning import met
from codegen.report.speed import kind_and_work

FITTED = ("kws", "resnet8", "ad")
HELD_OUT = ("vww",)
CHIPS = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55", "cortex-m7", "rv32imc")


def work_of(model: Path, chip: str) -> dict[str, tuple[str, int]]:
    """Kind and amount of each layer's work, by name."""
    target, options = met(Options(target=chip), model)
    graph = reach(read_model(model, options, target), target, options).graph
    return {node.name: kind_and_work(graph.view(node)) for node in graph.nodes}


def main() -> None:
    """Print the tables, and the error of each network's whole estimate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--models", type=Path, default=Path("../shared/models"))
    given = parser.parse_args()
    for chip in given.chips:
        models = {name: given.models / "mlperf_tiny" / f"{name}_int8.tflite" for name in (*FITTED, *HELD_OUT)}
        works = {name: work_of(path, chip) for name, path in models.items()}
        counted = {name: codegen.profile(path, chip, cycles=True) for name, path in models.items()}
        amount: Counter[str] = Counter()
        cycles: Counter[str] = Counter()
        for name in FITTED:
            for layer in counted[name].layers:
                if layer.name in works[name]:
                    kind, work = works[name][layer.name]
                    amount[kind] += work
                    cycles[kind] += layer.cycles or 0
        rates = {kind: round(100 * cycles[kind] / amount[kind]) for kind in sorted(amount)}
        print(chip, rates)
        for name, work in works.items():
            estimate = sum(count * rates.get(kind, 0) for kind, count in work.values()) / 100
            print(f"  {name:8} {estimate / 1e6:8.3f} M cycles, counted {(counted[name].cycles or 0) / 1e6:8.3f} M")


if __name__ == "__main__":
    main()
