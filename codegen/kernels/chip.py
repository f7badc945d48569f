"""What a chip does not run: operators, element types, and operators that break its rules.

Decides: that everything is said at once, each problem by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.errors import CompileError, ModelRejected, OperatorNotOnTarget, RuleBad, RuleBroken, TypeNotOnTarget
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
    problems = [problem for node in graph.nodes for problem in _problems(graph.view(node), target)]
    if problems:
        raise ModelRejected(problems)


def target_problems(graph: Graph, target: Target, table: KernelTable = TABLE) -> tuple[CompileError, ...]:
    """What `check_target` refuses, each by itself."""
    try:
        check_target(graph, target, table)
    except CompileError as error:
        return error.problems()
    return ()


def _check_names(target: Target, table: KernelTable) -> None:
    named = (*target.unsupported, *(name for rule in target.rules for name in rule.operators))
    unknown = next((name for name in named if not table.has_operator(name)), None)
    if unknown is not None:
        raise RuleBad(f"no operator is called {unknown!r}", where=f"target {target.name}")


def _problems(view: NodeView, target: Target) -> Iterator[CompileError]:
    operator = type(view.op).__name__
    if operator in target.unsupported:
        yield OperatorNotOnTarget(f"{target.name} does not run {operator}", where=view.name)
    types = {tensor.dtype.value for tensor in (*view.ins, *view.outs)}
    for missing in sorted(types - set(target.dtypes)):
        yield TypeNotOnTarget(f"{operator} needs {missing}, which {target.name} lacks", where=view.name)
    yield from _broken(view, operator, target.rules)


def _broken(view: NodeView, operator: str, rules: Sequence[Rule]) -> Iterator[CompileError]:
    asked = [rule for rule in rules if operator in rule.operators or not rule.operators]
    known = facts(view) if asked else {}
    for rule in asked:
        if rule.operators and rule.fact not in known:
            raise RuleBad(f"{operator} has no fact {rule.fact!r}; it has {', '.join(sorted(known))}")
        if rule.fact in known and not rule.holds(known[rule.fact]):
            found = f"{operator} has {rule.fact} {known[rule.fact]}: {rule.sentence}"
            yield RuleBroken(found, where=view.name, hint=rule.instead or None)
