"""The functions of float32: units in the last place over all 2^32 inputs, C against numpy, and instructions on a chip.

    python benchmarks/float_functions.py [--functions exp log] [--stride 1]    against the C library in double
    python benchmarks/float_functions.py --twin 100000000                      C against codegen/float32/, random bits
    python benchmarks/float_functions.py --chip cortex-m4                      instructions of a call, and the library's

A stride of 1 takes every input (a minute or two for each function); a larger one every so many-th.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))

from codegen import float32  # noqa: E402
from codegen.emulator import build_and_run  # noqa: E402
from codegen.ops.float32.unary import FUNCTIONS  # noqa: E402
from codegen.report.table import text_table  # noqa: E402
from codegen.target import load_target  # noqa: E402

INCLUDE = ROOT / "runtime_c" / "include"
DEFAULTS = {
    "celu": (1.0,),
    "elu": (1.0,),
    "selu": (1.67326319217681884765625, 1.05070102214813232421875),
    "swish": (1.0,),
}
"""The numbers of its own that a function has by default in ONNX."""
NUMBERS = {"power": (1.7,), **DEFAULTS}
TWINS = {**float32.FUNCTIONS, "sqrt": np.sqrt, "whole_root": np.sqrt}
TWINS |= {name: lambda x, name=name: FUNCTIONS[name](x, *map(np.float32, DEFAULTS[name])) for name in DEFAULTS}
CHUNK = 1 << 20
FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra")
ARGUMENTS = {"acosh": (1.0, 20.0), "log": (0.01, 20.0), "sqrt": (0.01, 20.0), "whole_root": (0.01, 20.0)}
ARGUMENTS |= {name: (-0.99, 0.99) for name in ("acos", "asin", "atanh")}
"""From where to where the calls that are counted go; -4 .. 4 where nothing stands here."""
_OWN = ("gelu", "gelu_tanh", "mish", "softplus", *DEFAULTS)
NEWLIB = {"sigmoid": None, "whole_root": "sqrtf", "power": "powf", **dict.fromkeys(_OWN)}
"""The C library's function where it is not the name with an f."""
CALLS = 256

COUNTING = """
#include <math.h>
#include "lam_board.h"
#include "lam_f32_activations.h"
#include "lam_f32_functions.h"
static float x[{calls}];
static volatile float sink;
static float __attribute__((noinline)) nothing(float v) {{ return v; }}
{functions}
static uint32_t count(float (*f)(float))
{{
    uint32_t start = lam_board_instructions();
    for (int i = 0; i < {calls}; i++) sink = f(x[i]);
    return lam_board_instructions() - start;
}}
static void row(float low, float high, float (*ours)(float), float (*other)(float))
{{
    for (int i = 0; i < {calls}; i++) x[i] = low + (high - low) * (float)i / {calls};
    uint32_t empty = count(nothing);
    lam_board_number(count(ours) - empty);
    lam_board_puts(" ");
    lam_board_number(other ? count(other) - empty : 0);
    lam_board_puts("\\n");
}}
int main(void)
{{
{rows}
    return 0;
}}
"""


def build(folder: Path) -> Path:
    program = folder / "float_functions"
    source = str(HERE / "float_functions.c")
    subprocess.run(["cc", *FLAGS, source, f"-I{INCLUDE}", "-lm", "-o", str(program)], check=True)
    return program


def scan(program: Path, name: str, stride: int) -> list[str]:
    out = subprocess.run([str(program), name, str(stride)], capture_output=True, text=True, check=True).stdout.split()
    _, inputs, units, bits, at, wrong = out
    return [name, f"{int(inputs):,}", units, f"{at} (0x{bits})", wrong]


def differing(program: Path, name: str, count: int) -> int:
    """Of so many random inputs, how many results of C and numpy are not the same bits; a NaN is like any other."""
    rng, differ = np.random.default_rng(1), 0
    for first in range(0, count, CHUNK):
        size = min(CHUNK, count - first)
        x = rng.integers(0, 1 << 32, size, dtype=np.uint32).view(np.float32)
        ran = subprocess.run([str(program), name], input=x.tobytes(), capture_output=True, check=True)
        got = np.frombuffer(ran.stdout, np.float32)
        with np.errstate(all="ignore"):
            wanted = np.asarray(TWINS[name](x), np.float32)
        both = np.isnan(got) & np.isnan(wanted)
        differ += int(np.count_nonzero((got.view(np.uint32) != wanted.view(np.uint32)) & ~both))
    return differ


def _wrapped(name: str) -> str:
    second = "".join(f", {number!r}f" for number in NUMBERS.get(name, ()))
    lines = [f"static float ours_{name}(float v) {{ return lam_f32_{name}(v{second}); }}"]
    other = NEWLIB.get(name, f"{name}f")
    if other:
        lines.append(f"static float other_{name}(float v) {{ return {other}(v{second}); }}")
    return "\n".join(lines)


def _row(name: str) -> str:
    low, high = ARGUMENTS.get(name, (0.01, 20.0) if name == "power" else (-4.0, 4.0))
    other = f"other_{name}" if NEWLIB.get(name, name) else "0"
    return f"    row({low}f, {high}f, ours_{name}, {other});"


def instructions(names: list[str], chip: str, folder: Path) -> Iterator[list[str]]:
    """Per call of ours and of the chip's C library, the call itself not counted."""
    texts = {"functions": "\n".join(map(_wrapped, names)), "rows": "\n".join(map(_row, names))}
    source = folder / "count.c"
    source.write_text(COUNTING.format(calls=CALLS, **texts))
    ran = build_and_run(load_target(chip), [source], [INCLUDE], {}, timeout_s=120, workdir=folder / "chip", count=True)
    if ran.exit_code != 0:
        sys.exit(ran.console.decode(errors="replace"))
    for name, line in zip(names, ran.console.decode().splitlines(), strict=True):
        ours, other = (int(word) / CALLS for word in line.split())
        yield [name, f"{ours:.0f}", f"{other:.0f}" if other else ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", nargs="+", choices=[*TWINS, "power"], default=list(TWINS))
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--twin", type=int, metavar="COUNT")
    parser.add_argument("--chip")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.chip:
            rows = list(instructions(given.functions, given.chip, Path(folder)))
            print(text_table(["function", "instructions", "C library's"], rows))
            return
        program = build(Path(folder))
        for name in given.functions:
            row = [name, differing(program, name, given.twin)] if given.twin else scan(program, name, given.stride)
            print(*row, sep="  ", flush=True)


if __name__ == "__main__":
    main()
