"""A case: one operator on inputs.  The laws hold on every case, and every case's C is compared with golden."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import fields, replace

import numpy as np

from codegen.float32.weights import narrowed
from codegen.ir.op import Op
from codegen.ir.quant import DERIVED_MODES, MODES, Array, DType, Mode, Quant, Requant, Storage, Sums, TensorType, is_pot
from codegen.ir.shape import Window
from codegen.kernels import TABLE
from codegen.ops.case import Case as Case
from codegen.ops.case import Input as Input
from codegen.ops.case import random_array
from codegen.ops.case import same as same
from codegen.toolkit import HOUSE
from tests.support.graphs import power_below, step_of

S8, U8, S16, S32, F32 = DType.S8, DType.U8, DType.S16, DType.S32, DType.F32
PACKED = replace(HOUSE, table=replace(TABLE, unpacking=()))
"""The house, packing weights of few bits however few they are: cases are smaller than what code for them takes."""


def q(scale: float, zero_point: int = 0) -> Quant:
    return Quant(float(np.float32(scale)), zero_point)


A, B, Y = q(0.07, -5), q(0.11, 12), q(0.09, 3)
BOUNDS = (-120, 125)
"""Two inputs' meanings and an output's, and bounds that cut a little off."""


def t(dtype: DType, *shape: int, quant: Quant | None = None) -> TensorType:
    return TensorType(shape, dtype, quant)


def ints(dtype: DType, *shape: int, seed: int = 0) -> Array:
    """A constant: whatever stands beside it, the same for the same type and shape."""
    return random_array(np.random.default_rng([20, seed, dtype.bytes, *shape]), shape, dtype)


OTHER_SUMS: tuple[Sums, ...] = ("fused", "flushed")
STORAGES: tuple[Storage, ...] = ("f16", "bf16", "s8", "s4")
"""What weights of real numbers may be stored as."""


def stored(case: Case, storage: Storage, block: int = 0) -> Case:
    """The case with weights that are stored so, rounded to what that holds; odd numbers of them, and some zero."""
    weights = narrowed(np.asarray(case.ins[1]) * np.float32(0.37), storage, block)
    assert weights is not None
    name, ins = f"{storage}_{case.name}", (case.ins[0], weights, *case.ins[2:])
    return replace(case, name=name, ins=ins, storage=storage, block=block)


def with_zeros(case: Case, bits: int, block: int = 0) -> Case:
    """The case with weights that are integers of 4 or 8 bits with a zero point for each output, or block of it."""
    rng, shape = np.random.default_rng([26, block]), case.types[1].shape
    size = block or math.prod(shape[1:])
    half, rows = 1 << (bits - 1), (shape[0], math.prod(shape[1:]) // size)
    zeros, scales = rng.integers(-half, half, rows), rng.integers(1, 99, rows)
    integers = rng.integers(1 - half, half + 1, (shape[0], math.prod(shape[1:]))) + zeros.repeat(size, axis=1)
    weights = (integers * scales.repeat(size, axis=1)).astype(np.float32).reshape(shape)
    storage: Storage = "u4" if bits == 4 else "u8"
    name, ins = f"{storage}_{case.name}", (case.ins[0], weights, *case.ins[2:])
    return replace(case, name=name, ins=ins, storage=storage, block=block)


def sums(count: int, most: int = 9999) -> Array:
    """Biases."""
    return np.random.default_rng([21, count]).integers(-most, most, count).astype(np.int32)


def requant(mode: Mode, reach: float, channels: int = 1, dtype: DType = S8, *, wide: bool = False) -> Requant:
    """Maps accumulators up to `reach` to somewhat more than the type's range; a fused activation on some."""
    factors = [float(np.float32(1.3 * (dtype.high - dtype.low) / reach / (1 + i % 3))) for i in range(channels)]
    zero_point = (dtype.low + dtype.high) // 2 + 7
    low = zero_point if channels == 3 else None
    return step_of(mode, 1.0, factors, Quant(1.0, zero_point), dtype, low, wide=wide)


def window(size: int, stride: int = 1, dilation: int = 1, before: int = 0, after: int = 0) -> Window:
    return Window(size, stride, dilation, before, after)


Source = Callable[[Mode], Iterator[Case]]


def in_modes(*sources: Source) -> Iterator[Case]:
    """The cases of sources that know a mode, in every mode (derived ones share theirs), with its name before theirs."""
    for mode in MODES:
        for source in sources:
            for case in source(mode):
                yield replace(case, name=f"{mode}_{case.name}")
    for i, mode in enumerate(DERIVED_MODES):
        for source in sources:
            for case in _every_fifth(source(mode), i):
                yield replace(case, name=f"{mode}_{case.name}", op=in_powers(case.op) if is_pot(mode) else case.op)


def _every_fifth(found: Iterator[Case], first: int) -> Iterator[Case]:
    """Of each operator every fifth case, one at least."""
    kinds: dict[type[Op], list[Case]] = {}
    for case in found:
        kinds.setdefault(type(case.op), []).append(case)
    for alike in kinds.values():
        yield from alike[first % len(alike) :: len(DERIVED_MODES)]


def in_powers(op: Op) -> Op:
    """The operator with scales that are powers of two."""
    scaled = {f.name: getattr(op, f.name) for f in fields(op) if isinstance(getattr(op, f.name), Quant)}  # type: ignore[arg-type]
    powers = {name: Quant(power_below(x.scale), x.zero_point) for name, x in scaled.items()}
    return replace(op, **powers)  # type: ignore[type-var]


def named(case: Case) -> Case:
    """The case with its operator's name before its own."""
    return replace(case, name=f"{type(case.op).__name__}_{case.name}")
