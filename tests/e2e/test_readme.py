"""The C in a project's README is a program: it compiles without a word and runs the network, whatever the options."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.emit import array_lines
from codegen.options import Options
from codegen.pipeline import Compiled, compile_file, compile_graph
from codegen.target import Memory, load_target
from codegen.verbs.camera import with_camera
from codegen.verbs.postprocess import with_postprocess
from tests.e2e.projects import DIGITS, build, run, written
from tests.support.graphs import Sketch, conv_chain, keeping
from tests.support.tools import require_tool

BORDERS = {"io_layout": "model", "io_type": "model"}


def digits(target: str = "host", **options: object) -> Compiled:
    return compile_file(DIGITS, Options(target=target, name="digits", **options))  # type: ignore[arg-type]


def several_memories() -> Compiled:
    """A network that its fast memory cannot hold."""
    target = load_target("generic")
    size = compile_graph(conv_chain(), target, Options(target="generic", goal="memory")).plan.arena_bytes
    fast = Memory("sram", "ram", size * 2 // 3, "test")
    slow = Memory("axi-sram", "ram", None, "test", cost=2)
    made = compile_graph(conv_chain(), replace(target, memories=(slow, fast)), Options(target="generic"))
    assert made.program.regions
    return made


def several_ports() -> Compiled:
    sketch = Sketch("ports", seed=4)
    a, b = sketch.input((1, 5, 5, 2), name="a"), sketch.input((1, 5, 5, 2), name="b")
    return compile_graph(sketch.graph(sketch.conv(a, 3), sketch.conv(b, 2)), load_target("host"), Options())


def camera(table: str, **options: object) -> Compiled:
    """The network of digits behind a camera."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "camera.toml"
        file.write_text(f'[preprocess]\n{table}resize = [8, 8]\ncolor = "gray"\ndivide = 255\nlayout = "NHWC->NCHW"\n')
        return with_camera(digits(**options), file, Options(name="digits"))


def labels() -> Compiled:
    """The network of digits, and what its output means."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "labels.toml"
        file.write_text('[postprocess]\ndecode = "labels"\n')
        return with_postprocess(digits(), file, Options(name="digits"))


FORMS: dict[str, Callable[[], Compiled]] = {
    "plain": digits,
    "model's layout and types": lambda: digits(**BORDERS),
    "blob": lambda: digits(weights="blob"),
    "read": lambda: digits(weights_buffer=4096),
    "streamed blob": lambda: digits(weights="blob", stream_input=True),
    "streamed": lambda: digits(stream_input=True),
    "scratchpad": lambda: digits("gap8-like"),
    "scratchpad and blob": lambda: digits("gap8-like", weights="blob"),
    "cores": lambda: digits("gap8-cores"),
    "several memories": several_memories,
    "state": lambda: compile_graph(keeping(), load_target("host"), Options()),
    "several inputs and outputs": several_ports,
    "camera": lambda: camera('format = "bayer_gbrg"\nsize = [20, 30]\n'),
    "streamed camera of two planes": lambda: camera('format = "nv12"\nsize = [21, 30]\n', stream_input=True),
    "labels": labels,
}


def snippet(made: Compiled) -> str:
    found = re.findall(r"```c\n(.*?)```", made.files["README.md"].decode("ascii"), re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def rest(made: Compiled, text: str) -> str:
    """What the snippet leaves to the firmware: inputs of zeros, the program's end after the last output, weights."""
    header = f"{made.program.name}{'_postprocess' if made.emit.post else ''}.h"
    lines = [f'#include "{header}"', "#include <stdlib.h>", "#include <string.h>"]
    for returned, name, given in re.findall(r"^([\w ]+\*?)\b(\w+)\((.*?)\);   /\* yours", text, re.MULTILINE):
        lines.append(f"{returned}{name}({given});")
        if "next_row" in name:
            row = made.program.inputs[0].operand.row_bytes
            lines.append(
                f"{returned}{name}(void)\n{{\n    static uint8_t zeros[{row}];\n    return (const void *)zeros;\n}}"
            )
        elif name in ("next_line", "chroma_line"):
            lines.append(f"{returned}{name}(void)\n{{\n    static uint8_t zeros[90];\n    return zeros;\n}}")
        elif "fill" in name:
            port = made.program.inputs[int(name.removeprefix("fill_input"))].operand
            lines.append(f"{returned}{name}({given})\n{{\n    memset(x, 0, {port.rows * port.row_bytes});\n}}")
        elif name == "use_found":
            lines.append(f"{returned}{name}({given})\n{{\n    LAM_UNUSED(found);\n    exit(count < 0);\n}}")
        else:
            end = "exit(0)" if name == f"use_output{len(made.program.outputs) - 1}" else "LAM_UNUSED(y)"
            lines.append(f"{returned}{name}({given})\n{{\n    LAM_UNUSED(y);\n    {end};\n}}")
    if "weights.bin" in made.files:
        blob = np.frombuffer(made.files["weights.bin"], np.uint8)
        lines += [
            f"extern const uint8_t weights[{blob.size}];",
            f"LAM_ALIGNED(16) const uint8_t weights[{blob.size}] = {{",
        ]
        lines += [*array_lines(blob), "};"]
    if made.program.weights is not None:
        lines += reads(made.program.name)
    return "\n".join(lines) + "\n"


def reads(name: str) -> list[str]:
    """The hooks of a flash that is not mapped, over the array of the weights."""
    return [
        f"int32_t {name}_read_weights(void *context, uint32_t offset, void *to, uint32_t bytes)",
        "{",
        "    LAM_UNUSED(context);",
        "    memcpy(to, weights + offset, bytes);",
        "    return 0;",
        "}",
        f"int {name}_wait_weights(void *context, int32_t ticket)",
        "{",
        "    LAM_UNUSED(context);",
        "    LAM_UNUSED(ticket);",
        "    return 0;",
        "}",
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", FORMS)
def test_the_snippet_of_the_readme_compiles_and_runs(form: str, tmp_path: Path) -> None:
    require_tool("gcc")
    made = FORMS[form]()
    project = written(tmp_path / "project", made)
    (tmp_path / "main.c").write_text(snippet(made))
    (tmp_path / "rest.c").write_text(rest(made, snippet(made)))
    sources = [*project.sources, tmp_path / "main.c", tmp_path / "rest.c"]
    assert run(build("gcc", ("-O0", "-DLAM_DMA_SYNC"), sources, tmp_path / "main", includes=project.includes)) == ""


def test_the_readme_says_how_the_axes_lie() -> None:
    def said(made: Compiled) -> str:
        return made.files["README.md"].decode("ascii")

    plain, model = said(digits()), said(digits(**BORDERS))
    assert "- input 0: the axes of the model's [1, 1, 8, 8] in the order 0, 2, 3, 1 (NHWC)\n" in plain
    assert "- output 0: axes as in the model\n" in plain
    assert "SCALE" in plain
    assert "Inputs and outputs have their axes as in the model." in model
    assert "NHWC" not in model
    assert "SCALE" not in model
    assert "[1, 1, 8, 8]" in model
