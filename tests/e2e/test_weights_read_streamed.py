"""Streamed networks whose reads of weights fail: the next row is row 0, and outputs are never stale."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.pipeline import Compiled, Options, compile_file, compile_graph
from codegen.target import load_target
from tests.e2e.projects import DIGITS, HOST_C, SANITIZE, build, host_macros, require_build, run, written
from tests.e2e.reads import BEGINNING, numbers_of
from tests.support.graphs import conv_chain

_MAIN = (
    BEGINNING
    + """static int failed;

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
)


def streamed(network: str) -> Compiled:
    options = Options(weights_buffer=2048, stream_input=True, vectors=0)
    return (
        compile_file(DIGITS, options)
        if network == "digits"
        else compile_graph(conv_chain(), load_target("host"), options)
    )


def main_file(made: Compiled, folder: Path) -> Path:
    source, sink = made.program.inputs[0].operand.value, made.program.outputs[0].operand.value
    places = {"rows": made.graph.type(source).shape[1], "output": made.plan.storage[sink].offset}
    path = folder / "main.c"
    path.write_text(_MAIN.format(**numbers_of(made), **places))
    return path


@pytest.mark.one_in(8)
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
