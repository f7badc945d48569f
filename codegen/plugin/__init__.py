"""Operators of one's own: what a plug-in is written with (docs/plugins.md), and how it joins the toolkit.

A plug-in imports from here alone.  Loading one runs its code; nothing is loaded unless it is named.
"""

from codegen.ir.form import Field, Scratch
from codegen.ir.op import Limit, NodeOf, RowRule
from codegen.ir.quant import Array, DType, Quant, Requant, TensorType
from codegen.ir.shape import Window, row_count
from codegen.kernels.kernel import Fit
from codegen.ops import apply_requant, make_requant
from codegen.ops.answers import (
    Types,
    in_place_when_equal,
    never_in_place,
    no_macs,
    same_row,
    whole,
    window_rows,
)
from codegen.ops.case import Case
from codegen.ops.limits import batch_one, feature_map, only_input, require, types_among
from codegen.plugin.joining import with_plugins
from codegen.plugin.load import PluginGiven, load_plugin, tools_with
from codegen.plugin.record import Operator, Plugin
from codegen.plugin.sources import C, Hook

__all__ = [
    "Array",
    "C",
    "Case",
    "DType",
    "Field",
    "Fit",
    "Hook",
    "Limit",
    "NodeOf",
    "Operator",
    "Plugin",
    "PluginGiven",
    "Quant",
    "Requant",
    "RowRule",
    "Scratch",
    "TensorType",
    "Types",
    "Window",
    "apply_requant",
    "batch_one",
    "feature_map",
    "in_place_when_equal",
    "load_plugin",
    "make_requant",
    "never_in_place",
    "no_macs",
    "only_input",
    "require",
    "row_count",
    "same_row",
    "tools_with",
    "types_among",
    "whole",
    "window_rows",
    "with_plugins",
]
