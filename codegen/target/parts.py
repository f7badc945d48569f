"""Facts of a chip that its generated C does not depend on: its clock, its speed, an accelerator beside it.

Decides: what is known beside memories and instructions.  Leaves to `read` how it is spelled in a file.
"""

from __future__ import annotations

from codegen.records import record


@record
class Clock:
    """The highest clock of the core that runs the network; `source` says where it stands."""

    hz: int
    source: str


@record
class Rates:
    """What a hundred products take and a hundred outputs besides: instructions, cycles where memory never waits."""

    instructions: tuple[int, int]
    cycles: tuple[int, int]


AMOUNTS = 6
"""Numbers of a kernel's rates: products, outputs, rows, what is gathered, in how many pieces, and beside padding."""


@record
class KernelRates:
    """What a thousand of each of `Work.amounts` take with a kernel, by kind of layer and width of weights."""

    name: str
    kind: str
    instructions: tuple[int, ...]
    cycles: tuple[int, ...]
    bits: int = 8


@record
class Speed:
    """About what layers take on a core, by their kind; `source` says how that was found.

    `grouped` are convolutions of few channels each, `dense` layers that use each weight once; of layers without
    products elements count as such: `pair` of two inputs, `element` of one.  `pixels` are made by one reading of the
    weights.  One instruction makes `products` at most, and moves `bytes`: a load or store of one fixed width.  A layer
    with a kernel of `kernels` takes what is said of that, and not of its kind.
    """

    convolution: Rates
    grouped: Rates
    dense: Rates
    element: Rates
    pair: Rates
    source: str
    products: int = 1
    bytes: int = 4
    pixels: int = 1
    kernels: tuple[KernelRates, ...] = ()


@record(kw_only=True)
class Rule:
    """What a chip asks of an operator's fact (`codegen.ops.facts`).

    `operators` empty means every operator that has the fact.  `sentence` says the rule to the user, `source` where it
    stands, `instead` the rewrite that would satisfy it.
    """

    operators: tuple[str, ...]
    fact: str
    at_least: int | None
    at_most: int | None
    multiple_of: int | None
    one_of: tuple[int, ...]
    sentence: str
    source: str
    instead: str

    def holds(self, value: int) -> bool:
        """Whether a fact of this value satisfies the rule."""
        return not (
            (self.at_least is not None and value < self.at_least)
            or (self.at_most is not None and value > self.at_most)
            or (self.multiple_of is not None and value % self.multiple_of)
            or (self.one_of and value not in self.one_of)
        )


RESTS = ("refused", "cpu")


@record(kw_only=True)
class Accelerator:
    """A unit beside the core that the maker's own tools compile for: what it takes of a network.

    No code is written for it here.  `rest` says what becomes of a layer that breaks one of `rules`: it is `refused`,
    or left to the `cpu`, as the maker's tools do by what `source` names.
    """

    title: str
    rest: str
    source: str
    rules: tuple[Rule, ...]
