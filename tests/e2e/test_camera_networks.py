"""Networks behind a camera: the project that is written, what `verify` finds in it, hooks, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import codegen
import codegen.verbs.camera
from codegen.cli import main
from codegen.errors import CompileError
from codegen.host import Network
from codegen.host.camera import HostCamera
from codegen.options import Options
from codegen.pipeline import Compiled, compile_file, compile_graph
from codegen.preprocess import load_preprocess
from codegen.target import load_target
from codegen.verbs.camera import with_camera
from tests.e2e.projects import DIGITS, build, run, written
from tests.support.graphs import Sketch
from tests.support.tools import require_tool

TABLE = """
[preprocess]
format = "rgb565_le"
size = [24, 33]
crop = [1, 2, 21, 30]
resize = [8, 8]
keep_aspect = true
fill = 40
color = "gray"
divide = 255
layout = "NHWC->NCHW"
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    found = tmp_path / "camera.toml"
    found.write_text(TABLE)
    return found


def behind_a_camera(table: Path, **options: Any) -> Compiled:
    said = Options(name="digits", **options)
    return with_camera(compile_file(DIGITS, said), table, said)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stream_input": True},
        {"io_layout": "model", "io_type": "model", "weights": "blob"},
        {"stream_input": True, "weights_buffer": 4096},
        {"target": "gap8-cores"},
    ],
    ids=["whole", "streamed", "model's axes and types", "streamed, weights read", "cores"],
)
def test_verify_compares_frames(options: dict[str, Any], table: Path) -> None:
    result = codegen.verify(DIGITS, preprocess=table, samples=2, flags=("-O0",), **options)
    assert result.equal
    assert result.preprocess is not None
    assert (result.preprocess.equal, result.preprocess.frames, result.preprocess.format) == (True, 2, "rgb565_le")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("stream", [True, False])
def test_verify_compares_frames_on_a_board(stream: bool, tmp_path: Path) -> None:
    require_tool("arm-none-eabi-gcc", "qemu-system-arm")
    table = _table(tmp_path, format='"nv21"', size="[17, 26]", range='"full"')
    result = codegen.verify(DIGITS, target="cortex-m4", preprocess=table, samples=2, stream_input=stream)
    assert result.equal
    assert result.preprocess is not None
    assert (result.preprocess.where, result.preprocess.frames) == ("cortex-m4", 2)


def other_number(text: str) -> str:
    return text.replace("lam_down(*a++, *b++, w)", "lam_down(*a++, *b++, w) / 2")


def other_place(text: str) -> str:
    assert "to[0] = " in text
    return text.replace("int32_t i = 0; i < 8", "int32_t i = 1; i < 8")


