"""Several networks in one image, several instances of one network: no state is shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from codegen.emit import array_lines
from codegen.golden.interpreter import Stepper
from codegen.ir.quant import Array
from codegen.process import check_program
from tests.e2e.projects import NETWORKS, Project, build, project, random_feeds, require_build, run
from tests.support.tools import require_tool

THREADS = 2
ROUNDS = 4

_CASES = """#include <string.h>
#include "{name}.h"

enum {{ {name}_CASES = {count} }};
static const struct {{
    {in_t} x[{n_in}];
    {out_t} y[{n_out}];
}} {name}_cases[{count}] = {{
{cases}
}};

/* 0 when an instance of its own, in this arena, gives the right output for every case, again and again. */
static int {name}_check(uint8_t *arena, int rounds)
{{
    {name}_t net;
    const {name}_memory memory = {{ arena, {upper}_ARENA_SIZE }};
    if ({name}_init(&net, &memory) != LAM_OK) {{
        return 1;
    }}
    for (int i = 0; i < rounds * {name}_CASES; i++) {{
        if (i % {name}_CASES == 0) {{
            {reset};
        }}
        memcpy({name}_input(&net, 0), {name}_cases[i % {name}_CASES].x, sizeof({name}_cases[0].x));
        if ({name}_run(&net) != LAM_OK) {{
            return 2;
        }}
        if (memcmp({name}_output(&net, 0), {name}_cases[i % {name}_CASES].y, sizeof({name}_cases[0].y)) != 0) {{
            return 3;
        }}
    }}
    return 0;
}}
"""

_THREADS = """#include <pthread.h>
#include "{name}_cases.h"

static uint8_t arenas[{threads}][{upper}_ARENA_SIZE + {upper}_ARENA_ALIGN] {upper}_ARENA_ALIGNED;
static int results[{threads}];

static void *work(void *result)
{{
    const int index = (int)((int *)result - results);
    uint8_t *arena = arenas[index];
    while ((uintptr_t)arena % {upper}_ARENA_ALIGN != 0) {{
        arena++;
    }}
    *(int *)result = {name}_check(arena, {rounds});
    return NULL;
}}

int main(void)
{{
    pthread_t threads[{threads}];
    int failed = 0;
    for (int i = 0; i < {threads}; i++) {{
        failed += pthread_create(&threads[i], NULL, work, &results[i]) != 0;
    }}
    for (int i = 0; i < {threads}; i++) {{
        failed += pthread_join(threads[i], NULL) != 0 || results[i] != 0;
    }}
    return failed;
}}
"""


def cases_header(made: Project, feeds: Sequence[Mapping[str, Array]], folder: Path) -> Path:
    """NAME_cases.h: inputs, the golden model's outputs when they come in a row, and a function that compares."""
    graph, program = made.compiled.graph, made.compiled.program
    source, sink = program.inputs[0], program.outputs[0]
    text, stepper = [], Stepper(graph)
    for sample in feeds:
        x, y = sample[source.operand.value], stepper.run(sample)[sink.operand.value]
        text.append("    { { " + "\n".join(array_lines(x)) + " }, { " + "\n".join(array_lines(y)) + " } },")
    path = folder / f"{made.name}_cases.h"
    path.write_text(
        _CASES.format(
            name=made.name,
            upper=made.upper,
            count=len(feeds),
            in_t=source.dtype.ctype,
            out_t=sink.dtype.ctype,
            n_in=int(np.prod(source.shape)),
            n_out=int(np.prod(sink.shape)),
            cases="\n".join(text),
            reset=f"{made.name}_reset(&net)" if program.states else "(void)0",
        )
    )
    return path


@pytest.mark.one_in(3)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("network", ["residual", "pulled", "keeping"])
def test_two_instances_run_in_two_threads(network: str, compiler: str, tmp_path: Path) -> None:
    flags = ("-O1", "-g", "-pthread", "-fsanitize=thread")
    require_build(compiler, flags, tmp_path)
    made = project(tmp_path, network)
    cases_header(made, random_feeds(made.compiled, 2), tmp_path)
    main = tmp_path / "main.c"
    main.write_text(_THREADS.format(name=made.name, upper=made.upper, threads=THREADS, rounds=ROUNDS))
    includes = [*made.includes, f"-I{tmp_path}"]
    run(build(compiler, flags, [main, *made.sources], tmp_path / "threads", includes=includes))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("weights", ["c", "blob"])
