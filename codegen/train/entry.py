"""The two ends of training: a module that begins it, and the file that it ends with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from codegen.datafiles import written_file
from codegen.errors import ModelNotWritten, ModuleMissing, RequantUnsupported
from codegen.ir.quant import ALL_MODES, Mode
from codegen.train.asking import Configuration, config_of, in_names_of, places_of, training_of
from codegen.train.layers import check_widths, said_by
from codegen.train.prepared import Prepared
from codegen.train.reading import Source


def prepare(module: Any, example: Any, config: Configuration = None, requant: Mode | None = None) -> Prepared:
    """A module as a network that is trained in the chip's arithmetic.

    Args:
        module: a torch.nn.Module; what it is given is not changed.
        example: what it is called with: a tensor, or a tuple of them, samples along the first axis.
        config: as `lamina quantize` takes it: a QuantConfig, its tables, or the file that has them.
        requant: the requantization mode; `single`, or shifts where all scales are powers of two, when None.

    Raises:
        RequantUnsupported: LAM-TARGET-006.
        CompileError: LAM-TRAIN-001 to -004 and -009, LAM-QUANT-001 to -010 and -024, LAM-IMPORT-001.
    """
    if requant not in (None, *ALL_MODES):
        hint = f"one of {', '.join(ALL_MODES)}"
        raise RequantUnsupported(f"no mode {requant!r}", where="requant", hint=hint)
    source = Source(module, example)
    graph = source.graph(source.batch)
    asked = in_names_of(config_of(config), graph).over(said_by(module))
    places = places_of(graph, asked)
    training = training_of(asked, places)
    check_widths(module, places, training)
    return Prepared(source, training, requant)


def export(prepared: Any, path: str | Path | None = None) -> bytes:
    """The trained network as a QDQ file of ONNX, whose integers are those of the module's evaluation mode.

    Args:
        prepared: what `prepare` has made.
        path: where the file goes besides.

    Raises:
        ModuleMissing: LAM-TRAIN-003.
        CompileError: LAM-TRAIN-005 and -006.
    """
    if not isinstance(prepared, Prepared):
        found = f"nothing that prepare() has made: it is of type {type(prepared).__name__}"
        raise ModuleMissing(found, where="prepared")
    data = prepared.integer_network().file
    if path is not None:
        with written_file(Path(path), lambda found: ModelNotWritten(found, where=str(path))) as file:
            file.write(data)
    return data
