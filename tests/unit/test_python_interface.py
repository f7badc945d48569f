"""From Python: models as objects, floats of any width, batches, a closed network, pictures, the version."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest

import codegen
from codegen.errors import CompileError
from codegen.golden.interface import in_model_type, join_batch, split_batch
from codegen.resources import VERSION, resource_dir
from codegen.verbs.float_engine import FloatPort
from tests.support.tools import require_module

DIGITS = resource_dir("examples") / "digits" / "digits_qdq.onnx"
X = np.load(resource_dir("examples") / "digits" / "digits_test.npz")["x"][:3]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[codegen.Network]:
    project = codegen.compile_model(DIGITS, out=tmp_path_factory.mktemp("net") / "digits")
    with codegen.load(project) as net:
        yield net


def code_of(error: pytest.ExceptionInfo[CompileError]) -> str:
    return error.value.code


def test_the_version_is_the_packages() -> None:
    assert codegen.__version__ == VERSION
    assert "__version__" in dir(codegen)


@pytest.mark.parametrize("kind", ["float64", "float16"])
def test_real_numbers_of_any_width_become_the_nearest_float32(kind: str, network: codegen.Network) -> None:
    wide = X[:1].astype(kind)
    expected = codegen.run(DIGITS, wide.astype(np.float32))
    assert np.array_equal(codegen.run(DIGITS, wide), expected)
    assert np.array_equal(network.run(wide), expected)
    require_module("onnxruntime")
    assert codegen.run(DIGITS, wide, engine="float").shape == expected.shape


def test_integers_for_real_numbers_are_refused_with_a_hint_that_helps() -> None:
    with pytest.raises(CompileError) as error:
        codegen.run(DIGITS, (X[:1] * 16).astype(np.int64))
    assert code_of(error) == "LAM-GOLDEN-003"
    assert "astype(numpy.float32)" in error.value.text()


def test_integers_of_another_type_are_refused_with_the_conversion() -> None:
    with pytest.raises(CompileError) as error:
        in_model_type(np.zeros((1, 2), np.int64), FloatPort("x", (1, 2), "int8"))
    assert code_of(error) == "LAM-GOLDEN-003"
    assert "x.astype(numpy.int8)" in error.value.text()


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as error:
        codegen.compile_model(DIGITS, out=tmp_path / "p", name=5)  # type: ignore[arg-type]
    assert code_of(error) == "LAM-IMPORT-030"
    assert not (tmp_path / "p").exists()


def test_a_float64_beyond_float32_is_refused_not_infinity() -> None:
    with pytest.raises(CompileError) as error:
        codegen.run(DIGITS, np.full(X[:1].shape, 1e300))
    assert code_of(error) == "LAM-GOLDEN-004"


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_refused_where_integers_are_written(bad: float, tmp_path: Path) -> None:
    project = codegen.compile_model(DIGITS, out=tmp_path / "p")
    x = np.array(X[:1], np.float32)
    with codegen.load(project) as network:
        assert np.isfinite(network.run(x)).all()
        x.flat[3] = bad
        for call in (network.run, network.trace, network.rows):
            with pytest.raises(CompileError) as error:
                call(x)
            assert code_of(error) == "LAM-GOLDEN-004"


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_taken_where_the_c_takes_real_numbers(bad: float, tmp_path: Path) -> None:
    project = codegen.compile_model(DIGITS, out=tmp_path / "p", io_type="model")
    x = np.array(X[:1], np.float32)
    x.flat[3] = bad
    with codegen.load(project) as network:
        assert np.array_equal(network.run(x), codegen.run(DIGITS, x, io_type="model"))


def test_a_batch_runs_sample_by_sample(network: codegen.Network) -> None:
    one = [codegen.run(DIGITS, x[None]) for x in X]
    for x in (X, X[:, None]):
        assert np.array_equal(codegen.run(DIGITS, x), np.concatenate(one))
        assert np.array_equal(network.run(x), np.concatenate(one))
    name = network.inputs[0].name
    assert np.array_equal(network.run({name: X})[network.outputs[0].name], np.concatenate(one))
    assert network.trace(X[:1])


def test_of_a_batch_every_inner_tensor_is_dumped() -> None:
    dumped = codegen.run(DIGITS, X, dump_all=True)
    assert {array.shape[0] for array in dumped.values()} == {len(X)}


def test_what_is_no_batch_is_refused_as_before() -> None:
    for wrong in (X[:0], X[:, :, :7], X[0], X[None, :, None]):
        with pytest.raises(CompileError) as error:
            codegen.run(DIGITS, wrong)
        assert code_of(error) == "LAM-GOLDEN-002"


def test_inputs_with_different_numbers_of_samples_are_no_batch() -> None:
    ports = (FloatPort("a", (1, 4), "float32"), FloatPort("b", (2, 2), "float32"))
    a, b = np.zeros((3, 4), np.float32), np.arange(12, dtype=np.float32).reshape(3, 2, 2)
    split = split_batch(ports, {"a": a, "b": b})
    assert [one["b"][0, 0] for one in split] == [0.0, 4.0, 8.0]
    assert all(one["a"].shape == (1, 4) for one in split)
    assert len(split_batch(ports, {"a": a, "b": b[:2]})) == 1
    assert len(split_batch(ports, {"a": a, "b": b[0]})) == 1
    joined = join_batch([{"y": np.zeros((2, 2))}] * 3)
    assert joined["y"].shape == (3, 2, 2)


def test_every_verb_takes_a_model_as_bytes_as_a_file_and_as_a_proto(tmp_path: Path) -> None:
    proto = onnx.load(DIGITS)
    expected = codegen.run(DIGITS, X[:1])
    data = DIGITS.read_bytes()
    for model in (data, proto, io.BytesIO(data)):
        assert np.array_equal(codegen.run(model, X[:1]), expected)
    with DIGITS.open("rb") as file:
        project = codegen.compile_model(file, out=tmp_path / "a", weights="blob")
    other = codegen.compile_model(DIGITS, out=tmp_path / "b", weights="blob")
    names = sorted(p.relative_to(other.path) for p in other.path.rglob("*") if p.is_file())
    assert names == sorted(p.relative_to(project.path) for p in project.path.rglob("*") if p.is_file())
    assert all((project.path / n).read_bytes() == (other.path / n).read_bytes() for n in names)
    assert codegen.inspect(model=proto).supported
    assert codegen.verify(proto, samples=1).equal
    held_out = DIGITS.parent / "digits_test.npz"
    assert codegen.evaluate(proto, held_out, engine="golden", limit=5).count == 5
    assert next(iter(codegen.run_file(proto, held_out, limit=2).values())).shape[0] == 2


def test_what_is_no_model_at_all_is_said_and_no_folder_of_ours_is_named() -> None:
    for wrong in (None, 3, io.StringIO("text"), np.zeros(3)):
        with pytest.raises(CompileError) as error:
            codegen.inspect(wrong)  # type: ignore[arg-type]
        assert code_of(error) == "LAM-IMPORT-002"
    with pytest.raises(CompileError) as error:
        codegen.inspect(b"no model")
    assert str(error.value) == error.value.text()
    assert error.value.where == "model.onnx"
    with pytest.raises(TypeError):
        codegen.inspect()  # type: ignore[call-arg]


def test_a_closed_network_says_so(tmp_path: Path) -> None:
    net = codegen.load(codegen.compile_model(DIGITS, out=tmp_path / "digits"))
    net.close()
    net.close()
    uses = (
        lambda: net.run(X[:1]),
        lambda: net.trace(X[:1]),
        net.reset,
        net.read,
        lambda: net.run_raw({p.value: np.zeros(p.shape, p.dtype.numpy) for p in net.inputs}),
    )
    for use in uses:
        with pytest.raises(CompileError) as error:
            use()
        assert code_of(error) == "LAM-API-031"


def test_a_plan_is_drawn_as_its_files_ending_says(tmp_path: Path) -> None:
    require_module("matplotlib")
    plan = codegen.inspect(DIGITS).plan
    assert plan is not None
    for name, start in (("a.png", b"\x89PNG"), ("a.PNG", b"\x89PNG"), ("a.svg", b"<?xml"), ("a", b"<?xml")):
        codegen.draw_plan(plan, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    with pytest.raises(CompileError) as error:
        codegen.draw_plan(plan, tmp_path / "a.pdf")
    assert code_of(error) == "LAM-API-013"
    assert not (tmp_path / "a.pdf").exists()


def test_what_is_no_plan_and_no_path_is_told(tmp_path: Path) -> None:
    plan: Any = codegen.inspect(DIGITS).plan
    nothing: Any = None
    uses: dict[str, Callable[[], object]] = {
        "plan": lambda: codegen.draw_plan(cast("Any", "model"), tmp_path / "a.svg"),
        "path": lambda: codegen.draw_plan(plan, nothing),
        "out": lambda: codegen.compile_model(DIGITS, out=nothing),
    }
    for what, use in uses.items():
        with pytest.raises(CompileError) as error:
            use()
        assert (code_of(error), error.value.where) == ("LAM-IMPORT-030", what)
    assert not list(tmp_path.iterdir())
