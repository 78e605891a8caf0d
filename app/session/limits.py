"""The limits of this server, those of a text checked here whatever the browser allowed; what to know of a text within them."""

import unicodedata

from app.server_profile import profile
from app.session.common_words import may_be
from app.session.loading import known_words, languages, reader, reads, unknown
from app.session.remark import Remark
from model.alignment import words
from model.translator import LanguageModel, Opened, Reader, TextError

MAX_TOKENS: int = profile().max_tokens  # of the text box; more is refused with a message, never cut
MAX_CHARACTERS: int = profile().max_characters  # what is longer is not even cut into tokens
MAX_LINK: int = profile().max_link  # characters of what stands after the ? of an address
TRAININGS: int = profile().trainings  # at once, for all visitors of a server together; 0: there is no live training
ALIGNMENTS: int = profile().alignments  # studies of the Alignment studio that are worked on at once
MAX_UPLOAD: int = profile().max_upload  # bytes of a file that is brought to the studio; 0: none may be brought
MAX_PAIRS: int = profile().max_pairs  # of a study; the command line has no limit
BESIDE = 2  # tokens that a decoder reads beside its text: the first one, and a language that it is asked for
LISTED = 8  # unknown words that are named


def refused(atlas: Opened, source: str, target: str | None = None) -> Remark | None:
    """Why this text cannot be shown, with the limit, what was given, and what to do; None if it can."""
    if not source.strip():
        return Remark("limits.empty", {})
    for side, written in (("source", source), ("target", target or "")):
        if len(written) > MAX_CHARACTERS:
            return Remark(f"limits.{side}_characters", {"limit": MAX_CHARACTERS, "given": len(written)})
        tokens = len(getattr(atlas.tokenizers, side).encode(written))
        if tokens > MAX_TOKENS:
            return Remark(f"limits.{side}_tokens", {"limit": MAX_TOKENS, "given": tokens})
    if not _visible(source) or not atlas.tokenizers.source.encode(source):
        return Remark("limits.no_token", {})
    return _beyond_model(atlas, source, target or "")


def _beyond_model(atlas: Opened, source: str, target: str) -> Remark | None:
    """That a model has fewer positions than the text has tokens."""
    if atlas.ours and atlas.config.max_length > 2 * MAX_TOKENS + BESIDE:  # more than a page shows
        return None
    given, longest = len(atlas.tokenizers.source.encode(source)), atlas.config.max_length
    try:
        atlas.source_tokens(source)
    except TextError:
        return Remark("limits.model_source", {"name": atlas.name, "limit": longest, "given": given})
    if isinstance(atlas, Reader):
        return None
    written = len(atlas.tokenizers.target.encode(target)) + (given if isinstance(atlas, LanguageModel) else 0)
    if written + BESIDE > longest:
        return Remark("limits.model_target", {"name": atlas.name, "limit": longest, "given": written})
    return None


def _visible(written: str) -> bool:
    """Whether a text holds anything but spaces, control characters and marks of format such as the zero-width space."""
    return any(unicodedata.category(character) not in ("Cc", "Cf", "Zs", "Zl", "Zp") for character in written)


def remarks(atlas: Opened, source: str) -> list[Remark]:
    """What a visitor should know about a text that can be shown: in another language, longer than learned."""
    found = []
    language = languages(atlas.name)[0]
    if known_words(atlas.name):
        if foreign := unknown(atlas, source):
            listed = " ".join(token.text for token in foreign[:LISTED])
            suits = "" if reads(atlas.name, source) else reader(atlas.name, source)
            found.append(Remark("limits.unknown_words", {"name": atlas.name, "words": listed, "count": len(foreign)}, suits))
    elif not reads(atlas.name, source):
        found.append(Remark(_foreign(language, source), {"name": atlas.name}, reader(atlas.name, source)))
    longest, given = longest_words(atlas), len(words.split(source, True))
    if longest and given > longest:
        key = "limits.longer_than_learned" + ("_characters" if language == "zh" else "")
        found.append(Remark(key, {"longest": longest, "given": given}))
    return found


def _foreign(language: str, source: str) -> str:
    """What is said of a text that is not in this language."""
    if language == "zh":
        return "limits.reads_characters"
    if not may_be(source, "en") and not may_be(source, "fr"):
        return "limits.reads_letters"
    return "limits.seems_french" if language == "en" else "limits.seems_english"


def longest_words(atlas: Opened) -> int:
    """The longest sentence that the model learned from, in words; 0 if its card does not say."""
    return int(atlas.card.get("training", {}).get("longest_words", 0))
