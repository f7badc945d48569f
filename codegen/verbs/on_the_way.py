"""A float model quantized on its way to the compiler.

Decides: that it keeps its name, and is quantized as `lamina quantize` does with nothing said but the samples.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codegen.options import Options
from codegen.report.quantized import QuantReport
from codegen.verbs.quantize import quantize
from codegen.verbs.quantizing import Quantizing


@contextmanager
def quantized_by(how: Quantizing, model: Path, options: Options) -> Iterator[tuple[Path, QuantReport]]:
    """The file of the quantized model, which is what is compiled, and its report."""
    made = quantize(model, options, how)
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        path = Path(folder) / f"{model.stem}.onnx"
        path.write_bytes(made.model)
        yield path, made.report
