"""docs/quantizer_keys.md: every key of the quantizer's configuration, from the code that reads it."""

from __future__ import annotations

from codegen.quantizer.config.keys import DEFAULTS, KEYS, ROLES
from codegen.quantizer.config.rules import RULES
from codegen.quantizer.config.settings import General, kinds_of, sentences_of
from codegen.quantizer.config.toml import SETTINGS
from codegen.quantizer.spec import Spec
from codegen.report.table import markdown_table

_INTRO = """\
What the quantizer may be told in a TOML file. [quantizer.md](quantizer.md) explains which level wins. A key that is not
here is refused, as is a value of another kind; everything wrong with a file is told at once."""
_TENSORS = """\
These say how a tensor is quantized. They stand in `[quantize]` for all tensors, in `[quantize.input]`,
`[quantize.weights]`, `[quantize.bias]` and `[quantize.activation]` for one role, in a `[[layer]]` with a `type` or a
`name`, there too in tables by role (`weights = { bits = 4 }`), and in a `[[tensor]]` with a `name`. Said for all roles,
a key goes to those that have it: 16 bits, `signed = false`, `symmetric = false`, `moving_average` and `fixed` to what
is computed."""
_FEW = """\
Weights of 3 to 7 bits have all integers of their width where `narrow_range` is not said of them, and zero points where
neither `symmetric` nor a power of two nor `scales` is; those of 2 bits have both where `symmetric = false` is said.
Weights of 8 bits, which the first and the last layer keep, have no zero points."""
_RULES = "Of whatever levels a tensor's keys come; `LAM-QUANT-005` states the rule that is broken."


def quantizer_keys_page(generated: str) -> str:
    """The page; `generated` is the mark of pages that are not edited."""
    parts = ["# Keys of the quantizer's configuration", generated, _INTRO, "## Of a tensor", _TENSORS]
    parts += [_tensor_keys(), "Without them:", _defaults(), _FEW, "## What goes together", _RULES]
    parts += ["\n".join(f"- {rule.sentence}" for rule in RULES), "## Of the run, in `[quantize]`", _settings(General)]
    for name, table in SETTINGS.items():
        says = (table.__doc__ or "").partition(": ")[2]
        parts += [
            f"## `[quantize.{name}]`",
            f"{says[:1].upper()}{says[1:]} What is not said is the recipe's.",
            _settings(table),
        ]
    return "\n\n".join(parts) + "\n"


def _tensor_keys() -> str:
    rows = [(f"`{key.name}`", key.kind.takes, ", ".join(key.roles), key.says) for key in KEYS]
    return markdown_table(("key", "takes", "of", "what it says"), rows)


def _settings(table: type[object]) -> str:
    kinds, says = kinds_of(table), sentences_of(table)
    return markdown_table(
        ("key", "takes", "what it says"), [(f"`{key}`", kinds[key].takes, says[key]) for key in kinds]
    )


def _defaults() -> str:
    rows = [(role, *_spelled(DEFAULTS[role])) for role in ROLES]
    return markdown_table(("role", "bits", "around zero", "granularity", "narrow range", "rounding", "method"), rows)


def _spelled(spec: Spec) -> tuple[str, ...]:
    flags = ["yes" if flag else "no" for flag in (spec.centred, spec.least > -(1 << (spec.bits - 1)))]
    granularity = "channel" if spec.per_channel else "tensor"
    return str(spec.bits), flags[0], granularity, flags[1], spec.rounding, spec.method
