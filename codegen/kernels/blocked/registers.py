"""What a core without vector instructions can hold, and which block of sums that allows: the cost model.

A block is `pixels` x `channels` sums in registers.  A tap of the kernel then takes pixels + channels loads for pixels *
channels products, so that large blocks load less per product, until the registers are full.  The model counts
instructions; tests/e2e/test_blocked_counts.py compares what it says with counts on emulated chips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise, product

from codegen.ir.form import Mix
from codegen.kernels.blocked.cores import SHORT_TURN, Core
from codegen.records import record

_MOST_PIXELS = 8
_CHANNELS = (1, 2, 4, 8)
_UNEVEN = (3, 6)
"""Of most numbers of channels these leave some over, which are code of their own: worth it where they save 5 %."""
_WORTH_A_REST = 0.95
_NO_REST = 24
"""Channels of which no group leaves any over: what a row costs per channel where their number is not to count."""
_POINTERS = 2
_LOOP = 4
_RUN = 6
_CHANNEL = 4
_GROUP = 12
_PAIRS_CALL = 110
_COPIED_RUN = 6
"""Instructions around the copy of a run."""
_CALLED_RUN = 20
"""The same where padding is put beside it."""
_SHORT_COPY = 12
_WORTH_A_VARIANT = 0.97
_FIELDS = 8
"""Weights of few bits of an element, about: what their mix counts as a load."""
_WHOLE_RUN, _LONG_RUN = 12, 128
"""Taps that are written out without a loop, and those of each of several runs from which on a core may take longer
turns."""


@record
class Work:
    """One row of outputs: `width` pixels, `taps` products each, in runs of `run` that lie together in memory.

    `step` is the distance in bytes of the inputs of two neighbouring pixels.  `two_groups`: a single pixel may take two
    groups of channels at once, whose weights lie one behind the other, of a core that does so.  `c_out` is how many
    channels there are, where uneven groups may be made of them.
    """

    width: int
    taps: int
    run: int
    step: int
    two_groups: bool = False
    c_out: int = 0
    few: bool = False


@record
class Choice:
    """The blocks of a row: (first pixel, pixels) from left to right, `channels` each; `cost` per product.

    The last block may overlap the one before it: its pixels are made twice.  With `two_groups` a single pixel beside
    larger blocks takes twice the channels.
    """

    channels: int
    blocks: tuple[tuple[int, int], ...]
    cost: float
    two_groups: bool = False

    def channels_of(self, pixels: int) -> int:
        """The channels of a block of so many pixels."""
        return 2 * self.channels if self.two_groups and pixels == 1 else self.channels

    @property
    def once(self) -> bool:
        """Whether each pixel is made once."""
        return all(before + pixels <= first for (before, pixels), (first, _) in pairwise(self.blocks))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The different numbers of pixels, largest first."""
        return tuple(sorted({pixels for _, pixels in self.blocks}, reverse=True))


def unrolled(run: int) -> int:
    """Taps per turn of the inner loop."""
    return run if run <= _WHOLE_RUN else SHORT_TURN


def turn_of(core: Core, work: Work) -> int:
    """The same for blocks of a row, whose code is used for every pixel."""
    long = work.taps == work.run or work.run >= _LONG_RUN
    return core.turn if long and work.width > 1 and work.run % core.turn == 0 else unrolled(work.run)


def in_windows(core: Core, work: Work, c_out: int) -> Work | None:
    """The same with the windows of a block copied, so that each is one run: where that saves with so many channels.

    All channels of a block read the copy: short runs gain where the groups are many.  A layer of more channels has it
    if one of fewer has, whose scratch is the other's too.
    """
    if work.run == work.taps or work.width == 1:
        return None
    plain = replace(work, two_groups=False, c_out=_NO_REST if work.c_out else 0)
    windows = replace(plain, run=work.taps, step=work.taps)
    cost = choose(core, windows).cost + _copied(core, work).instructions / (work.taps * c_out)
    if cost >= choose(core, plain).cost * _WORTH_A_VARIANT:
        return None
    return replace(windows, two_groups=work.two_groups, c_out=work.c_out)


