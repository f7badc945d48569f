"""Refusals of the quantizer: its configuration, tables of other tools, what it is to learn from."""

from __future__ import annotations

from collections.abc import Iterable

from codegen.errors.base import CompileError, ModelRejected


class QuantConfigUnreadable(CompileError):
    """The quantizer's configuration is missing, or is text of another kind than its name says (TOML, JSON)."""

    code = "LAM-QUANT-001"
    hint = "give a .toml file of Lamina's grammar, or the .json file of a tool whose configuration is read"


class QuantKeyUnknown(CompileError):
    """The quantizer's configuration has a table or a key that means nothing where it stands."""

    code = "LAM-QUANT-002"
    hint = "docs/quantizer_keys.md lists the keys"


class QuantValueBad(CompileError):
    """A key of the quantizer's configuration has a value of the wrong type, or out of range."""

    code = "LAM-QUANT-003"
    hint = "docs/quantizer_keys.md lists the values"


class QuantKeyMissing(CompileError):
    """The quantizer's configuration lacks a key that its format calls for."""

    code = "LAM-QUANT-004"
    hint = "add the key"


class QuantKeysConflict(CompileError):
    """Two keys that hold for the same tensor cannot both be met; the message states the rule."""

    code = "LAM-QUANT-005"
    hint = "change one of the keys; docs/quantizer.md says which level wins"


class QuantConfigRejected(ModelRejected):
    """The quantizer's configuration has several problems; all of them are listed at once."""

    code = "LAM-QUANT-006"
    hint = "each line names its own way out"

    def __init__(self, problems: Iterable[CompileError], *, where: str = "") -> None:
        """Gather the problems found in one configuration; there must be at least one."""
        super().__init__(problems, where=where)


class VitisConflict(CompileError):
    """A configuration of vai_q_pytorch asks for what its own target device does not have, by a rule that is stated."""

    code = "LAM-QUANT-007"
    hint = "change the parameter, or the target_device; docs/quantizer.md says how such files are read"


class TableLineBad(CompileError):
    """A line of another tool's table is not what its format has there."""

    code = "LAM-QUANT-008"
    hint = "write the table anew with the tool that made it"


class FormatUnknown(CompileError):
    """A configuration or a table is none of the formats that are read."""

    code = "LAM-QUANT-009"
    hint = "docs/quantizer.md lists the formats"


class NotInIntegers(CompileError):
    """Another tool's file asks for something that has no form here, and that cannot be left out either."""

    code = "LAM-QUANT-010"
    hint = "docs/quantizer.md says what of each format is taken; change the value in the file"


class TableOfAnother(CompileError):
    """No name of a table of ranges is a tensor or a layer of the model."""

    code = "LAM-QUANT-011"
    hint = "give the table of this model; `lamina inspect MODEL` prints its names"


class TableNotWritten(CompileError):
    """A table of ranges cannot be written, or has names that its format does not hold; nothing is left behind."""

    code = "LAM-QUANT-012"
    hint = "check the path, permissions and free space; a name that ends in .toml gives Lamina's own table"
