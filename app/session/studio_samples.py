"""Sample files of our own, to open the Alignment studio with: what lies in assets/examples/studio, described by its index."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from app.session.loading import ROOT
from app.session.studio_reading import upload_of
from app.session.studio_study import File, Upload

FOLDER = ROOT / "assets" / "examples" / "studio"


@dataclass(frozen=True)
class Sample:
    """One sample: its files, and in each language what it is called and what to look for."""

    id: str
    upload: Upload
    titles: Mapping[str, str]
    looks: Mapping[str, str]


@st.cache_resource(show_spinner=False)  # our own files, the same for everybody
def study_samples() -> tuple[Sample, ...]:
    """All samples, in the order of the index; none where there is no index."""
    index = FOLDER / "index.toml"
    entries = tomllib.loads(index.read_text("utf-8"))["sample"] if index.exists() else []
    return tuple(_sample(entry) for entry in entries)


def _sample(entry: Mapping[str, Mapping[str, str]]) -> Sample:
    names = [*entry["files"], *entry.get("links", ())]
    upload = upload_of([File(name, (FOLDER / name).read_bytes()) for name in names])
    return Sample(str(entry["id"]), upload, entry["title"], entry["look"])
