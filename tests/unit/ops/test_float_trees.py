"""FloatTrees beside a plain walk, and on numbers that are none."""

from __future__ import annotations

import operator
from typing import get_args

import numpy as np
import pytest

from codegen.errors import InputsDoNotFit
from codegen.ir.quant import Array, DType, TensorType
from codegen.ops.float32 import FloatTrees
from codegen.ops.float32.trees import NAN_HOLDS, Aggregate
from tests.support.trees import random_trees

ASKED = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}


def plain(x: Array, tables: tuple[Array, ...], relation: str, aggregate: str) -> Array:
    thresholds, features, otherwise, leaves, roots, base, *codes = tables
    result = []
    for row in x:
        said = []
        for root in roots:
            at = int(root)
            while features[at] >= 0:
                value = row[features[at]]
                code = int(codes[0][at]) if codes else 0
                sign = list(ASKED)[code % NAN_HOLDS] if codes else relation
                holds = bool(ASKED[sign](value, thresholds[at])) or (bool(np.isnan(value)) and code >= NAN_HOLDS)
                at = at + 1 if holds else int(otherwise[at])
            said.append(leaves[otherwise[at]])
        total = np.zeros(len(base), np.float32)
        for numbers in said:
            total = total + numbers
        total = {"mean": total / np.float32(len(roots)), "minimum": np.min(said, 0), "maximum": np.max(said, 0)}.get(
            aggregate, total
        )
        result.append(total + base)
    return np.array(result, np.float32)


@pytest.mark.parametrize("relation", ["", *ASKED])
@pytest.mark.parametrize("aggregate", get_args(Aggregate))
def test_a_plain_walk_ends_at_the_same_leaves(relation: str, aggregate: Aggregate) -> None:
    rng = np.random.default_rng(len(relation) + len(aggregate))
    tables = random_trees(rng, 4, 3, 5, spread=1.0, codes=not relation)
    x = rng.standard_normal((50, 4)).astype(np.float32)
    x[::3, 1] = np.nan
    x[::4, 2] = tables[0][1]
    (found,) = FloatTrees(relation, aggregate).golden([x, *tables])
    assert found.tobytes() == plain(x, tables, relation, aggregate).tobytes()


def test_tables_that_do_not_fit_are_refused() -> None:
    tables = random_trees(np.random.default_rng(0), 4, 3, 5, spread=1.0)
    kinds = [TensorType((2, 4), DType.F32), *(TensorType(t.shape, DType.of(t)) for t in tables)]
    assert FloatTrees().infer(kinds)[0].shape == (2, 3)
    for wrong in (kinds[:-1], [*kinds, kinds[3]], [kinds[0], kinds[1], kinds[1], *kinds[3:]]):
        with pytest.raises(InputsDoNotFit):
            FloatTrees().infer(wrong)
    with pytest.raises(InputsDoNotFit):
        FloatTrees("").infer(kinds)
