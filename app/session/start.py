"""What a server does before its first visitor, and a moment later."""

import importlib

import torch

from app import text as texts
from app.session import apart, listed
from app.session.computed import trace
from app.session.findings import stories, told
from app.session.loading import default_model, loaded, models
from app.session.selection import Selection
from app.session.sentences import first_example
from app.session.turns import take_turns
from app.session.unsure import doubts
from model.adapters import hugging_face


def warm_up() -> None:
    """Before the first visitor: load the model that most of them meet.

    A damaged model does not stop the server; its page says what is wrong with it.
    """
    torch.set_num_threads(1)  # many visitors share the processors: one thread each is the fastest for all
    take_turns()
    loaded([default_model(texts.DEFAULT_LANGUAGE, "")])


def warm_up_further() -> None:
    """Once the first visitor may come: load the other models, let each translate its first sentence, measure the stories.

    And import what loads models of others, where a list names some, and what PyTorch imports at the first optimizer: else some
    seconds in which everybody waits for whoever first opens a part that trains a little.
    """
    apart.allow()
    for name in loaded(models()):
        trace(name, first_example(name) or "?")
        doubts(Selection(texts.DEFAULT_LANGUAGE, name, first_example(name) or "?"))
    if listed.listed():
        hugging_face.prepare(entry.architecture for entry in listed.listed())
    importlib.import_module("torch._dynamo")
    for story in stories():
        told(story.name)
