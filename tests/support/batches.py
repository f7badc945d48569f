"""Models of files whose batch is fixed at some other number of images than one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import tflite
from onnx import numpy_helper


def with_batch(model: Path, images: int, folder: Path) -> Path:
    """The model with that many images at a time, of ONNX or of TFLite, as a file in the folder."""
    path = folder / f"{model.stem}_{images}{model.suffix}"
    path.write_bytes((_of_tflite if model.suffix == ".tflite" else _of_onnx)(model.read_bytes(), images))
    return path


def _of_onnx(data: bytes, images: int) -> bytes:
    model = onnx.load_from_string(data)
    graph = model.graph
    for port in (*graph.input, *graph.output):
        size = port.type.tensor_type.shape.dim[0]
        size.Clear()
        size.dim_value = images
    del graph.value_info[:]
    shapes = {node.input[1] for node in graph.node if node.op_type == "Reshape"}
    for constant in (t for t in graph.initializer if t.name in shapes):
        sizes = numpy_helper.to_array(constant).copy()
        sizes[0] = images if sizes[0] == 1 else sizes[0]
        constant.CopyFrom(numpy_helper.from_array(sizes, constant.name))
    return model.SerializeToString()


def _of_tflite(data: bytes, images: int) -> bytes:
    """Written over the sizes that stand in the file."""
    edited = bytearray(data)
    model = tflite.Model.GetRootAs(edited, 0)
    graph = model.Subgraphs(0)
    for index in range(graph.TensorsLength()):
        tensor = graph.Tensors(index)
        if model.Buffers(tensor.Buffer()).DataLength() == 0 and tensor.ShapeLength():
            tensor.ShapeAsNumpy()[0] = images
    for index in range(graph.OperatorsLength()):
        operator = graph.Operators(index)
        code = model.OperatorCodes(operator.OpcodeIndex()).BuiltinCode()
        if code == tflite.BuiltinOperator.RESHAPE and operator.InputsLength() > 1:
            buffer = model.Buffers(graph.Tensors(operator.Inputs(1)).Buffer())
            sizes = buffer.DataAsNumpy().view(np.int32)
            sizes[0] = images if sizes[0] == 1 else sizes[0]
    return bytes(edited)
