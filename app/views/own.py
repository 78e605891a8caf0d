"""Your own model: models of others that the operator lists, brought into memory and opened on the other pages."""

from app import session
from app.views import html, own_fits, own_list, own_matrices
from app.views.anatomy import Anatomy, Section, show
from model import save_html
from model.adapters import hugging_face

LIST = """most = 2
idle_minutes = 30

[[model]]
title = "OPUS-MT, English to German"
folder = "/srv/models/opus-mt-en-de"
languages = ["en", "de"]
"""
START = "make run-hf OWN=models.toml"
PYTHON = """import model
from model.adapters import hugging_face

atlas = hugging_face.load("/srv/models/opus-mt-en-de")
model.save_html(atlas.trace("The red car is here."), "attention.html")
"""


def described() -> Anatomy:
    """The page, which is about no sentence."""
    return Anatomy(
        "own",
        stage,
        sections=(
            Section("own_matrices.title", own_matrices.show),
            Section("own.how_title", how),
            Section("own.fits_title", own_fits.table),
            Section("own.python_title", python),
        ),
        pictured=False,
        code=(hugging_face.inspect, hugging_face.load, save_html),
    )


def stage() -> None:
    """The list and what is wrong with it, or that there is none."""
    found = session.own_list()
    if found.given and not session.can_bring():
        html.notice("error", "own.not_installed")
    if found.problems:
        html.prose("own.problems", count=len(found.problems))
        html.bullets([html.sentence(problem.key, **problem.values) for problem in found.problems])
    if found.models:
        html.heading("own.list_title")
        own_list.show(found)
    else:
        html.notice("info", "own.none")


def how() -> None:
    """What whoever runs the server writes, and types."""
    for key in ("own.how", "own.how_first"):
        html.prose(key)
    html.listing(LIST)
    html.prose("own.how_then")
    html.listing(START)
    html.bullets([html.sentence(f"own.how_{part}") for part in ("folder", "hub", "more")])


def python() -> None:
    """The line for notebooks and scripts."""
    html.prose("own.python_idea")
    html.listing(PYTHON)


session.begin_run()
show(described())
