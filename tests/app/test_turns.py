"""Pages are drawn one after another and give way to parts, these too come one after another; nobody waits for ever."""

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

from app.session.turns import One, Turns

LONG = 30.0  # seconds that no test takes


def started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_a_page_waits_for_the_page_before_it_and_gives_way_to_a_part() -> None:
    turns, said = Turns(young=LONG, patience=LONG), list[str]()
    first_has_begun, part_may_end, part_has_begun = (threading.Event() for _ in range(3))

    def first() -> None:
        with turns.page():
            said.append("first page begins")
            first_has_begun.set()
            part_has_begun.wait(LONG)
            turns.give_way()
            said.append("first page ends")

    def part() -> None:
        with turns.part():
            part_has_begun.set()
            turns.give_way()  # to nobody: it is young, and no other part waits
            part_may_end.wait(LONG)
            said.append("part ends")

    def second() -> None:
        with turns.page():
            said.append("second page begins")

    threads = [started(first)]
    first_has_begun.wait(LONG)
    threads += [started(part), started(second)]
    part_has_begun.wait(LONG)
    assert said == ["first page begins"]
    part_may_end.set()
    for thread in threads:
        thread.join(LONG)
    assert said == ["first page begins", "part ends", "first page ends", "second page begins"]


def test_whoever_has_waited_long_enough_goes_on_beside_the_others() -> None:
    turns, over, begun = Turns(young=LONG, patience=0.02), threading.Event(), threading.Barrier(3)

    def stay(kind: Callable[[], AbstractContextManager[None]]) -> None:
        with kind():
            begun.wait(LONG)
            over.wait(LONG)

    threads = [started(lambda: stay(turns.page)), started(lambda: stay(turns.part))]
    begun.wait(LONG)
    with turns.page():
        turns.give_way()
        turns.give_way()
    with turns.part():
        turns.give_way()
    over.set()
    for thread in threads:
        thread.join(LONG)
    with turns.page():
        turns.give_way()


def test_parts_come_one_after_another() -> None:
    turns, said, may_end = Turns(young=LONG, patience=LONG), list[str](), threading.Event()
    first_has_begun = threading.Event()

    def first() -> None:
        with turns.part():
            first_has_begun.set()
            may_end.wait(LONG)
            turns.give_way()
            said.append("first part ends")

    def second() -> None:
        with turns.part():
            said.append("second part begins")

    threads = [started(first)]
    first_has_begun.wait(LONG)
    threads.append(started(second))
    threads[1].join(0.05)
    assert said == []
    may_end.set()
    for thread in threads:
        thread.join(LONG)
    assert said == ["first part ends", "second part begins"]


def test_a_part_that_takes_long_lets_others_begin() -> None:
    turns = Turns(young=0.01, patience=LONG)
    with turns.part():
        begun = threading.Event()

        def other() -> None:
            with turns.part():
                begun.set()

        started(other)
        time.sleep(0.02)
        turns.give_way()
        assert begun.wait(LONG)


def test_a_part_that_takes_long_no_longer_goes_first() -> None:
    turns = Turns(young=0.01, patience=LONG)
    with turns.part():
        drawn = threading.Event()

        def page() -> None:
            with turns.page():
                turns.give_way()
                drawn.set()

        started(page)
        assert drawn.wait(LONG)


def test_who_waited_elsewhere_holds_up_nobody_who_waits_for_the_same() -> None:
    turns, lock, said = Turns(patience=LONG), threading.Lock(), list[str]()
    first_has_it, second_has_begun, first_has_drawn = (threading.Event() for _ in range(3))

    def first() -> None:
        with turns.page():
            with lock, turns.elsewhere():  # as a cache holds a lock while what it keeps is computed
                first_has_it.set()
                second_has_begun.wait(LONG)
            turns.give_way()
            said.append("first page draws")
            first_has_drawn.set()

    def second() -> None:
        with turns.page():
            second_has_begun.set()
            with lock:
                said.append("second page has it too")

    threads = [started(first)]
    first_has_it.wait(LONG)
    threads.append(started(second))
    assert first_has_drawn.wait(LONG / 2)
    for thread in threads:
        thread.join(LONG)
    assert said == ["second page has it too", "first page draws"]


def test_another_page_begins_while_one_waits_for_another_process() -> None:
    turns = Turns(patience=LONG)

    def page() -> None:
        with turns.page(), turns.elsewhere():
            pass

    with turns.page(), turns.elsewhere():
        other = started(page)
        other.join(LONG)
        assert not other.is_alive()


def test_who_has_begun_goes_before_those_who_have_not() -> None:
    one, said = One(), list[str]()
    assert one.acquire(LONG)
    assert not one.acquire(0.001)

    def wait(name: str, first: bool) -> None:
        assert one.acquire(LONG, first=first)
        said.append(name)
        one.release()

    threads = []
    for number, (name, first) in enumerate((("comes", False), ("comes later", False), ("comes again", True))):
        threads.append(started(partial(wait, name, first)))
        while len(one._waiting) <= number:
            time.sleep(0.001)
    one.release()
    for thread in threads:
        thread.join(LONG)
    assert said == ["comes again", "comes", "comes later"]
    assert one.acquire(0.001)


def test_a_part_that_was_elsewhere_for_long_goes_first_again() -> None:
    turns = Turns(young=0.01, patience=LONG)
    with turns.part():
        with turns.elsewhere():
            time.sleep(0.02)
            assert not turns._parts  # pages need not wait for it
        turns.give_way()
        assert turns._mine.turn
        assert turns._parts
