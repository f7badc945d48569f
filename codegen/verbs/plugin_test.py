"""check_plugin: the laws that every operator keeps, tried on the cases of a plug-in.

Decides: that all laws are tried whatever the first one finds, and which flags the C is built with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from codegen.errors import CompileError, LawBroken, PluginFault, PluginWrong, ToolFailed, ToolMissing
from codegen.ir.graph import Graph
from codegen.laws import ANSWER_LAWS, BUILDS, OPERATOR_LAWS, REAL_LAWS, CompiledLaws, Law, board_target, real_cases
from codegen.ops.case import Case
from codegen.plugin import C, Operator, Plugin, load_plugin, tools_with
from codegen.python_files import guarded
from codegen.records import record


@record
class LawCheck:
    """A law tried on an operator: on how many cases, and what was found where it is broken, else empty.

    `details`: further lines of what was found, a compiler's.
    """

    operator: str
    law: str
    sentence: str
    cases: int
    found: str
    details: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it is kept."""
        return not self.found


@record
class PluginCheck:
    """What was tried on a plug-in."""

    plugin: str
    checks: tuple[LawCheck, ...]

    @property
    def ok(self) -> bool:
        """Whether every law is kept."""
        return all(check.ok for check in self.checks)


def check_plugin(plugin: str | Path | Plugin, targets: Sequence[str] = ()) -> PluginCheck:
    """Try the laws on every case of a plug-in's operators: of its answers, and of its C on this machine.

    Args:
        plugin: a file, the name of an entry point, or the plug-in itself; its code is run.
        targets: chips on whose emulated boards the C is run too.

    Raises:
        CompileError: LAM-PLUGIN-001 .. -006 for what is no plug-in; LAM-PROCESS-001 without a C compiler;
            LAM-EMULATOR-001 for a target without a board.
    """
    for name in targets:
        board_target(name)
    found = load_plugin(plugin)
    tools_with([found])
    checks = [check for op in found.operators for check in _of_operator(found, op, targets)]
    return PluginCheck(found.name, tuple(checks))


def _of_operator(plugin: Plugin, op: Operator, targets: Sequence[str]) -> Iterator[LawCheck]:
    cases = _cases(op)
    name = op.kind.__name__
    kept = True
    for law, of in _asked(op, cases):
        asked = [case for case in of if _is_asked(law, case)]
        if asked:
            check = _check(name, law, len(asked), _tried(lambda c, law=law: law.holds(c), asked))  # type: ignore[misc]
            kept = kept and check.ok
            yield check
    answered = all(isinstance(source, C) or source.reference for source in op.c)
    if kept and answered:  # C of an operator that breaks its own word proves nothing
        yield from _compiled(name, CompiledLaws(cases, tools_with([plugin])), targets)


def _asked(op: Operator, cases: Sequence[Case]) -> Iterator[tuple[Law, Sequence[Case]]]:
    """The laws of an operator's answers, each with the cases that it may be about."""
    yield from ((law, cases) for law in (*OPERATOR_LAWS, *ANSWER_LAWS))
    yield from ((law, real_cases(cases, keeps=op.integers is None)) for law in REAL_LAWS)


def _check(operator: str, law: Law, cases: int, found: str) -> LawCheck:
    first, *more = found.splitlines() or [""]
    return LawCheck(operator, law.name, law.sentence, cases, first, tuple(more))


def _cases(op: Operator) -> list[Case]:
    """The cases, each called after its operator; LAM-PLUGIN-005 where there are none."""
    name = op.kind.__name__
    with guarded(lambda found: PluginFault(f"cases: {found}", where=name)):
        cases = list(op.cases()) if op.cases is not None else []
    if not cases or not all(isinstance(case, Case) for case in cases):
        raise PluginWrong("`cases` gives no Case(...) to try the laws on", where=name)
    if len({case.name for case in cases}) < len(cases):
        raise PluginWrong("two cases have one name", where=name)
    return cases


def _is_asked(law: Law, case: Case) -> bool:
    """Whether a law is about a case; it is where the answer itself is wrong, which trying the law tells."""
    asked = []
    _broken(lambda: asked.append(law.is_asked(case)))
    return not asked or asked[0]


def _tried(trial: Callable[[Case], None], cases: Sequence[Case]) -> str:
    """What the first case finds that breaks a law; empty where all keep it."""
    for case in cases:
        found = _broken(lambda: trial(case))  # noqa: B023
        if found:
            first, *more = found.splitlines()
            return "\n".join([f"{first}, on the case {case.name}", *more])
    return ""


def _broken(trial: Callable[[], None]) -> str:
    try:
        with guarded(LawBroken):
            trial()
    except ToolMissing:
        raise
    except LawBroken as error:
        return error.found
    except CompileError as error:
        return error.problems()[0].text()
    return ""


def _compiled(name: str, laws: CompiledLaws, targets: Sequence[str]) -> Iterator[LawCheck]:
    """The laws of the C; on an instruction set those cases that have functions of its own."""
    try:
        levels = list(laws.levels())
    except CompileError as error:
        law = Law("c99", "every case has C", lambda case: None)
        yield _check(name, law, len(laws.cases), error.problems()[0].text())
        return
    for level, graph in levels:
        yield from _of_level(name, laws, level, graph)
    for target in targets:
        law = Law(target, "the C equals `golden` on the emulated chip", lambda case: None)
        yield _check(name, law, len(laws.cases), _broken(partial(laws.on_board, target)))


def _of_level(name: str, laws: CompiledLaws, level: str, graph: Graph) -> Iterator[LawCheck]:
    """The laws of the C of an instruction set; of C that does not compile the first, which says why."""
    trials = {
        build: (f"the C equals `golden` to the bit ({build})", partial(laws.equal, level, graph, flags))
        for build, flags in BUILDS.items()
    }
    trials["ASan"] = ("the C touches no memory but its own (ASan)", partial(laws.addressed, level, graph))
    for build, (sentence, trial) in trials.items():
        law = Law(f"{level} {build.rpartition(' ')[2]}", sentence, lambda case: None)
        check = _check(name, law, len(graph.nodes), _broken(trial))
        yield check
        if check.found.startswith(ToolFailed.code):
            return
