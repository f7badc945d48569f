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
