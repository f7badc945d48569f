"""Templates spell: numbers arrive ready, so that a template has no arithmetic on them and builds no C in lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from jinja2 import nodes

from codegen.emit.render import environment

ARITHMETIC = (nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow, nodes.Add, nodes.Sub)


def computed(text: str) -> int:
    """Operations on numbers, and calls that grow a list."""
    tree = environment().parse(text)
    grown = [call for call in tree.find_all(nodes.Call) if _is_append(call.node)]
    return sum(1 for _ in _operations(tree)) + len(grown)


def _is_append(called: nodes.Expr) -> bool:
    return isinstance(called, nodes.Getattr) and called.attr in ("append", "extend", "insert")


def _operations(tree: nodes.Node) -> Iterator[nodes.BinExpr]:
    for kind in ARITHMETIC:
        yield from (found for found in tree.find_all(kind) if not (_joins_lists(found) or _formats(found)))


def _joins_lists(found: nodes.BinExpr) -> bool:
    """Lists of names are added, too: a literal stands on one side, or the filter `list`."""
    return isinstance(found, nodes.Add) and any(
        isinstance(part, nodes.List) or part.name == "list" for part in found.find_all((nodes.List, nodes.Filter))
    )


def _formats(found: nodes.BinExpr) -> bool:
    return isinstance(found, nodes.Mod) and isinstance(found.left, nodes.Const) and isinstance(found.left.value, str)


def test_the_count_finds_what_it_is_for() -> None:
    assert computed("{{ k.a * 2 }}{% for i in range(k.n // 4) %}{{ i + 1 }}{% endfor %}") == 3
    assert computed("{% set _ = found.append('x') %}{{ c.plus('y', k.a % 2) }}") == 2
    assert computed("{{ ' + %d' % k.a }}{{ a ~ ' * ' ~ k.b }}{{ ['x'] + names }}* 2 + 1") == 0


def test_templates_do_not_compute() -> None:
    loader = environment().loader
    assert loader is not None
    names = [n for n in loader.list_templates() if "__pycache__" not in n]
    found = Counter({n: computed(loader.get_source(environment(), n)[0]) for n in names})
    assert len(found) > 50
    assert +found == Counter()
