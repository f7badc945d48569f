"""The scratchpad regime in the manifest: bytes moved, time hidden, and what lives in local memory when."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from codegen.ir.local import LocalPlan


def local_record(local: LocalPlan, bank_conflicts: int | None) -> dict[str, Any]:
    """Keys that scripts may rely on; `bank_conflicts` of the lowered commands, null for a memory without banks."""
    acts = [command.act for command in local.commands]
    return {
        "steps": len(local.steps),
        "commands": len(acts),
        "transfers": sum(act in ("load", "store", "params") for act in acts),
        "waits": acts.count("wait"),
        "tickets": local.slots,
        **asdict(local.estimate),
        "bank_bytes": local.bank_bytes or None,
        "bank_conflicts": bank_conflicts,
        "hidden_share": round(local.estimate.hidden, 4),
        "map": [asdict(block) for block in local.blocks],
    }
