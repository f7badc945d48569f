"""What a user may ask of the quantizer: one grammar, many levels, and everything wrong with a file told at once.

`keys` and `rules` are the grammar, `levels` which of them holds, `config` what the stages ask.  Formats of other tools
are read in `codegen.quantizer.foreign`.
"""

from codegen.quantizer.config.config import QuantConfig, said
from codegen.quantizer.config.keys import DEFAULTS, KEYS
from codegen.quantizer.config.settings import Correct, General, Io, Mixed, Rewrite, Search, Switch
from codegen.quantizer.config.toml import parse_config, read_config

__all__ = [
    "DEFAULTS",
    "KEYS",
    "Correct",
    "General",
    "Io",
    "Mixed",
    "QuantConfig",
    "Rewrite",
    "Search",
    "Switch",
    "parse_config",
    "read_config",
    "said",
]
