"""Labels that a model's file carries: the header is that of --labels with the same texts, and none refuses a model."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest

from codegen import compile_model
from codegen.cli.command_line import run_line
from codegen.emit.names import c_string
from codegen.frontends.labels import MAX_LABEL_BYTES, MAX_LABELS, listed
from codegen.frontends.models import carried_labels
from codegen.frontends.tflite.archive import MAX_ARCHIVED
from codegen.pipeline import Options, compile_file
from codegen.process import run_program
from tests.e2e.projects import DIGITS, build, written
from tests.support.shared import shared_dir
from tests.support.tflite_models import Model

COUNT = 10
LABELS = ("null", "one", 'caf\u00e9 "2"', "??/", "*/ int pwned;", "five\\", "6\x1b[2J", "7\u202e", "8", "9")
TEXT = "\n".join(LABELS).encode()
FLOAT = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.onnx"
Made = Mapping[str, bytes]


def tflite_bytes() -> bytes:
    model = Model()
    x = model.input((1, 4), "int8", 0.5, 0)
    weights = model.const(np.arange(4 * COUNT, dtype=np.int8).reshape(COUNT, 4), 0.25)
    bias = model.const(np.zeros(COUNT, np.int32), 0.125)
    y = model.output((1, COUNT), "int8", 4.0, 0)
    model.op("FULLY_CONNECTED", [x, weights, bias], [y], "FullyConnectedOptions")
    return bytes(model.bytes())


def archive(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP archive of these files."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return held.getvalue()


def tflite_file(folder: Path, behind: bytes = b"") -> Path:
    path = folder / "net.tflite"
    path.write_bytes(tflite_bytes() + behind)
    return path


def onnx_file(folder: Path, entries: Mapping[str, str], source: Path = DIGITS) -> Path:
    model = onnx.load(source)
    for key, value in entries.items():
        model.metadata_props.add(key=key, value=value)
    path = folder / "net.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def texts(path: Path, labels: tuple[str, ...] = ()) -> tuple[Made, tuple[str, ...]]:
    """What says labels, and the notes about them."""
    made = compile_file(path, Options(name="net", labels=labels))
    notes = made.manifest["notes"]
    assert isinstance(notes, list | tuple)
    wanted = ("include/net_helpers.h", "src/net_info.c")
    return {name: made.files[name] for name in wanted}, tuple(n for n in notes if "labels" in n)


def without_hash(files: Made) -> list[bytes]:
    """But for what tells one model's file from another."""
    return [re.sub(rb'"[0-9a-f]{64}"', b"", text) for text in files.values()]


def taken(path: Path) -> bool:
    """Whether the file's labels become those that --labels gives; nothing is said of them then."""
    own, notes = texts(path)
    given, _ = texts(path, LABELS)
    return own == given and not notes


def left_out(path: Path, plain: Path) -> tuple[str, ...]:
    """The notes of a file whose labels are none: its header is that of the model without."""
    own, notes = texts(path)
    assert without_hash(own) == without_hash(texts(plain)[0])
    assert b"label_output0" not in own["include/net_helpers.h"]
    return notes


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n"])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_lines_of_a_file_behind_a_tflite_network_are_its_labels(end: bytes, method: int, tmp_path: Path) -> None:
    files = {"labels.TXT": TEXT + end, "picture.png": TEXT, "other.txt": b"more\nwords\n"}
    assert taken(tflite_file(tmp_path, archive(files, method)))


