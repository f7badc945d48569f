"""Builds and runs the programs that measure a network, on an emulated board or on this machine; reads what they say.

Three programs: the network alone (the total, the stack, the sizes), the network with a hook at each kernel call (the
layers), and no network at all, whose sizes are taken off.  A fourth one has a hook that looks at the stack.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from codegen.emulator import Mix, RunResult, board_of, build_and_run, build_program, executed_mix, section_sizes
from codegen.errors import BoardMissing, RunFailed, ToolNonsense
from codegen.host import answered, compiler_words, host_regions, run_built
from codegen.ir.program import Call
from codegen.ir.quant import DType
from codegen.pipeline import Compiled
from codegen.process import check_program
from codegen.records import record
from codegen.resources import resource_dir
from codegen.target import Target

TIMEOUT_S = 1800.0
_LINE = re.compile(rb"^(stack|total|layer|hook|deep)((?: \d+)+)\r?$", re.MULTILINE)
Spent = tuple[int, int]
"""Calls, and what they took: instructions on a chip, nanoseconds on the host."""


@record
class Reading:
    """What the programs printed, by repeat; the first entry of each tuple in `layers` is what no layer took."""

    totals: tuple[int, ...]
    layers: tuple[tuple[Spent, ...], ...]
    hook: float
    stack_bytes: int


def check_memory(chip: Target) -> None:
    """LAM-EMULATOR-001 for a target whose kernels work in a scratchpad."""
    if chip.dma is not None:
        raise BoardMissing("has a scratchpad, which no board here emulates", where=f"target {chip.name}")


def board_level(compiled: Compiled, opt_level: str | None) -> str:
    """The compiler's level: what was asked for, or what suits the plan's goal and the target."""
    planning = compiled.manifest["planning"]
    assert isinstance(planning, dict)
    return opt_level or ("-Os" if planning["goal"] == "size" else board_of(compiled.target)[0].opt_level)


def measure_on_board(
    compiled: Compiled, project: Path, workdir: Path, opt_level: str
) -> tuple[Reading, dict[str, int]]:
    """Instructions on the target's emulated board, and the bytes that the network adds to each kind of section."""
    plain = _ran(compiled, project, workdir, opt_level, "plain")
    hooked = _ran(compiled, project, workdir, opt_level, "hooked")
    sections = _added(compiled, plain.sections, workdir / "empty", opt_level)
    if board_of(compiled.target)[1].by_plugin:
        return _read_plugin(compiled, project, workdir, opt_level, hooked.console), sections
    return read_console(plain.console, hooked.console), sections


def _read_plugin(compiled: Compiled, project: Path, workdir: Path, opt_level: str, hooked: bytes) -> Reading:
    """What the emulator's plugin counted: once without hooks and once with them, whose calls the program printed."""
    calls = [numbers[1] for word, numbers in _lines(hooked) if word == "layer"]
    (total,) = _executed(compiled, project, workdir / "whole", opt_level, "whole")
    spent = _executed(compiled, project, workdir / "marked", opt_level, "marked")
    if len(calls) != len(spent):
        raise RunFailed("the measuring program ended early", where=compiled.target.name)
    hook = (sum(spent) - total) / max(1, sum(calls))
    return Reading((total,), (tuple(zip(calls, spent, strict=True)),), hook, 0)


def _executed(compiled: Compiled, project: Path, workdir: Path, opt_level: str, kind: str) -> list[int]:
    return [mix.instructions for mix in _mix(compiled, project, workdir, opt_level, kind)]


