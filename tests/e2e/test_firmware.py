"""What a firmware asks of a project beside running it: names, conversions, pauses, guards, and no bytes for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen import fixedpoint
from codegen.errors import LabelsMisfit
from codegen.pipeline import Options, compile_file, compile_graph
from codegen.process import check_program, run_program
from codegen.target import load_target
from tests.e2e.projects import DIGITS, NETWORKS, SANITIZE, Project, build, project, require_build, run, written
from tests.support.tools import require_tool

LABELS = ("null", "one", 'caf\u00e9 "2"', "??/", "*/", "five\\", "6", "7", "8", "9")
CPP = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wcast-align", "-Wundef", "-Werror")
COUNT = 500


def digits(folder: Path, **options: object) -> Project:
    said = {"name": "digits", "labels": LABELS, "model_version": 'v"1"', **options}
    return written(folder / "digits", compile_file(DIGITS, replace(Options(), **said)))  # type: ignore[arg-type]


def reals(scale: float, seed: int = 3) -> np.ndarray:
    """Numbers at, beside and between the steps of a scale, beyond its ends, and none."""
    steps = np.random.default_rng(seed).integers(-300, 300, COUNT - 6).astype(np.float32) / np.float32(2)
    ends = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30], np.float32)
    return np.concatenate([steps * np.float32(scale), ends]).astype(np.float32)


_CONVERT = """
#include "digits_helpers.h"
#include <stdio.h>

static const uint32_t bits[{count}] = {{ {bits} }};

int main(void)
{{
    static float real[{count}];
    static int8_t q[{count}];
    static float back[{count}];
    int32_t best[12];
    memcpy(real, bits, sizeof(real));
    digits_quantize_input0(real, q, {count});
    digits_dequantize_output0(q, back, {count});
    digits_top_output0(q, 10, best, 12);
    for (int i = 0; i < {count}; i++) {{
        uint32_t word;
        memcpy(&word, &back[i], 4);
        printf("%d %08x\\n", q[i], (unsigned)word);
    }}
    for (int i = 0; i < 12; i++) {{
        printf("%d %s\\n", (int)best[i], digits_label_output0(best[i]));
    }}
    printf("%s\\n%s\\n", digits_layer_name(0), digits_layer_name(-1));
    printf("%s\\n%s\\n", digits_info()->model_version, digits_info()->compiled_isa);
    printf("%s %s\\n", lam_status_text(LAM_STOPPED), lam_status_text(LAM_ERROR_WEIGHTS_CRC));
    printf("%d %d\\n", DIGITS_INPUT_IMAGE, DIGITS_OUTPUT_LOGITS_BYTES);
    return sizeof(digits_t) > 0 ? 0 : 1;
}}
"""


@pytest.mark.parametrize(
    ("compiler", "language"),
    [(c, s) for c, ends in (("gcc", "g++"), ("clang", "clang++")) for s in ("c99", "c11")]
    + [("g++", "c++17"), ("clang++", "c++17")],
)
def test_helpers_convert_as_golden_in_every_language(compiler: str, language: str, tmp_path: Path) -> None:
    require_tool(compiler)
    made = digits(tmp_path)
    port, out = made.compiled.program.inputs[0], made.compiled.program.outputs[0]
    assert port.scale is not None
    assert port.zero_point is not None
    assert out.scale is not None
    assert out.zero_point is not None
    x = reals(port.scale)
    main = tmp_path / ("main.cpp" if "++" in compiler else "main.c")
    main.write_text(_CONVERT.format(count=COUNT, bits=", ".join(f"0x{b:08x}u" for b in x.view(np.uint32))))
    info = build("gcc", ("-c",), [made.folder / "src" / "digits_info.c"], tmp_path / "info.o", includes=made.includes)
    flags = (f"-std={language}", *CPP)
    program = build(compiler, ("-O2",), [main, info], tmp_path / "p", includes=made.includes, warnings=flags)
    lines = check_program([str(program)], timeout_s=60).stdout.decode("utf-8").splitlines()
    q = fixedpoint.quantize_linear(x, port.scale, port.zero_point, -128, 127).astype(np.int8)
    back = fixedpoint.dequantize_linear(q, out.scale, out.zero_point)
    assert lines[:COUNT] == [f"{a} {b:08x}" for a, b in zip(q, back.view(np.uint32), strict=True)]
    order = np.argsort(-q[:10].astype(np.int32), kind="stable")
    assert lines[COUNT : COUNT + 12] == [*(f"{i} {LABELS[i]}" for i in order), "-1 ?", "-1 ?"]
    assert lines[COUNT + 12 : COUNT + 15] == ["stem", "?", 'v"1"']
    assert lines[COUNT + 16 :] == ["STOPPED ERROR_WEIGHTS_CRC", "0 10"]


@pytest.mark.parametrize("level", ["-O0", "-Os"])
def test_what_is_not_used_takes_no_bytes(level: str, tmp_path: Path) -> None:
    """An image that includes the helpers and calls none has the same code, data and symbols as one that knows none."""
    require_tool("gcc", "ar", "size", "nm")
    made = digits(tmp_path)
    objects = [build("gcc", ("-c", level), [s], tmp_path / f"{s.stem}.o", includes=made.includes) for s in made.sources]
    archive = tmp_path / "libdigits.a"
    check_program(["ar", "rcs", archive, *objects], timeout_s=60)
    sizes = []
    for header in ("digits.h", "digits_helpers.h"):
        main = tmp_path / "main.c"
        main.write_text(f'#include "{header}"\nint main(void)\n{{\n    return digits_run(NULL) == LAM_OK;\n}}\n')
        program = build("gcc", (level, "-s"), [main, archive], tmp_path / "main", includes=made.includes)
        sizes.append(check_program(["size", program], timeout_s=60).stdout.decode().splitlines()[1].split()[:3])
        linked = build("gcc", (level,), [main, archive], tmp_path / "linked", includes=made.includes)
        assert "digits_info" not in check_program(["nm", linked], timeout_s=60).stdout.decode()
    assert sizes[0] == sizes[1]


_PAUSES = """
#include "NAME.h"
lam_status paused(NAME_t *netARGUMENT);
static uint32_t state = SEEDu;
static int32_t calls, stops;

