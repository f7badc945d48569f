"""Input that is at fault gets an id of its own: files without an end or a floor, compilers that lie, lost output."""

from __future__ import annotations

import contextlib
import io
import os
import socket
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from codegen import datafiles
from codegen.datafiles import read_file, read_toml
from codegen.errors import CompileError, ConfigUnreadable, DataFileBad, FileTooLarge
from codegen.frontends.onnx import import_onnx
from codegen.host import build
from codegen.preprocess import npz, read_npz, write_npz
from codegen.target import find_chip, load_target
from tests.support.hostile import onnx_named, written
from tests.support.tools import require_tool
from tests.unit.cli.conftest import TINY, Lamina, python


def id_of(error: pytest.ExceptionInfo[CompileError]) -> str:
    return error.value.code


@pytest.fixture(params=["pipe", "device", "socket", "linked device"])
def endless(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A path that is no regular file; read without care, each hangs or fills all memory."""
    path = tmp_path / "endless"
    if request.param == "pipe":
        os.mkfifo(path)
        yield path
    elif request.param == "socket":
        monkeypatch.chdir(tmp_path)
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("endless")
            yield path
    else:
        path.symlink_to("/dev/zero")
        yield path


@pytest.mark.parametrize(
    "line",
    [
        "inspect TINY -t X.toml",
        "targets X.toml",
        "inspect X.onnx",
        "compile X.tflite -o o",
        "verify TINY --input X.npz",
        "verify TINY --input DATA --config X.toml",
        "run TINY --input X.npz -o y.npz",
        "run X.tflite --engine tflm --input DATA -o y.npz",
        "eval TINY --data X.npy",
        "compare X.npz DATA",
    ],
)
def test_what_may_have_no_end_is_not_read(
    line: str, endless: Path, lamina: Lamina, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "DATA.npz", x=np.zeros((1, 1, 1, 8, 8), np.float32), y=[0])
    words = []
    for word in line.replace("TINY", str(TINY)).replace("DATA", "DATA.npz").split():
        if word.startswith("X."):
            Path(word).symlink_to(endless)
        words.append(word)
    ran = lamina(*words)
    assert ran.code == 1
    assert "LAM-API-020" in ran.err


@pytest.mark.parametrize("out", ["DATA.npz", "./DATA.npz", "m.onnx", "c.toml"])
def test_a_run_writes_nothing_over_what_it_reads(
    out: str, lamina: Lamina, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("DATA.npz", x=np.zeros((1, 1, 1, 8, 8), np.float32))
    Path("m.onnx").write_bytes(TINY.read_bytes())
    Path("c.toml").write_text("[preprocess]\n")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    ran = lamina("run", "m.onnx", "--input", "DATA.npz", "--config", "c.toml", "-o", out)
    assert ran.code == 2
    assert "LAM-API-024" in ran.err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_is_read_up_to_its_limit_even_where_it_says_it_is_empty(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(100))
    assert len(read_file(tmp_path / "f", 100, DataFileBad)) == 100
    with pytest.raises(CompileError) as error:
        read_file(tmp_path / "f", 99, DataFileBad)
    assert id_of(error) == "LAM-API-021"
    if Path("/proc/self/status").exists():
        with pytest.raises(CompileError) as error:
            read_file(Path("/proc/self/status"), 99, DataFileBad)
        assert id_of(error) == "LAM-API-021"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x = " + "[" * 2000 + "]" * 2000, "LAM-API-022"),
        ("x = " + "[" * 33 + "]" * 33, "LAM-API-022"),
        ("x = " + "{a = " * 2000 + "1" + "}" * 2000, "LAM-API-022"),
        ("a." * 30000 + "a = 1", "LAM-API-022"),
        ("'a' . " * 9000 + "a = 1", "LAM-API-022"),
        ("x = {" + "a." * 30 + "a = {" + "a." * 30 + "a = 1}}", "LAM-API-022"),
        ("x = " + "1" * 5000, "LAM-API-023"),
        ("x = 0x" + "f" * 50000, "LAM-API-023"),
        ("x = [1, [9223372036854775808]]", "LAM-API-023"),
        ("#" * ((1 << 20) + 1), "LAM-API-021"),
        ("x = 1\r", "LAM-PREPROCESS-001"),
        ("\0", "LAM-PREPROCESS-001"),
    ],
)
def test_toml_that_goes_too_far_is_refused_at_once(text: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(CompileError) as error:
        read_toml(path, lambda found: ConfigUnreadable(found, where=str(path)))
    assert id_of(error) == code


def test_toml_within_reason_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    many = ", ".join(["0.5"] * 5000)
    path.write_bytes(f"\ufeffx = [{many}]\r\ny = 9223372036854775807\n# {'. ' * 99}{'.' * 99}\n".encode())
    found = read_toml(path, ConfigUnreadable)
    assert found["y"] == 2**63 - 1
    assert found["x"] == [0.5] * 5000
    path.write_text("a." * (datafiles.MAX_TOML_DEPTH - 1) + "a = 1")
    assert list(read_toml(path, ConfigUnreadable)) == ["a"]


@pytest.mark.parametrize("key", ["bytes_per_cycle", "latency_cycles", "macs_per_cycle", "cores"])
@pytest.mark.parametrize("value", [2**70, 2**63 - 1, 2**40 + 1])
def test_a_number_that_no_chip_has_is_named(key: str, value: int, tmp_path: Path) -> None:
    lines = find_chip("gap8-like").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line.split(" = ")[0] != key]
    kept.insert(kept.index("[dma]") + 1, f"{key} = {value}")
    path = tmp_path / "chip.toml"
    path.write_text("\n".join(kept))
    with pytest.raises(CompileError) as error:
        load_target(path)
    assert id_of(error) == ("LAM-API-023" if value == 2**70 else "LAM-TARGET-010")
    assert key in str(error.value) or value == 2**70


def test_the_largest_numbers_of_a_target_make_a_plan(tmp_path: Path, lamina: Lamina) -> None:
    text = find_chip("gap8-like").read_text(encoding="utf-8")
    for key in ("bytes_per_cycle", "latency_cycles", "macs_per_cycle"):
        text = "\n".join(f"{key} = {2**40}" if x.startswith(f"{key} = ") else x for x in text.splitlines())
    path = tmp_path / "chip.toml"
    path.write_text(text)
    assert lamina("inspect", TINY, "-t", path).code == 0


def test_two_functions_of_one_id_are_named(tmp_path: Path) -> None:
    model = onnx.ModelProto.FromString(onnx_named("t"))
    body = [helper.make_node("Relu", ["a"], ["b"])]
    for _ in range(2):
        model.functions.append(helper.make_function("own", "F", ["a"], ["b"], body, [helper.make_opsetid("", 17)]))
    model.opset_import.append(helper.make_opsetid("own", 1))
    path = written(model.SerializeToString(), tmp_path, "m.onnx")
    with pytest.raises(CompileError) as error:
        import_onnx(path, mode="single")
    assert id_of(error) == "LAM-IMPORT-033"
    model.functions[1].overload = "other"
    assert import_onnx(written(model.SerializeToString(), tmp_path, "m.onnx"), mode="single").nodes


def test_an_archive_that_unpacks_to_more_than_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(npz, "MAX_DATA_BYTES", 1 << 16)
    write_npz(tmp_path / "x.npz", {"a": np.zeros(40000, np.uint8), "b": np.zeros(40000, np.uint8)})
    assert (tmp_path / "x.npz").stat().st_size < 1 << 12
    with pytest.raises(CompileError) as error:
        read_npz(tmp_path / "x.npz")
    assert id_of(error) == "LAM-API-021"


def npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """A .npy file with this text as its header."""
    text = header.encode("latin-1", errors="replace") + b"\n"
    size = len(text).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + size + text + data


HEADERS = (
    "",
    "{",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 1099511627776)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1e9,)}",
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
    "{'descr': 'nonsense', 'fortran_order': False, 'shape': (1,)}",
    "{'descr': [('a', '<f4')] * 9, 'fortran_order': False, 'shape': (1,)}",
    "{'descr': [('a', '<f4'), ('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
    "{'descr': " + "[" * 300 + "]" * 300 + ", 'fortran_order': False, 'shape': (1,)}",
    "{'descr': (" + "(" * 90 + ")" * 90 + "), 'fortran_order': False, 'shape': (1,)}",
    "{'descr': '<f4', 'fortran_order': 3, 'shape': (1,)}",
    "{'descr': '<f4', 'shape': (1,)}",
    "__import__('os').system('touch pwned')",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1L, 2L}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': ('''",
    "{{}: 1}",
    "\xff\xfe\x00",
)


@pytest.mark.parametrize("number", range(len(HEADERS)))
def test_array_files_with_hostile_headers_are_refused(number: int, tmp_path: Path) -> None:
    for version in (b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"):
        for packed in (False, True):
            data = npy(HEADERS[number], bytes(16), version)
            if packed:
                whole = io.BytesIO()
                with zipfile.ZipFile(whole, "w") as archive:
                    archive.writestr("x.npy", data)
                data = whole.getvalue()
            with pytest.raises(CompileError) as error:
                read_npz(written(data, tmp_path, "x.npz"))
            assert id_of(error) == "LAM-API-003"


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_archives_of_every_method_are_refused(method: int, tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", method) as archive:
        archive.writestr("x.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}", bytes(16)))
    sound = whole.getvalue()
    for place in range(0, len(sound), 3):
        for value in (0, 0xFF, sound[place] ^ 0x40):
            data = bytearray(sound)
            data[place] = value
            with contextlib.suppress(DataFileBad, FileTooLarge):
                read_npz(written(bytes(data), tmp_path, "x.npz"))


@pytest.mark.one_in(2)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("line", ["targets", "targets --json", "--help", "inspect nothing.onnx --json"])
def test_output_that_nobody_takes_has_an_id(line: str) -> None:
    program = (
        "import sys; from codegen.cli import main; sys.stdout = open('/dev/full', 'w'); sys.exit(main(sys.argv[1:]))"
    )
    done = python("-c", program, *line.split())
    said = done.stderr.decode()
    assert done.returncode == (2 if "nothing" in line else 1)
    assert "Traceback" not in said
    assert "LAM-INTERNAL" not in said
    assert ("LAM-IMPORT-002" if "inspect" in line else "LAM-CLI-010") in said


def test_memory_that_is_not_there_and_refusals_of_the_system_have_ids(
    lamina: Lamina, monkeypatch: pytest.MonkeyPatch
) -> None:
    import codegen.api

    def raising(error: Exception) -> None:
        raise error

    monkeypatch.setattr(codegen.api, "targets", lambda: raising(MemoryError("Unable to allocate 8. GiB")))
    assert "LAM-CLI-011 Unable to allocate 8. GiB" in lamina("targets").err
    monkeypatch.setattr(codegen.api, "targets", lambda: raising(PermissionError(13, "Permission denied", "/tmp/x")))
    ran = lamina("targets", "--json")
    assert ran.code == 1
    assert ran.json["error"]["id"] == "LAM-CLI-012"
    assert "/tmp/x" in ran.err


LIARS = {
    "nothing": "",
    "empty": ': > "$out"',
    "garbage": 'printf garbage > "$out"; chmod +x "$out"',
    "text": 'printf "#!/no/such/interpreter\\n" > "$out"; chmod +x "$out"',
    "folder": 'mkdir "$out"',
    "other": 'echo "int other;" > "$out.c"; exec cc -shared -o "$out" "$out.c"',
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", LIARS)
@pytest.mark.parametrize("line", ["verify TINY", "profile TINY", "demo -o DEMO"])
def test_a_compiler_that_lies_has_an_id(
    line: str, kind: str, lamina: Lamina, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "other":
        require_tool("cc")
        if "verify" not in line:
            return
    compiler = tmp_path / "liar"
    find = 'while [ $# -gt 0 ]; do if [ "$1" = -o ]; then out=$2; fi; shift; done'
    compiler.write_text(f"#!/bin/sh\n{find}\n{LIARS[kind]}\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    ran = lamina(*line.replace("TINY", str(TINY)).replace("DEMO", str(tmp_path / "d")).split())
    assert ran.code == 1
    assert ("LAM-HOST-010" if kind in ("nothing", "empty", "folder") else "LAM-HOST-011") in ran.err


def test_a_compiler_named_by_a_relative_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mycc").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "mycc").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert build.need_program("./mycc") == tmp_path / "mycc"


@pytest.mark.parametrize("path", ["pipe", "device", "folder"])
def test_results_do_not_replace_what_is_no_file(path: str, tmp_path: Path) -> None:
    place = tmp_path / path
    if path == "pipe":
        os.mkfifo(place)
    elif path == "device":
        place.symlink_to("/dev/null")
    else:
        place.mkdir()
    before = place.stat().st_mode
    with pytest.raises(CompileError) as error:
        write_npz(place, {"x": np.zeros(3)})
    assert id_of(error) == "LAM-API-008"
    assert place.stat().st_mode == before
    assert [p.name for p in tmp_path.iterdir()] == [path]


def test_a_link_stays_a_link_to_the_new_result(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "y.npz").symlink_to(tmp_path / "deep" / "real.npz")
    write_npz(tmp_path / "y.npz", {"x": np.arange(3)})
    assert (tmp_path / "y.npz").is_symlink()
    assert stat.S_ISREG((tmp_path / "deep" / "real.npz").stat().st_mode)
    assert list(read_npz(tmp_path / "deep" / "real.npz")["x"]) == [0, 1, 2]


@pytest.mark.parametrize("command", ["quantize", "sensitivity"])
def test_a_seed_below_zero_is_refused(command: str, lamina: Lamina) -> None:
    where = ["-o", "q.onnx"] if command == "quantize" else []
    ran = lamina(command, str(TINY), "--calib", "x.npz", "--seed", "-1", *where)
    assert ran.code == 2
    assert "LAM-IMPORT-030 seed: -1" in ran.err
