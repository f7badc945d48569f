"""The C of emx-onnx-cgen, the closest generator of float networks: instructions, RAM on a chip, time here."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tiny import ROOT

from codegen.emulator import build_and_run
from codegen.host.build import compiler_words
from codegen.ir.quant import Array
from codegen.process import check_program
from codegen.target import load_target

HERE = ROOT / "benchmarks"
_TIMEOUT_S = 900
_HEAP = 2 << 20


class Peer:
    """One model compiled by the program `emx-onnx-cgen` (from PyPI; a path, or a name on PATH)."""

    def __init__(self, program: str, model: Path, inputs: int, outputs: int, folder: Path) -> None:
        self.folder, self.outputs = folder, outputs
        folder.mkdir(parents=True, exist_ok=True)
        argv = [program, "compile", str(model.resolve()), "net.c", "--model-name", "emx_net"]
        argv += ["--large-weight-threshold", "0"]
        check_program(argv, cwd=folder, timeout_s=_TIMEOUT_S)
        self.defines = {"EMX_SOURCE": '"net.c"', "EMX_INPUTS": str(inputs), "EMX_OUTPUTS": str(outputs)}

    def on_chip(self, chip: str) -> tuple[int, int]:
        """Instructions of one inference on the emulated chip, at -O3, and bytes of RAM.

        Its static variables, those of its input and output among them as in our arena, and the most that it holds of
        the heap at once.  No stack, where it has its smaller tensors.
        """
        defines = {**self.defines, "EMX_BOARD": None, "EMX_HEAP": str(_HEAP)}
        how = {"opt_level": "-O3", "timeout_s": _TIMEOUT_S, "workdir": self.folder / "chip"}
        ran = build_and_run(load_target(chip), [HERE / "emx.c"], [self.folder], defines, count=True, **how)
        assert ran.exit_code == 0, ran
        _, instructions, _, heap = ran.console.split()
        variables = ran.sections["data"] + ran.sections["bss"]
        return int(instructions), variables - (_HEAP if variables >= _HEAP else 0) + int(heap)

    def runner(self, x: Array, wanted: Array, flags: tuple[str, ...]) -> Callable[[int], None]:
        """A function that runs it here a number of times; what it makes is near `wanted`."""
        library = self.folder / "net.so"
        defines = [f"-D{name}={value}" for name, value in self.defines.items()]
        argv = [*compiler_words(), "-std=c99", *flags, *defines, "-fPIC", "-shared", f"-I{self.folder}"]
        check_program([*argv, HERE / "emx.c", "-lm", "-o", library], timeout_s=_TIMEOUT_S)
        loaded = ctypes.CDLL(str(library))
        given, made = np.ascontiguousarray(x, np.float32), np.zeros(self.outputs, np.float32)

        def run(count: int) -> None:
            places = (ctypes.c_void_p(a.ctypes.data) for a in (given, made))
            loaded.emx_repeat(*places, ctypes.c_int32(count))

        run(1)
        assert np.allclose(made, np.ravel(wanted), rtol=1e-3, atol=1e-3 * float(np.abs(wanted).max()))
        return run
