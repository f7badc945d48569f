"""Working memory of whole networks: the smallest plan with the input resident and streamed, beside layer by layer.

README.md explains the columns; docs/memory.md holds the table.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen.errors import StreamImpossible  # noqa: E402
from codegen.ir.graph import Graph  # noqa: E402
from codegen.ir.plan import Plan  # noqa: E402
from codegen.kernels import choose_kernels, select_kernels  # noqa: E402
from codegen.lower import lower  # noqa: E402
from codegen.passes import simplify  # noqa: E402
from codegen.pipeline import Options, read_model  # noqa: E402
from codegen.planning import plan_in_best_order  # noqa: E402
from codegen.prove import shadow_run  # noqa: E402
from codegen.target import load_target  # noqa: E402
from tests.support.light import LIGHT, light_path  # noqa: E402
from tests.support.networks import NETWORKS, network_path  # noqa: E402

CHIP = "cortex-m4"
SHARED = ROOT.parent / "shared" / "models"
TINY = ("kws_qdq", "resnet8_qdq", "vww_qdq")
NAMES = (*TINY, *NETWORKS, *(f"light_{name}" for name in LIGHT))


@dataclass(frozen=True, slots=True)
class Row:
    """Bytes of one network; `streamed` is None when its input cannot be taken row by row."""

    model: str
    layers: int
    layer_wise: int
    resident: int
    resident_bound: int
    resident_groups: int
    streamed: int | None
    streamed_bound: int | None
    streamed_groups: int | None


def main(arguments: Sequence[str] | None = None) -> None:
    """Plan, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=NAMES, help="names, or files (default: all)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    rows = [measure(find_model(m)) for m in given.models]
    print(json.dumps([asdict(row) for row in rows], indent=1) if given.json else table(rows))


def find_model(name: str) -> Path:
    """A file, or one of NAMES."""
    if Path(name).is_file():
        return Path(name)
    if name in NETWORKS:
        return network_path(name)
    if name.startswith("light_"):
        return light_path(name.removeprefix("light_"))
    return next(SHARED.rglob(f"{name}.onnx"))


def measure(model: Path) -> Row:
    """All columns of one network, whatever the chip has; every plan is proved by a shadow run."""
    chip = load_target(CHIP)
    target = replace(chip, memories=tuple(replace(m, bytes=None) for m in chip.memories))
    graph = simplify(read_model(model, Options(target=CHIP), target))
    views = frozenset(range(len(graph.nodes))) - set(select_kernels(graph, target.isa))

    def plan(streamed: bool) -> Plan:
        options = Options(target=CHIP, goal="memory", stream_input=streamed)
        found, kernels = plan_in_best_order(graph, choose_kernels(graph, target, goal="memory"), target, options)
        shadow_run(lower(found, kernels))
        return found

    resident = plan(False)
    try:
        streamed = plan(True)
    except StreamImpossible:
        streamed = None
    return Row(
        model=model.stem,
        layers=len(graph.nodes) - len(views),
        layer_wise=layer_wise(graph, views),
        resident=resident.arena_bytes,
        resident_bound=resident.lower_bound_bytes,
        resident_groups=len(resident.groups),
        streamed=streamed and streamed.arena_bytes,
        streamed_bound=streamed and streamed.lower_bound_bytes,
        streamed_groups=streamed and len(streamed.groups),
    )


def layer_wise(graph: Graph, views: frozenset[int]) -> int:
    """Bytes live at the worst layer when whole layers run one after the other: a perfect planner needs no less."""
    owner = {name: name for name, value in graph.values.items() if not value.is_const}
    for i in sorted(views):
        owner[graph.nodes[i].outputs[0]] = owner[graph.nodes[i].inputs[0]]
    size: dict[str, int] = {}
    for name, root in owner.items():
        size[root] = max(size.get(root, 0), graph.type(name).bytes)
    first = {owner[face.value]: 0 for face in graph.inputs}
    last: dict[str, int] = {}
    for step, node in enumerate(graph.nodes):
        for name in (*node.inputs, *node.outputs):
            if name in owner:
                first.setdefault(owner[name], step)
                last[owner[name]] = step
    last |= {owner[name]: len(graph.nodes) for name in graph.output_values}
    return max(_live(size, first, last, step) for step in range(len(graph.nodes)))


def _live(size: Mapping[str, int], first: Mapping[str, int], last: Mapping[str, int], step: int) -> int:
    return sum(size[r] for r, begin in first.items() if begin <= step <= last.get(r, begin))


def table(rows: Sequence[Row]) -> str:
    """The rows in Markdown, as docs/memory.md has them."""
    heads = ("network", "layers", "layer by layer", "resident", "", "streamed", "", "bound, resident / streamed")
    cells = [heads, ("---", *["--:"] * (len(heads) - 1))]
    for r in rows:
        one = (r.model, str(r.layers), f"{r.layer_wise:,}", f"{r.resident:,}", share(r.resident, r.layer_wise))
        two = (number(r.streamed), share(r.streamed, r.layer_wise))
        cells.append((*one, *two, f"{r.resident_bound:,} / {number(r.streamed_bound)}"))
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def share(value: int | None, whole: int) -> str:
    return "-" if value is None else f"{100 * value / whole:.0f} %"


if __name__ == "__main__":
    main()
