"""Refusals of plug-ins: files that are not there, that are wrong, or whose operators do not keep the laws."""

from __future__ import annotations

from codegen.errors.base import CompileError


class PluginMissing(CompileError):
    """No file and no installed package is the plug-in that was named."""

    code = "LAM-PLUGIN-001"
    is_usage = True
    hint = "give the path of a .py file, or the name of an entry point of the group lamina.operators"


class PluginBroken(CompileError):
    """The plug-in's Python ended with an error while it was loaded."""

    code = "LAM-PLUGIN-002"
    hint = "run it with python by itself; docs/plugins.md has a whole one to begin with"


class PluginEmpty(CompileError):
    """The file has no plug-in in it."""

    code = "LAM-PLUGIN-003"
    hint = "let it end with PLUGIN = Plugin(name=..., operators=(...,)), as docs/plugins.md shows"


class PluginClash(CompileError):
    """Two things are called alike: plug-ins, operators, or operators and those of Lamina itself."""

    code = "LAM-PLUGIN-004"
    hint = "give one of them another name, or name the plug-in once"


class PluginWrong(CompileError):
    """A part of a plug-in is not what it has to be: a field's type, a question that the operator does not answer."""

    code = "LAM-PLUGIN-005"
    hint = "docs/plugins.md says what each part is"


class PluginFileMissing(CompileError):
    """A template or a file of C that a plug-in names cannot be read."""

    code = "LAM-PLUGIN-006"
    hint = "it has to lie beside the plug-in's Python file"


class TemplateBroken(CompileError):
    """A plug-in's template cannot be filled in."""

    code = "LAM-PLUGIN-007"
    hint = "`k` holds what `fit` gave, `f` the function; docs/plugins.md lists both"


class PluginFault(CompileError):
    """A plug-in's own Python raised an error."""

    code = "LAM-PLUGIN-008"
    hint = "--debug shows the traceback"


class LawBroken(CompileError):
    """An operator of a plug-in does not keep a law that all operators keep: no C made with it is to be trusted."""

    code = "LAM-PLUGIN-009"
    hint = "docs/plugins.md says what each law is for"


class PluginNode(CompileError):
    """A node of a model has an attribute that the plug-in's operator does not have: it would be passed over."""

    code = "LAM-PLUGIN-011"
    hint = "correct the model, or let the operator read it: docs/plugins.md, From the file"


class HookUnanswered(CompileError):
    """The C calls a hook that the firmware provides, and nothing here answers it."""

    code = "LAM-PLUGIN-010"
    hint = "give the Hook a reference in C, or verify on the host, where golden answers"
