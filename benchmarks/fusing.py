"""What fusing costs on an emulated Cortex-M4: instructions and stack of one inference, by plan.

    python benchmarks/fusing.py [--target cortex-m4] [--models DIR] [--level -O3]

Instruction counts are exact and repeat.  `twice` is the fastest plan within twice the smallest arena.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen.api import Profile, profile  # noqa: E402

MODELS = ("kws", "resnet8", "vww")


def plans(model: Path, target: str, level: str | None) -> dict[str, Profile]:
    """Every layer alone, the smallest arena, twice that, and the smallest one with its input streamed."""
    least = profile(model, target, goal="memory", opt_level=level)
    return {
        "no groups": profile(model, target, goal="speed", opt_level=level),
        "smallest": least,
        "twice": profile(model, target, arena_limit=2 * least.arena_bytes, opt_level=level),
        "streamed": profile(model, target, goal="memory", stream_input=True, opt_level=level),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="cortex-m4")
    parser.add_argument("--models", type=Path, default=Path("../shared/models/mlperf_tiny_onnx"))
    parser.add_argument("--level", help="the C compiler's level (default: the target's)")
    given = parser.parse_args()
    print(f"{'model':10}{'plan':12}{'arena':>9}{'instructions':>14}{'against no groups':>19}{'stack':>8}")
    for name in MODELS:
        found = plans(given.models / f"{name}_qdq.onnx", given.target, given.level)
        whole = found["no groups"].instructions or 0
        for plan, p in found.items():
            more = f"{(p.instructions or 0) / whole - 1:+.2%}"
            print(f"{name:10}{plan:12}{p.arena_bytes:9}{p.instructions:14}{more:>19}{p.stack_bytes:8}")


if __name__ == "__main__":
    main()