QUOTED = json.dumps(LABELS)
PLAIN = [f"n{i}" for i in range(COUNT)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("key", ["names", "labels", "classes"])
@pytest.mark.parametrize(
    "value",
    [str(dict(enumerate(LABELS))), str(list(LABELS)), QUOTED, "\n".join(LABELS), ",".join(LABELS), "\r\n".join(LABELS)],
    ids=["dictionary", "list", "json", "lines", "commas", "dos"],
)
def test_entries_of_an_onnx_models_metadata_are_its_labels(key: str, value: str, tmp_path: Path) -> None:
    assert taken(onnx_file(tmp_path, {"author": "x", key: value, "stride": "32"}))


def test_labels_that_are_given_are_taken_instead(tmp_path: Path) -> None:
    path = tflite_file(tmp_path, archive({"a.txt": "\n".join(PLAIN).encode()}))
    given, notes = texts(path, LABELS)
    assert not notes
    assert b'"n0"' not in given["include/net_helpers.h"]
    assert b'"n0"' in texts(path)[0]["include/net_helpers.h"]
    two = tflite_file(tmp_path, archive({"a.txt": TEXT, "b.txt": "\n".join(PLAIN).encode()}))
    assert texts(two, LABELS)[1] == ()


def test_the_command_says_what_it_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tflite_file(tmp_path, archive({"a.txt": TEXT, "b.txt": "\n".join(PLAIN).encode()}))
    (tmp_path / "given.txt").write_bytes(b"\n".join(b"g%d" % i for i in range(COUNT)))
    assert run_line(["compile", str(path), "-o", str(tmp_path / "one")]) == 0
    assert "labels in the model's file are left out: 2 lists fit an output" in capsys.readouterr().out
    assert run_line(["compile", str(path), "-o", str(tmp_path / "two"), "--labels", str(tmp_path / "given.txt")]) == 0
    assert "left out" not in capsys.readouterr().out
    assert '"g9"' in (tmp_path / "two" / "include" / "net_helpers.h").read_text()


def test_hostile_labels_compile_and_are_themselves(tmp_path: Path) -> None:
    path = tflite_file(tmp_path, archive({"a.txt": TEXT}))
    made = written(tmp_path / "p", compile_file(path, Options(name="net")))
    main = tmp_path / "main.c"
    main.write_text(
        '#include "net_helpers.h"\n#include <stdio.h>\n'
        f"int main(void) {{ for (int32_t i = 0; i < {COUNT}; i++) puts(net_label_output0(i)); return 0; }}\n"
    )
    exe = build("gcc", ("-std=c99",), [main, *made.sources], tmp_path / "main", includes=made.includes)
    assert run_program([str(exe)], timeout_s=60).stdout.decode() == "".join(f"{label}\n" for label in LABELS)


def broken_directory(data: bytes) -> bytes:
    return data.replace(b"PK\x01\x02", b"PK\x01\x03")


def forged_size(data: bytes) -> bytes:
    """The directory says 88 bytes of a text that has more."""
    at = data.rindex(b"PK\x01\x02") + 24
    return data[:at] + struct.pack("<L", 88) + data[at + 4 :]


def encrypted(data: bytes) -> bytes:
    at = data.rindex(b"PK\x01\x02") + 8
    return data[:at] + b"\x01\x00" + data[at + 2 :]


def with_comment(data: bytes) -> bytes:
    return data[:-2] + b"\x04\x00" + b"PK\x05\x06"


BOMB = b"a\n" * (64 * 2**20)
HOSTILE_ARCHIVES = {
    "bomb": (archive({"labels.txt": BOMB}), True),
    "bomb of another method": (archive({"labels.txt": TEXT}, zipfile.ZIP_LZMA), True),
    "a million labels": (archive({"labels.txt": b"a\n" * (MAX_LABEL_BYTES // 2)}), True),
    "no UTF-8": (archive({"labels.txt": b"\xff\xfe\n" * COUNT}), True),
    "UTF-16": (archive({"labels.txt": "\n".join(LABELS).encode("utf-16")}), True),
    "blank lines": (archive({"labels.txt": b"a\n\n" + b"b\n" * (COUNT - 2)}), True),
    "empty": (archive({"labels.txt": b""}), True),
    "too few": (archive({"labels.txt": b"\n".join(TEXT.split(b"\n")[1:])}), True),
    "two that fit": (archive({"labels.txt": TEXT, "more.txt": TEXT.upper()}), True),
    "too many files": (archive({f"{i}.txt": TEXT for i in range(MAX_ARCHIVED + 1)}), False),
    "large directory": (archive({"x" * 60000 + f"{i}.txt": TEXT for i in range(2)}), False),
    "encrypted": (encrypted(archive({"labels.txt": TEXT})), True),
    "forged size": (forged_size(archive({"labels.txt": TEXT * 9}, zipfile.ZIP_STORED)), True),
    "broken directory": (broken_directory(archive({"labels.txt": TEXT})), False),
    "cut off": (archive({"labels.txt": TEXT})[:-9], False),
    "comment": (with_comment(archive({"labels.txt": TEXT})), False),
    "64 bits": (archive({"labels.txt": TEXT})[:-22] + b"PK\x06\x07" + b"\0" * 16 + archive({})[-22:], False),
    "end alone": (b"\0" * 40 + b"PK\x05\x06" + b"\xff\xff" * 8 + b"\0\0", False),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", HOSTILE_ARCHIVES)
def test_an_archive_of_no_use_refuses_no_model(name: str, tmp_path: Path) -> None:
    behind, is_said = HOSTILE_ARCHIVES[name]
    (tmp_path / "plain").mkdir()
    notes = left_out(tflite_file(tmp_path, behind), tflite_file(tmp_path / "plain"))
    assert bool(notes) == is_said, notes


HOSTILE_ENTRIES = {
    "code": f"[__import__('os').abort()] + {list(PLAIN)}",
    "nested lists": "[" * 100_000 + "]" * 100_000,
    "nested literals": "{0: " * 100_000 + "'a'" + "}" * 100_000,
    "nested signs": "{0: " + "-" * 100_000 + "1}",
    "large": "[" + "'a'," * MAX_LABEL_BYTES + "]",
    "a million labels": ",".join("a" * (MAX_LABELS + 1)),
    "long number": "[" + "9" * 100_000 + "]",
    "keys with a gap": str({i * 2: n for i, n in enumerate(PLAIN)}),
    "no texts": str(list(range(COUNT))),
    "json of another kind": json.dumps({"a": PLAIN}),
    "blank": "['a', '', " + ", ".join(["'b'"] * (COUNT - 2)) + "]",
    "no escape": "['\\d', " + ", ".join(["'b'"] * (COUNT - 1)) + "]",
    "bytes": "[b'a', " + ", ".join(["'b'"] * (COUNT - 1)) + "]",
    "sum of texts": "['a' 'c', " + ", ".join(["'b'"] * (COUNT - 1)) + "]",
    "unfinished": "{0: 'a', 1: ",
    "spaces": "{" + " " * 500_000 + ":",
    "keys with zeros": "{00: 'a', 01: 'b'}",
    "empty": "",
    "one": "only",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", HOSTILE_ENTRIES)
@pytest.mark.filterwarnings("error")
def test_an_entry_of_no_use_refuses_no_model(name: str, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    notes = left_out(onnx_file(tmp_path, {"names": HOSTILE_ENTRIES[name]}), onnx_file(tmp_path / "plain", {}))
    assert len(notes) == 1


def test_surrogates_and_zeros_in_texts_are_spelled_as_c() -> None:
    """They cannot be in a file of --labels."""
    labels = listed(json.dumps(["\ud800", "a\0b"]))
    assert labels == ("\ud800", "a\0b")
    assert [c_string(label) for label in labels] == ['"\\077"', '"a\\000b"']


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_archive_raises_nothing(seed: int, tmp_path: Path) -> None:
    draw, whole = np.random.default_rng(seed), archive({"labels.txt": TEXT, "b.txt": b"x\ny\n"})
    path = tmp_path / "net.tflite"
    for _ in range(250):
        damaged = bytearray(whole)
        for _ in range(draw.integers(1, 6)):
            damaged[draw.integers(len(damaged))] = draw.integers(256)
        path.write_bytes(b"\0\0\0\0TFL3" + bytes(damaged))
        assert all(isinstance(text, str) for labels in carried_labels(path) for text in labels)


def test_a_quantized_model_keeps_its_labels(tmp_path: Path) -> None:
    source = onnx_file(tmp_path, {"names": str(dict(enumerate(PLAIN)))}, FLOAT)
    images = np.load(FLOAT.parent / "digits_calib.npz")["x"][:4]
    project = compile_model(source, out=tmp_path / "p", calib=images, name="net")
    found = re.findall(r'^ +"(n[0-9])"', (project.path / "include" / "net_helpers.h").read_text(), re.MULTILINE)
    assert found == PLAIN


def test_a_published_network_has_the_labels_of_its_archive() -> None:
    path = shared_dir() / "models" / "tflite" / "mobilenet_v1_025_128_uint8.tflite"
    (labels,) = carried_labels(path)
    assert (len(labels), labels[0], labels[-1]) == (1001, "background", "toilet tissue, toilet paper, bathroom tissue")
