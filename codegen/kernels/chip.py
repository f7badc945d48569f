"""What a chip does not run: operators, element types, and operators that break its rules or its accelerator's.

Decides: that everything is said at once, each problem by itself, and what an accelerator leaves to the core.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from codegen.errors import (
    CompileError,
    ModelRejected,
    NoKernel,
    OperatorNotOnTarget,
    RuleBad,
    RuleBroken,
    TypeNotOnTarget,
)
from codegen.ir.graph import Graph
from codegen.ir.op import NodeView
from codegen.kernels.table import TABLE, KernelTable
from codegen.ops.facts import facts
from codegen.target import Rule, Target


def check_target(graph: Graph, target: Target, table: KernelTable = TABLE) -> None:
    """LAM-TARGET-007, -008 and -020, all at once, for what the target does not run.

    Raises:
        ModelRejected: LAM-IMPORT-001 with those.
        RuleBad: LAM-TARGET-021, the target's file names an operator that does not exist.
    """
    _check_names(target, table)
    around = _around(graph)
    problems = [problem for node in graph.nodes for problem in _problems(graph.view(node), target, around)]
    if problems:
        raise ModelRejected(problems)


def target_problems(graph: Graph, target: Target, table: KernelTable = TABLE) -> tuple[CompileError, ...]:
    """What `check_target` refuses, each by itself."""
    try:
        check_target(graph, target, table)
    except CompileError as error:
        return error.problems()
    return ()


def unsaid(error: CompileError, problems: Sequence[CompileError]) -> list[CompileError]:
    """What an error adds to these problems of a target: a layer that it refuses needs no kernel."""
    refused = {problem.where for problem in problems}
    return [p for p in error.problems() if not (isinstance(p, NoKernel) and p.where in refused)]


def left_to_core(graph: Graph, target: Target) -> dict[str, tuple[str, ...]]:
    """The layers that an accelerator leaves to the core, by name, each with why and what would change that.

    None where the chip has no accelerator, or where its file has them refused.
    """
    accelerator = target.accelerator
    if accelerator is None or accelerator.rest != "cpu":
        return {}
    around = _around(graph)
    views = map(graph.view, graph.nodes)
    found = {v.name: tuple(_said(e) for e in _broken(v, accelerator.rules, around)) for v in views}
    return {name: why for name, why in found.items() if why}


def _said(problem: CompileError) -> str:
    return f"{problem.found}{f' ({problem.way_out()})' if problem.hint else ''}"


def _check_names(target: Target, table: KernelTable) -> None:
    rules = (*target.rules, *(target.accelerator.rules if target.accelerator else ()))
    named = (*target.unsupported, *(name for rule in rules for name in rule.operators))
    unknown = next((name for name in named if not table.has_operator(name)), None)
    if unknown is not None:
        raise RuleBad(f"no operator is called {unknown!r}", where=f"target {target.name}")


Around = Mapping[str, Mapping[str, int]]
"""Facts of each node that its neighbours decide."""


def _around(graph: Graph) -> Around:
    """`first` and `last` of each node."""
    busy: set[str] = set()  # values that a layer with products comes behind
    last: dict[str, int] = {}
    for node in reversed(graph.nodes):
        view = graph.view(node)
        last[node.name] = int(not busy.intersection(node.outputs))
        if not last[node.name] or view.op.macs(view.ins, view.outs):
            busy.update(node.inputs)
    inputs = {i.value for i in graph.inputs}
    return {n.name: {"first": int(bool(inputs.intersection(n.inputs))), "last": last[n.name]} for n in graph.nodes}


def _problems(view: NodeView, target: Target, around: Around) -> Iterator[CompileError]:
    operator = type(view.op).__name__
    if operator in target.unsupported:
        yield OperatorNotOnTarget(f"{target.name} does not run {operator}", where=view.name)
    types = {tensor.dtype.value for tensor in (*view.ins, *view.outs)}
    for missing in sorted(types - set(target.dtypes)):
        yield TypeNotOnTarget(f"{operator} needs {missing}, which {target.name} lacks", where=view.name)
    yield from _broken(view, target.rules, around)
    if target.accelerator is not None and target.accelerator.rest == "refused":
        yield from _broken(view, target.accelerator.rules, around)


def _broken(view: NodeView, rules: Sequence[Rule], around: Around) -> Iterator[CompileError]:
    operator = type(view.op).__name__
    asked = [rule for rule in rules if operator in rule.operators or not rule.operators]
    known = {**facts(view), **around[view.name]} if asked else {}
    for rule in asked:
        if rule.operators and rule.fact not in known:
            raise RuleBad(f"{operator} has no fact {rule.fact!r}; it has {', '.join(sorted(known))}")
        if rule.fact in known and not rule.holds(known[rule.fact]):
            number = "" if rule.fact == "present" else f" has {rule.fact} {known[rule.fact]}"
            yield RuleBroken(f"{operator}{number}: {rule.sentence}", where=view.name, hint=rule.instead or None)
