"""What a set of random networks covered, and what it must cover."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from codegen.ir.plan import Group, Plan, Storage
from codegen.ops import OPS, Slice
from tests.random_networks.cases import Planned

LARGE_GROUP = 5
SHARES = {
    "a group of five operators or more": 0.30,
    "a skip inside a group": 0.30,
    "shared input and output rows": 0.20,
    "weights of few bits": 0.25,
    "weights with zero points of their own": 0.15,
}
"""What part of all networks must have each."""
EACH_OPERATOR = 40
"""Networks that each operator must be in, of the long run."""


@dataclass(slots=True)
class Coverage:
    """Counts of networks by what they have."""

    networks: int = 0
    features: Counter[str] = field(default_factory=Counter)
    operators: Counter[str] = field(default_factory=Counter)

    def add(self, found: Planned) -> None:
        """Count one network."""
        self.networks += 1
        self.features.update(features(found))
        self.operators.update({type(node.op).__name__ for node in found.case.graph.nodes})

    def join(self, other: Coverage) -> None:
        """Count the networks of another one."""
        self.networks += other.networks
        self.features.update(other.features)
        self.operators.update(other.operators)

    def missing(self, *, each: int = EACH_OPERATOR) -> list[str]:
        """What was covered too little."""
        rare = [f"{op.__name__} in {n} networks" for op in OPS if (n := self.operators[op.__name__]) < each]
        least = {what: share * self.networks for what, share in SHARES.items()}
        return [f"{what} in {self.features[what]}" for what, n in least.items() if self.features[what] < n] + rare

    def table(self) -> str:
        """Lines for a person: features, then operators."""
        lines = [f"{self.networks} networks"]
        for counts in (self.features, self.operators):
            lines += [f"{n:6} {100 * n / max(1, self.networks):5.1f} %  {name}" for name, n in counts.most_common()]
        return "\n".join(lines)


def features(found: Planned) -> set[str]:
    """What one planned network has."""
    plan, case = found.plan, found.case
    have = {
        "a group of five operators or more": any(len(g.nodes) >= LARGE_GROUP for g in plan.groups),
        "a group of ten operators or more": any(len(g.nodes) >= 2 * LARGE_GROUP for g in plan.groups),
        "a skip inside a group": any(_has_skip(plan, g) for g in plan.groups),
        "shared input and output rows": any(_shares(plan, g) for g in range(len(plan.groups))),
        "a ring": any(p.ring < p.rows for p in plan.storage.values()),
        "working memory in several memories": any(not r.given for r in plan.regions),
        "several outputs": len(plan.graph.outputs) > 1,
        "state": bool(plan.graph.states),
        "state renewed in place": any(s.in_place for s in found.program.states),
        "state copied": any(not s.in_place for s in found.program.states),
        "several inputs": len(plan.graph.inputs) > 1,
        "a group with several sinks": any(len({node for node, _ in g.pulls}) > 1 for g in plan.groups),
        "a group output also read inside": any(_read_inside(plan, g) for g in plan.groups),
        "a streamed input": bool(plan.streamed),
        "an input outside": any(r.given for r in plan.regions),
        "strips of columns": any(".strip1" in n.name and isinstance(n.op, Slice) for n in plan.graph.nodes),
        "strips that are joined": any(".strips2" in n.name for n in plan.graph.nodes),
        "strips that give up columns": any(isinstance(n.op, Slice) and n.op.over for n in plan.graph.nodes),
        "weights of few bits": any(v.type.bits for v in plan.graph.values.values()),
        "weights with zero points of their own": any(v.type.apart for v in plan.graph.values.values()),
        "a limit": case.options.arena_limit is not None,
        "the scratchpad": plan.scratchpad is not None,
        "several cores": plan.scratchpad is not None and plan.scratchpad.cores > 1,
        "a group in slices": plan.scratchpad is not None and any(len(s.rows) > 1 for s in plan.scratchpad.slices),
        "rows made by two cores": plan.scratchpad is not None and plan.scratchpad.recomputed_macs > 0,
        "a layer of which no row is needed": any(n == 0 for n in found.shadow.rows.values()),
        "rows that nobody needs": any(found.shadow.rows.get(n, p.rows) < p.rows for n, p in plan.storage.items()),
    }
    return {name for name, holds in have.items() if holds}


def _inner_reads(plan: Plan, group: Group) -> Counter[str]:
    """How many members read each tensor that the group makes, or whose rows come one by one."""
    nodes = [plan.graph.nodes[i] for i in group.nodes]
    made = {o for node in nodes for o in node.outputs} | {plan.streamed}
    return Counter(name for node in nodes for name in set(node.inputs) & made)


def _has_skip(plan: Plan, group: Group) -> bool:
    return max(_inner_reads(plan, group).values(), default=0) > 1


def _read_inside(plan: Plan, group: Group) -> bool:
    outside = {i for i in range(len(plan.graph.nodes)) if i not in group.nodes}
    later = {name for i in outside for name in plan.graph.nodes[i].inputs} | plan.graph.output_values
    return len(group.nodes) > 1 and any(name in later for name in _inner_reads(plan, group) if name != plan.streamed)


def _shares(plan: Plan, g: int) -> bool:
    """Whether something made in the group lies over something that the group is the last to read, not in place."""
    group, graph = plan.groups[g], plan.graph
    if plan.scratchpad is not None:
        return False
    nodes = [graph.nodes[i] for i in group.nodes]
    made = {o for node in nodes for o in node.outputs if plan.storage[o].ring == plan.storage[o].rows}
    read = {i for node in nodes for i in node.inputs if i in plan.storage} - made
    if len(nodes) == 1:
        view = graph.view(nodes[0])
        read -= {nodes[0].inputs[i] for i in view.dynamic if view.op.in_place(i, view.ins, view.outs)}
    return any(_overlap(plan.storage[a], plan.storage[b]) for a in read for b in made)


def _overlap(a: Storage, b: Storage) -> bool:
    return a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes
