"""Any text as a comment, as a code span, as a C identifier."""

from __future__ import annotations

import ast
import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.emit.names import c_string, comment, network_name, port_symbols

FORBIDDEN = re.compile(r"\*/|/\*|\?\?|\\|`|\||[^ -~]")
ALPHABET = "*/\\?"


def check(text: str) -> None:
    found = comment(text)
    assert not FORBIDDEN.search(found), text
    assert found == found.strip() != ""
    assert len(found) < 2100


def test_no_string_of_signs_that_end_or_continue_a_comment_does_so() -> None:
    for length in range(7):
        for signs in itertools.product(ALPHABET, repeat=length):
            check("".join(signs))


@given(st.text() | st.text(alphabet=ALPHABET + "x \n\r\t\x1b\u202e`|"))
def test_no_text_leaves_its_comment_its_line_or_its_cell(text: str) -> None:
    check(text)


def test_the_names_that_converters_give_stay_as_they_are() -> None:
    for name in ("/layer1/conv/Conv_output_0", "model/conv2d/Conv2D:0", "x: Conv2D s8[1, 8] -> s8[1, 4]", "a;b;c<d>"):
        assert comment(name) == name


@given(st.text())
def test_a_network_s_name_is_a_c_identifier(text: str) -> None:
    assert re.fullmatch("[a-z][a-z0-9_]{0,30}", network_name(text))


def test_ports_are_called_by_their_names_and_never_alike() -> None:
    assert port_symbols(["audio", "serving_default_x:0", "\u00e9"]) == ("AUDIO", "SERVING_DEFAULT_X_0", "PORT")
    assert port_symbols(["a.b", "A b", "c"]) == ("A_B_0", "A_B_1", "C")
    assert port_symbols(["x", "x_bytes"]) == ("X_0", "X_BYTES_1")


@pytest.mark.parametrize("text", ["", "plain", 'a"b\\c', "??/", "*/ //", "caf\u00e9\n\t\0end", "\\u0041 %d\x7f"])
def test_a_string_of_c_is_the_text(text: str) -> None:
    literal = c_string(text)
    assert literal.isprintable()
    assert literal.isascii()
    assert "?" not in literal
    assert ast.literal_eval(f"b{literal}").decode("utf-8") == text


def test_a_long_string_keeps_its_ends() -> None:
    found = c_string("a" * 5000 + "b")
    assert len(found) < 1100
    assert found.endswith('b"')
