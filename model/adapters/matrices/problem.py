"""What can be said of a file of matrices: a code, an English sentence, and values, so that the app says it in its language."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from model.alignment.formats.problem import Message

Place = Literal["line", "entry", "pair"]

# code -> sentence: what was given, what is needed, what to do.
MESSAGES: dict[str, str] = {
    # the file
    "empty": "The file is empty; bring a file with attention weights.",
    "too_large": "It has {given} bytes, at most {limit} are read; bring fewer layers or sentences.",
    "unpacks": "It unpacks to {given} bytes, at most {limit} are read; bring fewer layers, or save float32 instead of float64.",
    "pickle": "This is a pickle (torch.save, pickle.dump), which can run code when it is read; save NPZ or JSON.",
    "binary": "This is no NPZ and no text; save NPZ, JSON or text.",
    "web": "This is a web page (HTML), such as a saved picture of attention; save the weights themselves as JSON or NPZ.",
    "no_arrays": "This ZIP holds no array (.npy) but {given}; save it with numpy.savez.",
    "entry": "This is no object with names but {given}; give each sentence as an object with its weights and tokens.",
    "json": "This is no whole JSON ({reason}); save it again with json.dump.",
    "npz": "This is a damaged NPZ ({reason}); save it again with numpy.savez.",
    "array": "{array} is no whole array of numbers ({reason}); save it again with numpy.savez.",
    "objects": "{array} is an array of objects (a pickle), which can run code when it is read; save plain numbers, "
    "equally long rows.",
    "names": "It names {given}; needed is 'attention' with 'tokens', one of {choices}, or paths such as "
    "'decoder.layers.0.cross_attention.weights'.",
    "sentences": "It has {given} sentences, at most {limit} are read; cut it into smaller files.",
    # numbers
    "ragged": "{array} is ragged: its rows are not equally long; give every row one number for each key.",
    "kind": "{array} holds {given}, needed are numbers; export it as plain floats, without None or text.",
    "weights": "{array} has {given} weights, at most {limit} are shown; bring fewer layers or a shorter text.",
    "rank": "{array} has {axes} axes, shape {shape}; needed are (query, key), (head, query, key) or (layer, head, query, "
    "key), and a batch of one sentence.",
    "steps": "{array} stands step by step, as generate() returns it, with {given} sentences or beams; needed is one: call it "
    "with one sentence and num_beams=1.",
    "shapes": "The layers of {array} have the shapes {given}; needed is one for all, (head, query, key); bring equal layers.",
    "no_places": "{array}: axis '{axis}' has 0 places, shape {shape}; give at least one.",
    "long": "{array}: axis '{axis}' has {given} places, at most {limit} are shown; bring a shorter text.",
    "not_finite": "{array}: layer {layer}, head {head}, query {query}, key {key} (counted from 0) is {given}; needed are "
    "finite weights, not scores or logarithms, and 0 where a key was masked.",
    "negative": "{array}: layer {layer}, head {head}, query {query}, key {key} (counted from 0) is {given}, below 0; "
    "needed are weights after the softmax (exp of a logarithm).",
    "above": "{array}: layer {layer}, head {head}, query {query}, key {key} (counted from 0) is {given}; weights are "
    "shares of 1: give those after the softmax, no percentages.",
    "swapped": "{array}: the row of axis 'key' at layer {layer}, head {head}, query {query} (counted from 0) sums to "
    "{given}, needed is 1; its columns do: axes 'query' and 'key' are swapped, turn the matrix around.",
    "none": '{array} is None: the model gave no weights; load it with attn_implementation="eager" and ask for '
    "output_attentions=True.",
    "no_layer": "{array} lacks axis 'layer' {layer} (counted from 0); export all layers up to the last.",
    # tokens
    "tokens": "{array}: axis '{axis}' has {places} places, the {side} has {tokens} tokens; give one for each.",
    "no_texts": "{array} is no list of texts; give one text for each token.",
    "long_token": "{array} has a token of {given} characters, at most {limit} are shown; give one piece or word for each place.",
    "one_side": "It has {array} alone; give query_tokens and key_tokens, or tokens.",
    "produced": "tokens.produced has {given} tokens, the target that was read {needed}; give one for each row.",
    "shares": "log_probabilities has {given} numbers, tokens.produced {needed}; give one for each.",
    "source_words": "{array}: axis 'key' has {places} places, {words} source words; give one for each (and up to three "
    "special ones).",
    # text formats
    "no_soft": '"{given}" has no soft alignment; needed is "0.9,0.1 0.2,0.8", one group a target word, or JSON.',
    "no_rows": "axis 'query' has 0 rows below this heading; give a line of weights for each target word.",
    "not_numbers": '"{given}" is no list of numbers; needed are weights such as 0.9 0.1, split by spaces or commas.',
    "row_lengths": "axis 'key' has {least} places in one row, {most} in another; give equally many.",
    "word_count": "axis '{axis}' has {places} places, there are {words} words; give one for each, or one less.",
    "links": "{given} links are no whole rows of axis 'key', which has {places} places up to the first </s>; give a link "
    "for each pair of words.",
    # beside sentence pairs
    "no_cross": "It holds no attention of a target to a source, so no links; bring a cross-attention or a soft alignment. "
    "Where one has as many rows as columns, name the tokens of both sides: without, it is taken for a sentence's to itself.",
    "pair_words": "axis '{axis}' has {given} tokens, the pair has {needed} {side} words, and their letters differ; give the "
    "matrices of these very sentences, word by word or piece by piece.",
    "pair_left": "It has no sentence for this pair; give one for each pair, in their order.",
    "pair_over": "It has {given} sentences, and there are {needed} pairs; what is too much is left out.",
    "pair_shape": "It has {given} layers and heads, the sentences before {needed}; give equally many in all.",
    # doubts: it is shown all the same
    "sums": "{array}: {given} of {rows} rows do not sum to 1 but to {least} up to {most}; the first is layer {layer}, "
    "head {head}, query {query} (counted from 0). Dropout left on, special tokens cut away or words joined by their mean "
    "do that; the numbers are shown as they are.",
    "no_key": "{array}: {given} of {rows} rows hold only 0 or NaN, as where every key was masked; they are drawn as rows "
    "without a key that may be read.",
    "no_tokens": "It has no {side} tokens; the places along that axis are counted from 0.",
    "encoding": "The encoding is a guess: {given}. If letters are wrong, save the file as UTF-8.",
    "bad_bytes": "Some bytes are not {given}; they are shown as \ufffd. Save the file as UTF-8.",
}


class MatrixError(ValueError):
    """A file that holds no attention: which axis, what was given, what is needed, what to do.

    `message` has the code and values; `file` and `place` (a line, an entry or a pair of it, counted from 1) say where.
    """

    def __init__(self, code: str, /, **values: object) -> None:
        self.message = said(code, **values)
        self.file = ""
        self.place: tuple[Place, int] | None = None
        super().__init__(self.message)

    def __str__(self) -> str:
        place = [" ".join(map(str, self.place))] if self.place else []
        where = ", ".join([self.file] * bool(self.file) + place)
        return f"{where}: {self.message}" if where else str(self.message)


def said(code: str, /, **values: object) -> Message:
    """The sentence of a code with its values in their places."""
    shown = {name: f"{value:,}" if type(value) is int else value for name, value in values.items()}
    return Message(MESSAGES[code].format_map(shown), code, values)


@contextmanager
def at(kind: Place, number: int) -> Iterator[None]:
    """Whatever is wrong inside is wrong at this place of the file."""
    try:
        yield
    except MatrixError as error:
        error.place = error.place or (kind, number)
        raise
