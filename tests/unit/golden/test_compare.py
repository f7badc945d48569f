import numpy as np

from codegen.golden.compare import first_difference, first_difference_of

X = np.arange(12, dtype=np.int8).reshape(3, 4)


def test_equal_arrays_have_no_difference() -> None:
    assert first_difference("t", X, X.copy()) is None
    nan = np.array([np.nan, 1.0, -0.0], np.float32)
    other = np.array([0xFFC00001, 0x3F800000, 0x80000000], np.uint32).view(np.float32)
    assert first_difference("t", nan, other) is None
    signed = first_difference("t", nan, np.array([np.nan, 1.0, 0.0], np.float32))
    assert signed is not None
    assert (signed.index, signed.count) == ((2,), 1)


def test_first_difference_names_index_and_values() -> None:
    y = X.copy()
    y[1, 2], y[2, 0] = -100, 9
    found = first_difference("conv3", X, y)
    assert found is not None
    assert (found.tensor, found.index, found.expected, found.actual) == ("conv3", (1, 2), 6, -100)
    assert (found.max_abs, found.count, found.elements) == (106.0, 2, 12)
    assert found.text() == "conv3[1, 2]: expected 6, got -100 (2 of 12 elements differ, by at most 106)"


def test_other_shapes_and_types_differ() -> None:
    for other in (X.T, X.astype(np.int16)):
        found = first_difference("t", X, other)
        assert found is not None
        assert found.index == ()
        assert "shapes or element types" in found.text()


def test_tensors_are_compared_in_the_order_of_names() -> None:
    ours, theirs = {"a": X, "b": X, "c": X}, {"a": X, "b": X + 1, "c": X + 1}
    found = first_difference_of(["c", "b", "a"], ours, theirs)
    assert found is not None
    assert found.tensor == "c"
    assert first_difference_of(["a"], ours, theirs) is None
