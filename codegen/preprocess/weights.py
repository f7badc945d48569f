"""The `[weights]` table of a model's configuration file: where this network's weights lie while it runs.

Decides: that what a command says goes before the file, and the file before the chip's own table of that name.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from codegen.configuration import config_table, known_keys
from codegen.errors import ConfigValueBad
from codegen.options import LEAST_BUFFER, Options

_KEYS = ("buffer_bytes", "pin", "map")


def with_weights(options: Options, config: Path) -> Options:
    """The options, with the buffer for weights and the layers to pin and to map that the file names.

    Raises:
        ConfigUnreadable: LAM-PREPROCESS-001; the ids of `read_toml`.
        ConfigKeyUnknown: LAM-PREPROCESS-002.
        ConfigValueBad: LAM-PREPROCESS-003.
    """
    file = str(config)
    table = config_table(config, "weights") or {}
    known_keys(table, _KEYS, file, "weights.")
    size = table.get("buffer_bytes")
    if size is not None and (type(size) is not int or (size != 0 and size < LEAST_BUFFER)):
        said = f"{size!r} is no number of bytes from {LEAST_BUFFER} on, nor 0 for none"
        raise ConfigValueBad(said, where=f"{file}, weights.buffer_bytes")
    pinned, mapped = (_names(table.get(key, []), f"{file}, weights.{key}") for key in ("pin", "map"))
    if options.weights_buffer is None:
        options = replace(options, weights_buffer=size)
    return replace(options, pinned=options.pinned or pinned, mapped=options.mapped or mapped)


def _names(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise ConfigValueBad(f"{value!r} is no list of layers' names, such as ['stem', 'conv*']", where=where)
    return tuple(value)
