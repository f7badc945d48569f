"""Ways to damage a model file: bytes that are no longer protobuf, and protobuf whose fields are wrong.

Every function takes a `random.Random` and is determined by it.  One on fields changes the model in place and says
whether it found something to change.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

FieldMutation = Callable[[random.Random, Any], bool]
ByteMutation = Callable[[random.Random, bytearray], bytearray]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_SIZES = (0, 1, 2, 3, 7, 8, 127, 128, 255, 1000, 65536, 2**20, 2**28, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1)
_ODD_SIZES = (*_SIZES, -1, -2, -7, -(2**31), -(2**63))
_ODD_REALS = (math.nan, math.inf, -math.inf, 0.0, -0.0, -1.0, 1e-45, 1e-38, 1e38, 3.4e38, 1e-20, 1e20, 0.5, 2.0)
_TYPES = (*TensorProto.DataType.values(), 99, -1)
_OPERATORS = _words(
    """
    Add AveragePool Cast Clip Concat Conv ConvTranspose DepthToSpace DequantizeLinear Div Expand Flatten Gather
    Gemm GlobalAveragePool HardSwish Identity If LayerNormalization LeakyRelu Loop MatMul MatMulInteger Max
    MaxPool Min Mul NoSuchOperator PRelu Pad QLinearAdd QLinearConv QLinearMatMul QuantizeLinear ReduceMean Relu
    Reshape Resize Shape Sigmoid Slice Softmax Split Squeeze Sub Tanh Tile TopK Transpose Unsqueeze Where
    """
)
_ATTRIBUTES = _words(
    """
    allowzero alpha auto_pad axes axis beta block_size blocksize ceil_mode coordinate_transformation_mode
    count_include_pad dilations end group keepdims kernel_shape mode nearest_mode num_outputs output_dtype pads
    perm shape split start strides to transA transB value
    """
)


# Bytes


def truncate(rng: random.Random, data: bytearray) -> bytearray:
    return data[: rng.choice((0, 1, rng.randrange(64), rng.randrange(len(data)), len(data) - 1))]


def flip_bits(rng: random.Random, data: bytearray) -> bytearray:
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def random_bytes(rng: random.Random, data: bytearray) -> bytearray:
    for _ in range(rng.choice((1, 4, 32))):
        data[rng.randrange(len(data))] = rng.choice((0, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    return data


def zero_block(rng: random.Random, data: bytearray) -> bytearray:
    start, size = _block(rng, data)
    data[start : start + size] = bytes(size)
    return data


def fill_block(rng: random.Random, data: bytearray) -> bytearray:
    start, size = _block(rng, data)
    data[start : start + size] = b"\xff" * size
    return data


def remove_block(rng: random.Random, data: bytearray) -> bytearray:
    start, size = _block(rng, data)
    del data[start : start + size]
    return data


def repeat_block(rng: random.Random, data: bytearray) -> bytearray:
    start, size = _block(rng, data)
    data[start:start] = data[start : start + size] * rng.choice((1, 1, 3, 50))
    return data


def insert_noise(rng: random.Random, data: bytearray) -> bytearray:
    at = rng.randrange(len(data))
    data[at:at] = rng.randbytes(rng.choice((1, 2, 16, 300)))
    return data


def _block(rng: random.Random, data: bytearray) -> tuple[int, int]:
    size = min(rng.choice((1, 4, 16, 64, 1024, len(data) // 4)), len(data) // 2)
    return rng.randrange(len(data) - size), size


BYTES: tuple[ByteMutation, ...] = (
    truncate,
    flip_bits,
    random_bytes,
    zero_block,
    fill_block,
    remove_block,
    repeat_block,
    insert_noise,
)


# Constants


def constant_dims(rng: random.Random, model: Any) -> bool:
    tensor = _pick(rng, model.graph.initializer)
    if tensor is None:
        return False
    dims = list(tensor.dims)
    how = rng.randrange(6)
    if how == 0 and dims:
        dims[rng.randrange(len(dims))] = rng.choice(_ODD_SIZES)
    elif how == 1 and dims:
        del dims[rng.randrange(len(dims))]
    elif how == 2:
        dims.insert(rng.randrange(len(dims) + 1), 1)
    elif how == 3:
        rng.shuffle(dims)
    elif how == 4:
        dims = [math.prod(dims)] if dims else [1]
    else:
        dims = dims + [1] * rng.choice((1, 5, 40))
    return _set(tensor, "dims", dims)


def constant_length(rng: random.Random, model: Any) -> bool:
    tensor = _pick(rng, [t for t in model.graph.initializer if t.raw_data])
    if tensor is None:
        return False
    data = tensor.raw_data
    tensor.raw_data = rng.choice((data[:-1], data[: len(data) // 2], b"", data + b"\0", data * 2))
    return True


def constant_type(rng: random.Random, model: Any) -> bool:
    tensor = _pick(rng, model.graph.initializer)
    if tensor is None:
        return False
    tensor.data_type = rng.choice(_TYPES)
    return True


def constant_cast(rng: random.Random, model: Any) -> bool:
    """Another element type, the data converted: only the meaning is wrong."""
    tensor = _pick(rng, model.graph.initializer)
    array = _array(tensor)
    if array is None:
        return False
    kind = rng.choice((np.int8, np.uint8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64, np.bool_))
    with np.errstate(all="ignore"):
        _store(tensor, array.astype(kind))
    return True


def constant_values(rng: random.Random, model: Any) -> bool:
    tensor = _pick(rng, model.graph.initializer)
    array = _array(tensor)
    if array is None or not array.size:
        return False
    flat = array.reshape(-1).copy()
    count = rng.choice((1, 1, flat.size))
    with np.errstate(all="ignore"):
        if flat.dtype.kind == "f":
            flat[rng.sample(range(flat.size), count)] = rng.choice(_ODD_REALS)
        elif flat.dtype.kind in "iu":
            info = np.iinfo(flat.dtype)
            numbers = (info.min, info.max, 0, rng.randint(info.min, info.max))
            flat[rng.sample(range(flat.size), count)] = rng.choice(numbers)
        else:
            return False
    _store(tensor, flat.reshape(array.shape))
    return True


def constant_text(rng: random.Random, model: Any) -> bool:
    tensor = _pick(rng, model.graph.initializer)
    if tensor is None:
        return False
    name, dims = tensor.name, list(tensor.dims)
    tensor.Clear()
    tensor.name, tensor.data_type = name, TensorProto.STRING
    tensor.dims.extend(dims)
    tensor.string_data.extend([b"\xff\xfe", b"text"])
    return True


def constant_outside(rng: random.Random, model: Any) -> bool:
    tensor = _pick(rng, model.graph.initializer)
    if tensor is None:
        return False
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    places = ("weights.bin", "../../../../etc/passwd", "/etc/passwd", "", ".", "a\0b", "x" * 5000, "/dev/zero")
    entries = {
        "location": rng.choice(places),
        "offset": rng.choice(("0", "-1", "99999999999", "x", "")),
        "length": "16",
    }
    for key in rng.sample(sorted(entries), rng.randint(1, 3)):
        tensor.external_data.add(key=key, value=entries[key])
    return True


def constant_field(rng: random.Random, model: Any) -> bool:
    """The numbers in another of the fields that may hold them, or in two."""
    tensor = _pick(rng, model.graph.initializer)
    array = _array(tensor)
    if array is None or array.size > 5000:
        return False
    values = [int(v) if np.isfinite(v) else 0 for v in np.clip(array.reshape(-1).astype(np.float64), 0, 2**31 - 1)]
    if rng.random() < 0.6:
        tensor.ClearField("raw_data")
    getattr(tensor, rng.choice(("float_data", "int32_data", "int64_data", "double_data", "uint64_data"))).extend(values)
    return True


def constant_removed(rng: random.Random, model: Any) -> bool:
    return _remove(rng, model.graph.initializer)


def constant_sparse(rng: random.Random, model: Any) -> bool:
    tensor = _pick(rng, model.graph.initializer)
    if tensor is None:
        return False
    model.graph.sparse_initializer.add().values.CopyFrom(tensor)
    return True


# Quantization


def scale_value(rng: random.Random, model: Any) -> bool:
    tensor = _pick(rng, _parameters(model, 1))
    array = _array(tensor)
    if array is None or not array.size or array.dtype.kind != "f":
        return False
    flat = array.reshape(-1).copy()
    place = rng.randrange(flat.size)
    with np.errstate(all="ignore"):
        flat[place] = rng.choice((*_ODD_REALS, flat[place] * 1e-9, flat[place] * 1e9, -flat[place], flat[place] * 64))
    _store(tensor, flat.reshape(array.shape))
    return True


def parameter_length(rng: random.Random, model: Any) -> bool:
    """More or fewer scales or zero points, or of another rank."""
    tensor = _pick(rng, _parameters(model, rng.choice((1, 2))))
    array = _array(tensor)
    if array is None or not array.size:
        return False
    flat = array.reshape(-1)
    shapes = ([], [0], [1], [2], [flat.size + 1], [max(flat.size - 1, 1)], [1, flat.size], [flat.size, 1])
    _store(tensor, np.resize(flat, rng.choice(shapes)))
    return True


def zero_point(rng: random.Random, model: Any) -> bool:
    tensor = _pick(rng, _parameters(model, 2))
    array = _array(tensor)
    if array is None or array.dtype.kind not in "iu":
        return False
    kind = rng.choice((array.dtype, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.float32))
    info = np.iinfo(array.dtype)
    with np.errstate(all="ignore"):
        _store(tensor, np.full(array.shape, rng.choice((info.min, info.max, 0, 1)), array.dtype).astype(kind))
    return True


def zero_point_absent(rng: random.Random, model: Any) -> bool:
    node = _pick(rng, [n for n in model.graph.node if n.op_type in _LINEAR and len(n.input) == 3])
    if node is None:
        return False
    del node.input[2]
    return True


# Attributes


def attribute_value(rng: random.Random, model: Any) -> bool:
    attribute = _pick(rng, [a for n in model.graph.node for a in n.attribute])
    if attribute is None:
        return False
    if attribute.type == AttributeProto.INT:
        attribute.i = rng.choice((*_ODD_SIZES, attribute.i + 1, attribute.i - 1))
    elif attribute.type == AttributeProto.INTS and attribute.ints:
        _list_value(rng, attribute)
    elif attribute.type == AttributeProto.FLOAT:
        attribute.f = rng.choice(_ODD_REALS)
    elif attribute.type == AttributeProto.STRING:
        texts = (b"", b"\xff\x00", b"SAME_UPPER", b"VALID", b"x" * 10000, b"linear", b"nearest", b"CRD")
        attribute.s = rng.choice(texts)
    else:
        return False
    return True


def _list_value(rng: random.Random, attribute: Any) -> None:
    how = rng.randrange(4)
    if how == 0:
        del attribute.ints[rng.randrange(len(attribute.ints))]
    elif how == 1:
        attribute.ints.extend([rng.choice(_ODD_SIZES)] * rng.choice((1, 2, 1000)))
    else:
        small = (0, 1, 2, 3, 4, 5)
        attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(small if how == 2 else _ODD_SIZES)


def attribute_type(rng: random.Random, model: Any) -> bool:
    attribute = _pick(rng, [a for n in model.graph.node for a in n.attribute])
    if attribute is None:
        return False
    attribute.type = rng.choice(AttributeProto.AttributeType.values())
    return True


def attribute_removed(rng: random.Random, model: Any) -> bool:
    node = _pick(rng, [n for n in model.graph.node if n.attribute])
    return node is not None and _remove(rng, node.attribute)


def attribute_added(rng: random.Random, model: Any) -> bool:
    node = _pick(rng, model.graph.node)
    if node is None:
        return False
    values = (rng.choice(_ODD_SIZES), rng.choice(_ODD_REALS), "text", [rng.choice(_ODD_SIZES) for _ in range(4)], [1.5])
    node.attribute.append(helper.make_attribute(rng.choice(_ATTRIBUTES), rng.choice(values)))
    return True


def attribute_reference(rng: random.Random, model: Any) -> bool:
    attribute = _pick(rng, [a for n in model.graph.node for a in n.attribute])
    if attribute is None:
        return False
    attribute.ref_attr_name = "other"
    return True


def subgraph(rng: random.Random, model: Any) -> bool:
    """Graphs inside an attribute, up to deeper than protobuf reads."""
    node = _pick(rng, model.graph.node)
    if node is None:
        return False
    graph = node.attribute.add(name="body", type=AttributeProto.GRAPH).g
    for _ in range(rng.choice((0, 5, 30, 200))):
        graph = graph.node.add(op_type="If").attribute.add(name="then_branch", type=AttributeProto.GRAPH).g
    return True


# Nodes and edges


def operator(rng: random.Random, model: Any) -> bool:
    node = _pick(rng, model.graph.node)
    return node is not None and _set_text(node, "op_type", rng.choice(_OPERATORS))


def domain(rng: random.Random, model: Any) -> bool:
    node = _pick(rng, model.graph.node)
    domains = ("", "ai.onnx", "com.microsoft", "ai.onnx.ml", "none")
    return node is not None and _set_text(node, "domain", rng.choice(domains))


def node_removed(rng: random.Random, model: Any) -> bool:
    return _remove(rng, model.graph.node)


def node_bypassed(rng: random.Random, model: Any) -> bool:
    """A node taken out, its readers fed with what it read."""
    nodes = model.graph.node
    index = rng.randrange(len(nodes)) if nodes else 0
    if not nodes or not nodes[index].input or not nodes[index].output:
        return False
    before, behind = nodes[index].input[0], nodes[index].output[0]
    del nodes[index]
    for node in nodes:
        for i, name in enumerate(node.input):
            if name == behind:
                node.input[i] = before
    return True


def node_repeated(rng: random.Random, model: Any) -> bool:
    node = _pick(rng, model.graph.node)
    if node is None:
        return False
    model.graph.node.add().CopyFrom(node)
    return True


def nodes_shuffled(rng: random.Random, model: Any) -> bool:
    nodes = list(model.graph.node)
    rng.shuffle(nodes)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return bool(nodes)


def inputs_swapped(rng: random.Random, model: Any) -> bool:
    node = _pick(rng, [n for n in model.graph.node if len(n.input) > 1])
    if node is None:
        return False
    a, b = rng.sample(range(len(node.input)), 2)
    node.input[a], node.input[b] = node.input[b], node.input[a]
    return True


def input_rewired(rng: random.Random, model: Any) -> bool:
    """Another tensor of the model, one that does not exist, or none; a later one makes a loop."""
    node = _pick(rng, [n for n in model.graph.node if n.input])
    if node is None:
        return False
    names = [o for n in model.graph.node for o in n.output] + [t.name for t in model.graph.initializer]
    names += [i.name for i in model.graph.input]
    node.input[rng.randrange(len(node.input))] = rng.choice((rng.choice(names), rng.choice(names), "", "nothing"))
    return True


def input_dropped(rng: random.Random, model: Any) -> bool:
    node = _pick(rng, [n for n in model.graph.node if n.input])
    return node is not None and _remove(rng, node.input)


def input_added(rng: random.Random, model: Any) -> bool:
    node = _pick(rng, [n for n in model.graph.node if n.input])
    if node is None:
        return False
    node.input.extend([rng.choice(node.input)] * rng.choice((1, 1, 500)))
    return True


def loop(rng: random.Random, model: Any) -> bool:
    nodes = [n for n in model.graph.node if n.input and n.output]
    if len(nodes) < 2:
        return False
    first, last = sorted(rng.sample(range(len(nodes)), 2))
    nodes[first].input[0] = nodes[last].output[0]
    return True


def name_twice(rng: random.Random, model: Any) -> bool:
    lists = [n.output for n in model.graph.node if n.output]
    names = [o for outputs in lists for o in outputs] + [i.name for i in model.graph.input]
    if not lists:
        return False
    outputs = rng.choice(lists)
    outputs[rng.randrange(len(outputs))] = rng.choice(names)
    return True


def output_changed(rng: random.Random, model: Any) -> bool:
    node = _pick(rng, [n for n in model.graph.node if n.output])
    if node is None:
        return False
    how = rng.randrange(3)
    if how == 0:
        node.output.extend(f"more{i}" for i in range(rng.choice((1, 3, 300))))
    elif how == 1:
        return _remove(rng, node.output)
    else:
        node.output[0] = rng.choice(("", "renamed", "*/ int x;", "é" * 300, 'quote" \\ \n', "??/"))
    return True


# Borders


def border_shape(rng: random.Random, model: Any) -> bool:
    info = _pick(rng, [*model.graph.input, *model.graph.input, *model.graph.output, *model.graph.value_info])
    if info is None:
        return False
    shape = info.type.tensor_type.shape
    how = rng.randrange(6)
    if how == 0 or not shape.dim:
        shape.dim.add().dim_value = rng.choice(_ODD_SIZES)
    elif how == 1:
        del shape.dim[rng.randrange(len(shape.dim))]
    elif how == 2:
        shape.dim[rng.randrange(len(shape.dim))].dim_param = rng.choice(("N", "", "batch"))
    elif how == 3:
        shape.dim[rng.randrange(len(shape.dim))].Clear()
    else:
        shape.dim[rng.randrange(len(shape.dim))].dim_value = rng.choice(_ODD_SIZES if how == 4 else _SIZES[1:10])
    return True


def border_type(rng: random.Random, model: Any) -> bool:
    info = _pick(rng, [*model.graph.input, *model.graph.output])
    if info is None:
        return False
    how = rng.randrange(4)
    if how == 0:
        info.type.Clear()
    elif how == 1:
        info.type.sequence_type.elem_type.tensor_type.elem_type = TensorProto.FLOAT
    else:
        info.type.tensor_type.elem_type = rng.choice(_TYPES)
    return True


def border_list(rng: random.Random, model: Any) -> bool:
    """Inputs or outputs missing, twice, or tensors from inside."""
    borders = rng.choice((model.graph.input, model.graph.output))
    how = rng.randrange(4)
    if how == 0 or not borders:
        return _remove(rng, borders)
    if how == 1:
        borders.add().CopyFrom(rng.choice(borders))
    elif how == 2:
        made = _pick(rng, [o for n in model.graph.node for o in n.output])
        if made is None:
            return False
        borders.add().CopyFrom(helper.make_tensor_value_info(made, TensorProto.FLOAT, [1]))
    else:
        rng.choice(borders).name = rng.choice(("", "nothing", "*/ #error", "a\0b"))
    return True


# The whole model


def opset(rng: random.Random, model: Any) -> bool:
    how = rng.randrange(3)
    if how == 0:
        del model.opset_import[:]
    if how != 1 or not model.opset_import:
        model.opset_import.add(domain=rng.choice(("", "ai.onnx", "com.microsoft")), version=rng.choice(_ODD_SIZES))
    else:
        model.opset_import[0].version = rng.choice((*range(30), *_ODD_SIZES))
    return True


def function(rng: random.Random, model: Any) -> bool:
    """A function in place of an operator; it may call itself."""
    node = _pick(rng, model.graph.node)
    if node is None:
        return False
    node.domain = "local"
    added = model.functions.add(name=node.op_type, domain=rng.choice(("local", "local", "else")))
    added.input.extend(f"x{i}" for i in range(rng.choice((len(node.input), 1))))
    added.output.extend(f"y{i}" for i in range(len(node.output)))
    added.opset_import.add(version=rng.choice((13, 17, 1, 99)))
    if rng.random() < 0.5:
        added.opset_import.add(domain="local", version=1)
    inner = added.node.add(op_type=node.op_type, domain=rng.choice(("", "", "local")))
    inner.input.extend(added.input)
    inner.output.extend(added.output)
    inner.attribute.extend(node.attribute)
    return True


def emptied(rng: random.Random, model: Any) -> bool:
    model.graph.ClearField(rng.choice(("node", "initializer", "input", "output", "name")))
    return True


def text(rng: random.Random, model: Any) -> bool:
    odd = rng.choice(("*/ #error", "\x01\x02", "x" * 5000, "über", 'a"b\\c\nd', "??/"))
    node = _pick(rng, model.graph.node)
    how = rng.randrange(3)
    if how == 0 and node is not None:
        node.name = odd
    elif how == 1:
        model.graph.name = odd
    else:
        model.producer_name = odd
    return True


def many(rng: random.Random, model: Any) -> bool:
    """A large number of small parts."""
    count = rng.choice((1000, 20_000))
    if rng.random() < 0.5:
        model.graph.initializer.extend([TensorProto(name=f"c{i}") for i in range(count)])
        return True
    last = _pick(rng, [o for n in model.graph.node for o in n.output])
    if last is None:
        return False
    for i in range(count):
        model.graph.node.add(op_type="Identity", input=[last if i == 0 else f"chain{i}"], output=[f"chain{i + 1}"])
    return True


FIELDS: tuple[FieldMutation, ...] = (
    constant_dims,
    constant_length,
    constant_type,
    constant_cast,
    constant_values,
    constant_text,
    constant_outside,
    constant_field,
    constant_removed,
    constant_sparse,
    scale_value,
    scale_value,
    parameter_length,
    parameter_length,
    zero_point,
    zero_point_absent,
    attribute_value,
    attribute_value,
    attribute_value,
    attribute_type,
    attribute_removed,
    attribute_added,
    attribute_reference,
    subgraph,
    operator,
    operator,
    domain,
    node_removed,
    node_bypassed,
    node_bypassed,
    node_repeated,
    nodes_shuffled,
    inputs_swapped,
    input_rewired,
    input_rewired,
    input_dropped,
    input_added,
    loop,
    name_twice,
    output_changed,
    border_shape,
    border_shape,
    border_shape,
    border_type,
    border_list,
    opset,
    function,
    emptied,
    text,
    many,
)
"""Mutations of fields; those that reach deepest stand here more than once."""

_LINEAR = ("QuantizeLinear", "DequantizeLinear")
_READABLE = (TensorProto.FLOAT, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32, TensorProto.INT64)


def _parameters(model: onnx.ModelProto, index: int) -> list[Any]:
    """The scales (index 1) or zero points (index 2) of QuantizeLinear and DequantizeLinear."""
    names = {n.input[index] for n in model.graph.node if n.op_type in _LINEAR and len(n.input) > index}
    return [t for t in model.graph.initializer if t.name in names]


def _pick(rng: random.Random, items: Sequence[Any]) -> Any:
    return rng.choice(items) if len(items) else None


def _remove(rng: random.Random, items: Any) -> bool:
    if not len(items):
        return False
    del items[rng.randrange(len(items))]
    return True


def _set(message: Any, field: str, values: Sequence[int]) -> bool:
    message.ClearField(field)
    getattr(message, field).extend(values)
    return True


def _set_text(message: Any, field: str, value: str) -> bool:
    setattr(message, field, value)
    return True


def _array(tensor: Any) -> Any:
    """The numbers of a constant that an earlier mutation has left readable; None otherwise."""
    if tensor is None or tensor.data_type not in _READABLE or not all(0 <= d < 2**24 for d in tensor.dims):
        return None
    if tensor.data_location == TensorProto.EXTERNAL:
        return None
    try:
        return numpy_helper.to_array(tensor)
    except (ValueError, TypeError):
        return None


def _store(tensor: Any, array: Any) -> None:
    name = tensor.name
    tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
