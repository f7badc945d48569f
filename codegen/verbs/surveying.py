"""What `inspect` says of a model that cannot be imported: all its problems, what can be read, how to quantize it.

A float model is shown as it would be once quantized: the ranges are made up, which changes no count and no size.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from codegen.errors import CompileError
from codegen.frontends import Survey
from codegen.frontends.tflite import is_tflite
from codegen.ir.graph import Interface
from codegen.verbs.inspection import FloatInput, LayerRow, OperatorRow, Quantizing
from codegen.verbs.sources import shown


def all_problems(survey: Survey, error: CompileError) -> tuple[CompileError, ...]:
    """What made the import fail, and what reading on has found, each once."""
    found = {e.text(): e for e in (*error.problems(), *survey.problems)}
    return tuple(found.values())


def operator_rows(survey: Survey, layers: Sequence[LayerRow]) -> tuple[OperatorRow, ...]:
    """The model's own operators, with the cost of the layers that they become."""
    makers: dict[str, tuple[int, int]] = {}
    for row in layers:
        for name in row.source[:1]:
            macs, parameters = makers.get(name, (0, 0))
            makers[name] = (macs + row.macs, parameters + row.parameters)
    violated = {name: row.violation for row in layers for name in row.source if row.violation}
    kinds = dict.fromkeys(node.operator for node in survey.nodes)
    return tuple(_operator(kind, survey, makers, violated) for kind in kinds)


def _operator(
    kind: str, survey: Survey, makers: Mapping[str, tuple[int, int]], violated: Mapping[str, str]
) -> OperatorRow:
    nodes = [n for n in survey.nodes if n.operator == kind]
    broken = [n.problem or violated.get(n.name, "") for n in nodes]
    costs = [makers.get(n.name, (0, 0)) for n in nodes if not n.problem]
    return OperatorRow(
        operator=kind,
        count=len(nodes),
        refused=sum(map(bool, broken)),
        violations=tuple(dict.fromkeys(filter(None, broken))),
        macs=sum(macs for macs, _ in costs) if costs else None,
        parameters=sum(parameters for _, parameters in costs) if costs else None,
    )


def quantizing(model: Path, survey: Survey) -> Quantizing:
    """How a float model becomes one that can be compiled."""
    inputs = tuple(FloatInput(i.name, i.model_shape, i.model_dtype) for i in survey.inputs)
    return Quantizing(inputs, _tflite_recipe(model) if is_tflite(model) else _onnx_recipe(model, survey.inputs))


def _onnx_recipe(model: Path, inputs: Sequence[Interface]) -> tuple[str, ...]:
    """Shell commands; CALIB.npz has an array of samples for each input."""
    prepared, made = f"{model.stem}_prepared.onnx", f"{model.stem}_int8.onnx"
    return (
        "pip install onnxruntime onnx",
        "python -m onnxruntime.quantization.preprocess --skip_symbolic_shape True \\",
        f"    --input {shlex.quote(shown(model))} --output {shlex.quote(prepared)}",
        "python - <<'END'",
        "import numpy as np",
        "from onnxruntime.quantization import *",
        f"shapes = {_shapes(inputs)}",
        'data = np.load("CALIB.npz")  # float32 [samples, ...] by the inputs\' names',
        "samples = [dict(zip(shapes, s)) for s in zip(*(data[n] for n in shapes))]",
        "class Reader(CalibrationDataReader):",
        "    left = iter({n: x.reshape(shapes[n]) for n, x in s.items()} for s in samples)",
        "    def get_next(self):",
        "        return next(self.left, None)",
        f"quantize_static({prepared!r}, {made!r},",
        "    Reader(), quant_format=QuantFormat.QDQ, per_channel=True,",
        "    activation_type=QuantType.QInt8, weight_type=QuantType.QInt8)",
        "END",
    )


def _shapes(inputs: Sequence[Interface]) -> str:
    return repr({i.name: i.model_shape for i in inputs})


def _tflite_recipe(model: Path) -> tuple[str, ...]:
    """Python that converts the original once more: the converter does not read its own float files."""
    return (
        "import tensorflow as tf",
        "# the Keras model that this file was converted from; samples: float32, batches of one",
        "converter = tf.lite.TFLiteConverter.from_keras_model(model)",
        "converter.optimizations = [tf.lite.Optimize.DEFAULT]",
        "converter.representative_dataset = lambda: ([x] for x in samples)",
        "converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]",
        "converter.inference_input_type = tf.int8",
        "converter.inference_output_type = tf.int8",
        f"open({model.stem + '_int8.tflite'!r}, 'wb').write(converter.convert())",
    )
