"""The C of a plug-in's operator: a template, a file of C, or a hook that the firmware provides.

Decides: how what `fit` gave becomes the numbers that a template names, or a function's arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from codegen.errors import PluginWrong
from codegen.ir.form import Run
from codegen.ir.hooks import HOOK_TEMPLATE, HookCall
from codegen.ir.op import NodeOf
from codegen.kernels.kernel import Fit, Kernel
from codegen.records import record

Fitting: TypeAlias = Callable[[NodeOf[Any]], Mapping[str, int] | Fit | None]
"""From a node to the numbers of its C, or to a Fit; None where this C does not serve the node."""
_CALL = "plugin/call.c.j2"
TEMPLATE, HEADER = ".c.j2", ".h"


@record
class Numbers:
    """Whole numbers by name, as a template reads them: `k.channels`."""

    pairs: tuple[tuple[str, int], ...]

    def __getattr__(self, name: str) -> int:
        """One of them; AttributeError for a name that `fit` did not give."""
        found = dict(self.pairs)
        if name not in found:
            raise AttributeError(f"`fit` gave no number {name!r}, but {', '.join(found) or 'none'}")
        return found[name]


@record
class CallNumbers:
    """A function of C, and the numbers that it is handed behind rows, output, `n` and scratch."""

    function: str
    pairs: tuple[tuple[str, int], ...]


@record(kw_only=True, eq=False)
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


@record(kw_only=True, eq=False)
class Hook:
    """A function that the firmware provides instead of C beside the plug-in: `NETWORK_name_TYPE`.

    Args:
        name: as C has it, behind the network's.
        fit: the numbers that it is handed, as in `C`; params of a Fit go before them.
        about: a sentence for the header: what the firmware has to compute.
        run: what a call makes: a `row` of the output, or the `whole` of it.
        reference: a header (.h) beside the plug-in that computes it, for tests here and on emulated chips; without one
            golden answers on this machine, and nothing on a board.
        call: the function of the reference.
    """

    name: str
    fit: Fitting
    about: str
    run: Run = "row"
    reference: str = ""
    call: str = ""

    @property
    def file(self) -> str:
        """The file that has to lie beside the plug-in, if any."""
        return self.reference

    @property
    def is_template(self) -> bool:
        """A hook has none."""
        return False

    def kernel(self, plugin: str, kind: type[Any]) -> Kernel[Any]:
        """The kernel that it is."""
        return Kernel(f"{plugin}_{self.name}", HOOK_TEMPLATE, self.run, (kind,), self._fitted)

    def _fitted(self, node: NodeOf[Any]) -> Fit | None:
        found = fitted(self.fit, node, self._symbol(node))
        if found is None:
            return None
        about = " ".join(self.about.split()).replace("*/", "* /")
        call = HookCall(found.context.function, found.context.pairs, about, self.reference, self.call)
        return replace(found, context=call, why="a hook of the firmware")

    def _symbol(self, node: NodeOf[Any]) -> str:
        """The hook's name with the types of elements, for C functions have one type each."""
        first = node.ins[node.dynamic[0]].dtype.value if node.dynamic else ""
        types = dict.fromkeys(filter(None, (first, node.outs[0].dtype.value)))
        return "_".join([self.name, *types])


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
