"""Models that once ended in a traceback, in a silent compile, or in all of the machine's memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from codegen.errors import CompileError, ModelRejected, NameTwice
from codegen.frontends.onnx import import_onnx
from codegen.golden.interpreter import run_graph
from codegen.ir.graph import Graph
from codegen.ir.quant import Array
from tests.unit.frontends.models import Net, saved


def codes(model: onnx.ModelProto, folder: Path) -> list[str]:
    """Ids of the model's errors."""
    with pytest.raises(CompileError) as caught:
        import_onnx(saved(model, folder), mode="single")
    return [e.code for e in caught.value.problems()]


def relu() -> tuple[Net, str]:
    net = Net()
    return net, net.qdq(net.op("Relu", net.qdq(net.input((1, 4)))))


def outside(model: onnx.ModelProto, index: int, **entries: str) -> onnx.ModelProto:
    """The model with one constant's numbers in another file."""
    tensor = model.graph.initializer[index]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    return model


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("", "LAM-IMPORT-018"),
        ("/etc/passwd", "LAM-IMPORT-006"),
        ("x" * 5000, "LAM-IMPORT-018"),
        ("y" * 300, "LAM-IMPORT-005"),
    ],
)
def test_unread_external_data_is_reported_once(location: str, code: str, tmp_path: Path) -> None:
    net, y = relu()
    assert codes(outside(net.model(y), 0, location=location), tmp_path) == [code]


def test_a_missing_file_of_several_constants_is_reported_once(tmp_path: Path) -> None:
    net, y = relu()
    model = net.model(y)
    for index, location in enumerate(("weights.bin", "other.bin", "weights.bin")):
        outside(model, index, location=location)
    with pytest.raises(ModelRejected) as caught:
        import_onnx(saved(model, tmp_path), mode="single")
    assert [problem.found for problem in caught.value.problems()] == ["no file 'weights.bin'", "no file 'other.bin'"]


def test_external_data_is_not_read_beyond_the_shape(tmp_path: Path) -> None:
    (tmp_path / "big.bin").write_bytes(bytes(1000))
    net, y = relu()
    assert codes(outside(net.model(y), 0, location="big.bin", length="1000"), tmp_path) == ["LAM-IMPORT-018"]


def test_external_data_of_a_function_is_not_read_from_the_current_folder(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 4)))
    value = TensorProto(name="c", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    value.external_data.add(key="location", value="../c.bin")
    body = [helper.make_node("Constant", [], ["c"], value=value), helper.make_node("Add", ["a", "c"], ["b"])]
    opset = [helper.make_opsetid("", 17)]
    net.functions.append(helper.make_function("mine", "F", ["a"], ["b"], body, opset))
    model = net.model(net.qdq(net.op("F", x, domain="mine")))
    model.opset_import.append(helper.make_opsetid("mine", 1))
    assert codes(model, tmp_path) == ["LAM-IMPORT-006"]


def test_node_without_output(tmp_path: Path) -> None:
    net, y = relu()
    model = net.model(y)
    del model.graph.node[-2].output[:]
    assert "LAM-IMPORT-015" in codes(model, tmp_path)


def test_output_that_the_operator_does_not_have(tmp_path: Path) -> None:
    net, y = relu()
    model = net.model(y)
    model.graph.node[2].output.append("second")
    assert codes(model, tmp_path) == ["LAM-IMPORT-014"]


def test_attribute_that_the_operator_does_not_have(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 2, 6, 5)))
    y = net.qdq(net.op("Conv", x, net.weights(net.ints(3, 2, 3, 3)), padding=[1, 1, 1, 1]))
    assert codes(net.model(y), tmp_path) == ["LAM-IMPORT-013"]


def test_input_that_the_operator_does_not_have(tmp_path: Path) -> None:
    net, y = relu()
    model = net.model(y)
    model.graph.node[2].input.append(model.graph.node[1].output[0])
    assert codes(model, tmp_path) == ["LAM-IMPORT-014"]


def test_bias_of_bare_integers_is_not_taken_for_real_numbers(tmp_path: Path) -> None:
    net = Net()
    x, w = net.qdq(net.input((1, 4))), net.weights(net.ints(4, 3))
    y = net.qdq(net.op("Gemm", x, w, net.const([1, 2, 3], np.int32)))
    assert codes(net.model(y), tmp_path) == ["LAM-IMPORT-014"]


def test_scale_that_overflows_says_nothing_but_its_error(tmp_path: Path) -> None:
    """The bias calls for a raised scale, for the weights are all zero, beyond float32; warnings are errors in tests."""
    net = Net()
    w = net.weights(np.zeros((1, 1, 3, 3), np.int8), 1e-30)
    y = net.op("Conv", net.qdq(net.input((1, 1, 4, 4)), 1e-37), w, net.bias([2**31 - 1], 3e38))
    assert codes(net.model(net.qdq(y)), tmp_path) == ["LAM-IMPORT-010"]


