"""What a visitor has chosen, and everything that is kept between runs: the only state, the only cache, the only loader.

The rest of the app says `from app import session` and uses the names below; the files of this folder are its own affair.
"""

from app.session.address import put, settle
from app.session.card import card_facts
from app.session.computed import measured, measured_model, trace, translation, wrote
from app.session.limits import MAX_CHARACTERS, MAX_TOKENS, Remark, longest_words, refused, remarks
from app.session.loading import damage, folder_of, languages, load, loaded, models, writes_on
from app.session.places import ATTENTIONS, Place, attentions, checked_place, go, look_at, move, place
from app.session.selection import BEAMS, Selection, begin_run, current, select
from app.session.sentences import Example, example_pairs, examples, first_example
from app.session.start import warm_up
from app.session.studio import (
    begin_study,
    cancel_alignment,
    correct_reading,
    edit_links,
    end_study,
    place_in_queue,
    put_model,
    put_settings,
    refused_upload,
    start_alignment,
    study,
)
from app.session.studio_reading import translators, upload_of
from app.session.studio_study import File, Reading, Study, Upload
from app.session.training import (
    begin_training,
    open_result,
    own_training,
    packed,
    resume_training,
    stop_training,
    trainings_at_once,
)
from app.session.trainings import Training
from app.session.unsure import doubts
from app.session.variants import altered, altered_translation, head_off

__all__ = [
    "ATTENTIONS",
    "BEAMS",
    "MAX_CHARACTERS",
    "MAX_TOKENS",
    "Example",
    "File",
    "Place",
    "Reading",
    "Remark",
    "Selection",
    "Study",
    "Training",
    "Upload",
    "altered",
    "altered_translation",
    "attentions",
    "begin_run",
    "begin_study",
    "begin_training",
    "cancel_alignment",
    "card_facts",
    "checked_place",
    "correct_reading",
    "current",
    "damage",
    "doubts",
    "edit_links",
    "end_study",
    "example_pairs",
    "examples",
    "first_example",
    "folder_of",
    "go",
    "head_off",
    "languages",
    "load",
    "loaded",
    "longest_words",
    "look_at",
    "measured",
    "measured_model",
    "models",
    "move",
    "open_result",
    "own_training",
    "packed",
    "place",
    "place_in_queue",
    "put",
    "put_model",
    "put_settings",
    "refused",
    "refused_upload",
    "remarks",
    "resume_training",
    "select",
    "settle",
    "start_alignment",
    "stop_training",
    "study",
    "trace",
    "trainings_at_once",
    "translation",
    "translators",
    "upload_of",
    "warm_up",
    "writes_on",
    "wrote",
]
