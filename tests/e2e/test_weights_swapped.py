"""Weights that are swapped while a network runs: old ones stay usable until init takes new ones, mapped or read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.emit import array_lines
from codegen.golden.interpreter import run_graph
from codegen.pipeline import Compiled, Options, compile_graph
from codegen.planning.real import as_asked
from codegen.target import load_target
from tests.e2e.projects import HOST_C, SANITIZE, build, host_macros, random_feeds, require_build, run, written
from tests.support.graphs import conv_chain

_MAIN = """#include <stdio.h>
#include LAM_HOST_HEADER
#include "lam_host_names.h"
#ifdef LAM_HOST_READ
#include "lam_host_reads.h"
#endif

LAM_ALIGNED(16) static uint8_t blobs[3][{size}] = {{ {{ {old} }}, {{ {new} }}, {{ {old} }} }};
static const {in_t} x[] = {{ {x} }};
static const {out_t} y[2][{n_out}] = {{ {{ {y_old} }}, {{ {y_new} }} }};
static uint8_t arena[BIG(_ARENA_SIZE)] BIG(_ARENA_ALIGNED);
static NET(_t) net;
static int asked, stop_at = -1, failed;

int NET(_hook)(const NET(_t) *one, int32_t layer)
{{
    LAM_UNUSED(one);
    LAM_UNUSED(layer);
    return asked++ == stop_at;
}}

enum {{ OLD, NEW, BAD }};

#ifdef LAM_HOST_READ
static lam_host_flash flashes[3] = {{
    {{ blobs[0], {size}, -1 }}, {{ blobs[1], {size}, -1 }}, {{ blobs[2], {size}, -1 }}
}};

static lam_status take(int which)
{{
    NET(_memory) memory = APPLY(BIG(_MEMORY), (arena, &flashes[which]));
    return NET(_init)(&net, &memory);
}}

static lam_status look_at(int which)
{{
    LAM_ALIGNED(16) static uint8_t buffer[256];
    return NET(_check_weights)(&flashes[which], buffer, sizeof(buffer));
}}
#else
static lam_status take(int which)
{{
    NET(_memory) memory = APPLY(BIG(_MEMORY), (arena, blobs[which], {size}));
    return NET(_init)(&net, &memory);
}}

static lam_status look_at(int which)
{{
    return NET(_check_weights)(blobs[which], {size});
}}
#endif

static lam_status go(int at)
{{
    memcpy(NET(_input)(&net, 0), x, sizeof(x));
    asked = 0;
    stop_at = at;
    return NET(_run)(&net);
}}

static void expect(int right)
{{
    failed += !right;
}}

static int gives(lam_status status, int which)
{{
    return status == LAM_OK && memcmp(NET(_output)(&net, 0), y[which], sizeof(y[which])) == 0;
}}

int main(void)
{{
    int calls;
    blobs[BAD][{size} - 5] ^= 4;
    expect(take(OLD) == LAM_OK);
    expect(gives(go(-1), OLD));
    calls = asked;
    for (int at = 0; at < calls; at++) {{
        expect(go(at) == LAM_STOPPED);
        expect(look_at(BAD) == LAM_ERROR_WEIGHTS_CRC);
        expect(look_at(NEW) == LAM_OK);
        expect(gives(NET(_resume)(&net), OLD)); /* what was looked at is not what runs */
        expect(go(at) == LAM_STOPPED);
        expect(take(BAD) == LAM_ERROR_WEIGHTS_CRC);
        expect(NET(_run)(&net) == LAM_ERROR_NOT_READY);
        expect(take(NEW) == LAM_OK); /* the stopped run is given up */
        expect(gives(go(-1), NEW));
        expect(take(OLD) == LAM_OK);
        expect(gives(go(-1), OLD));
    }}
    printf("%d %d\\n", failed, calls);
    return 0;
}}
"""


def made(seed: int, buffer: int | None) -> Compiled:
    options = Options(weights="blob", weights_buffer=buffer, vectors=0)
    target = load_target("host")
    return compile_graph(as_asked(conv_chain("single", seed), options, target), target, options)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("buffer", [None, 2048])
def test_weights_swapped_while_a_run_is_stopped(buffer: int | None, compiler: str, tmp_path: Path) -> None:
    require_build(compiler, SANITIZE, tmp_path)
    old, new = made(0, buffer), made(1, buffer)
    (feeds, *_) = random_feeds(old, 1)
    source, sink = old.program.inputs[0], old.program.outputs[0]
    outputs = [run_graph(m.graph, feeds)[m.program.outputs[0].operand.value].reshape(-1) for m in (old, new)]
    assert (outputs[0] != outputs[1]).any()
    blobs = [np.frombuffer(m.files["weights.bin"], np.uint8) for m in (old, new)]
    lines = ["\n".join(array_lines(a)) for a in (*blobs, feeds[source.operand.value].reshape(-1), *outputs)]
    main = tmp_path / "main.c"
    main.write_text(
        _MAIN.format(
            size=blobs[0].size,
            old=lines[0],
            new=lines[1],
            x=lines[2],
            y_old=lines[3],
            y_new=lines[4],
            n_out=outputs[0].size,
            in_t=source.dtype.ctype,
            out_t=sink.dtype.ctype,
        )
    )
    project = written(tmp_path / "project", old)
    reads = ["-DLAM_HOST_READ"] if buffer else []
    flags = ["-O0", *SANITIZE, *host_macros(project), *reads, f"-D{project.upper}_HOOK"]
    includes = [f"-I{HOST_C}", *project.includes]
    said = run(build(compiler, flags, [main, *project.sources], tmp_path / "x", includes=includes))
    failed, calls = map(int, said.split())
    assert failed == 0
    assert calls > 5
