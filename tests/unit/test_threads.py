"""Work split over threads: order, refusals, nothing split twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from codegen import threads


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three threads, on any machine."""
    monkeypatch.setattr(threads, "width", lambda: 3)
    threads._pool.cache_clear()
    yield
    threads._pool().shutdown()
    threads._pool.cache_clear()


def test_the_processors_are_the_width_and_a_variable_lowers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = threads.width.__wrapped__
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert counted() == 1
    for word in ("", "0", "many", "-2"):
        monkeypatch.setenv("OMP_NUM_THREADS", word)
        most = counted()
        assert most >= 1
    monkeypatch.setenv("OMP_NUM_THREADS", str(most + 5))
    assert counted() == most


@pytest.mark.usefixtures("three")
def test_results_stand_in_the_order_of_the_pieces() -> None:
    def slow(piece: int) -> int:
        time.sleep(0.002 * (7 - piece))
        return piece * piece

    assert threads.each(slow, range(7)) == [0, 1, 4, 9, 16, 25, 36]
    assert threads.each(slow, []) == []


@pytest.mark.usefixtures("three")
def test_three_pieces_are_worked_on_at_once() -> None:
    meeting = threading.Barrier(3)
    assert sorted(threads.each(lambda _: meeting.wait(60), range(3))) == [0, 1, 2]


@pytest.mark.usefixtures("three")
def test_of_two_pieces_one_goes_on_beside_the_other_which_may_be_split() -> None:
    meeting = threading.Barrier(3)
    made = threads.both(lambda: meeting.wait(60), lambda: threads.each(lambda _: meeting.wait(60), range(2)))
    assert sorted([made[0], *made[1]]) == [0, 1, 2]


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("place", [0, 1])
def test_nothing_goes_on_behind_a_refusal_of_one_of_two(place: int) -> None:
    ended = []

    def refused() -> None:
        raise ValueError(place)

    def slow() -> None:
        time.sleep(0.02)
        ended.append(place)

    with pytest.raises(ValueError, match=str(place)):
        threads.both(*([refused, slow] if place == 0 else [slow, refused]))
    assert ended == [place]


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("later", [0, 1])
def test_of_two_refusals_the_first_piece_s_is_raised(later: int) -> None:
    """Whichever comes later."""
    other = threading.Event()

    def refused(piece: int) -> None:
        if piece == later:
            assert other.wait(60)
        other.set()
        raise ValueError(str(piece))

    with pytest.raises(ValueError, match=r"^0$"):
        threads.both(lambda: refused(0), lambda: refused(1))


@pytest.mark.usefixtures("three")
def test_the_refusal_of_the_first_piece_is_raised_and_nothing_goes_on_behind_it() -> None:
    running = []

    def refused(piece: int) -> None:
        running.append(piece)
        time.sleep(0.01 * (3 - piece))
        running.remove(piece)
        raise ValueError(str(piece))

    with pytest.raises(ValueError, match=r"^0$"):
        threads.each(refused, range(3))
    assert not running


@pytest.mark.usefixtures("three")
def test_work_that_is_split_is_not_split_again() -> None:
    def inner(_: int) -> str:
        return threading.current_thread().name

    for names in threads.each(lambda _: threads.each(inner, range(3)), range(3)):
        assert len(set(names)) == 1


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("count", [0, 1, 2, 3, 10])
def test_every_number_is_gone_over_once(count: int) -> None:
    seen = np.zeros(count, int)

    def some(numbers: range) -> None:
        for number in numbers:
            seen[number] += 1

    threads.over(some, count)
    assert (seen == 1).all()


@pytest.mark.usefixtures("three")
def test_what_the_caller_says_of_floating_point_holds_in_the_threads() -> None:
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        threads.each(lambda piece: np.float32(1) / np.zeros(1, np.float32), range(2))


@pytest.mark.usefixtures("three")
def test_one_is_made_while_the_one_before_is_looked_at() -> None:
    begun = [threading.Event() for _ in range(3)]

    def make(number: int) -> int:
        begun[number].set()
        return number

    for number in threads.ahead(make, 3):
        assert all(event.wait(60) for event in begun[: number + 2])
        assert not any(event.is_set() for event in begun[number + 2 :])


@pytest.mark.usefixtures("three")
def test_a_refusal_comes_where_its_number_would_have() -> None:
    def make(number: int) -> int:
        if number == 2:
            raise ValueError("two")
        return number

    numbers = threads.ahead(make, 5)
    assert [next(numbers), next(numbers)] == [0, 1]
    with pytest.raises(ValueError, match="two"):
        next(numbers)
    assert list(threads.ahead(make, 0)) == []


@pytest.mark.usefixtures("three")
def test_nobody_makes_anything_for_one_who_has_gone() -> None:
    made = []
    numbers = threads.ahead(made.append, 100)
    next(numbers)
    numbers.close()
    count = len(made)
    time.sleep(0.05)
    assert len(made) == count <= 2