def stack_on_board(compiled: Compiled, project: Path, workdir: Path, opt_level: str) -> tuple[int, tuple[int, ...]]:
    """Bytes of stack of one inference, and what was used while each layer ran (a little more: the hook is counted)."""
    plain = _lines(_ran(compiled, project, workdir, opt_level, "plain").console)
    hooked = _lines(_ran(compiled, project, workdir, opt_level, "stacks").console)
    whole = [numbers[0] for word, numbers in plain if word == "stack"]
    layers = [numbers[1] for word, numbers in hooked if word == "deep"]
    if len(whole) != 1 or len(layers) != len(layer_calls(compiled)):
        raise RunFailed("the measuring program ended early", where=compiled.target.name)
    return whole[0], tuple(layers)


def _ran(compiled: Compiled, project: Path, workdir: Path, opt_level: str, kind: str) -> RunResult:
    """One of the programs, run on the board to its end."""
    result = build_and_run(
        compiled.target,
        _sources(project),
        _includes(project),
        _defines(compiled, kind, repeats=1),
        opt_level=opt_level,
        timeout_s=TIMEOUT_S,
        workdir=workdir / kind,
        count=True,
    )
    if result.exit_code != 0:
        said = (result.console + result.messages)[-300:].decode("utf-8", errors="replace")
        raise RunFailed(f"the emulated program ended with code {result.exit_code}: {said}", where=compiled.target.name)
    return result


def _added(compiled: Compiled, whole: Mapping[str, int], workdir: Path, opt_level: str) -> dict[str, int]:
    """What the sections have more than those of the same program without a network."""
    elf = _built(compiled, "empty", [_main()], [], workdir, opt_level)
    empty = section_sizes(compiled.target, elf)
    return {kind: size - empty[kind] for kind, size in whole.items()}


def _built(
    compiled: Compiled, kind: str, sources: Sequence[Path], includes: Sequence[Path], workdir: Path, opt_level: str
) -> Path:
    """One of the programs, built for the board."""
    defines = _defines(compiled, kind, repeats=1)
    return build_program(
        compiled.target, sources, includes, defines, opt_level=opt_level, timeout_s=TIMEOUT_S, workdir=workdir
    )


def mix_on_board(compiled: Compiled, project: Path, workdir: Path, opt_level: str) -> list[Mix]:
    """Which kinds of instructions ran, for no layer and for each."""
    return _mix(compiled, project, workdir, opt_level, "marked")


def _mix(compiled: Compiled, project: Path, workdir: Path, opt_level: str, kind: str) -> list[Mix]:
    elf = _built(compiled, kind, _sources(project), _includes(project), workdir, opt_level)
    layers = len(layer_calls(compiled)) if kind == "marked" else 0
    return executed_mix(compiled.target, elf, layers, compiler=compiler_words(), workdir=workdir, timeout_s=TIMEOUT_S)


def layer_calls(compiled: Compiled) -> list[Call]:
    """The calls that the schedule numbers, in its order."""
    return [call for group in compiled.program.groups for call in group.calls]


def measure_on_host(compiled: Compiled, project: Path, flags: Sequence[str], repeats: int) -> Reading:
    """Nanoseconds on this machine, in a process of its own, which is built beside the project."""
    boards = resource_dir("runtime_c") / "boards"
    found: list[bytes] = []
    for kind in ("plain", "hooked"):
        program = project.parent / kind
        defines = _defines(compiled, kind, repeats=repeats)
        argv: list[str | Path] = [
            *compiler_words(),
            "-std=c99",
            *flags,
            *(f"-D{name}" if value is None else f"-D{name}={value}" for name, value in defines.items()),
            *(f"-I{path}" for path in (*_includes(project), boards)),
            *_sources(project),
            boards / "native" / "board.c",
            boards / "unknown_stack.c",
            boards / "common.c",
            "-o",
            program,
        ]
        check_program(argv, timeout_s=TIMEOUT_S, writes=program)
        done = run_built(program, TIMEOUT_S)
        if done.returncode != 0:
            raise RunFailed(f"the measuring program ended with code {done.returncode}", where=compiled.target.name)
        found.append(done.stdout)
    return read_console(*found)


