"""What a firmware makes of a network's outputs, as settled numbers: golden computes it, and emit only spells it."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ir.quant import Array, DType
from codegen.records import record


@record
class Numbers:
    """An output of the network, whose element q is the real number scale * (q - zero_point); floats have no scale."""

    name: str
    dtype: DType
    scale: float | None
    zero_point: int


@record
class Source:
    """Where numbers of a grid lie: element first + row * .. + column * .. + anchor * .. + channel * .. of an output."""

    output: int
    first: int
    row: int
    column: int
    anchor: int
    channel: int


@record(kw_only=True, eq=False)
class Level:
    """One grid of cells, each of which proposes as many boxes as `sizes` has rows.

    A cell is `step` (x, y) pixels of the network's picture.  `sizes` [anchors, 2] are pixels too, x first; what they
    are of says the decoder.  A box is not found whose object, or best label where there are no objects, has a number
    that is not above `bar`.
    """

    rows: int
    columns: int
    step: tuple[float, float]
    sizes: Array
    box: Source
    labels: Source
    objects: Source | None
    points: Source | None
    bar: float | None = None

    @property
    def anchors(self) -> int:
        """Boxes of a cell."""
        return len(self.sizes)

    @property
    def boxes(self) -> int:
        """Of all cells."""
        return self.rows * self.columns * self.anchors


@record(kw_only=True, eq=False)
class Boxes:
    """Boxes that were proposed, the best of those that overlap.

    `decode` names the C that makes a box of `raw` numbers (lam_box_DECODE), `activation` what becomes of the numbers
    behind a score, `score` how an object's and a label's become one (lam_score_SCORE).  Boxes of one label suppress
    each other where they overlap by more than `overlap`; of all labels when not `by_label`.  The first `background`
    labels of the network are of nothing.  `priors` [boxes, 4] (middle and size, x first) stand where a box has one of
    its own.  `order` are the channels of the raw numbers; `scales` divide those of a middle and those of a size.
    """

    decode: str
    levels: tuple[Level, ...]
    raw: int
    labels: int
    background: int
    activation: str
    score: str
    overlap: float
    candidates: int
    by_label: bool
    points: int
    priors: Array | None
    order: tuple[int, ...]
    scales: tuple[float, float] | None
    gap: float | None = None

    @property
    def firsts(self) -> tuple[int, ...]:
        """The number of the first box of each level."""
        found = [0]
        for level in self.levels:
            found.append(found[-1] + level.boxes)
        return tuple(found[:-1])


@record
class Ranking:
    """The labels of an output with the highest scores, after an activation of numbers divided by `temperature`."""

    output: int
    labels: int
    activation: str
    temperature: float


@record
class WakeWords:
    """Labels that are heard for a while: scores averaged over the last `window` runs.

    Nothing is found before `warm` runs, nor in the `hold` runs behind one that found something.  `watched` are the
    labels that count.
    """

    ranking: Ranking
    window: int
    warm: int
    hold: int
    watched: tuple[int, ...]


@record
class Transcript:
    """The best label of each step, without repetitions and without the label `blank`."""

    output: int
    steps: int
    labels: int
    step_stride: int
    label_stride: int
    blank: int


@record
class Member:
    """One member of what is found: name, `float` or `int32_t`, how many numbers."""

    name: str
    ctype: str
    count: int


@record(kw_only=True, eq=False)
class PostProgram:
    """A `[postprocess]` table for a network: at most `most` found, each with a score above `least`."""

    decode: str
    outputs: tuple[Numbers, ...]
    most: int
    least: float
    task: Boxes | Ranking | WakeWords | Transcript
    said: tuple[str, ...]

    @property
    def members(self) -> tuple[Member, ...]:
        """Of what is found."""
        if isinstance(self.task, Transcript):
            return Member("label", "int32_t", 1), Member("step", "int32_t", 1)
        scored = (Member("score", "float", 1), Member("label", "int32_t", 1))
        if not isinstance(self.task, Boxes):
            return scored
        points = (Member("points", "float", 2 * self.task.points),) if self.task.points else ()
        return (Member("box", "float", 4), *scored, *points)

    @property
    def state_bytes(self) -> int:
        """Of NAME_postprocess_t: a counter, what is found, then candidates or what was heard; members of 4 bytes."""
        found = 4 + self.most * words(self.members)
        if isinstance(self.task, Boxes):
            return found + 8 * self.task.candidates
        if isinstance(self.task, WakeWords):
            return found + 12 + 4 * self.task.window * self.task.ranking.labels
        return found


def words(members: Sequence[Member]) -> int:
    """Bytes of a record."""
    return 4 * sum(member.count for member in members)
