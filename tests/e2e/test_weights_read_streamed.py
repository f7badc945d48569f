"""Streamed networks whose reads of weights fail: the next row is row 0, and outputs are never stale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.emit import array_lines
from codegen.golden.interpreter import run_graph
from codegen.pipeline import Compiled, Options, compile_file, compile_graph
from codegen.target import load_target
from tests.e2e.projects import DIGITS, HOST_C, SANITIZE, build, host_macros, random_feeds, require_build, run, written
from tests.support.graphs import conv_chain

_MAIN = """#include <stdio.h>
#include LAM_HOST_HEADER
#include "lam_host_reads.h"

static const uint8_t blob[] = {{ {blob} }};
static const {in_t} x[] = {{ {x} }};
static const {out_t} y[] = {{ {y} }};
static uint8_t arena[BIG(_ARENA_SIZE)] BIG(_ARENA_ALIGNED);
static lam_host_flash flash = {{ blob, sizeof(blob), -1 }};
static NET(_t) net;
static int failed;

#ifdef {upper}_HOOK
static int asked;

int NET(_hook)(const NET(_t) *one, int32_t layer)
{{
    LAM_UNUSED(one);
    LAM_UNUSED(layer);
    return asked++ % 3 == 1;
}}
#endif

static void expect(int right)
{{
    failed += !right;
}}

static lam_status push(int32_t row)
{{
    lam_status status = NET(_push_row)(&net, x + row * (int32_t)(sizeof(x) / sizeof(x[0]) / {rows}));
#ifdef {upper}_HOOK
    while (status == LAM_STOPPED) {{
        status = NET(_resume)(&net);
    }}
    expect(NET(_resume)(&net) == LAM_ERROR_NOT_READY);
#endif
    for (int32_t i = 0; i < LAM_HOST_READS; i++) {{
        expect(lam_host_reads[i].state == 0);
    }}
    return status;
}}

/* Pushes rows until there is something to say. */
static lam_status go(void)
{{
    for (int32_t row = 0; row < {rows}; row++) {{
        const lam_status status = push(row);
        if (status != LAM_NEED_MORE) {{
            return status;
        }}
    }}
    return LAM_NEED_MORE;
}}

static void expect_right(lam_status status)
{{
    expect(status == LAM_DONE && memcmp(NET(_output)(&net, 0), y, sizeof(y)) == 0);
}}

int main(void)
{{
    NET(_memory) memory = APPLY(BIG(_MEMORY), (arena, &flash));
    const void *begin;
    int32_t reads = 0;
    lam_status status = LAM_ERROR_WEIGHTS_READ;
    expect(NET(_init)(&net, &memory) == LAM_OK);
    begin = NET(_next_row)(&net);
    expect_right(go());
    expect(push(0) == LAM_DONE);
    for (; status == LAM_ERROR_WEIGHTS_READ; reads++) {{
        NET(_reset)(&net);
        memset(arena + {output}, 0x77, sizeof(y));
        flash.reads_left = reads;
        status = go();
        flash.reads_left = -1;
        if (status == LAM_ERROR_WEIGHTS_READ) {{
            expect(NET(_next_row)(&net) == begin);
            expect_right(go());
        }} else {{
            expect_right(status);
        }}
    }}
    NET(_reset)(&net);
    flash.reads_left = 0;
    for (int k = 0; k < 2 * {rows}; k++) {{
        status = push(0);
        expect(status == LAM_ERROR_WEIGHTS_READ && NET(_next_row)(&net) == begin);
    }}
    flash.reads_left = -1;
    expect_right(go());
    printf("%d %d\\n", failed, (int)reads);
    return 0;
}}
"""


def streamed(network: str) -> Compiled:
    options = Options(weights_buffer=2048, stream_input=True, vectors=0)
    return (
        compile_file(DIGITS, options)
        if network == "digits"
        else compile_graph(conv_chain(), load_target("host"), options)
    )


def main_file(made: Compiled, folder: Path) -> Path:
    (feeds, *_) = random_feeds(made, 1)
    source, sink = made.program.inputs[0], made.program.outputs[0]
    blob, x, y = (
        "\n".join(array_lines(a.reshape(-1)))
        for a in (
            np.frombuffer(made.files["weights.bin"], np.uint8),
            feeds[source.operand.value],
            run_graph(made.graph, feeds)[sink.operand.value],
        )
    )
    path = folder / "main.c"
    path.write_text(
        _MAIN.format(
            blob=blob,
            in_t=source.dtype.ctype,
            out_t=sink.dtype.ctype,
            x=x,
            y=y,
            rows=feeds[source.operand.value].shape[1],
            output=made.plan.storage[sink.operand.value].offset,
            upper=made.program.name.upper(),
        )
    )
    return path


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("hook", [True, False])
@pytest.mark.parametrize("network", ["conv_chain", "digits"])
def test_a_failed_read_begins_the_stream_anew(network: str, hook: bool, compiler: str, tmp_path: Path) -> None:
    require_build(compiler, SANITIZE, tmp_path)
    made = written(tmp_path / "project", streamed(network))
    flags = ["-O0", *SANITIZE, *host_macros(made), *([f"-D{made.upper}_HOOK"] if hook else [])]
    sources = [main_file(made.compiled, tmp_path), *made.sources]
    failed, reads = map(
        int, run(build(compiler, flags, sources, tmp_path / "x", includes=[f"-I{HOST_C}", *made.includes])).split()
    )
    weights = made.compiled.program.weights
    assert weights is not None
    assert failed == 0
    assert reads == len(weights.reads) + 1
