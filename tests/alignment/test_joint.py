"""Links from the mean weights of both directions."""

import numpy as np

from model.alignment import joint
from model.alignment.extract import Choice

CARD = {"guided": [{"layer": 1, "head": 0, "row": "produced"}, {"layer": 1, "head": 1, "row": "read"}]}


def test_a_word_keeps_both_of_its_partners_and_a_pair_that_both_prefer_is_linked() -> None:
    forward = np.array([[0.9, 0.1, 0.0], [0.8, 0.1, 0.1], [0.2, 0.5, 0.0]])  # two target words look at the first source word
    backward = np.array([[0.5, 0.5, 0.0], [0.2, 0.2, 0.3], [0.0, 0.0, 0.1]])  # which looks at both
    joined = joint.mean(forward, backward)
    assert joined[2, 1] == 0.4
    assert joint.links(joined) == {(0, 0), (0, 1), (1, 2)}


def test_the_rule_against_brute_force_and_its_mirror_image() -> None:
    rng = np.random.default_rng(8)
    for _ in range(30):
        weights = rng.dirichlet(np.ones(4), size=5)
        expected = {
            (i, j)
            for j in range(5)
            for i in range(4)
            if weights[j, i] > joint.ABOVE
            or (weights[j, i] == weights[j].max() == weights[:, i].max() and weights[j, i] > joint.MUTUAL)
        }
        assert joint.links(weights) == expected
        assert {(i, j) for j, i in joint.links(weights.T)} == expected


def test_nothing_to_link_is_nothing() -> None:
    assert joint.links(np.zeros((0, 3))) == set()
    assert joint.links(np.zeros((2, 2))) == set()


def test_guided_heads_stand_together_and_any_other_head_alone() -> None:
    taught = (Choice(1, 0, "produced"), Choice(1, 1, "read"))
    assert joint.guided(CARD, taught[1]) == taught
    assert joint.guided(CARD, Choice(0, None, "read")) == (Choice(0, None, "read"),)
    assert joint.guided({}, taught[0]) == (taught[0],)
