"""The self-test of a project of kernels on an emulated chip."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codegen.emulator import RunResult, build_and_run
from codegen.laws import sources_of
from codegen.target import load_target
from tests.support.tools import require_tool

_MAIN = "int kernels_selftest(void);\nint main(void)\n{\n    return kernels_selftest() != 0;\n}\n"


def selftest_on(chip: str, project: Path, *, defines: Mapping[str, str | None] | None = None, **how: Any) -> RunResult:
    """What the self-test of a graph named `kernels` gives there, built as `how` says of `build_and_run`: 0 is right."""
    target = load_target(chip)
    assert target.toolchain
    assert target.board
    require_tool(target.toolchain.cc, target.toolchain.size, target.board.emulator[0])
    main = project / "main.c"
    main.write_text(_MAIN)
    sources, folders = sources_of(project)
    how = {"timeout_s": 300.0, "workdir": project / "build", **how}
    return build_and_run(target, [*sources, main], folders, defines or {}, **how)