def test_two_networks_and_their_self_tests_live_in_one_image(weights: str, tmp_path: Path) -> None:
    flags = ("-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    require_build("gcc", flags, tmp_path)
    made = [project(tmp_path, "residual"), project(tmp_path, "pulled", weights=weights)]
    blob = made[1].blob
    weights_c = ""
    if blob is not None:
        lines = "\n".join(array_lines(np.frombuffer(blob, np.uint8)))
        weights_c = (
            f"LAM_ALIGNED(16) static const uint8_t weights[{len(blob)}] = {{\n{lines}\n}};\n"
            "extern const uint8_t *pulled_selftest_weights;\nconst uint8_t *pulled_selftest_weights = weights;\n"
        )
    main = tmp_path / "main.c"
    main.write_text(
        '#include "residual.h"\n#include "pulled.h"\n#include "residual.h"\n'
        f"{weights_c}int residual_selftest(void);\nint pulled_selftest(void);\n"
        "int main(void)\n{\n    return residual_selftest() != 0 || pulled_selftest() != 0;\n}\n"
    )
    sources = [main, *(s for m in made for s in (*m.sources, m.folder / "test" / "selftest.c"))]
    includes = [i for m in made for i in m.includes]
    run(build("gcc", flags, sources, tmp_path / "image", includes=includes))


@pytest.mark.parametrize("network", ["pulled", "keeping"])
def test_two_instances_take_turns_layer_by_layer(network: str, tmp_path: Path) -> None:
    """The second instance runs whole, several times, inside every trace call of the first: between any two rows."""
    made = project(tmp_path, network)
    flags = ("-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", f"-D{made.upper}_TRACE")
    require_build("gcc", flags, tmp_path)
    cases_header(made, random_feeds(made.compiled, 1), tmp_path)
    arena = f"[{made.upper}_ARENA_SIZE] {made.upper}_ARENA_ALIGNED"
    main = tmp_path / "main.c"
    main.write_text(
        f'#include "{network}_cases.h"\n'
        f"static uint8_t outer{arena}, inner{arena};\n"
        "static int depth, failed, calls;\n"
        f"void {network}_trace(const {network}_t *net, int32_t tensor, int32_t row, int32_t col, const void *data,\n"
        "    uint32_t bytes)\n"
        "{\n    LAM_UNUSED(net);\n    LAM_UNUSED(tensor);\n    LAM_UNUSED(row);\n    LAM_UNUSED(col);\n"
        "    LAM_UNUSED(data);\n    LAM_UNUSED(bytes);\n"
        f"    if (depth == 0) {{\n        depth++;\n        failed += {network}_check(inner, 1);\n        calls++;\n"
        "        depth--;\n    }\n}\n"
        f"int main(void)\n{{\n    return {network}_check(outer, 1) + failed + (calls < 20);\n}}\n"
    )
    includes = [*made.includes, f"-I{tmp_path}"]
    run(build("gcc", flags, [main, *made.sources], tmp_path / "turns", includes=includes))


@pytest.mark.one_in(12)
@pytest.mark.parametrize("weights", ["c", "blob"])
@pytest.mark.parametrize("network", NETWORKS)
def test_a_network_has_no_variable_of_its_own(network: str, weights: str, tmp_path: Path) -> None:
    require_tool("gcc", "nm", "size")
    made = project(tmp_path, network, weights=weights)
    given = ("-c", f"-D{made.upper}_TRACE")
    for source in made.sources:
        holds_addresses = source.name.endswith("_info.c")  # constants that a loader would have to fill in
        for flags in (("-O0", "-fno-pic"), ("-O2", "-fno-pic" if holds_addresses else "-fPIC")):
            out = build("gcc", (*flags, *given), [source], tmp_path / "x.o", includes=made.includes)
            listing = check_program(["nm", str(out)], timeout_s=60).stdout.decode("ascii")
            kinds = {line.split()[-2] for line in listing.splitlines()}
            assert kinds <= {"T", "t", "R", "r", "U"}, listing
            sizes = check_program(["size", str(out)], timeout_s=60).stdout.decode("ascii").splitlines()[1].split()
            assert sizes[1:3] == ["0", "0"], sizes