def test_bias_that_is_no_number(tmp_path: Path) -> None:
    net = Net()
    w = net.weights(net.ints(1, 1, 3, 3))
    y = net.op("Conv", net.qdq(net.input((1, 1, 4, 4))), w, net.const([np.nan], np.float32))
    assert codes(net.model(net.qdq(y)), tmp_path) == ["LAM-IMPORT-028"]


def _conv_of(batch: int, folder: Path) -> Graph:
    net = Net()
    y = net.qdq(net.op("Conv", net.qdq(net.input((batch, 1, 4, 4))), net.weights(net.ints(1, 1, 3, 3)), pads=[1] * 4))
    return import_onnx(saved(net.model(y), folder), mode="single")


def test_each_image_of_a_batch_gives_what_it_gives_alone(tmp_path: Path) -> None:
    one, two = (_conv_of(batch, tmp_path) for batch in (1, 2))
    images = np.random.default_rng(0).integers(-128, 128, (2, 4, 4, 1)).astype(np.int8)
    alone = [_result(one, image[None]) for image in images]
    assert not np.array_equal(*alone)
    np.testing.assert_array_equal(_result(two, images), np.concatenate(alone))


def _result(graph: Graph, image: Array) -> Array:
    (face,), (x,) = graph.outputs, graph.inputs
    return run_graph(graph, {x.value: image})[face.value]


@pytest.mark.parametrize("attributes", [{"pads": [2**19] * 4}, {"pads": [2**19] * 4, "dilations": [2**18] * 2}])
def test_padding_larger_than_memory(attributes: dict[str, list[int]], tmp_path: Path) -> None:
    net = Net()
    w = net.weights(net.ints(1, 1, 3, 3))
    y = net.op("Conv", net.qdq(net.input((1, 1, 4, 4))), w, strides=[2**19] * 2, **attributes)
    assert codes(net.model(net.qdq(y)), tmp_path) == ["LAM-IMPORT-004"]


def test_more_work_than_any_chip_does(tmp_path: Path) -> None:
    net = Net()
    x = net.qdq(net.input((1, 64, 512, 512)))
    y = net.op("Conv", x, net.weights(net.ints(64, 64, 9, 9)), pads=[4] * 4)
    assert codes(net.model(net.qdq(y)), tmp_path) == ["LAM-IMPORT-004"]


def test_constant_expressions_have_a_budget(tmp_path: Path) -> None:
    net, y = relu()
    big = net.op("Expand", net.const(1, np.int8), net.const([2**24], np.int64))
    for _ in range(8):
        big = net.op("Concat", net.op("Slice", big, net.const([0]), net.const([2**23])), big, axis=0)
        big = net.op("Slice", big, net.const([0]), net.const([2**24]))
    y = net.qdq(net.op("Reshape", y, net.op("Cast", net.op("Slice", big, net.const([0]), net.const([1])), to=7)))
    assert "LAM-IMPORT-004" in codes(net.model(y), tmp_path)


def test_copies_of_constants_cost_nothing(tmp_path: Path) -> None:
    net = Net()
    x, w = net.qdq(net.input((1, 256))), net.weights(net.ints(256, 256))
    for _ in range(3000):
        w = net.op("Identity", w)
    assert len(import_onnx(saved(net.model(net.qdq(net.op("MatMul", x, w))), tmp_path), mode="single").nodes) == 1


def test_float_model_names_its_unknown_operators_too(tmp_path: Path) -> None:
    net = Net()
    y = net.op("Strange", net.op("Odd", net.op("Strange", net.op("Relu", net.input((1, 2))))))
    found = codes(net.model(y), tmp_path)
    assert set(found) == {"LAM-IMPORT-007"}
    assert len(found) >= 2


def test_every_dynamic_dimension_is_named(tmp_path: Path) -> None:
    net = Net()
    y = net.qdq(net.input(("N", 3, "H", "W")))
    with pytest.raises(CompileError, match="dimension 2 is 'H', dimension 3 is 'W'"):
        import_onnx(saved(net.model(y), tmp_path), mode="single")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "Git LFS pointer"),
        (b"this is a text\n", "text"),
        (b"\x1c\x00\x00\x00TFL3\x00", "TFLite"),
        (b"PK\x03\x04\x00", "zip"),
    ],
)
def test_files_that_are_no_model(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with pytest.raises(CompileError, match=said) as caught:
        import_onnx(path, mode="single")
    assert caught.value.code == "LAM-IMPORT-003"


def test_names_cannot_break_the_line_of_an_error() -> None:
    error = NameTwice("twice\x1b[2J", where="tensor 'a\nb'" + "x" * 5000)
    assert error.text().isprintable()
    assert len(error.text()) < 1500
    assert r"a\nb" in error.text()


def test_a_hundred_problems_are_counted() -> None:
    problems = [NameTwice(f"number {i}", where="here") for i in range(100)]
    lines = ModelRejected(problems).text().splitlines()
    assert len(lines) == 51
    assert "50 more problems" in lines[-1]
    assert len(ModelRejected(problems).problems()) == 100
