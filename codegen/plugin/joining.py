"""Plug-ins join a toolkit: what each of their operators is, for readers, rules, kernels and templates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from codegen.emit.runtime import header_names
from codegen.errors import PluginClash, PluginFileMissing
from codegen.ir.real import Definition, Spelled
from codegen.kernels.kernel import Kernel
from codegen.plugin.reading import attributes_of, instance
from codegen.plugin.reals import RealOperator
from codegen.plugin.record import Operator, Plugin
from codegen.plugin.settling import Settler
from codegen.resources import PluginRoot
from codegen.settle.rule import Rule
from codegen.toolkit import HOUSE, Toolkit

if TYPE_CHECKING:
    from codegen.frontends.onnx.nodes import OnnxNode
    from codegen.frontends.onnx.real.reading import Reading
    from codegen.frontends.tflite.nodes import TfliteNode
    from codegen.frontends.tflite.real.context import RealContext

_TFLITE = "custom operator "


def with_plugins(plugins: Sequence[Plugin], tools: Toolkit = HOUSE) -> Toolkit:
    """The tools, and those of plug-ins before them.

    Raises:
        PluginClash: LAM-PLUGIN-004, for two that are called alike or read the same operator.
        PluginFileMissing: LAM-PLUGIN-006.
    """
    return reduce(_joined, plugins, tools)


def _joined(tools: Toolkit, plugin: Plugin) -> Toolkit:
    _check_free(tools, plugin)
    onnx = {op: real_class(op, turned=op.images) for op in plugin.operators if op.onnx}
    tflite = {op: real_class(op) for op in plugin.operators if op.tflite}
    return tools.joined(
        onnx={_key(op): _onnx_reader(op, real) for op, real in onnx.items()},
        rules=[_rule(real, Settler(op.integers), "onnx") for op, real in onnx.items()],
        tflite={f"{_TFLITE}{op.tflite}": _tflite_reader(op, real) for op, real in tflite.items()},
        tflite_rules=[_rule(real, Settler(op.integers), "tflite") for op, real in tflite.items()],
        operators=[op.kind for op in plugin.operators],
        kernels=kernels_of(plugin),
        plugins=(root_of(plugin),),
    )


def _rule(kind: type[RealOperator], settler: Settler, definition: Definition) -> Rule[RealOperator]:
    return Rule(kind, settler.tflite if definition == "tflite" else settler.onnx, real=settler.real)


def kernels_of(plugin: Plugin) -> tuple[Kernel[Any], ...]:
    """The kernels of a plug-in, in the order in which they are tried."""
    return tuple(source.kernel(plugin.name, op.kind) for op in plugin.operators for source in op.c)


def root_of(plugin: Plugin) -> PluginRoot:
    """Where its files lie; LAM-PLUGIN-006 for one that is not there, -004 for one that is called as one of Lamina's."""
    sources = [source for op in plugin.operators for source in op.c]
    for source in sources:
        if source.file and not (plugin.place / source.file).is_file():
            raise PluginFileMissing(f"there is no file {source.file}", where=plugin.name)
    headers = tuple(dict.fromkeys(source.file for source in sources if source.file and not source.is_template))
    taken = next((header for header in headers if header in header_names()), None)
    if taken is not None:
        raise PluginClash(f"{taken} is a header of Lamina's", where=plugin.name)
    return PluginRoot(plugin.name, plugin.place, headers)


def _check_free(tools: Toolkit, plugin: Plugin) -> None:
    headers = {source.file for op in plugin.operators for source in op.c if not source.is_template} - {""}
    for root in tools.roots.plugins:
        if root.name == plugin.name:
            raise PluginClash(f"two plug-ins are called {plugin.name}", where=plugin.name)
        if headers.intersection(root.headers):
            raise PluginClash(f"{root.name} has a header of the same name", where=plugin.name)
    for op in plugin.operators:
        known = tools.vocabulary
        if tools.table.has_operator(op.kind.__name__) or (op.onnx and _key(op) in known.onnx):
            raise PluginClash(f"two operators are called {op.onnx or op.kind.__name__}", where=plugin.name)
        if op.tflite and f"{_TFLITE}{op.tflite}" in known.tflite:
            raise PluginClash(f"two operators have the custom code {op.tflite}", where=plugin.name)


def _key(op: Operator) -> tuple[str, str]:
    domain, _, name = op.onnx.partition("::")
    return domain, name


def real_class(op: Operator, *, turned: bool = False) -> type[RealOperator]:
    """The class of the operator on real numbers, by which its rule is found."""
    rules = () if op.integers is None else (op.integers,)
    body = {"__slots__": (), "turned": turned, "integers": rules, "operands": op.operands, "__doc__": op.kind.__doc__}
    return type(f"Real{op.kind.__name__}", (RealOperator,), body)


def _onnx_reader(op: Operator, real: type[RealOperator]) -> Callable[[Reading, OnnxNode], Sequence[str]]:
    def read(r: Reading, node: OnnxNode) -> Sequence[str]:
        spelled = Spelled(*_key(op), node.attributes)
        return r.apply_all(real(instance(op, node), spelled), r.given(node), node)

    return read


def _tflite_reader(op: Operator, real: type[RealOperator]) -> Callable[[RealContext, TfliteNode], None]:
    def read(ctx: RealContext, node: TfliteNode) -> None:
        found = instance(op, node)
        ctx.write(node, real(found, _spelled(op, found)), ctx.values_of(node))

    return read


def _spelled(op: Operator, found: Any) -> Spelled | None:
    """What ONNX files call an operator of a TFLite model: nothing, where only `read` knows its attributes."""
    if not op.onnx or op.read is not None:
        return None
    return Spelled(*_key(op), {f.name: getattr(found, f.name) for f in attributes_of(op)}, channels_last=op.images)
