"""A small, real Transformer that can be looked into.

>>> import model
>>> atlas = model.load("en-fr")
>>> print(atlas.translate("I love you.").text)
>>> trace = atlas.trace("I love you.", "Je t'aime.")
>>> print(trace["decoder.layers.1.cross_attention.weights"].tensor.shape)
"""

import model.alignment.metrics
import model.training.loss
import model.training.schedule
from model import (
    alignment,
    attention_mask,
    checkpoint,
    config,
    cost,
    decoding,
    page,
    position,
    tokenizer,
    trace,
    transformer,
    translator,
)
from model.checkpoint import CheckpointError, available
from model.config import ConfigError, ModelConfig, paper_base, paper_big
from model.page import Page, save_html, show
from model.trace import Activation, Trace, UnknownPathError, tracing
from model.translator import Generation, LanguageModel, TextError, Translation, Translator, load

__all__ = [
    "Activation",
    "CheckpointError",
    "ConfigError",
    "Generation",
    "LanguageModel",
    "ModelConfig",
    "Page",
    "TextError",
    "Trace",
    "Translation",
    "Translator",
    "UnknownPathError",
    "alignment",
    "attention_mask",
    "available",
    "checkpoint",
    "config",
    "cost",
    "decoding",
    "load",
    "page",
    "paper_base",
    "paper_big",
    "position",
    "save_html",
    "show",
    "tokenizer",
    "trace",
    "tracing",
    "training",
    "transformer",
    "translator",
]
