"""The scratchpad regime in the manifest: bytes moved, time hidden, and what lives in the scratchpad when."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from codegen.ir.scratchpad import ScratchpadPlan


def scratchpad_record(scratchpad: ScratchpadPlan, bank_conflicts: int | None) -> dict[str, Any]:
    """Keys that scripts may rely on; `bank_conflicts` of the lowered commands, null for a memory without banks."""
    acts = [command.act for command in scratchpad.commands]
    return {
        "steps": len(scratchpad.steps),
        "commands": len(acts),
        "transfers": sum(act in ("load", "store", "params") for act in acts),
        "waits": acts.count("wait"),
        "tickets": scratchpad.slots,
        **asdict(scratchpad.estimate),
        "bank_bytes": scratchpad.bank_bytes or None,
        "bank_conflicts": bank_conflicts,
        "hidden_share": round(scratchpad.estimate.hidden, 4),
        "map": [asdict(block) for block in scratchpad.blocks],
    }