def no_rows(text: str) -> str:
    return text.replace(
        "status = digits_qdq_push_row(net, row);", "status = digits_qdq_push_row(net, row - 0 * (row[0] ^= 1));"
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("change", "streamed", "named", "target"),
    [
        (other_number, False, "image, from a frame", "host"),
        (other_place, True, "image, from a frame", "host"),
        (no_rows, True, ", from a frame", "host"),
        (other_place, False, "image, from a frame", "cortex-m4"),
    ],
)
def test_verify_names_what_a_changed_preprocessing_makes(
    change: Callable[[str], str], streamed: bool, named: str, target: str, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if target != "host":
        require_tool("arm-none-eabi-gcc", "qemu-system-arm")

    def changed(compiled: Compiled, table: Path, options: Options) -> Compiled:
        made = with_camera(compiled, table, options)
        path = "src/digits_qdq_preprocess.c"
        after = change(made.files[path].decode()).encode()
        assert after != made.files[path]
        return replace(made, files={**made.files, path: after})

    monkeypatch.setattr(codegen.verbs.verify, "with_camera", changed)
    said: dict[str, Any] = {"target": target, "stream_input": streamed, "flags": ("-O0",)}
    result = codegen.verify(DIGITS, preprocess=table, samples=1, **said)
    assert not result.equal
    assert result.first_difference is None
    assert result.preprocess is not None
    assert result.preprocess.first_difference is not None
    assert named in result.preprocess.first_difference.tensor


def test_a_project_without_a_camera_has_nothing_of_one(table: Path) -> None:
    plain, made = (
        compile_file(DIGITS, Options(name="digits", package=("all",))),
        behind_a_camera(table, package=("all",)),
    )
    more = {path for path in made.files if path not in plain.files}
    assert {path.rpartition("/")[2] for path in more} == {"digits_preprocess.c", "digits_preprocess.h", "lam_pixels.h"}
    differ = {path for path, data in plain.files.items() if made.files[path] != data}
    assert all(b"digits_preprocess" in made.files[path] for path in differ)
    assert not any(path.startswith(("src/", "include/", "runtime/", "test/")) for path in differ)
    for path in ("CMakeLists.txt", "zephyr/CMakeLists.txt", "rust/build.rs", "README.md"):
        assert b"digits_preprocess" in made.files[path], path
    assert "preprocess" not in plain.manifest
    assert not any(b"_preprocess" in data for data in plain.files.values())
    assert made.files == behind_a_camera(table, package=("all",)).files


@pytest.mark.one_in(2)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_frame_is_stopped_and_goes_on(compiler: str, table: Path, tmp_path: Path) -> None:
    """The hook stops before every call of a kernel; the outputs are those of a frame that was never stopped."""
    require_tool(compiler)
    made = written(tmp_path / "project", behind_a_camera(table, stream_input=True))
    (tmp_path / "main.c").write_text(STOPPED)
    flags = ("-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-DDIGITS_HOOK")
    program = build(compiler, flags, [*made.sources, tmp_path / "main.c"], tmp_path / "main", includes=made.includes)
    first, second, stops = run(program).split()
    assert first == second
    assert int(stops) > 20


STOPPED = """
#include <stdio.h>
#include "digits_preprocess.h"
#define EXPECT(call, status) if ((call) != (status)) { return __LINE__; }
static int asks, stops;
int digits_hook(const digits_t *net, int32_t layer)
{
    (void)net;
    (void)layer;
    stops += asks;
    return asks;
}
static uint8_t arena[DIGITS_ARENA_SIZE] DIGITS_ARENA_ALIGNED;
static digits_t net;
static digits_preprocess_t pre;
static uint8_t frame[DIGITS_PREPROCESS_FRAME_BYTES];
static lam_status resumed(lam_status status)
{
    while (status == LAM_STOPPED) {
        if (digits_preprocess_push(&pre, &net, frame) != LAM_STOPPED) {
            return LAM_ERROR_NULL;
        }
        status = digits_resume(&net);
    }
    return status;
}
int main(void)
{
    const digits_memory memory = DIGITS_MEMORY(arena);
    for (int32_t i = 0; i < DIGITS_PREPROCESS_FRAME_BYTES; i++) {
        frame[i] = (uint8_t)(i * 89 + i / 7);
    }
    digits_preprocess_begin(&pre, &net);
    if (digits_preprocess_push(&pre, &net, frame) != LAM_ERROR_NOT_READY || digits_init(&net, &memory) != LAM_OK) {
        return 1;
    }
    for (asks = 0; asks < 2; asks++) {
        lam_status status = LAM_NEED_MORE;
        digits_preprocess_begin(&pre, &net);
        for (int32_t y = 0; y < DIGITS_PREPROCESS_HEIGHT && status == LAM_NEED_MORE; y++) {
            status = resumed(digits_preprocess_push(&pre, &net, frame + y * DIGITS_PREPROCESS_LINE_BYTES));
        }
        while (status == LAM_NEED_MORE) {
            status = resumed(digits_preprocess_push(&pre, &net, NULL));
        }
        if (status != LAM_DONE || digits_preprocess_push(&pre, &net, frame) != LAM_DONE) {
            return 2;
        }
        for (int32_t i = 0; i < DIGITS_OUTPUT0_BYTES; i++) {
            printf("%02x", (unsigned)(uint8_t)digits_output(&net, 0)[i]);
        }
        printf(" ");
    }
    asks = 0;
    digits_reset(&net);
    EXPECT(digits_preprocess_push(&pre, &net, frame), LAM_ERROR_NOT_READY);
    EXPECT(digits_preprocess_push(NULL, &net, frame), LAM_ERROR_NULL);
    digits_preprocess_begin(&pre, &net);
    EXPECT(digits_preprocess_line(&pre, frame), LAM_ERROR_NOT_READY);
    EXPECT(digits_preprocess_row(&pre, NULL), LAM_ERROR_NULL);
    EXPECT(digits_preprocess_line(&pre, NULL), LAM_ERROR_NULL);
    EXPECT(digits_preprocess_frame(&pre, &net, NULL), LAM_ERROR_NULL);
    printf("%d\\n", stops);
    return 0;
}
"""


def test_frames_are_the_datas_in_eval_and_the_cameras_in_c(table: Path, tmp_path: Path) -> None:
    """One object: what eval feeds to the network of a frame is what the C makes of its lines."""
    made = behind_a_camera(table)
    project = written(tmp_path / "project", made)
    frames = np.random.default_rng(1).integers(0, 256, (3, 24 * 66), dtype=np.uint8)
    outputs = codegen.run_file(DIGITS, _saved(tmp_path, frames), "golden", config=table)
    how = load_preprocess(table)
    with Network(project.folder, flags=("-O0",)) as net:
        camera = HostCamera(net)
        for index, frame in enumerate(frames):
            port = net.inputs[0]
            wanted = port.to_network(how.apply(frame, port.model_shape, port.model_dtype))
            assert np.array_equal(camera.rows(frame), wanted)
            raw = camera.run(frame)
            for port in net.outputs:
                assert np.array_equal(port.to_model(raw[port.value])[0], outputs[port.name][index])


def _saved(folder: Path, frames: Any) -> Path:
    np.savez(folder / "frames.npz", x=frames)
    return folder / "frames.npz"


def test_the_command_line_says_it(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", str(DIGITS), "-o", str(tmp_path / "d"), "--preprocess", str(table), "--stream-input"]) == 0
    assert "camera    rgb565_le 24x33, lines of 66 B; state 44 B" in capsys.readouterr().out
    manifest = json.loads((tmp_path / "d" / "manifest.json").read_text())
    assert manifest["preprocess"]["state_bytes"] == 44
    assert main(["verify", str(DIGITS), "--preprocess", str(table), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["preprocess"]
    assert said == {"equal": True, "format": "rgb565_le", "frames": 3, "where": "host", "first_difference": None}


def _table(tmp_path: Path, **change: str | None) -> Path:
    keys = {"format": '"gray8"', "size": "[24, 32]", "resize": "[8, 8]", "color": '"gray"', "layout": '"NHWC->NCHW"'}
    file = tmp_path / "camera.toml"
    said = {k: v for k, v in {**keys, **change}.items() if v is not None}
    file.write_text("[preprocess]\n" + "".join(f"{key} = {value}\n" for key, value in said.items()))
    return file


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"format": None, "size": None}, "LAM-PREPROCESS-006", "describes no camera"),
        ({"resize": "[8, 9]"}, "LAM-PREPROCESS-004", "becomes [1, 1, 8, 9], the model's input is [1, 1, 8, 8]"),
        ({"resize": None}, "LAM-PREPROCESS-004", "becomes [1, 1, 24, 32]"),
        ({"color": '"rgb"'}, "LAM-PREPROCESS-004", "becomes [1, 3, 8, 8]"),
        ({"mean": "[1.0, 2.0]"}, "LAM-PREPROCESS-004", "`mean` has 2 entries"),
        ({"quantize": "{ scale = 1.0 }"}, "LAM-PREPROCESS-004", "makes integers"),
        ({"divide": "1.2e-38"}, "LAM-GOLDEN-004", "NaN or infinity"),
        ({"format": '"gray9"'}, "LAM-PREPROCESS-003", "did you mean gray8"),
        ({"shape": "[1, 2]"}, "LAM-PREPROCESS-002", "unknown key"),
    ],
)
def test_what_cannot_become_c_is_refused(change: dict[str, str | None], code: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError) as error:
        codegen.compile_model(DIGITS, out=tmp_path / "out", preprocess=_table(tmp_path, **change))
    assert error.value.code == code
    assert said in error.value.text()
    assert not (tmp_path / "out").exists()


