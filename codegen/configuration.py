"""The configuration file of a network (TOML): which tables there are, and one of them, read.

Leaves to the rooms that read a table which keys it has and what they mean.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path

from codegen.datafiles import read_toml
from codegen.errors import ConfigKeyUnknown, ConfigUnreadable, ConfigValueBad

TABLES = ("preprocess", "postprocess", "weights", "quantize", "layer", "tensor")
"""Of a file: what comes before the network and behind it, where its weights lie, and what the quantizer is told."""


def config_table(config: Path, name: str) -> Mapping[str, object] | None:
    """One table of a file, None where it has none of that name.

    Raises:
        ConfigUnreadable: LAM-PREPROCESS-001; the ids of `read_toml`.
        ConfigKeyUnknown: LAM-PREPROCESS-002, a table that means nothing.
        ConfigValueBad: LAM-PREPROCESS-003, it is no table.
    """
    tables = read_toml(config, lambda found: ConfigUnreadable(found, where=str(config)))
    known_keys(tables, TABLES, str(config), "")
    table = tables.get(name)
    if table is not None and not isinstance(table, dict):
        hint = f"docs/{name}.md lists the keys" if name == "postprocess" else None
        raise ConfigValueBad("is not a table", where=f"{config}, {name}", hint=hint)
    return table


def known_keys(table: Mapping[str, object], keys: Sequence[str], file: str, place: str) -> None:
    """Every key is one of `keys`; LAM-PREPROCESS-002 with the closest one."""
    for key in table:
        if key not in keys:
            close = difflib.get_close_matches(key, keys, n=1)
            hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(keys)}"
            raise ConfigKeyUnknown("unknown key", where=f"{file}, {place}{key}", hint=hint)
