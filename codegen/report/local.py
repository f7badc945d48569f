"""The scratchpad regime in the manifest: bytes moved, time hidden, and what lives in local memory when."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from codegen.ir.graph import Graph
from codegen.ir.local import LocalPlan


def local_record(graph: Graph, local: LocalPlan) -> dict[str, Any]:
    """Keys that scripts may rely on.

    `slices` has, for each group, the output rows of its last layer that each core makes, and what is made twice.
    """
    acts = [command.act for command in local.commands]
    return {
        "steps": len(local.steps),
        "commands": len(acts),
        "transfers": sum(act in ("load", "store", "params") for act in acts),
        "waits": acts.count("wait"),
        "tickets": local.slots,
        **asdict(local.estimate),
        "hidden_share": round(local.estimate.hidden, 4),
        "slices": [
            {
                "nodes": [graph.nodes[i].name for i in stage.nodes],
                "rows": stage.rows,
                "macs": stage.macs,
                "recomputed_macs": stage.recomputed_macs,
            }
            for stage in local.slices
        ],
        "map": [asdict(block) for block in local.blocks],
    }
