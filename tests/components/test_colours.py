"""The colours of pictures and pages: legible (WCAG 2.2, AA) and told apart by colour-blind eyes, in both themes."""

import json
import re
import tomllib
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT / "app" / "components" / "shared"
THEMES = ("light", "dark")
TEXT, GRAPHIC = 4.5, 3.0  # WCAG 1.4.3 and 1.4.11
# Linear RGB as eyes without one kind of cone see it: Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation
# of Color Vision Deficiency", 2009, severity 1.0.
EYES = {
    "all cones": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])  # of sRGB, white D65
ALIKE = 10.0  # CIE 1976: a difference of about 2 can just be seen

Colour = tuple[float, ...]


def linear(colour: Colour) -> np.ndarray:
    share = np.asarray(colour) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def contrast(one: Colour, other: Colour) -> float:
    low, high = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(colour: Colour, eyes: str) -> np.ndarray:
    """CIE L*a*b* of what these eyes see."""
    seen = np.clip(EYES[eyes] @ linear(colour), 0, 1)
    x, y, z = np.cbrt(TO_XYZ @ seen / TO_XYZ.sum(axis=1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one: Colour, other: Colour) -> float:
    """The least, over all eyes."""
    return min(float(np.linalg.norm(lab(one, eyes) - lab(other, eyes))) for eyes in EYES)


def mixed(one: Colour, other: Colour, share: float) -> Colour:
    return tuple(round(a + (b - a) * share) for a, b in zip(one, other, strict=True))


def of_hex(written: str) -> Colour:
    return tuple(bytes.fromhex(written.removeprefix("#")))


def table(file: str, name: str) -> dict[str, object]:
    """A constant of a script, written as JSON but for bare names and commas at the end."""
    found = re.search(rf"const {name} = (\{{.*?\n\}});", (SHARED / file).read_text("utf-8"), re.DOTALL)
    assert found
    read: dict[str, object] = json.loads(re.sub(r",(\s*[}\]])", r"\1", re.sub(r"(\w+):", r'"\1":', found[1])))
    return read


class Palette:
    """What a picture is drawn with in one theme, mixed as theme.js mixes it."""

    def __init__(self, theme: str) -> None:
        config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"][theme]
        self.paper, self.ink = of_hex(config["backgroundColor"]), of_hex(config["textColor"])
        self.accent = of_hex(config["primaryColor"])
        source = (SHARED / "theme.js").read_text("utf-8")
        dark = theme == "dark"

        def share(pattern: str) -> float:
            found = re.search(pattern, source)
            assert found, pattern
            return float(found[1])

        both = r"([\d.]+) : [\d.]+" if dark else r"[\d.]+ : ([\d.]+)"
        self.card = mixed(self.paper, (255, 255, 255), share(rf"card = mix\(paper, WHITE, dark \? {both}\)"))
        self.edge = mixed(self.card, self.ink, share(rf"edge = mix\(card, ink, dark \? {both}\)"))
        self.muted = mixed(self.card, self.ink, share(r"muted: mix\(card, ink, ([\d.]+)\)"))
        written = re.search(r"DARK_INK = \[(\d+), (\d+), (\d+)\]", source)
        assert written
        self.dark_ink = tuple(map(int, written.groups()))
        self.roles: dict[str, Colour] = table("theme.js", "ROLES")[theme]  # type: ignore[assignment]
        self.heads: list[Colour] = table("theme.js", "HEADS")[theme]  # type: ignore[assignment]
        self.stops: list[Colour] = table("scale.js", "STOPS")[theme]  # type: ignore[assignment]

    def scale(self) -> Iterator[Colour]:
        for low, high in zip(self.stops, self.stops[1:], strict=False):
            yield from (mixed(low, high, step / 64) for step in range(65))

    def ink_on(self, background: Colour) -> float:
        return max(contrast(background, (255, 255, 255)), contrast(background, self.dark_ink))


@pytest.fixture(params=THEMES)
def palette(request: pytest.FixtureRequest) -> Palette:
    return Palette(request.param)


def test_words_in_pictures_are_legible(palette: Palette) -> None:
    words = {"ink": palette.ink, "muted": palette.muted, "accent": palette.accent, **palette.roles}
    words |= {f"head {number}": colour for number, colour in enumerate(palette.heads)}
    assert {name: colour for name, colour in words.items() if contrast(colour, palette.card) < TEXT} == {}
    assert contrast(palette.ink, palette.edge) >= TEXT * 0.9  # a sign over hatching, of which most is the card
    assert palette.ink_on(palette.accent) >= TEXT


def test_a_number_can_be_read_on_every_colour_of_the_scales(palette: Palette) -> None:
    assert min(palette.ink_on(colour) for colour in palette.scale()) >= TEXT
    for end in (*palette.roles.values(), palette.accent, palette.muted):  # the scale of signed numbers
        assert min(palette.ink_on(mixed(palette.card, end, step / 64)) for step in range(65)) >= TEXT


def test_frames_and_hatching_can_be_seen(palette: Palette) -> None:
    assert contrast(palette.edge, palette.card) >= GRAPHIC
    assert contrast(palette.edge, palette.stops[0]) >= GRAPHIC * 0.95  # masked beside nothing


@pytest.mark.parametrize("eyes", EYES)
def test_the_scale_of_weights_grows_by_lightness_alone(palette: Palette, eyes: str) -> None:
    steps = np.diff([lab(colour, eyes)[0] for colour in palette.stops])
    assert np.all(np.abs(steps) >= ALIKE)
    assert len(set(np.sign(steps))) == 1


def test_colour_blind_eyes_tell_the_roles_and_the_heads_apart(palette: Palette) -> None:
    """Of those that stand side by side; each also has its name there, and a head its own dashes."""
    role = palette.roles
    beside = [*combinations([role["query"], role["key"], role["value"]], 2), (role["source"], role["target"])]
    beside += combinations(palette.heads, 2)
    assert [pair for pair in beside if distance(*pair) < ALIKE] == []


@pytest.mark.parametrize("theme", THEMES)
def test_words_of_the_pages_are_legible(theme: str) -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"][theme]
    written = re.findall(
        r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)", (ROOT / "app" / "views" / "style.css").read_text("utf-8").split("}")[0]
    )
    look = {name: of_hex(colours[THEMES.index(theme)]) for name, *colours in written}
    papers = [
        of_hex(part[name]) for part in (config, config["sidebar"]) for name in ("backgroundColor", "secondaryBackgroundColor")
    ]
    papers += [look["card"], *(mixed(papers[0], look[name], 0.09) for name in ("wrong", "accent", "bad"))]
    words = {name: look[name] for name in ("ink", "muted", "accent", "source", "wrong", "bad")}
    words |= {name: of_hex(config[f"{name}Color"]) for name in ("text", "link", "primary")}
    faint = {(name, paper) for name, colour in words.items() for paper in papers if contrast(colour, paper) < TEXT}
    assert faint == set()
