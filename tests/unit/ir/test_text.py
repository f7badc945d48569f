from codegen.ir.quant import DType
from codegen.ir.text import graph_text, op_text, plan_text, program_text
from codegen.ops import Clamp, Lut
from tests.support.graphs import Sketch, apart, conv_chain, residual
from tests.unit.ir.test_verify import program


def small() -> Sketch:
    s = Sketch("small", seed=1)
    x = s.conv(s.input((1, 4, 4, 2)), 1)
    s.apply(Clamp(0, 127), x)
    return s


def test_graph_text_has_one_line_per_node() -> None:
    s = small()
    lines = graph_text(s.graph("clamp1")).splitlines()
    assert lines[0] == "graph small"
    assert lines[1] == "  input x: s8[1, 4, 4, 2] 0.5 @ 0 (x)"
    assert lines[2].startswith("  const c1: s8[1, 3, 3, 2] crc ")
    assert lines[4].startswith("  conv2d0: s8[1, 4, 4, 1] 0.5 @ 0 = Conv2D(h=3/1 pad 1+1 dilation 1, w=3/1 pad 1+1")
    assert lines[4].endswith("y_dtype=s8, y_quant=0.5 @ 0) x, c1, c2")
    assert lines[5] == "  clamp1: s8[1, 4, 4, 1] 0.5 @ 0 = Clamp(low=0, high=127) conv2d0"
    assert lines[6] == "  output clamp1 (clamp1)"
    assert len(lines) == 7


def test_text_is_stable_and_tells_weights_apart() -> None:
    assert graph_text(conv_chain(seed=1)) == graph_text(conv_chain(seed=1))
    assert graph_text(conv_chain(seed=1)) != graph_text(conv_chain(seed=2))
    assert graph_text(residual("tflite")) != graph_text(residual("single"))


def test_long_attributes_are_shown_by_checksum() -> None:
    table = tuple(range(256))
    assert op_text(Lut(table, DType.U8, None, "ramp")).startswith("Lut(table=256 x crc ")


def test_plan_text_shows_groups_and_places() -> None:
    plan = apart(small().graph("clamp1"))
    assert plan_text(plan) == (
        "plan small: arena 64 B, lower bound 64 B\n"
        "  input x @0 4 x 8 B\n"
        "  group 0: block all\n"
        "    n0_conv2d: Conv2D -> conv2d0 @32 4 x 4 B\n"
        "  group 1: block all\n"
        "    n1_clamp: Clamp -> clamp1 @48 4 x 4 B\n"
    )


def test_program_text_shows_calls() -> None:
    lines = program_text(program()).splitlines()
    assert lines[0] == "program clamps: arena 96 B, params 6 B"
    assert "  function k0_clamp: clamp.c.j2 s8 -> s8" in lines
    call = next(line for line in lines if line.startswith("    1: "))
    assert call == (
        "    1: n1_clamp: clamp1 s8 @64 4 x 8 B = k0_clamp(clamp0 s8 @32 4 x 8 B [r*1/1-0 +1 by 1] from 0)"
        " params @0 by 1 rows"
    )
