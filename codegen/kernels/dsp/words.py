"""Weights as words, in the order in which products of columns read them: of 8, of 16, and of few bits."""

from __future__ import annotations

import numpy as np

from codegen.ir.form import Field
from codegen.ir.quant import Array
from codegen.kernels.fast import filled
from codegen.kernels.packed import filled_to
from codegen.kernels.weighted import EACH_STORED_LESS, STORED_LESS, Weighted

_GROUP_BITS = 8
"""Groups of 1 bit that a word has."""


def words_of(groups: int, bits: int, *, wide: bool) -> int:
    """Words of so many groups of a channel's weights; `bits` are few, or 0."""
    return -(-groups * bits // _GROUP_BITS) if bits else groups * (2 if wide else 1)


def pack_words(weights: Array, pieces: int, together: int, passes: int = 1, *, wide: bool = False) -> Array:
    """Weights [channels, taps] as words, uint32: for `together` channels in turn, their next four.

    Each of the `pieces` equal parts of a row is filled with zeros to whole words, the channels to a multiple of
    `together`.  The taps are gone through in `passes` equal parts, each for all channels.  `wide`: instead of a word of
    four, the pair of its first and third and the pair of its second and fourth, 16 bits each.
    """
    channels = -(-weights.shape[0] // together) * together
    rows = filled(weights, channels).reshape(channels, pieces, -1)
    size = -(-rows.shape[2] // 4) * 4
    full = np.pad(rows, [(0, 0), (0, 0), (0, size - rows.shape[2])]).reshape(channels // together, together, -1, 4)
    fours = np.ascontiguousarray(full.transpose(0, 2, 1, 3)).astype(np.int64)
    words = _pairs(fours) if wide else (fours & 0xFF) @ (1 << 8 * np.arange(4))
    by_pass = words.astype(np.uint32).reshape(channels // together, passes, -1).swapaxes(0, 1)
    return by_pass.reshape(-1)


def panel_words(weights: Array, pieces: int, together: int, *, wide: bool) -> Array:
    """Weights [channels, taps] as words of panels, uint32 [turns, words]: of `together` channels the next four in turn.

    Each of the `pieces` equal parts of a row is filled with zeros to whole words.  `wide`: for each group the pairs of
    the first and third weight of all channels, then those of the second and fourth.
    """
    values = _in_turn(weights, pieces, together)
    words = _pairs(values).swapaxes(2, 3) if wide else (values & 0xFF) @ (1 << 8 * np.arange(4))
    return np.ascontiguousarray(words).astype(np.uint32).reshape(len(values), -1)


def few_words(weights: Array, pieces: int, together: int, bits: int) -> Array:
    """Weights of few bits [channels, taps] as words of lam_armv7em_panel_few.h, uint32 [turns, words].

    As `panel_words`; a word has the next four of both channels.  Of 2 bits it has the next eight, but that the first
    four are alone where not all words would be full.  Words of one channel alone are those of `pack_few`.
    """
    if together == 1:
        return pack_few(weights, pieces, 1, 1, bits).reshape(len(weights), -1)
    fields = _in_turn(weights, pieces, together) + (1 << (bits - 1)) & (1 << bits) - 1
    per_word = 4 // bits
    if fields.shape[1] % per_word:
        fields = np.insert(fields, 1, 0, axis=1)
    words = fields.reshape(len(fields), -1, per_word, together, 4).astype(np.uint64)
    groups, channels = np.arange(per_word)[:, None, None], np.arange(together)[:, None]
    places = 8 * groups + 2 * bits * channels + np.array([0, bits, 16, 16 + bits])
    return np.ascontiguousarray((words << places.astype(np.uint64)).sum(axis=(-3, -2, -1)).astype(np.uint32))


def _in_turn(weights: Array, pieces: int, together: int) -> Array:
    """Of `together` channels in turn the next four each, int64 [turns, groups, together, 4]; pieces end in zeros."""
    channels = weights.shape[0]
    fours = filled_to(weights.reshape(channels, pieces, -1), 4, axis=2).reshape(channels // together, together, -1, 4)
    return fours.transpose(0, 2, 1, 3).astype(np.int64)


def pack_few(weights: Array, pieces: int, together: int, passes: int, bits: int) -> Array:
    """Weights of few bits as words of lam_armv7em_few.h, in the same order, uint32.

    In each pass a channel's groups are filled to whole words with zeros.
    """
    channels = -(-weights.shape[0] // together) * together
    rows = filled(weights, channels).reshape(channels, pieces, -1)
    groups = filled_to(rows, 4, axis=2).reshape(channels, passes, -1, 4)
    per_word = 8 // bits
    words = filled_to(groups, per_word, axis=2).reshape(channels, passes, -1, per_word, 4).astype(np.uint32)
    fields = words + np.uint32(1 << (bits - 1)) & np.uint32((1 << bits) - 1)
    places = 2 * bits * np.arange(per_word)[:, None] + np.array([0, bits, 16, 16 + bits])
    packed = (fields.astype(np.uint64) << places.astype(np.uint64)).sum(axis=(-2, -1)).astype(np.uint32)
    in_turn = packed.reshape(channels // together, together, passes, -1).transpose(2, 0, 3, 1)
    return np.ascontiguousarray(in_turn).reshape(-1)


def shift_fields(sums: Weighted, bits: int, channels: int, *, wide: bool) -> tuple[Field, ...]:
    """Params `w_shift`: what weights are less than what is stored of them."""
    if sums.less is not None:
        shifts = filled(sums.less - (1 << (bits - 1)), channels).astype(np.int8)
        return (Field("w_shift", shifts, about=EACH_STORED_LESS),)
    if bits:
        return (Field("w_shift", np.array([-(1 << (bits - 1))], np.int32), about=STORED_LESS),)
    return () if wide else sums.shift_fields()


def row_pairs(rows: int, columns: int) -> int:
    """Pairs of a depthwise window: of neighbouring kernel rows, and of neighbouring taps of a row without a partner."""
    return rows // 2 * columns + rows % 2 * (columns // 2)


def row_pair_bytes(rows: int, columns: int, bits: int) -> int:
    """Bytes of a channel's weights in the order of lam_armv7em_slide.h: whole words, and what has no partner at all."""
    return 4 * -(-row_pairs(rows, columns) * (bits or 8) // 16) + rows % 2 * columns % 2


def pack_row_pairs(weights: Array, bits: int, less: Array | None = None) -> Array:
    """Depthwise weights [channels, rows, columns, 1] in that order, uint8 [channels, bytes]; `bits` are few, or 0.

    `less`: what is taken off the few bits of each channel; a byte of it, less half of what the bits hold, comes first.
    """
    taps = weights[..., 0].astype(np.int64)
    off = np.zeros(len(taps), np.int64) if less is None else less.astype(np.int64)
    channels, rows, columns = taps.shape
    paired, even = rows // 2 * 2, columns // 2 * 2
    down = taps[:, :paired].reshape(channels, -1, 2, columns).swapaxes(2, 3).reshape(channels, -1, 2)
    along = taps[:, paired:, :even].reshape(channels, -1, 2)
    per_word = 16 // (bits or 8)
    pairs = filled_to(np.concatenate([down, along], axis=1), per_word, axis=1).reshape(channels, -1, per_word, 2)
    half = 1 << (bits - 1) if bits else 0
    fields = pairs - off[:, None, None, None] + half & (1 << (bits or 8)) - 1
    places = (bits or 8) * np.arange(per_word)[:, None] + np.array([0, 16])
    words = (fields << places).sum(axis=(-2, -1)).astype("<u4").view(np.uint8)
    alone = taps[:, paired:, even:].reshape(channels, -1).astype(np.int8).view(np.uint8)
    first = [] if less is None else [(off - half).astype(np.int8).view(np.uint8).reshape(channels, 1)]
    return np.concatenate([*first, words, alone], axis=1)


def _pairs(fours: Array) -> Array:
    """Pairs (0, 2) and (1, 3) of the last axis, as words."""
    return (fours[..., :2] & 0xFFFF) | ((fours[..., 2:] & 0xFFFF) << 16)
