"""Tables within a width: what is left out, what is shortened, and how sizes read."""

from __future__ import annotations

import pytest

from codegen.report.columns import Size, size_text, within
from codegen.report.table import text_table

HEADERS = ["layer", "operator", "MACs", "bytes", "rows"]
ROWS = [["a_layer_with_a_very_long_name_of_its_own", "Conv2D", 1234, Size(6570), "window 3/1 pad 1"]] * 2


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (6570, "6.4 KiB"),
        (2 << 20, "2 MiB"),
        (5 << 30, "5 GiB"),
        (-2048, "-2 KiB"),
    ],
)
def test_sizes_read_as_people_say_them(count: int, text: str) -> None:
    assert size_text(count) == text
    assert str(Size(count)) == text


def test_without_a_width_a_table_is_as_wide_as_it_likes() -> None:
    table = text_table(HEADERS, ROWS)
    assert ROWS[0][0] in table
    assert "6.4 KiB  window 3/1 pad 1" in table
    assert "left out" not in table


def test_columns_are_left_out_in_the_given_order_and_named() -> None:
    with within(60):
        assert "left out" not in text_table(HEADERS, ROWS, least=("MACs", "rows"))  # a shorter name was enough
    with within(40):
        table = text_table(HEADERS, ROWS, least=("MACs", "rows"))
    assert table.splitlines()[-1] == "(left out: MACs, rows; --wide shows all)"
    assert "6.4 KiB" in table


@pytest.mark.parametrize("width", range(24, 100))
def test_no_line_is_wider_and_the_first_column_stays(width: int) -> None:
    with within(width):
        lines = text_table(HEADERS, ROWS, keep=1).splitlines()
    assert max(map(len, [line for line in lines if not line.startswith("(left out")])) <= width
    assert lines[0].startswith("layer")
    assert lines[2].startswith("a_laye")


def test_names_lose_their_middle_and_sentences_their_end() -> None:
    with within(40):
        lines = text_table(
            ["name", "what"], [["abcdefghijklmnopqrstuvwxyz", "a sentence of words that goes on"]], keep=2
        )
    assert ".." in lines.splitlines()[2]
    assert lines.splitlines()[2].endswith("..")


def test_a_width_ends_with_its_block() -> None:
    with within(30):
        pass
    assert "left out" not in text_table(HEADERS, ROWS)
