"""What a server does before its first visitor."""

import torch

from app import text as texts
from app.session.computed import trace
from app.session.loading import loaded, models
from app.session.selection import Selection
from app.session.sentences import first_example
from app.session.unsure import doubts


def warm_up() -> None:
    """What a server does before its first visitor: load every model and translate once with each.

    A damaged model does not stop the server; its page says what is wrong with it.
    """
    torch.set_num_threads(1)  # many visitors share the processors: one thread each is the fastest for all
    for name in loaded(models()):
        trace(name, first_example(name) or "?")
        doubts(Selection(texts.DEFAULT_LANGUAGE, name, first_example(name) or "?"))
