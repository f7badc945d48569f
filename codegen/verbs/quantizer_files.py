"""The quantizer's files beside a model: its configuration and tables of ranges, in and out.

Decides: that a name which a configuration of ours has and the model has not is refused, and one of another tool's file
noted.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from codegen.datafiles import written_file
from codegen.errors import CompileError, TableNotWritten, TableOfAnother
from codegen.ir.real import RealGraph, Stored
from codegen.quantizer.config import QuantConfig
from codegen.quantizer.config.levels import LAYER_TYPE, plain_type
from codegen.quantizer.foreign.load import load_config
from codegen.quantizer.foreign.naming import Named, in_terms_of, name_unknown
from codegen.quantizer.foreign.ours import written_ranges
from codegen.quantizer.foreign.ranged import Ranged
from codegen.quantizer.foreign.tpu_mlir import written_table
from codegen.records import record

_MOST_NAMED = 5
_BINS = 2048


def files_config(graph: RealGraph, config: Path | None, table: Path | None) -> QuantConfig:
    """What the files say of a network: the configuration over the table of ranges.

    Raises:
        TensorUnknown: LAM-QUANT-024, a name in our own configuration that the model does not have.
        TableOfAnother: LAM-QUANT-011.
        CompileError: the ids of `load_config`.
    """
    own = QuantConfig() if config is None else _named(graph, config, is_table=False)
    ranges = QuantConfig() if table is None else _named(graph, table, is_table=True)
    both = own.over(ranges)
    return both


def preprocess_file(config: Path | None) -> Path | None:
    """The file with the samples' `[preprocess]` table; other tools' configurations have none."""
    return config if config is not None and config.suffix.lower() == ".toml" else None


def _named(graph: RealGraph, path: Path, is_table: bool) -> QuantConfig:
    named = in_terms_of(load_config(path), graph)
    if is_table and named.is_of_another:
        raise TableOfAnother(f"none of its {len(named.lost)} names is one of the model's", where=str(path))
    if named.lost and not is_table and preprocess_file(path):
        raise name_unknown(named.lost[0], graph)
    types = () if is_table or not preprocess_file(path) else _types_of_none(named.config, graph)
    return replace(named.config, notes=(*named.config.notes, *_lost(named), *types))


def _types_of_none(config: QuantConfig, graph: RealGraph) -> Iterator[str]:
    """What is said of types of which the network has no layer."""
    known = {plain_type(node.op_type): node.op_type for node in graph.nodes}
    for name in dict.fromkeys(level.chosen for level in config.levels if level.rank == LAYER_TYPE):
        if plain_type(name) not in known:
            close = difflib.get_close_matches(plain_type(name), known, n=1)
            meant = (
                f": did you mean {known[close[0]]}?" if close else f", which has {', '.join(sorted(known.values()))}"
            )
            yield f"type = {name!r} is no layer's of the network{meant}"


def _lost(named: Named) -> Iterator[str]:
    names = list(dict.fromkeys(level.chosen for level in named.lost))
    if names:
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        yield f"names that the model does not have: {', '.join(names[:_MOST_NAMED])}{more}"


@record
class Output:
    """What goes into a file, and the error of a path that cannot be written."""

    path: Path
    content: bytes
    refusal: Callable[[str], CompileError]


def write_together(outputs: Iterable[Output]) -> None:
    """All of the files, or none where one of their paths cannot be written."""
    with ExitStack() as stack:
        opened = [(stack.enter_context(written_file(o.path, o.refusal)), o.content) for o in outputs]
        for file, content in opened:
            file.write(content)


def table_output(path: Path, tensors: Mapping[str, Stored], samples: int) -> Output:
    """The ranges of the tensors: our own table where the path ends in .toml, TPU-MLIR's text otherwise.

    Raises:
        TableNotWritten: LAM-QUANT-012, here for names that the format does not hold.
    """
    ranges = [Ranged.of(name, stored) for name, stored in tensors.items() if stored.scale.size == 1]
    ours = path.suffix.lower() == ".toml"
    blank = [r.name for r in ranges if len(r.name.split()) != 1 or r.name.startswith("#")]
    if blank and not ours:
        raise table_refusal(path)(f"a row of this format holds no name like {blank[0]!r}")
    text = written_ranges(ranges) if ours else written_table(ranges, _BINS, samples)
    return Output(path, text.encode(), table_refusal(path))


def table_refusal(path: Path) -> Callable[[str], CompileError]:
    """The error of a table that cannot be written there."""
    return lambda found: TableNotWritten(found, where=str(path))
