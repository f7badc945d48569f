"""Numbers that C is told: what is computed of them has the value that their text has."""

from __future__ import annotations

import itertools

from codegen.emit.numbers import Number, with_locals


def value_of(text: object, **names: int) -> int:
    """What C makes of an expression of names; quotients are of numbers that are not negative."""
    return int(eval(str(text).replace("/", "//"), {}, names))


def test_expressions_have_the_value_of_their_text() -> None:
    for a, b in itertools.product((1, 2, 7, 48), (1, 3, 16)):
        x, y = Number(a, "x"), Number(b, "y")
        made = (
            x + y,
            x - y,
            y - 3,
            3 - y,
            x * y,
            5 * x,
            x // 4,
            x // y,
            -x,
            2 * (x + 1) - y // 2 * 8,
            -(x - y) * 3,
            x + -2,
        )
        for one in made:
            assert value_of(one, x=a, y=b) == one


def test_what_does_nothing_to_a_literal_is_left_out_and_never_of_another_number() -> None:
    x, one, nothing = Number(5, "x"), Number(1, "one"), Number(0, "nothing")
    assert [str(x * 1), str(1 * x), str(x + 0), str(x // 1), str(x * 0)] == ["x"] * 4 + ["0"]
    assert [str(x * one), str(x + nothing)] == ["(x * one)", "(x + nothing)"]


def test_a_quotient_that_c_rounds_otherwise_is_a_literal() -> None:
    assert str(Number(-5, "x") // 2) == "-3"
    assert str(Number(5, "x") % 2) == "1"


def test_each_function_copies_the_numbers_that_it_reads() -> None:
    text = (
        "void f(int32_t n, const s *shape)\n{\n    g(told_b, told_a, shape);\n}\nvoid g(const s *shape)\n{\n    h();\n}"
    )
    assert with_locals(text).splitlines() == [
        "void f(int32_t n, const s *shape)",
        "{",
        "    const int32_t told_a = shape->a;",
        "    const int32_t told_b = shape->b;",
        "    g(told_b, told_a, shape);",
        "}",
        "void g(const s *shape)",
        "{",
        "    LAM_UNUSED(shape);",
        "    h();",
        "}",
    ]