def read_console(plain: bytes, hooked: bytes) -> Reading:
    """What the two programs printed; LAM-HOST-002 when they ended early, -012 for numbers that make no sense."""
    try:
        return _read_console(plain, hooked)
    except (ValueError, IndexError, ZeroDivisionError) as error:
        raise ToolNonsense(f"the measuring program printed {(plain + hooked)[-200:]!r}") from error


def _read_console(plain: bytes, hooked: bytes) -> Reading:
    stack = 0
    totals: list[int] = []
    layers: list[list[Spent]] = []
    for word, numbers in _lines(plain):
        if word == "stack":
            stack = numbers[0]
        elif word == "total":
            totals.append(_count(numbers))
    hook = 0.0
    for word, numbers in _lines(hooked):
        if word == "hook":
            hook = _count(numbers[1:]) / numbers[0]
        elif word == "layer":
            if numbers[0] == 0:
                layers.append([])
            layers[-1].append((numbers[1], _count(numbers[2:])))
    if not totals or len(totals) != len(layers) or not hook:
        raise RunFailed(f"the measuring program ended early: {hooked[-200:]!r}")
    totals = [_unwrapped(total, parts, hook) for total, parts in zip(totals, layers, strict=True)]
    return Reading(tuple(totals), tuple(map(tuple, layers)), hook, stack)


def _unwrapped(total: int, parts: Sequence[Spent], hook: float) -> int:
    """A total whose 32 bits came round, with the rounds that the sum of its parts tells; parts are short."""
    expected = sum(count - calls * hook for calls, count in parts)
    return total + (max(0, round((expected - total) / 2**32)) << 32)


def _lines(printed: bytes) -> list[tuple[str, list[int]]]:
    return [(m[1].decode("ascii"), [int(n) for n in m[2].split()]) for m in _LINE.finditer(printed)]


def _count(numbers: Sequence[int]) -> int:
    high, low = numbers
    return high << 32 | low


def _main() -> Path:
    return resource_dir("runtime_c") / "host" / "lam_profile_main.c"


def _sources(project: Path) -> list[Path]:
    return [*sorted((project / "src").glob("*.c")), *answered(project, project.name), _main()]


def _includes(project: Path) -> list[Path]:
    return [project / part for part in ("include", "runtime", "src")]


def _defines(compiled: Compiled, kind: str, *, repeats: int) -> dict[str, str | None]:
    """The macros of lam_profile_main.c: `plain`, `hooked`, `marked`, `whole`, `stacks`, or `empty` for no network."""
    program = compiled.program
    name = program.name
    floats = any(p.dtype is DType.F32 for p in program.inputs)
    defines: dict[str, str | None] = {
        "LAM_HOST_NAME": name,
        "LAM_HOST_UPPER": name.upper(),
        "LAM_HOST_HEADER": f'"{name}.h"',
        "LAM_PROFILE_LAYERS": str(len(layer_calls(compiled))),
        "LAM_PROFILE_REPEATS": str(repeats),
        "LAM_PROFILE_MASK": "0x3f" if floats else "0xff",
        "LAM_PROFILE_INPUT_BYTES": ",".join(str(p.operand.rows * p.operand.row_bytes) for p in program.inputs),
    }
    if program.regions:
        defines["LAM_HOST_REGIONS"] = host_regions(r.memory for r in program.regions)
    if program.streamed:
        defines["LAM_HOST_STREAM"] = None
    hooks = {"hooked": "LAM_PROFILE_HOOKS", "marked": "LAM_PROFILE_MARKS", "stacks": "LAM_PROFILE_STACKS"}
    if kind in hooks:
        defines |= {f"{name.upper()}_PROFILE": None, hooks[kind]: None}
    if kind == "whole":
        defines |= {"LAM_PROFILE_LAYERS": "0", "LAM_PROFILE_MARKS": None}
    if kind == "empty":
        defines["LAM_PROFILE_EMPTY"] = None
    return defines
