"""The stories of the gallery: which sentence, model and place each is about, where it opens, and what it measures there.

They do not depend on the visitor: each is measured once and shared by all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from app.session.computed import trace
from app.session.loading import damage, load, models
from app.session.places import ATTENTIONS, Place
from model.analysis import findings
from model.analysis.ablation import Head
from model.analysis.findings import Told

ENCODER, DECODER, CROSS = ATTENTIONS


@dataclass(frozen=True)
class Finding:
    """A story: its name in the texts, what it looks at, the page that shows it, and that page's choices in the URL.

    `measure(atlas, trace, head)` is a function of `model.analysis.findings`.
    """

    name: str
    model: str
    text: str
    place: Place
    page: str
    measure: Callable[[Any, Any, Head], Told | None]
    choices: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)

    def parameters(self, language: str) -> dict[str, str | tuple[str, ...]]:
        """The URL that opens the story's place."""
        return {"lang": language, "model": self.model, "text": self.text, **self.place.parameters(), **self.choices}


FINDINGS = (
    Finding("crossing", "en-fr", "I have a black cat.", Place(CROSS, 1, 0), "heads", findings.crossing),
    Finding(
        "renamed", "fr-en", "J'ai un chat noir.", Place(CROSS, 1, 0), "heads",
        partial(findings.renamed, read_head=1), {"row": "read"},
    ),
    Finding("full_stops", "en-lm", "Tom has a cat. Mary has a dog.", Place(DECODER, 3, 3), "heads", findings.full_stops),
    Finding("resting", "en-zh", "I like tea.", Place(DECODER, 0, 3), "heads", findings.resting),
    Finding("leaking", "en-fr", "I have a black cat.", Place(DECODER, 0, 1), "masks", findings.leaking),
    Finding("turning", "en-fr-rotary", "I have a black cat.", Place(ENCODER, 1, 1), "rotary", findings.turning),
    Finding(
        "searching", "zh-en", "她已经回家了。", Place(CROSS, 1, 0), "decoding", findings.searching,
        {"strategy": "beam", "size": "4"},
    ),
    Finding(
        "silenced", "en-fr", "I have a black cat.", Place(CROSS, 2, 0), "heads", findings.silenced,
        {"off": tuple(f"{CROSS}.2.{head}" for head in range(4))},
    ),
    Finding("deciding", "en-zh", "I like tea.", Place(CROSS, 1, 0), "decoding", partial(findings.deciding, word=3)),
    Finding("untaught", "toy", "the red cat sees a dog", Place(CROSS, 1, 0), "heads", findings.untaught),
)  # fmt: skip


@st.cache_resource(show_spinner=False, max_entries=2 * len(FINDINGS))
def story(name: str) -> Told | None:
    """What a finding tells; None where its model is not here, or does not do what the story says."""
    finding = next(finding for finding in FINDINGS if finding.name == name)
    if finding.model not in models() or damage(finding.model):
        return None
    found, place = trace(finding.model, finding.text), finding.place
    if f"{place.path}.weights" not in found or place.head >= found[f"{place.path}.weights"].size("head"):
        return None
    return finding.measure(load(finding.model), found, Head(place.attention, place.layer, place.head))