def windows_bytes(core: Core, windows: Work) -> int:
    """Scratch for the windows of the largest block, of any number of channels."""
    kinds = product((False, True), (0, _NO_REST))
    choices = [choose(core, replace(windows, two_groups=two, c_out=n)) for two, n in kinds]
    return max(size for choice in choices for size in choice.sizes) * windows.taps


def _copied(core: Core, work: Work) -> Mix:
    """What the copy of one window takes."""
    moved = work.taps * core.copied // 2
    return Mix(work.taps // work.run * _COPIED_RUN, load=moved, store=moved)


@cache
def choose(core: Core, work: Work, *, once: bool = False) -> Choice:
    """The cheapest blocks of a row, of those that make each pixel `once` where that is asked for."""
    even = _cheapest(core, work, _CHANNELS, once=once)
    if not (core.uneven and work.c_out):
        return even
    uneven = _cheapest(core, work, _UNEVEN, once=once)
    return uneven if uneven.cost < even.cost * _WORTH_A_REST else even


def _cheapest(core: Core, work: Work, channels: tuple[int, ...], *, once: bool) -> Choice:
    """The same of blocks of so many channels.

    A second size of block is more code, and is taken where it saves 3 %.
    """
    choices = [c for n, cover in _candidates(core, work, channels) for c in _choices(core, work, n, cover)]
    choices = [choice for choice in choices if choice.once or not once]
    best = min(choices, key=_order)
    plain = min((c for c in choices if len(c.sizes) == 1), key=_order)
    return best if best.cost < plain.cost * _WORTH_A_VARIANT else plain


def _order(choice: Choice) -> tuple[float, int, int]:
    return choice.cost, -choice.channels, len(choice.blocks)


def fits(core: Core, work: Work, pixels: int, channels: int) -> bool:
    """Whether the sums, the inputs of one tap and the pointers stay in registers.

    The fewer of a tap's inputs and weights are held, the others pass through one register; a core without
    multiply-accumulate needs one more for the product.  A pointer reaches some of the pixels only.
    """
    if core.pairs and pixels == channels == 2:
        return True
    return _held(core, work, pixels, channels) <= core.registers or pixels == channels == 1


def _held(core: Core, work: Work, pixels: int, channels: int) -> int:
    """Registers that a block takes, but for the element that weights of few bits are taken out of."""
    inputs = -(-((pixels - 1) * work.step + turn_of(core, work)) // core.reach)
    return pixels * channels + min(pixels, channels) + 1 + (core.product > 1) + _POINTERS + inputs


def _spilled(core: Core, work: Work, pixels: int, channels: int) -> bool:
    """Whether that element takes a register which the block has not: a tap's input is stored and loaded then."""
    return work.few and not core.pairs and _held(core, work, pixels, channels) + 1 > core.registers


def _candidates(
    core: Core, work: Work, numbers: tuple[int, ...] = _CHANNELS
) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
    for channels in numbers:
        for pixels in range(1, min(work.width, _MOST_PIXELS) + 1):
            if fits(core, work, pixels, channels):
                yield from ((channels, cover) for cover in covers(work.width, pixels))


def covers(width: int, pixels: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Ways to cover a row by blocks of one size and at most one smaller."""
    full, rest = divmod(width, pixels)
    even = tuple((i * pixels, pixels) for i in range(full))
    if not rest:
        yield even
        return
    yield (*even, (width - pixels, pixels))
    yield (*even, (width - rest, rest))
    if full > 1 and (pixels + rest) % 2 == 0:
        half = (pixels + rest) // 2
        yield (*even[:-1], (width - 2 * half, half), (width - half, half))


def _choices(core: Core, work: Work, channels: int, cover: tuple[tuple[int, int], ...]) -> Iterator[Choice]:
    yield _choice(core, work, Choice(channels, cover, 0))
    reached = (work.taps + turn_of(core, work)) * channels <= core.reach
    single = min(pixels for _, pixels in cover) == 1 and len({pixels for _, pixels in cover}) > 1
    if work.two_groups and core.two_groups and single and reached and fits(core, work, 1, 2 * channels):
        yield _choice(core, work, Choice(channels, cover, 0, two_groups=True))


def _choice(core: Core, work: Work, choice: Choice) -> Choice:
    """The same with what it costs."""
    blocks = ((pixels, choice.channels_of(pixels)) for _, pixels in choice.blocks)
    per_channel = sum(_per_channel(core, work, pixels, channels) for pixels, channels in blocks)
    return replace(choice, cost=per_channel / (work.width * work.taps))


def _per_channel(core: Core, work: Work, pixels: int, channels: int) -> float:
    """Instructions of one block for a channel; of uneven groups, with what they leave over."""
    if channels in _UNEVEN and work.c_out:
        groups, rest = divmod(work.c_out, channels)
        over = _group(core, work, pixels, rest) if rest else 0
        return (groups * _group(core, work, pixels, channels) + over) / work.c_out
    return _group(core, work, pixels, channels) / channels


def _group(core: Core, work: Work, pixels: int, channels: int) -> float:
    """Instructions of one block."""
    if core.pairs and pixels == channels == 2:
        sums = work.taps * core.pairs + work.taps // work.run * _PAIRS_CALL
    else:
        sums = work.taps * _tap(core, pixels, channels, few=work.few) + -(-work.taps // turn_of(core, work)) * _LOOP
    sums += 2 * work.taps * _spilled(core, work, pixels, channels)
    rows = work.taps // work.run
    return sums + (rows * _RUN if rows > 1 else 0) + channels * (_CHANNEL + pixels * core.requant) + _GROUP


_LONG = Work(_MOST_PIXELS, 64, 64, 1)
"""A layer whose blocks are limited by nothing but registers."""


@cache
def tap_limit(core: Core, *, single: bool) -> tuple[int, int, int]:
    """Pixels and channels of the block that takes least for a tap's products, and its instructions.

    `single`: of rows of one pixel.
    """
    width = 1 if single else _MOST_PIXELS
    blocks = [(p, c, _tap(core, p, c)) for c in _CHANNELS for p in range(1, width + 1) if fits(core, _LONG, p, c)]
    return min(blocks, key=lambda block: block[2] / (block[0] * block[1]))


def _tap(core: Core, pixels: int, channels: int, *, few: bool = False) -> int:
    """Instructions of a tap of a block: its loads, or what takes weights of few bits out of elements, and products."""
    if core.pairs and pixels == channels == 2:
        return core.pairs
    weight = core.field if few else core.load
    return core.load * pixels + weight * channels + core.product * pixels * channels


_INSTRUCTION, _OUTPUT_CODE, _GROUP_CODE = 4, 28, 120
"""Bytes of machine code at -O3: of an instruction of the products, of an output, of a group's other work."""


def code_bytes(core: Core, work: Work, choice: Choice, c_out: int) -> int:
    """About how much code the blocks are, each size of them for each number of channels at a time."""
    found = 0
    for pixels in choice.sizes:
        groups, rest = divmod(c_out, choice.channels_of(pixels))
        numbers = [choice.channels_of(pixels)] * (groups > 0) + [rest] * (rest > 0)
        found += sum(_group_code(core, work, pixels, channels) for channels in numbers)
    return found


def _group_code(core: Core, work: Work, pixels: int, channels: int) -> int:
    """The same of one block: the taps of a turn, and those that turns leave over."""
    turn = min(turn_of(core, work), work.run)
    tap = pixels + channels + core.product * pixels * channels
    return (turn + work.run % turn) * tap * _INSTRUCTION + pixels * channels * _OUTPUT_CODE + _GROUP_CODE


def windows_mix(core: Core, work: Work) -> Mix:
    """What the copies of a row's windows take; `work` is as it was without them."""
    return _copied(core, work).times(work.width)


def copied_mix(core: Core, runs: int, size: int) -> Mix:
    """What copies of so many runs take that are `size` bytes in all: compilers write out short ones."""
    each = core.called if core.called and size > _SHORT_COPY * runs else core.copied
    turns = size if each > core.copied else 0
    return Mix(runs * _CALLED_RUN + (each - 2) * size - turns, load=size, store=size, taken=turns)


def adds_zeros(core: Core, work: Work, choice: Choice, c_out: int) -> bool:
    """Whether zero points are added to weights as they are taken out: that takes less, and there are registers."""
    blocks = ((pixels, min(choice.channels_of(pixels), c_out)) for pixels in choice.sizes)
    held = all(_held(core, work, pixels, n) + 1 + n <= core.registers for pixels, n in blocks)
    return held and _added(work, choice, c_out).instructions < _summed(core, work, choice, c_out).instructions


def zeros_mix(core: Core, work: Work, choice: Choice, c_out: int) -> Mix:
    """What zero points of outputs take in a row."""
    adds = adds_zeros(core, work, choice, c_out)
    return _added(work, choice, c_out) if adds else _summed(core, work, choice, c_out)


def _added(work: Work, choice: Choice, c_out: int) -> Mix:
    """Where they are added to weights."""
    return Mix(work.taps * c_out, load=c_out).times(len(choice.blocks))


def _summed(core: Core, work: Work, choice: Choice, c_out: int) -> Mix:
    """With the sum of each pixel's inputs, and a product in each output."""
    turns = work.taps * len(choice.blocks)
    return Mix(
        (core.load * work.taps + _CHANNEL * c_out) * work.width + turns, load=work.taps * work.width, taken=turns
    )


def conv_mix(core: Core, work: Work, choice: Choice, c_out: int) -> Mix:
    """What one row of all channels takes, by the same count.

    Of weights of few bits, channels that no group holds count as many as they are: layers of few outputs are compared.
    """
    blocks = ((pixels, choice.channels_of(pixels)) for _, pixels in choice.blocks)
    return sum((_groups_mix(core, work, pixels, n, c_out) for pixels, n in blocks), Mix())


def _groups_mix(core: Core, work: Work, pixels: int, channels: int, c_out: int) -> Mix:
    if not work.few:
        return _group_mix(core, work, pixels, channels).times(-(-c_out // channels))
    groups, rest = divmod(c_out, channels)
    over = _group_mix(core, work, pixels, rest) if rest else Mix()
    return _group_mix(core, work, pixels, channels).times(groups) + over


def _group_mix(core: Core, work: Work, pixels: int, channels: int) -> Mix:
    total, products = _group(core, work, pixels, channels), work.taps * pixels * channels
    spilled = work.taps * _spilled(core, work, pixels, channels)
    elements = work.taps * channels / _FIELDS if work.few else 0.0
    loads = work.taps * (pixels + (0 if work.few else channels)) + spilled + channels + elements
    stored = pixels * channels + spilled
    turns = -(-work.taps // turn_of(core, work))
    added = products if core.product == 1 else 0
    return Mix(
        total + elements - loads - stored - added - turns, load=loads, store=stored, multiply_add=added, taken=turns
    )


@record
class Tiles:
    """One row of outputs, made as pairs of neighbours: `taps` products of a pair in each plane."""

    width: int
    taps: int

    @property
    def pairs(self) -> int:
        """Pairs in the row; of an odd width the last one shares an output."""
        return -(-self.width // 2)


_PLANES, _PAIR = 4, 6
_WIDER = 0.02
"""What a pixel more in a block must save: its inputs take scratch."""


@cache
def choose_tiles(core: Core, work: Tiles) -> Choice:
    """The cheapest blocks of pairs, all of one size; of a row of odd width the last one begins a pixel earlier."""
    choices = (choice for choice in _tile_choices(core, work) if len(choice.sizes) == 1)
    return min(choices, key=lambda c: (c.cost * (1 + _WIDER * c.sizes[0]), -c.channels))


def _tile_choices(core: Core, work: Tiles) -> Iterator[Choice]:
    plane = Work(work.pairs, work.taps, work.taps, 1)
    for channels, cover in _candidates(replace(core, pairs=0), plane):
        *before, (_, last) = cover
        if 2 * last <= work.width:
            mix = sum((_tile_group(core, work, pairs, channels) for _, pairs in cover), Mix())
            blocks = (*((2 * first, 2 * pairs) for first, pairs in before), (work.width - 2 * last, 2 * last))
            yield Choice(channels, blocks, mix.instructions / channels / (work.width * work.taps * 3))


def tiles_mix(core: Core, work: Tiles, choice: Choice, c_out: int) -> Mix:
    """What one row of all channels takes, inputs transformed for each block."""
    groups = -(-c_out // choice.channels)
    blocks = [pixels // 2 for _, pixels in choice.blocks]
    parts = (_tile_group(core, work, n, choice.channels).times(groups) + _transform(core, work, n) for n in blocks)
    return sum(parts, Mix())


def _tile_group(core: Core, work: Tiles, pairs: int, channels: int) -> Mix:
    """Some channels of a block: the sums of four planes, and the outputs that they make."""
    sums, turns = pairs * channels, -(-work.taps // unrolled(work.taps))
    products = work.taps * sums
    other = (core.product - 1) * products + turns * (_LOOP - 1) + _RUN + sums
    added = (0, products) if core.product == 1 else (products, 0)
    plane = Mix(
        other + added[0], core.load * work.taps * (pairs + channels), store=sums, multiply_add=added[1], taken=turns
    )
    outputs = Mix(
        sums * (_PAIR + 2 * (core.requant - 1)) + _GROUP, sums * _PLANES + channels * _CHANNEL, store=2 * sums
    )
    return plane.times(_PLANES) + outputs


def _transform(core: Core, work: Tiles, pairs: int) -> Mix:
    """The four planes of a block's inputs."""
    tap = Mix(_PLANES * pairs + _LOOP, core.load * (2 * pairs + 2), store=_PLANES * pairs, taken=1)
    return tap.times(work.taps)


@record
class Slide:
    """One row of a depthwise convolution: `width` outputs of `rows` x `columns` taps; steps are along the row."""

    width: int
    rows: int
    columns: int
    stride: int
    dilation: int

    def inputs(self, pixels: int) -> list[int]:
        """The columns that `pixels` outputs read, counted from the first one's first tap."""
        taps = range(self.columns)
        return sorted({p * self.stride + j * self.dilation for p in range(pixels) for j in taps})


def choose_slide(core: Core, slide: Slide) -> Choice:
    """The cheapest blocks of outputs of one channel, whose weights stay in registers for a kernel row at a time."""
    choices = [
        _slide_choice(core, slide, cover) for n in _slide_pixels(core, slide) for cover in covers(slide.width, n)
    ]
    return min(choices, key=lambda c: (c.cost * (1 + 0.02 * len(c.sizes)), len(c.blocks)))


def slide_limit(core: Core, slide: Slide) -> tuple[int, int]:
    """Outputs of the block that takes least for a product, and the instructions of its loads and products."""
    blocks = [(n, slide.rows * _slide_row(core, slide, n)) for n in _slide_pixels(core, slide)]
    return min(blocks, key=lambda block: block[1] / block[0])


def _slide_pixels(core: Core, slide: Slide) -> Iterator[int]:
    """Numbers of outputs that there are registers for."""
    for pixels in range(1, min(slide.width, _MOST_PIXELS) + 1):
        pointers = slide.rows if slide.rows <= UNROLLED_ROWS else 1
        held = pixels + slide.columns + 1 + (core.product > 1) + pointers + 1
        if held <= core.registers + core.high or pixels == 1:
            yield pixels


def _slide_row(core: Core, slide: Slide, pixels: int) -> int:
    """Loads and products of a kernel row."""
    loads = slide.columns + len(slide.inputs(pixels))
    product = core.product + (core.high > 0)
    return core.load * loads + product * pixels * slide.columns


def _slide_choice(core: Core, slide: Slide, cover: tuple[tuple[int, int], ...]) -> Choice:
    total = sum(slide.rows * (_slide_row(core, slide, n) + 1) + n * core.requant + _CHANNEL + _GROUP for _, n in cover)
    return Choice(1, cover, total / (slide.width * slide.rows * slide.columns))


def slide_mix(core: Core, slide: Slide, choice: Choice) -> Mix:
    """What one row of one channel takes, of a core whose products are one instruction."""
    parts = (_block_mix(core, slide, pixels) for _, pixels in choice.blocks)
    return sum(parts, Mix())


def _block_mix(core: Core, slide: Slide, pixels: int) -> Mix:
    loads = slide.rows * (slide.columns + len(slide.inputs(pixels)))
    products = slide.rows * slide.columns * pixels
    calls = slide.rows + pixels * (core.requant - 1) + _CHANNEL + _GROUP
    return Mix(other=calls, load=loads, store=pixels, multiply_add=products, taken=1)


UNROLLED_ROWS = 3
"""Kernel rows written out one after another, each with a pointer of its own; more of them are a loop."""