def test_networks_that_a_camera_does_not_fit_are_refused(tmp_path: Path) -> None:
    table = _table(tmp_path)
    with pytest.raises(CompileError, match="LAM-PREPROCESS-001"):
        codegen.compile_model(DIGITS, out=tmp_path / "out", preprocess=tmp_path / "none.toml")
    with pytest.raises(CompileError, match=r"LAM-IMPORT-030 .*preprocess"):
        codegen.compile_model(DIGITS, out=tmp_path / "w", preprocess=table, weights_only=True)
    sketch = Sketch("ports", seed=4)
    a, b = sketch.input((1, 8, 8, 1), name="a"), sketch.input((1, 8, 8, 1), name="b")
    two = compile_graph(sketch.graph(sketch.conv(a, 3), sketch.conv(b, 2)), load_target("host"), Options())
    with pytest.raises(CompileError, match=r"LAM-PREPROCESS-006 .*the network has 2"):
        with_camera(two, table, Options())
    sketch = Sketch("rows", seed=4)
    first = sketch.input((1, 3, 16, 4), name="a")
    table = _table(tmp_path, color='"rgb"', resize="[16, 4]")
    streamed = Options(stream_input=True)
    rows = compile_graph(sketch.graph(sketch.conv(first, 3)), load_target("host"), streamed)
    with pytest.raises(CompileError, match=r"LAM-PREPROCESS-006 .*no lines of a picture"):
        with_camera(rows, table, streamed)
