"""From weights between pieces to links between words."""

import torch

from model.alignment.baseline import diagonal
from model.alignment.extract import (
    Choice,
    Labels,
    join_batch,
    join_pieces,
    label,
    links,
    links_above,
    of_weights,
    with_mean,
)
from model.tokenizer import Token
from model.trace import Trace

ROW_OFFSET = torch.tensor([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])[None, None]


def test_the_row_that_reads_the_start_token_produces_the_first_word() -> None:
    """Case 20 of the public record: source a b </s>; the decoder reads <s> x y and produces x y </s>."""
    labels = Labels(source=(0, 1, 2), produced=(0, 1, 2), read=(2, 0, 1), sources=2, targets=2)
    weights = of_weights(ROW_OFFSET, labels)
    assert links(weights, Choice(0, 0, "produced")) == {(0, 0), (1, 1)}
    assert links(weights, Choice(0, 0, "read")) == {(1, 0)}  # y looks at </s>: no link


def test_pieces_join_to_words() -> None:
    """Case 22: back|log in against Auf|trags in; sum over source pieces, mean over target pieces."""
    pieces = torch.tensor([[0.5, 0.3, 0.2], [0.3, 0.5, 0.2], [0.1, 0.1, 0.8]])
    joined = join_pieces(pieces, [0, 0, 1], [0, 0, 1], 2, 2)
    torch.testing.assert_close(joined, torch.tensor([[0.8, 0.2], [0.2, 0.8]]))
    torch.testing.assert_close(joined.sum(-1), torch.ones(2))
    labels = Labels((0, 0, 1), (0, 0, 1), (0, 0, 1), 2, 2)
    assert links(of_weights(pieces[None, None], labels), Choice(0, None, "produced")) == {(0, 0), (1, 1)}


def test_labels_come_from_the_tokens_of_a_trace() -> None:
    start, end = Token("<s>", 1, (0, 0), special=True), Token("</s>", 2, (0, 0), special=True)
    source = (Token("I", 4, (0, 1)), Token("do", 5, (2, 4)), Token("n't", 6, (4, 7)), end)
    target = (Token("je", 4, (0, 2)), Token("ne", 5, (3, 5)), Token(".", 6, (5, 6)))
    trace = Trace({}, source, (start, *target), (*target, end), (0.0,) * 4, "I don't", "je ne.")
    assert label(trace) == Labels((0, 1, 2, 3), (0, 1, 2, 3), (3, 0, 1, 2), 3, 3)
    assert label(trace, split_punctuation=False) == Labels((0, 1, 1, 2), (0, 1, 1, 2), (2, 0, 1, 1), 2, 2)


def test_every_layer_head_row_and_the_mean() -> None:
    weights = torch.rand(3, 4, 5, 6).softmax(-1)
    found = of_weights(weights, Labels((0, 0, 1, 2, 2, 3), (0, 1, 1, 2, 3), (3, 0, 1, 1, 2), 3, 3))
    every = {choice: links(found, choice) for choice in found.choices()}
    assert len(every) == 3 * (4 + 1) * 2
    torch.testing.assert_close(found.at(Choice(1, None, "read")), found.read[1, :4].mean(0))
    torch.testing.assert_close(found.produced.sum(-1), torch.ones(3, 5, 3))
    assert all(i < 3 and j < 3 for set_ in every.values() for i, j in set_)
    assert every[Choice(2, 3, "read")] == links(found, Choice(2, 3, "read"))


def test_a_batch_gives_what_each_sentence_gives() -> None:
    one = Labels((0, 1, 2), (0, 1), (1, 0), 2, 1)
    two = Labels((0, 1, 1, 2, 3), (0, 1, 2, 3), (3, 0, 1, 2), 3, 3)
    weights = torch.rand(2, 2, 4, 4, 5)
    for index, (pair, found) in enumerate(zip((one, two), join_batch(with_mean(weights), [one, two]).each(), strict=True)):
        alone = of_weights(weights[:, index, :, : len(pair.read), : len(pair.source)], pair)
        torch.testing.assert_close(found.produced, alone.produced)
        torch.testing.assert_close(found.read, alone.read)


def test_a_threshold_gives_many_links_a_word() -> None:
    weights = of_weights(torch.tensor([[[[0.4, 0.3, 0.3], [0.1, 0.2, 0.7]]]]), Labels((0, 1, 2), (0, 1), (1, 0), 2, 2))
    choice = Choice(0, 0, "produced")
    assert links(weights, choice) == {(0, 0)}
    assert links_above(weights, choice, threshold=0.15) == {(0, 0), (1, 0), (1, 1)}
    assert links_above(weights, choice, share=0.7) == {(0, 0), (1, 0)}
    assert links_above(weights, choice, share=1.0) == {(0, 0)}


def test_words_without_tokens_and_empty_sides_have_no_link() -> None:
    lost = of_weights(torch.ones(1, 1, 2, 2) / 2, Labels((0, 2), (0, 2), (2, 0), 2, 2))  # word 1 has no token on either side
    assert links(lost, Choice(0, 0, "produced")) == {(0, 0)}
    empty = of_weights(torch.ones(1, 1, 1, 1), Labels((0,), (0,), (0,), 0, 0))
    assert not any(links(empty, choice) for choice in empty.choices())
    assert links_above(empty, Choice(0, None, "read")) == set()


def test_the_diagonal_knows_only_lengths() -> None:
    assert diagonal(3, 3) == {(0, 0), (1, 1), (2, 2)}
    assert diagonal(2, 4) == {(0, 0), (0, 1), (1, 2), (1, 3)}
    assert diagonal(5, 1) == {(0, 0)}
    assert diagonal(1, 3) == {(0, 0), (0, 1), (0, 2)}
    assert diagonal(0, 3) == diagonal(3, 0) == set()
