"""Which kernel serves which node, and what its packed parameters may take.

Of the forms that say what a row of theirs takes, the one of the least estimated cycles is the fastest (`[cycles]` of
the target); of others, the first one in the table.  What Helium's kernels say is counted closely: blocks in C stand
beside them with a quarter more than they say.
Fast kernels fill channels and taps of their weights.  By default the parameters of a network grow by 2 % at most over
the least ones that kernels of the level have, or by 512 bytes where that is more, so that small networks are not kept
from fast kernels by a few bytes: the layers that would gain least per added byte get their tightest kernel instead.
Goal `speed` allows a quarter, and asks kernels of wide weights too where they come beside the others and flash has
room; `size` allows the 2 % alone.  By default a layer has the fast kernel, wide weights, or larger factors, too where
that pays in proportion: where the share of the network's cycles that it saves is no less than three quarters of the
share of its flash that it adds.  Of kernels that do not say what they take, the share of its products counts.  Longer
blocks of the same kernel are weighed likewise, or may add a kilobyte of code in all.
Weights of few bits count as bytes there, and their layers get the fastest kernel.
A target that says `weights.expand` has no such limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction

from codegen.errors import CompileError, ModelRejected, NoKernel
from codegen.ir.form import Form, Mix
from codegen.ir.graph import Graph, Node
from codegen.ir.op import NodeView
from codegen.ir.plan import NodeNeeds
from codegen.kernels.table import TABLE, KernelTable
from codegen.ops import answers
from codegen.records import record
from codegen.target import BESIDE, FEATURES, OFFERED, Cycles, Target

MOST_GROWTH = Fraction(2, 100)
"""By how much packing may increase the parameters of a network."""
MOST_GROWTH_FOR_SPEED = Fraction(1, 4)
"""The same with goal `speed`."""
SPARE_BYTES = 512
"""What packing may add in any case, but with goal `size`."""
_FUNCTION_BYTES = 1000
"""Code of a kernel's function at -O3, about, on cores without SIMD: flash has to have room for that too."""
_WIDER_FUNCTION_BYTES = 1600
"""By about how much one for wide weights is longer than the one that it replaces."""
_TIME_WEIGHT = Fraction(4, 3)
"""What a share of the cycles counts beside an equal one of flash: chosen so that by cycles, most of which are loads,
the networks of MLPerf Tiny have the wide weights and longer blocks that pay by instructions."""
_CODE_WEIGHT = Fraction(2, 5)
"""What a byte counts by which blocks of the same kernel are longer: chosen so that resnet8 and keyword spotting, which
are fast by them, have them."""
_INSTRUCTION = 4
"""Bytes of one, at most."""
_SPARE_CODE_BYTES = 1024
"""By how much they may be longer in any case: a network of few functions is not kept from fast ones."""
_OTHER_WORK = Mix(other=1, load=1, multiply_add=1)
"""What a product, or an element, takes of kernels that do not say what a row takes."""
_BLOCKS, _BESIDE_VECTORS = "blocked/", 1.25
"""Templates of blocks in C, which may take a quarter more than they say: beside Helium's kernels, which are counted
closely, they are taken to."""
_HARDLY_LONGER, _LONGER = 1.05, 1.5
"""Over the cycles of the fastest form, what one of less scratch may take where memory is short, and what one of half
its scratch: windows without planes of Winograd's pairs, and not plain C in place of SMLAD's panels."""


def choose_kernels(
    graph: Graph, target: Target, table: KernelTable = TABLE, *, goal: str = "balanced"
) -> dict[int, Form]:
    """Form by node index, views left out: the fastest ones whose parameters grow by no more than the target allows.

    Goal `memory`: of forms that say what they take, and are not far slower than the fastest, the one of the least
    scratch; `size`: the first one of the table.

    Raises with every node that has none.
    """
    chosen = _chosen(graph, target, target.isa, table, goal)
    if goal not in ("balanced", "speed"):
        return chosen
    if goal == "speed" and target.isa in BESIDE and target.dma is None:
        wide = _chosen(graph, target, BESIDE[target.isa], table, goal)
    else:
        wide = {**chosen, **_paying(graph, target, chosen, table)}
    fits = target.flash_bytes is None or _flash_bytes(wide.values()) <= target.flash_bytes
    return wide if fits else chosen


