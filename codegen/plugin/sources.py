"""The C of a plug-in's operator: a template, a file of C, or a hook that the firmware provides.

Decides: how what `fit` gave becomes the numbers that a template names, or a function's arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from codegen.errors import PluginWrong
from codegen.ir.form import Run
from codegen.ir.op import NodeOf
from codegen.kernels.kernel import Fit, Kernel

Fitting: TypeAlias = Callable[[NodeOf[Any]], Mapping[str, int] | Fit | None]
"""From a node to the numbers of its C, or to a Fit; None where this C does not serve the node."""
_CALL = "plugin/call.c.j2"
TEMPLATE, HEADER = ".c.j2", ".h"


@dataclass(frozen=True, slots=True)
class Numbers:
    """Whole numbers by name, as a template reads them: `k.channels`."""

    pairs: tuple[tuple[str, int], ...]

    def __getattr__(self, name: str) -> int:
        """One of them; AttributeError for a name that `fit` did not give."""
        found = dict(self.pairs)
        if name not in found:
            raise AttributeError(f"`fit` gave no number {name!r}, but {', '.join(found) or 'none'}")
        return found[name]


@dataclass(frozen=True, slots=True)
class CallNumbers:
    """A function of C, and the numbers that it is handed behind rows, output, `n` and scratch."""

    function: str
    pairs: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class C:
    """C of an operator, in a file beside the plug-in.

    Args:
        file: a template (.c.j2) of the whole function, or a header (.h) with a static function `call`.
        fit: the numbers that the C is written with, or a Fit with parameters and scratch besides; None for a node that
            it does not serve.
        run: what a call makes: a `row` of the output, a run of `pixels`, or the `whole` of it.
        call: the function of a header.
        needs: features of the chip without which this C is not for it, such as `dsp`.
        headers: files of Lamina's runtime_c that a template calls.
    """

    file: str
    fit: Fitting
    run: Run = "row"
    call: str = ""
    needs: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()

    @property
    def is_template(self) -> bool:
        """Whether the function is written in a template, not called."""
        return self.file.endswith(TEMPLATE)

    def kernel(self, plugin: str, kind: type[Any]) -> Kernel[Any]:
        """The kernel that it is."""
        stem = self.file.removesuffix(TEMPLATE).removesuffix(HEADER)
        template = f"{plugin}/{self.file}" if self.is_template else _CALL
        headers = self.headers if self.is_template else (*self.headers, self.file)
        return Kernel(
            f"{plugin}_{stem if self.is_template else self.call}",
            template,
            self.run,
            (kind,),
            self._fitted,
            needs=frozenset(self.needs),
            headers=headers,
        )

    def _fitted(self, node: NodeOf[Any]) -> Fit | None:
        return fitted(self.fit, node, self.call)


def fitted(fit: Fitting, node: NodeOf[Any], call: str = "") -> Fit | None:
    """What `fit` gives, as a kernel's Fit; LAM-PLUGIN-005 for anything else."""
    found = fit(node)
    if found is None or (isinstance(found, Fit) and not call):
        return found
    if isinstance(found, Fit):
        return Fit(CallNumbers(call, _pairs(found.context, node.name)), *_rest(found))
    pairs = _pairs(found, node.name)
    return Fit(CallNumbers(call, pairs) if call else Numbers(pairs), why="of a plug-in")


def _rest(fit: Fit) -> tuple[Any, ...]:
    return fit.params, fit.scratch, fit.why, fit.rows, fit.headers, fit.mix


def _pairs(numbers: object, where: str) -> tuple[tuple[str, int], ...]:
    if not isinstance(numbers, Mapping):
        raise PluginWrong(f"`fit` gave {type(numbers).__name__}, not numbers by name", where=where)
    wrong = next((n for n, v in numbers.items() if not isinstance(n, str) or not isinstance(v, int)), None)
    if wrong is not None:
        raise PluginWrong(f"`fit` gave {wrong!r}: {numbers[wrong]!r}, which is no whole number", where=where)
    return tuple((name, int(value)) for name, value in numbers.items())
