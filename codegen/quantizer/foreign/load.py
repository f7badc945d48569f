"""Finds the format of a file and reads it.

Decides: which format a file is in: by its name where that says it, by what it holds otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from codegen.errors import FormatUnknown
from codegen.quantizer.config.config import QuantConfig
from codegen.quantizer.config.toml import read_config
from codegen.quantizer.foreign.ingenic import is_ingenic, parse_ingenic
from codegen.quantizer.foreign.mqbench import is_mqbench, parse_mqbench
from codegen.quantizer.foreign.onnx_runtime import is_overrides, parse_overrides
from codegen.quantizer.foreign.reading import parse_json, read_text
from codegen.quantizer.foreign.tpu_mlir import is_table, parse_table
from codegen.quantizer.foreign.vitis import is_vitis, parse_vitis

Values = Mapping[str, object]
_DOCUMENTS: tuple[tuple[Callable[[Values], bool], Callable[[Values, str], QuantConfig]], ...] = (
    (is_mqbench, parse_mqbench),
    (is_ingenic, parse_ingenic),
    (is_vitis, parse_vitis),
    (is_overrides, parse_overrides),
)


def load_config(path: Path) -> QuantConfig:
    """The configuration or the table in a file of any format that is read.

    Raises:
        FormatUnknown: LAM-QUANT-009.
        CompileError: LAM-QUANT-001 to -008 and -010; the ids of `codegen.datafiles.read_file`.
    """
    if path.suffix.lower() == ".toml":
        return read_config(path)
    text = read_text(path)
    if text.lstrip()[:1] in ("{", "["):
        return parse_document(parse_json(text, str(path)), str(path))
    if not is_table(text):
        raise FormatUnknown("is neither TOML by its name, nor JSON, nor a table of a known form", where=str(path))
    return parse_table(text, str(path))


def parse_document(document: Values, file: str) -> QuantConfig:
    """The configuration in a JSON document."""
    for is_one, parse in _DOCUMENTS:
        if is_one(document):
            return parse(document, file)
    raise FormatUnknown("is JSON of no known tool", where=file)