@record(eq=False)
class _Offer:
    """Forms of layers that one function serves, by node index, in place of the chosen ones.

    For `saved` cycles they take `params` more bytes of parameters, and of code what longer blocks of the same
    kernel are, or what a form says of its own beside one that says nothing.  `counted`: kernels say what they take;
    else all that their layers' products would is `saved`.
    """

    forms: Mapping[int, Form]
    counted: bool
    saved: float
    params: int
    code: int


def _paying(graph: Graph, target: Target, chosen: Mapping[int, Form], table: KernelTable) -> dict[int, Form]:
    """Forms of more flash by node index, where they save as large a share of cycles as they add of flash, or 3/4 of it.

    Of several forms the fastest that pays is taken; longer blocks that do not pay are, while they are few bytes.
    """
    views = {i: graph.view(graph.nodes[i]) for i in chosen}
    functions = _offers(views, target, chosen, table)
    work = sum(_cycles(views[i], form, target.cycles) for i, form in chosen.items())
    flash = _flash_bytes(chosen.values()) if functions else 0
    taken, left = [], []
    for offers in functions:
        pays = (o for o in offers if _TIME_WEIGHT * o.saved * flash >= (o.params + _CODE_WEIGHT * o.code) * work)
        found = next(pays, None)
        taken += [found] if found else []
        left += [o for o in offers if not found and o.code and not o.params][:1]
    taken += _within_spare(left)
    return {i: replace(form, why=f"{form.why}; {_said(o, work, flash)}") for o in taken for i, form in o.forms.items()}


def _said(offer: _Offer, work: float, flash: int) -> str:
    share = (offer.params + offer.code) / flash
    what = ("saves", "cycles") if offer.counted else ("makes", "products")
    return f"{what[0]} {offer.saved / work:.1%} of the network's {what[1]} for {share:.1%} more flash"


def _within_spare(offers: Sequence[_Offer]) -> Sequence[_Offer]:
    """Those that save most for a byte of code, as far as the code goes that is spared in any case."""
    left, taken = _SPARE_CODE_BYTES, []
    for offer in sorted(offers, key=lambda o: (-o.saved / o.code, min(o.forms))):
        if offer.code <= left:
            left -= offer.code
            taken.append(offer)
    return taken


def _offers(
    views: Mapping[int, NodeView], target: Target, chosen: Mapping[int, Form], table: KernelTable
) -> Sequence[Sequence[_Offer]]:
    """What layers of equal context, which share a function, could have instead, the fastest first."""
    functions: dict[object, dict[int, Sequence[Form]]] = {}
    for i, form in chosen.items():
        faster = _faster(views[i], form, target, table)
        functions.setdefault((form.context, tuple(f.context for f in faster)), {})[i] = faster
    by_rank = (
        [dict(zip(layers, forms, strict=True)) for forms in zip(*layers.values(), strict=True)]
        for layers in functions.values()
    )
    return [[_offer(views, target.cycles, chosen, forms) for forms in ranks] for ranks in by_rank if ranks]


def _offer(
    views: Mapping[int, NodeView], cycles: Cycles | None, chosen: Mapping[int, Form], forms: Mapping[int, Form]
) -> _Offer:
    saved = float(sum(_saved(views[i], chosen[i], form, cycles) for i, form in forms.items()))
    params = sum(form.params_bytes - chosen[i].params_bytes for i, form in forms.items())
    i, form = next(iter(forms.items()))
    counted = form.mix is not None and chosen[i].mix is not None
    if form.kernel != chosen[i].kernel and not (form.code_bytes and not chosen[i].code_bytes):
        return _Offer(forms, counted, saved, params + _WIDER_FUNCTION_BYTES, 0)
    return _Offer(forms, counted, saved, params, form.code_bytes - chosen[i].code_bytes)


def pays(graph: Graph, chosen: Mapping[int, Form], index: int, more: Form, target: Target) -> bool:
    """Whether a form of longer blocks saves as large a share of cycles as it adds of flash, or 3/4 of it."""
    form, view = chosen[index], graph.view(graph.nodes[index])
    saved = _saved(view, form, more, target.cycles)
    code = Fraction(_block_code(view, more) - _block_code(view, form))
    added = more.params_bytes - form.params_bytes + _CODE_WEIGHT * code
    work = sum(_cycles(graph.view(graph.nodes[i]), one, target.cycles) for i, one in chosen.items())
    return bool(_TIME_WEIGHT * saved * _flash_bytes(chosen.values()) >= added * Fraction(work))


