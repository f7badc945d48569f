"""Kernel: an entry of the table.  It is declared for operators and features, and fits itself to nodes.

Decides nothing about chips: which of the kernels that fit a node is taken, is said in choose.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

from codegen.ir.form import Field, Form, Mix, Run, Scratch
from codegen.ir.op import NodeOf, NodeView, Op
from codegen.kernels.common import only_dynamic
from codegen.records import record

Features = frozenset[str]
"""What a chip's instruction set has, as `codegen.target.FEATURES` names it."""
O = TypeVar("O", bound=Op)  # noqa: E741


@record(eq=False)
class Fit:
    """What a kernel says of a node that it serves; the fields are those of Form.

    `headers` are what the node's own form calls besides the kernel's.  `tiles` fits tiles of the node, where they have
    its form but for it would have to be found anew.
    """

    context: Any
    params: tuple[Field, ...] = ()
    scratch: tuple[Scratch, ...] = ()
    why: str = "plain C99"
    rows: int = 1
    headers: tuple[str, ...] = ()
    mix: Mix | None = None
    in_place: bool = False
    copies: bool = False
    code_bytes: int = 0
    larger: bool = False
    tiles: Callable[[NodeOf[Any]], Fit | None] | None = None


@record(eq=False)
class Kernel(Generic[O]):
    """A kernel for nodes of some operators.

    Args:
        name: as generated functions, tables and tests have it.
        template: a file of templates/kernels/.
        run: what a call covers.
        ops: the operators that it serves; any where none is named.
        make: fits it to a node of one of them; None where it does not serve the node.
        needs: features without which a chip cannot run it, or would not be served well.
        without: features of chips that it is not for.
        program_memory: its C reads parameters where they lie in program memory, and forms products in 32 bits.
        one_input: it serves only nodes that have one input, which is computed.
        headers: files of runtime_c/include/ and runtime_c/isa/ whose functions all its forms call; what they include
            themselves is not named, nor lam_base.h, which everything includes.
        roomier: as `make`, for fewer instructions and more scratch; taken where a plan has it to spare.
        copying: as `make`, for an output that may lie over its input and more instructions; plans with it compete where
            memory is short.
        column: as `make`, for calls that make so many rows of a map of one column as one row; taken where a plan lets
            them. `mix` is what such a row takes.
    """

    name: str
    template: str
    run: Run
    ops: tuple[type[O], ...]
    make: Callable[[NodeOf[O]], Fit | None]
    needs: Features = frozenset()
    without: Features = frozenset()
    program_memory: bool = False
    one_input: bool = False
    headers: tuple[str, ...] = ()
    roomier: Callable[[NodeOf[O]], Fit | None] | None = None
    copying: Callable[[NodeOf[O]], Fit | None] | None = None
    column: Callable[[NodeOf[O], int], Fit | None] | None = None

    def fit(self, node: NodeView, features: Features) -> Form | None:
        """The form for a node on a chip with these features, or None."""
        return self._fitted(node, features, self.make)

    def fit_roomier(self, node: NodeView, features: Features) -> Form | None:
        """The form of more scratch and fewer instructions, or None."""
        return self._fitted(node, features, self.roomier) if self.roomier else None

    def fit_copying(self, node: NodeView, features: Features) -> Form | None:
        """The form whose output may lie over its input, or None."""
        return self._fitted(node, features, self.copying) if self.copying else None

    def fit_column(self, node: NodeView, features: Features, rows: int) -> Form | None:
        """The form of calls that make so many rows of a map of one column, or None."""
        column = self.column
        form = self._fitted(node, features, lambda found: column(found, rows)) if column else None
        if form is None:
            return None
        mix = form.mix and form.mix.times(1 / rows)
        return replace(form, run="rows", rows=rows, by_channels=True, mix=mix)

    def _fitted(self, node: NodeView, features: Features, make: Callable[[NodeOf[O]], Fit | None]) -> Form | None:
        if not self.serves(features) or (self.ops and not isinstance(node.op, self.ops)):
            return None
        if self.one_input and not only_dynamic(node):
            return None
        fit = make(cast("NodeOf[O]", node))
        if fit is None:
            return None
        headers = tuple(sorted({*self.headers, *fit.headers}))
        scratch = tuple(s for s in fit.scratch if s.bytes or s.tiled)
        parts = (fit.context, fit.params, scratch, fit.rows, fit.why, headers)
        again = (lambda other: self._fitted(other, features, fit.tiles or make), fit.mix, fit.in_place, fit.copies)
        return Form(self.name, self.template, self.run, features, *parts, *again, fit.code_bytes, fit.larger)

    def serves(self, features: Features) -> bool:
        """Whether it is for chips with these features."""
        reads = self.program_memory or "program_memory" not in features
        return reads and self.needs <= features and not self.without & features
