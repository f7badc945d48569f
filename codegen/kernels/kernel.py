"""Kernel: an entry of the table.  It is declared for operators and features, and fits itself to nodes.

Decides nothing about chips: which of the kernels that fit a node is taken, is said in choose.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from codegen.ir.form import Field, Form, Run, Scratch
from codegen.ir.op import NodeOf, NodeView, Op
from codegen.target import FEATURES

Features = frozenset[str]
"""What a chip's instruction set has, as `codegen.target.FEATURES` names it."""
O = TypeVar("O", bound=Op)  # noqa: E741


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """What a kernel says of a node that it serves; the fields are those of Form."""

    context: Any
    params: tuple[Field, ...] = ()
    scratch: tuple[Scratch, ...] = ()
    why: str = "plain C99"
    rows: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Kernel(Generic[O]):
    """A kernel for nodes of some operators.

    Args:
        name: as generated functions, tables and tests have it.
        template: a file of templates/kernels/.
        run: what a call covers.
        ops: the operators that it serves.
        make: fits it to a node of one of them; None where it does not serve the node.
        needs: features without which a chip cannot run it, or would not be served well.
        without: features of chips that it is not for.
    """

    name: str
    template: str
    run: Run
    ops: tuple[type[O], ...]
    make: Callable[[NodeOf[O]], Fit | None]
    needs: Features = frozenset()
    without: Features = frozenset()

    def fit(self, node: NodeView, features: Features) -> Form | None:
        """The form for a node on a chip with these features, or None."""
        if not self.serves(features) or not isinstance(node.op, self.ops):
            return None
        fit = self.make(cast("NodeOf[O]", node))
        if fit is None:
            return None
        parts = (fit.context, fit.params, tuple(s for s in fit.scratch if s.bytes), fit.rows, fit.why)
        return Form(self.name, self.template, self.run, features, *parts)

    def serves(self, features: Features) -> bool:
        """Whether it is for chips with these features."""
        return self.needs <= features and not self.without & features


def adapted(
    name: str,
    template: str,
    run: Run,
    accepts: Callable[[NodeView, str], bool],
    context: Callable[[NodeView], Any],
    params: Callable[[NodeView], tuple[Field, ...]] = lambda node: (),
    scratch: Callable[[NodeView], int] = lambda node: 0,
    explain: Callable[[NodeView], str] = lambda node: "plain C99",
    most_rows: Callable[[NodeView], int] = lambda node: 1,
    row_scratch: Callable[[NodeView], int] | None = None,
) -> Kernel[Any]:
    """A kernel of several functions of the node; `accepts` gets the level."""

    def fit(node: NodeView, features: Features) -> Form | None:
        isa = next(level for level, has in FEATURES.items() if has == features)
        if not accepts(node, isa):
            return None
        part = Scratch("scratch", scratch(node), row_scratch(node) if row_scratch else None)
        rows = most_rows(node) if run == "rows" else 1
        parts = (context(node), params(node), (part,) if part.bytes else (), rows, explain(node))
        return Form(name, template, run, features, *parts)

    return _Adapted(name, template, run, (), lambda node: None, of=fit)


@dataclass(frozen=True, eq=False)
class _Adapted(Kernel[Any]):
    of: Callable[[NodeView, Features], Form | None] = lambda node, features: None

    def fit(self, node: NodeView, features: Features) -> Form | None:
        """As its functions say."""
        return self.of(node, features)