def _block_code(view: NodeView, form: Form) -> float:
    """About the code of a block that makes outputs of one channel after another, where the form says what it takes."""
    return 0.0 if form.mix is None else _INSTRUCTION * form.mix.instructions * form.rows / view.outs[0].shape[-1]


def _flash_bytes(forms: Collection[Form]) -> int:
    """What a network of these takes, about."""
    functions = {(form.kernel, form.context) for form in forms}
    return sum(form.params_bytes for form in forms) + _FUNCTION_BYTES * len(functions)


def _faster(view: NodeView, chosen: Form, target: Target, table: KernelTable) -> Sequence[Form]:
    """The forms that take fewer cycles than the chosen one, for which they take more flash, the fastest first.

    Of forms that do not say what they take the first one of the table.  Parameters that are read through a buffer, or
    copied to a scratchpad, stay as they are.
    """
    free = target.dma is None and target.weights.buffer_bytes is None
    fitting = [*table.fitting(view, FEATURES[OFFERED.get(target.isa, target.isa)])]
    if fitting[0].mix is None or chosen.mix is None:
        return fitting[:1] if free and fitting[0].params_bytes > chosen.params_bytes else []
    most = estimated_cycles(chosen.mix, target.cycles)
    timed = [
        (estimated_cycles(form.mix, target.cycles), form)
        for form in fitting
        if form.mix is not None and (free or form.params_bytes <= chosen.params_bytes)
    ]
    return [form for cycles, form in sorted(timed, key=lambda pair: pair[0]) if cycles < most]


def _cycles(view: NodeView, form: Form, cycles: Cycles | None) -> float:
    """What a form takes for all rows, about."""
    if form.mix is None:
        return estimated_cycles(_OTHER_WORK, cycles) * _work(view)
    return estimated_cycles(form.mix, cycles) * math.prod(view.outs[0].shape[:-2])


def _chosen(graph: Graph, target: Target, isa: str, table: KernelTable, goal: str) -> dict[int, Form]:
    """The same of the kernels of one level."""
    features = FEATURES[isa]
    forms = _by_node(graph, lambda view: fastest_first([*table.fitting(view, features)], target.cycles, goal))
    if target.weights.expand:
        return {i: found[0] for i, found in forms.items()}
    return _within_growth(graph, forms, target.cycles, goal)


def select_kernels(graph: Graph, isa: str, table: KernelTable = TABLE) -> dict[int, Form]:
    """The form of fewest instructions by node index, views left out; raises with every node that has none."""
    found = _by_node(graph, lambda view: [form for form in [find_form(view, isa, table)] if form])
    return {i: forms[0] for i, forms in found.items()}


def find_form(view: NodeView, isa: str, table: KernelTable = TABLE) -> Form | None:
    """The form that the node has on a level, every instruction counted as one."""
    fitting = table.fitting(view, FEATURES[isa])
    first = next(fitting, None)
    return first if first is None or first.mix is None else fastest_first([first, *fitting], None)[0]


def fastest_form(view: NodeView, form: Form, target: Target, table: KernelTable = TABLE) -> Form | None:
    """The form that the node would have in place of its own if its parameters might take what they want."""
    return next(iter(fastest_first([*table.fitting(view, form.features)], target.cycles)), None)


def fastest_first(forms: Sequence[Form], cycles: Cycles | None, goal: str = "balanced") -> Sequence[Form]:
    """The forms of a node, of those that say what they take the one of the least cycles first.

    Without a table of cycles every instruction counts as one.  Goal `memory`: the one of the least scratch, of those
    that take a twentieth longer at most, or half as long again with half the scratch; `size`: the order stays, for
    forms that one function serves come first.  Both take what is `larger` last.
    """
    if goal in ("size", "memory"):
        forms = sorted(forms, key=lambda form: form.larger)
    if not forms or forms[0].mix is None or goal == "size":
        return forms

    timed = [(expected_cycles(form, cycles), form) for form in forms if form.mix is not None]
    if goal == "memory":
        best = _leanest([pair for pair in timed if pair[1].larger == forms[0].larger])
    else:
        _, best = min(timed, key=lambda pair: pair[0])
    return [best, *(form for form in forms if form is not best)]


