"""Instructions of one inference on emulated chips, beside what others take (benchmarks/peers.toml).

    python benchmarks/chips.py [--chips cortex-m4 rv32imc] [--networks kws ad] [--models DIR] [--cycles] [--json]

The networks are the int8 files of MLPerf Tiny: the TFLite ones where TFLite is read, else the ONNX ones.  Counts are
exact and repeat with the same compiler; instructions are not cycles.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import codegen  # noqa: E402
from codegen.report.table import text_table  # noqa: E402

NETWORKS = ("resnet8", "kws", "vww", "ad")
PEERS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("peers.toml").read_text(encoding="utf-8"))
CHIPS = tuple(name for name in PEERS if name != "counted")
HEADERS = ["chip", "network", "instructions", "per MAC", "peer", "times", "goal", "code B", "weights B", "RAM B"]


def model_path(models: Path, network: str) -> Path:
    if importlib.util.find_spec("codegen.frontends.tflite") is not None:
        return models / "mlperf_tiny" / f"{network}_int8.tflite"
    return models / "mlperf_tiny_onnx" / f"{network}_qdq.onnx"


def row(models: Path, chip: str, network: str, *, cycles: bool) -> dict[str, Any]:
    found = codegen.profile(model_path(models, network), chip, cycles=cycles)
    assert found.instructions is not None
    assert found.text_bytes is not None
    assert found.rodata_bytes is not None
    peer = PEERS[chip][network]
    goal = PEERS[chip].get("goal", {}).get(network)
    return {
        "chip": chip,
        "network": network,
        "instructions": found.instructions,
        "per MAC": round(found.instructions / found.macs, 2),
        "peer": peer,
        "times": round(found.instructions / peer, 2),
        "goal": goal,
        "code B": found.text_bytes + found.rodata_bytes - found.weights_bytes,
        "weights B": found.weights_bytes,
        "RAM B": found.ram_bytes,
        "stack B": found.stack_bytes,
        "about cycles": found.cycles,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chips", nargs="+", choices=CHIPS, default=CHIPS)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=NETWORKS)
    parser.add_argument("--models", type=Path, default=Path("../shared/models"))
    parser.add_argument("--cycles", action="store_true", help="estimate cycles too")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [row(given.models, chip, name, cycles=given.cycles) for chip in given.chips for name in given.networks]
    if given.json:
        print(json.dumps(rows, indent=1))
        return
    headers = [*HEADERS, "stack B", *(["about cycles"] if given.cycles else [])]
    print(text_table(headers, [[r[h] for h in headers] for r in rows]))
    print(f"\npeer: {PEERS['counted']['source']}")
    for chip in given.chips:
        print(f"  {chip}: {PEERS[chip]['peer']}")


if __name__ == "__main__":
    main()
