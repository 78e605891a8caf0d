"""Messages remember what they say; a file's problems are noted once, however often it is read."""

import copy
import pickle
import string

from model.alignment.formats import FormatError, Message, Problem
from model.alignment.formats.problem import MESSAGES, MOST, Problems


def test_a_message_is_a_sentence_with_its_code_and_values() -> None:
    message = Message.of("few_cells", given=1, needed=2, file="a.tsv")
    assert message == "The row has 1 cells; column 2 was needed. It is left out."
    for same in (copy.deepcopy(message), pickle.loads(pickle.dumps(message)), message):
        assert (same, same.code, same.values) == (message, "few_cells", {"given": 1, "needed": 2, "file": "a.tsv"})


def test_a_problem_unpacks_and_says_where_it_is() -> None:
    line, message = problem = Problem(3, Message.of("empty_target", file="a.tsv"))
    assert (line, message.code, problem.sentence) == (3, "empty_target", "a.tsv, line 3: The target side is empty.")
    assert Problem(None, Message.of("empty_target")).of_file("b").sentence == "b: The target side is empty."
    assert problem.of_file("b") == problem
    assert str(FormatError.of("empty_file", file="c")) == "c: The file is empty; a file of sentence pairs was needed."


def test_every_message_can_be_said() -> None:
    for code, template in MESSAGES.items():
        names = [name for _, name, _, _ in string.Formatter().parse(template) if name]
        assert Message.of(code, **dict.fromkeys(names, 1))[-1] in ".:?1", code


def test_a_second_reading_adds_nothing() -> None:
    problems = Problems()
    for _ in range(2):
        reading = problems.again("a")
        for line in range(MOST + 5):
            reading.add("empty_source", line)
    assert len(problems) == MOST + 1
    assert problems[-1].sentence == "a: 5 more problems like these were found and are not listed."