def _leanest(timed: Sequence[tuple[float, Form]]) -> Form:
    """The form of the least scratch, of those that are not far slower than the fastest; with each, its cycles."""
    fastest, its = min(timed, key=lambda pair: pair[0])
    bearable = [
        (taken, form)
        for taken, form in timed
        if taken <= (_LONGER if 2 * form.scratch_bytes <= its.scratch_bytes else _HARDLY_LONGER) * fastest
    ]
    return min(bearable, key=lambda pair: (pair[1].scratch_bytes, pair[0]))[1]


def estimated_cycles(mix: Mix, cycles: Cycles | None) -> float:
    """What `[cycles]` says of a row."""
    if cycles is None:
        return mix.instructions
    kinds = (f.name for f in fields(Mix) if f.name != "moved")
    return mix.moved + sum(float(getattr(mix, kind) * getattr(cycles, kind)) for kind in kinds)


def expected_cycles(form: Form, cycles: Cycles | None) -> float:
    """What a row of a form is taken to take where forms compete; of those that do not say it, nothing."""
    if form.mix is None:
        return 0.0
    beside = "mve" in form.features and form.template.startswith(_BLOCKS)
    return estimated_cycles(form.mix, cycles) * (_BESIDE_VECTORS if beside else 1.0)


def leaner(graph: Graph, kernels: Mapping[int, Form], target: Target, table: KernelTable = TABLE) -> dict[int, Form]:
    """Forms of less scratch by node index, where kernels say what they take and another one has such a form."""
    found: dict[int, Form] = {}
    for i, form in kernels.items():
        if form.mix is not None and form.scratch_bytes:
            fitting = [*table.fitting(graph.view(graph.nodes[i]), form.features)]
            least = fastest_first(fitting, target.cycles, "memory")[0]
            if least.scratch_bytes < form.scratch_bytes:
                found[i] = least
    return found


def leanest(
    graph: Graph, kernels: Mapping[int, Form], target: Target, table: KernelTable = TABLE
) -> dict[int, Sequence[Form]]:
    """By node index forms of less and less scratch, down to the least, however slow they are.

    Each is the fastest of those that take no more, of kernels that say what they take.
    """
    found: dict[int, Sequence[Form]] = {}
    for i, form in kernels.items():
        fitting = [*table.fitting(graph.view(graph.nodes[i]), form.features)] if form.scratch_bytes else []
        less = [other for other in fitting if other.scratch_bytes < form.scratch_bytes]
        ever_less: list[Form] = []
        for other in sorted(less, key=lambda other: _slowness(other, target.cycles)):
            if not ever_less or other.scratch_bytes < ever_less[-1].scratch_bytes:
                ever_less.append(other)
        if ever_less:
            found[i] = ever_less
    return found


def _slowness(form: Form, cycles: Cycles | None) -> tuple[bool, float]:
    """What orders forms by what they take, those last that do not say it."""
    return form.mix is None, 0.0 if form.mix is None else estimated_cycles(form.mix, cycles)


def slim(form: Form) -> Form:
    """The form with no more scratch for a row than one as short as its own touches."""
    parts = tuple(s if s.least is None else replace(s, row_bytes=s.least) for s in form.scratch)
    return replace(form, scratch=parts)


def packing_growth(form: Form, view: NodeView, table: KernelTable = TABLE) -> int:
    """Bytes by which the form's parameters exceed the fewest that a kernel would have for the node on its chip."""
    return form.params_bytes - min(f.params_bytes for f in table.fitting(view, form.features))


def _by_node(graph: Graph, fits: Callable[[NodeView], Sequence[Form]]) -> dict[int, Sequence[Form]]:
    """Forms by node index, views left out; raises with every node that has none."""
    views = {i: graph.view(node) for i, node in enumerate(graph.nodes) if not is_view(graph, node)}
    found = {i: fits(view) for i, view in views.items()}
    problems: list[CompileError] = [_no_kernel(views[i]) for i, forms in found.items() if not forms]
    if problems:
        raise ModelRejected(problems)
    return found


def _within_growth(
    graph: Graph, forms: Mapping[int, Sequence[Form]], cycles: Cycles | None, goal: str
) -> dict[int, Form]:
    """The fastest form of each node, and the tightest one of layers that the growth allowed is not left for.

    It is given out by falling cycles saved per added byte; of equal layers the first by name comes first, so that the
    order of nodes does not matter.
    """
    views = {i: graph.view(graph.nodes[i]) for i in forms}
    tight = {i: _tightest(views[i], found) for i, found in forms.items()}
    added = {i: found[0].params_bytes - tight[i].params_bytes for i, found in forms.items()}
    worth = {
        i: _saved(views[i], tight[i], forms[i][0], cycles) / Fraction(more) for i, more in added.items() if more > 0
    }
    left = _most_growth(sum(_as_bytes(views[i], form) for i, form in tight.items()), goal)
    chosen = {i: found[0] for i, found in forms.items()}
    for i in sorted(worth, key=lambda i: (-worth[i], views[i].name)):
        if added[i] <= left:
            left -= added[i]
        else:
            chosen[i] = tight[i]
    return chosen


