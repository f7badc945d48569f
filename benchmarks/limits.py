"""Layers that take more than 1.5 times the limit of their block, counted on the emulated chips, and why.

    python benchmarks/limits.py --write             the table of docs/performance.md, between its two marks
    python benchmarks/limits.py --chips cortex-m4 --networks kws

Each network is profiled as `lamina profile` does, with weights outside of the flash where they are larger.  Layers of
one kernel with the same reason, but for its numbers, share a line; its words are those of the one farthest above.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import codegen
from codegen.report.profile import Profile, ProfiledLayer
from codegen.report.standing import UNKNOWN, Standing
from codegen.report.table import markdown_table

CHIPS = ("cortex-m4", "cortex-m7", "cortex-m55")
NETWORKS = {
    "resnet8": "mlperf_tiny/resnet8_int8.tflite",
    "kws": "mlperf_tiny/kws_int8.tflite",
    "vww": "mlperf_tiny/vww_int8.tflite",
    "ad": "mlperf_tiny/ad_int8.tflite",
    "mobilenet_v1_025_128": "tflite/mobilenet_v1_025_128_uint8.tflite",
    "mobilenet_v2": "tflite/mobilenet_v2_int8.tflite",
}
PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
MARKS = "<!-- Written by `python benchmarks/limits.py --write`. -->", "<!-- The end of what is written. -->"
HEADS = ("chip", "network, per MAC", "layers", "kernel", "each", "limit", "times", "of its instructions", "why")
Row = tuple[str, ...]


def rows(chip: str, network: str, path: Path) -> Iterator[Row]:
    """A line for each kernel and reason; one alone where no layer is far above its limit."""
    found = codegen.profile(path, chip, weights="blob")
    assert found.instructions is not None
    title = f"{network}, {found.instructions / found.macs:.2f}"
    alike: dict[tuple[str, str], list[tuple[ProfiledLayer, Standing]]] = defaultdict(list)
    for layer in found.layers:
        stand = layer.standing
        if stand is not None and stand.is_high:
            alike[layer.kernel, re.sub(r"-?\d+", "", stand.reason)].append((layer, stand))
    if not alike:
        yield (chip, title, "none", "", "", "", "", "", "")
    for (kernel, _), layers in alike.items():
        yield (chip, title, *_line(kernel, layers, found))


def _line(kernel: str, layers: Sequence[tuple[ProfiledLayer, Standing]], found: Profile) -> Row:
    stands = [stand for _, stand in layers]
    worst = max(stands, key=lambda stand: stand.times or 0)
    share = sum(layer.instructions or 0 for layer, _ in layers) / (found.instructions or 1)
    return (
        _names([layer.name for layer, _ in layers]),
        kernel,
        _span([stand.each for stand in stands]),
        _span([stand.limit or 0 for stand in stands]),
        _span([stand.times or 0 for stand in stands]),
        f"{share:.1%}",
        worst.reason or UNKNOWN,
    )


def _names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _span(numbers: Sequence[float]) -> str:
    low, high = f"{min(numbers):.3g}", f"{max(numbers):.3g}"
    return low if low == high else f"{low} to {high}"


def write(table: str) -> None:
    """Put the table between the marks of the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(MARKS[0])
    _, after = rest.split(MARKS[1])
    PAGE.write_text(f"{before}{MARKS[0]}\n\n{table}\n\n{MARKS[1]}{after}", encoding="utf-8")


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--models", type=Path, default=Path("../shared/models"))
    parser.add_argument("--write", action="store_true", help="into docs/performance.md")
    given = parser.parse_args()
    found = [
        row
        for chip in given.chips
        for name in given.networks
        for row in rows(chip, name, given.models / NETWORKS[name])
    ]
    table = markdown_table(HEADS, found)
    if given.write:
        write(table)
    print(table)


if __name__ == "__main__":
    main()
