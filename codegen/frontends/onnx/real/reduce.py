"""Reductions, the place of an extremum, Softmax.  Source: onnx/docs/Operators.md."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.frontends.onnx.nodes import OnnxNode
from codegen.frontends.onnx.real.reading import Reading, Table
from codegen.real.reduce import ArgExtremum, Reduce, Softmax


def reduce(r: Reading, node: OnnxNode) -> Sequence[str]:
    """ReduceSum and the others; without axes over all of them, or, where the node says so, over none."""
    x = r.value(node, 0)
    given = r.integers(node, 1, "axes") or ()
    if not given and node.flag("noop_with_empty_axes"):
        return _of_each(r, node, x)
    axes = r.axes(node, given, r.rank(x)) or tuple(range(r.rank(x)))
    kind = node.op_type.removeprefix("Reduce")
    return [r.apply(Reduce(kind, tuple(sorted(axes)), node.flag("keepdims", True)), [x], node)]


def _of_each(r: Reading, node: OnnxNode, x: str) -> Sequence[str]:
    """The reduction of each element by itself, as ONNX has it for an empty list of axes."""
    return [r.apply(Reduce(node.op_type.removeprefix("Reduce"), ()), [x], node)]


def arg_extremum(r: Reading, node: OnnxNode) -> Sequence[str]:
    """ArgMax and ArgMin."""
    x = r.value(node, 0)
    last = node.flag("select_last_index")
    op = ArgExtremum(r.axis(node, x, 0), node.op_type == "ArgMax", node.flag("keepdims", True), last)
    return [r.apply(op, [x], node)]


def softmax(r: Reading, node: OnnxNode) -> Sequence[str]:
    """Softmax and LogSoftmax: along one axis, before operator set 13 over all axes from that one on."""
    x = r.value(node, 0)
    log = node.op_type == "LogSoftmax"
    if r.opset >= 13:
        return [r.apply(Softmax((r.axis(node, x, -1),), log), [x], node)]
    axes = tuple(range(r.axis(node, x, 1), r.rank(x)))
    return [r.apply(Softmax(axes, log), [x], node)]


_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")


def best_of(r: Reading, node: OnnxNode, x: str, name: str) -> str:
    """Where the largest number of the last axis is, the first of equal ones; without that axis."""
    return r.apply(ArgExtremum(r.rank(x) - 1, keep=False), [x], node, name)


TRANSLATORS: Table = {
    **{("", f"Reduce{name}"): reduce for name in _REDUCTIONS},
    ("", "ArgMax"): arg_extremum,
    ("", "ArgMin"): arg_extremum,
    ("", "LogSoftmax"): softmax,
    ("", "Softmax"): softmax,
}