def _saved(view: NodeView, tight: Form, fast: Form, cycles: Cycles | None) -> Fraction:
    """Cycles that the fast form saves over the tight one: by the layer's work where one does not say what it takes."""
    if tight.mix is None or fast.mix is None:
        return Fraction(estimated_cycles(_OTHER_WORK, cycles)) * _work(view)
    return Fraction(_cycles(view, tight, cycles) - _cycles(view, fast, cycles))


def spare_growth(
    graph: Graph, chosen: Mapping[int, Form], target: Target, table: KernelTable, goal: str = "balanced"
) -> int:
    """Bytes by which the parameters of the chosen forms may still grow."""
    if target.weights.expand:
        return sum(form.params_bytes for form in chosen.values())
    views = {i: graph.view(graph.nodes[i]) for i in chosen}
    tight = {i: _tightest(view, [*table.fitting(view, FEATURES[target.isa])]) for i, view in views.items()}
    most = _most_growth(sum(_as_bytes(views[i], form) for i, form in tight.items()), goal)
    return most - sum(form.params_bytes - tight[i].params_bytes for i, form in chosen.items())


def _most_growth(params_bytes: int, goal: str = "balanced") -> int:
    """Bytes that packing may add to so many of a network."""
    share = MOST_GROWTH_FOR_SPEED if goal == "speed" else MOST_GROWTH
    return max(int(share * params_bytes), 0 if goal == "size" else SPARE_BYTES)


def _tightest(view: NodeView, forms: Sequence[Form]) -> Form:
    """The form that takes least, and of layers with weights of few bits the fastest: it packs them if the chip can."""
    few = any(kind.bits for kind in view.ins)
    return forms[0] if few else min(forms, key=lambda form: form.params_bytes)


def _as_bytes(view: NodeView, form: Form) -> int:
    """What the parameters would take without packing: by that is measured what others may grow."""
    return form.params_bytes + sum(kind.elements * (8 - kind.bits) // 8 for kind in view.ins if kind.bits)


def _work(view: NodeView) -> int:
    """What a fast kernel is fast at: products, or elements where there are none."""
    return view.op.macs(view.ins, view.outs) or sum(kind.elements for kind in (*view.ins, *view.outs))


def is_view(graph: Graph, node: Node) -> bool:
    """Whether the node only renames the memory of a computed tensor, and needs no code."""
    return answers.is_view(node.op) and not graph.values[node.inputs[0]].is_const


def kernel_needs(graph: Graph, kernels: Mapping[int, Form], *, tiled: bool = False) -> dict[int, NodeNeeds]:
    """What the scheduler must know of each node's kernel, by node index; views have no entry.

    `tiled`: scratch serves tiles of the channels as well.
    """
    return {i: _needs(graph.view(graph.nodes[i]), form.for_tiles if tiled else form) for i, form in kernels.items()}


def _needs(view: NodeView, form: Form) -> NodeNeeds:
    rules = [view.op.rows(i, view.ins, view.outs) for i in view.dynamic]
    return NodeNeeds(
        whole=form.run == "whole",
        one_run=form.run == "pixels" and all(rule.is_same for rule in rules),
        keeps=form.run == "accumulate",
        scratch_bytes=form.scratch_bytes,
        weights_bytes=sum(c.nbytes for c in view.consts if c is not None),
        macs=view.op.macs(view.ins, view.outs),
        out_elements=view.outs[0].elements,
        most_rows=form.rows,
        row_scratch_bytes=form.row_scratch_bytes,
        in_place=form.in_place,
        by_rows=form.run in ("row", "rows"),
        copied_bytes=sum(view.ins[i].bytes for i in view.dynamic) if form.copies else 0,
    )


def _no_kernel(view: NodeView) -> NoKernel:
    types = ", ".join(f"{t.dtype.value}{list(t.shape)}" for t in view.ins)
    return NoKernel(f"{type(view.op).__name__} on {types}", where=view.name)
