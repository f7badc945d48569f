"""Decision trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import numpy as np

from codegen.ops.float32 import FloatTrees
from codegen.ops.float32.trees import Aggregate
from tests.contract.case import F32, Case, t
from tests.support.trees import random_trees

AGGREGATES = get_args(Aggregate)


def cases() -> Iterator[Case]:
    """All of them."""
    for i, relation in enumerate(("<=", "<", ">=", ">", "==", "!=")):
        tables = random_trees(np.random.default_rng(i), 5, 1 + i % 3, 4, spread=100)
        yield Case(f"asks_{i}", FloatTrees(relation, AGGREGATES[i % 4]), (t(F32, 7, 5), *tables))
    tables = random_trees(np.random.default_rng(9), 3, 2, 6, spread=100, codes=True)
    yield Case("mixed", FloatTrees(""), (t(F32, 1, 3, 4, 3), *tables))
    wide = random_trees(np.random.default_rng(8), 3, 2, 2, spread=100)
    tables = (*wide[:2], wide[2].astype(np.int32), *wide[3:])
    yield Case("wide", FloatTrees(aggregate="mean"), (t(F32, 3), *tables))
