"""Tables, JSON Lines and matrices of results, read back."""

import io
import json

import numpy as np
import torch

from model.alignment import results
from model.alignment.extract import Choice, WordWeights
from model.alignment.formats import read_alignments
from model.alignment.metrics import alignment_error_rate
from tests.alignment.aligned import ATTACK, CAR, CAR_GOLD, HOSTILE, LONG

PAIRS = [CAR, ATTACK, LONG]


def test_table_has_a_row_a_pair_with_its_scores() -> None:
    head, car, attack, long = (line.split("\t") for line in results.table(PAIRS, [CAR_GOLD]))
    row = dict(zip(head, car, strict=True))
    assert (row["pair"], row["links"], row["gold"]) == ("1", "0-0 1-2 2-0 2-1", "0-0 1-2 2p1 2p2")
    assert float(row["coverage"]) == round(CAR.scores.coverage, 6)
    links = {(link.source, link.target) for link in CAR.links}
    assert float(row["alignment_error_rate"]) == round(alignment_error_rate(links, *CAR_GOLD), 6)
    assert dict(zip(head, attack, strict=True))["source"].startswith(HOSTILE)
    last = dict(zip(head, long, strict=True))
    assert (last["confidence"], last["links"], last["problem"]) == ("", "", "The source has 900 tokens.")


def test_json_lines_are_read_back_as_links() -> None:
    lines = list(results.json_lines(PAIRS, [CAR_GOLD]))
    made = json.loads(lines[0])
    assert made["scores"]["entropy"] == round(CAR.scores.entropy, 6)
    assert made["gold"][2] == {"source": 2, "target": 1, "mark": "P"}
    assert json.loads(lines[2])["scores"] == {"log_probability": -0.5}
    found = read_alignments(io.BytesIO(b"".join(results.encoded(lines))))
    assert [row.links for row in found.weighted] == [
        {(link.source, link.target): link.weight for link in one.links} for one in PAIRS
    ]


def test_matrices_are_opened_without_unpickling() -> None:
    numbers = torch.rand((2, 3, 3, 4), generator=torch.Generator().manual_seed(0))
    weights = WordWeights(numbers, numbers + 1, sources=3)
    file = io.BytesIO()
    results.matrices_npz([(CAR, weights), (LONG, weights)], {"file": HOSTILE}, file)
    file.seek(0)
    found = np.load(file, allow_pickle=False)
    assert found["pair_1_weights"].shape == (2, 3, 2, 3, 4)
    assert np.array_equal(found["pair_1_weights"][1, 2, 1], (numbers + 1)[1, 2].numpy())
    assert found["pair_3_target_words"].tolist() == ["trop", "long"]
    assert json.loads(str(found["caption"])) == {"file": HOSTILE}
    assert found["axes"].tolist() == ["layer", "head", "row", "target", "column"]
    again = io.BytesIO()
    results.matrices_npz([(CAR, weights)], {}, again, Choice(1, None, "read"))
    again.seek(0)
    one = np.load(again, allow_pickle=False)
    assert np.array_equal(one["pair_1_weights"], (numbers + 1)[1, 2].numpy())
    assert one["rows"].tolist() == ["read"]


def test_gold_of_a_pair_carries_its_words() -> None:
    made = results.with_links(CAR, CAR_GOLD)
    assert (made.sure, set(made.links), made.target_words) == (*CAR_GOLD, ("la", "voiture", "rouge"))
    assert results.with_links(CAR, None).links == {}