int NAME_hook(const NAME_t *net, int32_t layer)
{
    calls += layer >= 0 && net != NULL;
    state = state * 1664525u + 1013904223u;
    if ((state >> 24) % 3u == 0u) {
        stops++;
        return 1;
    }
    return 0;
}

lam_status paused(NAME_t *netARGUMENT)
{
    lam_status status = CALL;
    while (status == LAM_STOPPED) {
        status = NAME_resume(net);
    }
    if (NAME_resume(net) != LAM_ERROR_NOT_READY || NAME_resume(NULL) != LAM_ERROR_NULL) {
        return LAM_ERROR_NULL;
    }
    return status == LAM_NEED_MORE || (calls > 0 && (stops > 0 || calls < 8)) ? status : LAM_ERROR_NULL;
}
"""


def pausing(made: Project, folder: Path, flags: Sequence[str] = ()) -> str:
    """What the self-test says when the hook stops a third of all calls, and each run is resumed until it ends."""
    streamed = made.compiled.plan.streamed
    call = "push_row" if streamed else "run"
    argument = f", const {made.compiled.program.inputs[0].dtype.ctype} *row" if streamed else ""
    text = _PAUSES.replace("CALL", f"NAME_{call}(net{', row' if streamed else ''})").replace("SEED", "7")
    pauses = folder / "pauses.c"
    pauses.write_text(text.replace("ARGUMENT", argument).replace("NAME", made.name))
    macros = (f"-D{made.upper}_HOOK", "-DLAM_DMA_SYNC", *flags)
    one, test = made.folder / "test" / "main.c", made.folder / "test" / "selftest.c"
    renamed = (f"-D{made.name}_{call}=paused", "-c", *macros)
    self_test = build("gcc", renamed, [test], folder / "selftest.o", includes=made.includes)
    program = build("gcc", macros, [*made.sources, pauses, one, self_test], folder / "p", includes=made.includes)
    return run(program)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("network", NETWORKS)
def test_a_hook_that_stops_changes_no_result(network: str, tmp_path: Path) -> None:
    require_build("gcc", SANITIZE, tmp_path)
    made = project(tmp_path, network)
    assert pausing(made, tmp_path, ("-O0", *SANITIZE)) == f"{made.name}: all vectors right\n"


@pytest.mark.parametrize("options", [{"stream_input": True}, {"target": "gap8-like"}], ids=["streamed", "scratchpad"])
def test_streams_and_scratchpads_stop_too(options: dict[str, object], tmp_path: Path) -> None:
    require_tool("gcc")
    made = digits(tmp_path, **options)
    if made.compiled.program.scratchpad and made.compiled.program.scratchpad.cores > 1:
        done = run_program(["gcc", "-DDIGITS_HOOK", "-c", *made.includes, str(made.sources[0])], timeout_s=60)
        assert b"pause between the stages" in done.stderr
    else:
        assert pausing(made, tmp_path) == "digits: all vectors right\n"


@pytest.mark.parametrize("defined", ["network", "application"])
def test_a_hook_on_one_side_alone_does_not_link(defined: str, tmp_path: Path) -> None:
    made = digits(tmp_path)
    flag = [f"-D{made.upper}_HOOK"]
    main = tmp_path / "app.c"
    lines = (
        f'#include "{made.name}.h"',
        f"int {made.name}_hook(const {made.name}_t *net, int32_t layer) {{ return net == NULL || layer < 0; }}",
        f"int main(void) {{ {made.name}_t net; return {made.name}_init(&net, NULL) == LAM_OK; }}",
    )
    main.write_text("\n".join(lines) + "\n")
    on_app, on_network = (flag, []) if defined == "application" else ([], flag)
    app = build("gcc", ["-c", *on_app], [main], tmp_path / "app.o", includes=made.includes, warnings=())
    files = map(str, (*made.sources, app))
    done = run_program(["gcc", *on_network, *made.includes, *files, "-o", str(tmp_path / "p")], timeout_s=60)
    assert done.returncode != 0
    assert b"digits_init" in done.stderr


def test_a_build_without_the_chip_s_instructions_is_noticed(tmp_path: Path) -> None:
    require_tool("arm-none-eabi-gcc", "gcc")
    for target, right, wrong in (("cortex-m4", "cortex-m4", "cortex-m3"), ("cortex-m55", "cortex-m55", "cortex-m4")):
        made = digits(tmp_path / target, target=target)
        source = str(made.folder / "src" / "digits_layers.c")
        cross = ["arm-none-eabi-gcc", "-mthumb", "-mfloat-abi=soft", "-c", "-o", str(tmp_path / "x.o")]
        includes, required = [*made.includes, source], "-DLAM_REQUIRE_ISA"
        assert (
            run_program([*cross, f"-mcpu={right}", "-mfloat-abi=hard", required, *includes], timeout_s=60).stderr == b""
        )
        assert b"-mcpu" in run_program([*cross, f"-mcpu={wrong}", *includes], timeout_s=60).stderr
        assert run_program([*cross, f"-mcpu={wrong}", required, *includes], timeout_s=60).returncode != 0
        assert run_program(["gcc", "-c", "-o", str(tmp_path / "x.o"), *includes], timeout_s=60).stderr == b""


def test_labels_that_fit_no_output_are_refused() -> None:
    with pytest.raises(LabelsMisfit, match="there are 9; the outputs have 10"):
        compile_file(DIGITS, Options(labels=LABELS[:9]))


def test_texts_of_the_user_change_no_code(tmp_path: Path) -> None:
    """Labels and versions are in NAME_helpers.h and NAME_info.c alone: a blob of another version fits."""
    plain = compile_file(DIGITS, Options(name="digits", weights="blob")).files
    said = compile_file(DIGITS, Options(name="digits", weights="blob", labels=LABELS, model_version="2")).files
    differ = {path for path in plain if plain[path] != said[path]}
    assert differ == {"include/digits_helpers.h", "src/digits_info.c", "manifest.json"}


def test_a_graph_without_a_file_has_an_empty_hash_and_compiles(tmp_path: Path) -> None:
    made = written(
        tmp_path / "p", compile_graph(NETWORKS["pulled"](Options()).imported, load_target("host"), Options())
    )
    info = next(path for path in made.sources if path.stem.endswith("_info"))
    assert re.search(r'"0{64}"', info.read_text())
    build("gcc", ("-c",), [info], tmp_path / "x.o", includes=made.includes)
