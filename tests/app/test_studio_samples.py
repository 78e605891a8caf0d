"""The samples of the studio are what somebody sees first: nothing about them is doubted."""

import pytest

from app import session
from app.session import studio_reading
from app.session.studio_samples import Sample
from app.session.studio_study import Reading


@pytest.mark.parametrize("sample", session.study_samples(), ids=lambda sample: sample.id)
def test_a_sample_is_read_without_a_problem_and_without_a_doubt(sample: Sample) -> None:
    study = studio_reading.read(sample.upload, Reading(), "en-zh" if sample.id.startswith("en-zh") else "en-fr")
    assert study.total == 12
    assert not study.problems
    assert session.count_flags(study) == {}
    assert all(links is not None and links.sure for links in study.gold)
