"""SignalFramer, SignalDelay, SignalStacker and SignalOverlapAdd, which keep samples from run to run.

Decides: what an output holds that TFLite Micro does not write yet, where a flag says so: what came, behind zeros.
Source: tflite-micro, signal/micro/kernels: framer.cc, delay.cc, stacker.cc, overlap_add.cc; signal/src likewise.
"""

from __future__ import annotations

import numpy as np

from codegen.errors import FormUnsupported, InputsDoNotFit, ShapeMismatch
from codegen.frontends.tflite.flex import read_options
from codegen.frontends.tflite.nodes import TfliteNode
from codegen.frontends.tflite.real.context import RealContext
from codegen.frontends.tflite.real.signals import option, whole
from codegen.ir.quant import Array
from codegen.ir.shape import Shape
from codegen.real import signal
from codegen.real.elementwise import Binary, Where
from codegen.real.movement import Reshape, Tile
from codegen.real.signal import Signal

_MOST = 1 << 20
_SAMPLES_HINT = "signals are of int16 without a scale"


def framer(ctx: RealContext, node: TfliteNode) -> None:
    """SignalFramer: without `prefill` it begins to give frames when it has what it keeps."""
    told = read_options(node.custom, node.where)
    size, step = (option(node, told, name, 1, _MOST) for name in ("frame_size", "frame_step"))
    (x,), shape = _sound(ctx, node), ctx.shape(node, 0)
    if size < step or shape[-1] % step:
        raise ShapeMismatch(f"frames of {size} samples, {step} apart, of {list(shape)}", where=node.where)
    missing = 0 if option(node, told, "prefill", 0, 1) else -(-size // step) - 1
    kept = missing * step or size - step
    frames = (*shape[:-1], shape[-1] // step, size)
    made = _framed(ctx, node, x, kept, signal.framer(size, step)) if kept else x
    _give(ctx, node, made, frames)
    _give_flag(ctx, node, _counted(ctx, node, missing, frames[-2]))


def delay(ctx: RealContext, node: TfliteNode) -> None:
    """SignalDelay."""
    length = option(node, read_options(node.custom, node.where), "delay_length", 0, _MOST)
    (x,), shape = _sound(ctx, node), ctx.shape(node, 0)
    made = _framed(ctx, node, x, length, signal.framer(shape[-1], shape[-1])) if length else x
    _give(ctx, node, made, shape)


def stacker(ctx: RealContext, node: TfliteNode) -> None:
    """SignalStacker: the first frame stands for those that would have come before it."""
    told = read_options(node.custom, node.where)
    channels, step = option(node, told, "num_channels", 1, _MOST), option(node, told, "stacker_step", 1, _MOST)
    left, right = (option(node, told, f"stacker_{side}_context", 0, _MOST) for side in ("left", "right"))
    (x,), shape, count = _sound(ctx, node), ctx.shape(node, 0), left + right + 1
    if shape != (channels,) or step > count:
        raise ShapeMismatch(f"{count} frames of {channels}, {step} apart, of {list(shape)}", where=node.where)
    made = x
    if count > 1:
        past = _state(ctx, node, "past", np.zeros(channels * (count - 1), np.int16))
        before = _first_repeated(ctx, node, x, past, count - 1) if left else past
        made = _apply(ctx, node, signal.framer(channels * count, channels), [x, before], past)
    _give(ctx, node, made, (channels * count,))
    _give_flag(ctx, node, _stepped(ctx, node, right, step))


def overlap_add(ctx: RealContext, node: TfliteNode) -> None:
    """SignalOverlapAdd."""
    told = read_options(node.custom, node.where)
    if option(node, told, "T", 0, 127) != 7:
        raise FormUnsupported(f"sums of type {told['T']}", where=node.where, hint=_SAMPLES_HINT)
    step = option(node, told, "frame_step", 1, _MOST)
    (x,), shape = _sound(ctx, node), ctx.shape(node, 0)
    if len(shape) < 2:
        raise InputsDoNotFit(f"takes frames of samples, got {list(shape)}", where=node.where)
    past = _state(ctx, node, "sums", np.zeros((*shape[:-2], shape[-1]), np.int16))
    made = _apply(ctx, node, signal.overlap_add(step), [x, past], past)
    _give(ctx, node, made, (*shape[:-2], shape[-2] * step))


def _sound(ctx: RealContext, node: TfliteNode) -> list[str]:
    """The only input, samples of int16 along one axis at least."""
    found, kind = whole(ctx, node, 1), ctx.type(node, 0)
    if ctx.builder.type(found[0]).dtype != np.int16:
        raise FormUnsupported(f"a sound of {kind.dtype}", where=node.where, hint=_SAMPLES_HINT)
    if not kind.shape:
        raise InputsDoNotFit("takes samples, got one number", where=node.where)
    return found


def _state(ctx: RealContext, node: TfliteNode, what: str, initial: Array) -> str:
    return ctx.builder.state(f"{ctx.result(node).name}:{what}", initial)


def _framed(ctx: RealContext, node: TfliteNode, x: str, kept: int, op: Signal) -> str:
    """Frames of what was kept and x."""
    past = _state(ctx, node, "past", np.zeros((*ctx.builder.type(x).shape[:-1], kept), np.int16))
    return _apply(ctx, node, op, [x, past], past)


def _apply(ctx: RealContext, node: TfliteNode, op: Signal, inputs: list[str], past: str) -> str:
    """An operator that gives what a state becomes behind its result."""
    name = ctx.result(node).name
    made, following = ctx.written(node, op, inputs, [f"{name}:frames", f"{name}:kept"])
    ctx.builder.becomes(past, following)
    return made


def _give(ctx: RealContext, node: TfliteNode, value: str, shape: Shape) -> None:
    """The first output, in its shape."""
    ctx.write(node, Reshape(shape), [value])


def _give_flag(ctx: RealContext, node: TfliteNode, value: str) -> None:
    """The second output: whether the first one is complete."""
    ctx.bind(node, value, 1)


def _counted(ctx: RealContext, node: TfliteNode, missing: int, frames: int) -> str:
    """Whether no frames are missing any more; so many fewer are in the next run."""
    if not missing:
        return ctx.constant_value(node, "valid", np.array(True))
    left = _state(ctx, node, "missing", np.array(missing, np.int32))
    fewer = ctx.apply(node, Binary("Sub"), [left, _number(ctx, node, "given", frames)], "fewer")
    ctx.builder.becomes(left, ctx.apply(node, Binary("Max"), [fewer, _number(ctx, node, "none", 0)], "left"))
    return _is_zero(ctx, node, left)


def _stepped(ctx: RealContext, node: TfliteNode, wait: int, step: int) -> str:
    """Whether frames are complete: after `wait` runs, then after each `step`."""
    if not wait and step == 1:
        return ctx.constant_value(node, "valid", np.array(True))
    left = _state(ctx, node, "wait", np.array(wait, np.int32))
    valid = _is_zero(ctx, node, left)
    fewer = ctx.apply(node, Binary("Sub"), [left, _number(ctx, node, "one", 1)], "fewer")
    again = _number(ctx, node, "again", step - 1)
    ctx.builder.becomes(left, ctx.apply(node, Where(), [valid, again, fewer], "left"))
    return valid


def _first_repeated(ctx: RealContext, node: TfliteNode, x: str, past: str, count: int) -> str:
    """What was kept; in the first run, x again and again."""
    fresh = _state(ctx, node, "begun", np.array(0, np.int32))
    ctx.builder.becomes(fresh, _number(ctx, node, "one more", 1))
    first = _is_zero(ctx, node, fresh, "first")
    again = ctx.apply(node, Tile((count,)), [x], "again and again")
    flag = ctx.reshaped(node, first, (1,), "flag")
    return ctx.apply(node, Where(), [flag, again, past], "before")


def _is_zero(ctx: RealContext, node: TfliteNode, value: str, what: str = "valid") -> str:
    return ctx.apply(node, Binary("Equal"), [value, _number(ctx, node, f"{what} at", 0)], what)


def _number(ctx: RealContext, node: TfliteNode, what: str, number: int) -> str:
    return ctx.constant_value(node, what, np.array(number, np.int32))
