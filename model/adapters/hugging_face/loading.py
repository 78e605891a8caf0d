"""From a folder on disk to a model that can be looked into."""

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

import torch

from model.adapters.hugging_face import attention, folder
from model.adapters.hugging_face.folder import AdapterError, Folder
from model.adapters.hugging_face.listening import ROTARY, listen
from model.adapters.hugging_face.models import (
    AnyHuggingFace,
    HuggingFaceEncoder,
    HuggingFaceLanguageModel,
    HuggingFaceTokenizers,
    HuggingFaceTranslator,
)
from model.adapters.hugging_face.modules import (
    HuggingFaceConfig,
    HuggingFaceDecoderOnly,
    HuggingFaceEncoderDecoder,
    HuggingFaceEncoderOnly,
)
from model.adapters.hugging_face.tokens import HuggingFaceTokenizer

Progress = Callable[[str, int, int], None]
"""Told what is done, and how many of how many steps are: ("weights", 1, 4)."""

STEPS = ("folder", "weights", "tokenizers", "ready")
UNBOUNDED = 512
"""Tokens at most for models that name no limit of their own."""
SPACE = "\u2581"
"""What SentencePiece writes for a space; a tokenizer without a vocabulary still has it."""


def prepare(architectures: Iterable[str]) -> None:
    """Import what loading these imports, so that the first who asks for a model does not wait for that as well."""
    transformers: Any = import_module("transformers")
    for name in ("AutoModel", "AutoTokenizer"):
        getattr(transformers, name)
    for architecture in set(architectures):
        folder_name = architecture.replace("-", "_")
        with suppress(ImportError):
            import_module(f"transformers.models.{folder_name}.modeling_{folder_name}")


def load(
    path: str | os.PathLike[str],
    *,
    source_language: str | None = None,
    target_language: str | None = None,
    prefix: str = "",
    pickles: bool = False,
    device: str = "cpu",
    dtype: torch.dtype = torch.float32,
    available: int | None = None,
    progress: Progress | None = None,
) -> AnyHuggingFace:
    """The model of a folder on disk, in eval mode, with its attention written out and recorded.

    Nothing is fetched, no code of the folder is run, weights are read from safetensors only (`pickles` allows PyTorch's own
    format too). `source_language` and `target_language` are codes of the tokenizer, needed by models of many languages ("en_XX",
    "eng_Latn"); `prefix` is put before every source text, as T5's "translate English to French: ". `available` bytes of memory
    are looked up if None. Raises `AdapterError`, before anything large is read where that can be known.
    """
    told = progress or (lambda what, done, of: None)
    found = folder.inspect(path, pickles=pickles)
    folder.check_memory(found, folder.available_memory() if available is None else available)
    told(STEPS[0], 1, len(STEPS))
    try:
        transformers: Any = import_module("transformers")
    except ImportError:
        raise AdapterError("transformers is not installed; run `pip install -r requirements-hf.txt`, or `make run-hf`") from None
    transformers.utils.logging.disable_progress_bar()
    attention.register()
    theirs = _weights(transformers, found, pickles).to(device=device, dtype=dtype).requires_grad_(False).eval()
    listen(theirs, found.architecture)
    told(STEPS[1], 2, len(STEPS))
    tokenizers = _tokenizers(transformers, found, source_language, target_language, prefix)
    told(STEPS[2], 3, len(STEPS))
    made = _made(theirs, found, tokenizers, target_language)
    told(STEPS[3], 4, len(STEPS))
    return made


def _weights(transformers: Any, found: Folder, pickles: bool) -> Any:
    classes = {
        "encoder-decoder": transformers.AutoModelForSeq2SeqLM,
        "decoder-only": transformers.AutoModelForCausalLM,
        "encoder-only": transformers.AutoModel,
    }
    try:
        theirs, report = classes[found.kind].from_pretrained(
            found.path,
            attn_implementation=attention.NAME,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=None if pickles else True,
            dtype=torch.float32,
            output_loading_info=True,
        )
    except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
        raise AdapterError(f"{found.path.name} cannot be loaded as {found.architecture}: {_first_line(error)}") from error
    if missing := sorted(name for name in report["missing_keys"] if "pooler" not in name):
        raise AdapterError(
            f"{found.path.name} lacks {len(missing)} of the weights that {found.architecture} needs, the first is {missing[0]}; "
            "they would be random: bring a folder with the whole model"
        )
    return theirs


def _tokenizers(
    transformers: Any, found: Folder, source_language: str | None, target_language: str | None, prefix: str
) -> HuggingFaceTokenizers:
    """One for each side where the sides differ: a tokenizer of theirs changes when it changes sides."""
    source = _tokenizer(transformers, found, {"src_lang": source_language, "tgt_lang": target_language})
    if source.is_fast:
        both = HuggingFaceTokenizer(source, prefix)
        return HuggingFaceTokenizers(both, both)
    target = _tokenizer(transformers, found, {"src_lang": target_language, "tgt_lang": target_language})
    if hasattr(target, "current_spm"):  # Marian
        target._switch_to_target_mode()
    return HuggingFaceTokenizers(HuggingFaceTokenizer(source, prefix), HuggingFaceTokenizer(target))


def _tokenizer(transformers: Any, found: Folder, languages: Mapping[str, str | None]) -> Any:
    named = {name: code for name, code in languages.items() if code is not None}
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Recommended: pip install sacremoses")
            made = transformers.AutoTokenizer.from_pretrained(found.path, local_files_only=True, trust_remote_code=False, **named)
    except (OSError, ValueError, RuntimeError, KeyError, TypeError, ImportError, AssertionError) as error:
        reason = _first_line(error).rstrip(": ")
        raise AdapterError(f"the tokenizer of {found.path.name} cannot be loaded ({reason}); bring all its files") from error
    _check_vocabulary(made, found)
    return made


def _check_vocabulary(tokenizer: Any, found: Folder) -> None:
    """Without its files the library makes a tokenizer of special tokens alone, and every text is lost without a word."""
    if not set(tokenizer.get_vocab()) - set(tokenizer.get_added_vocab()) - set(tokenizer.all_special_tokens) - {SPACE}:
        raise AdapterError(
            f"{found.path.name} holds no vocabulary of its tokenizer; bring the files that `save_pretrained` of the tokenizer "
            "writes, such as tokenizer.json"
        )
    rows = max(found.config.get(name) or 0 for name in ("vocab_size", "decoder_vocab_size"))
    if rows and tokenizer.vocab_size > rows:
        raise AdapterError(
            f"the tokenizer of {found.path.name} knows {tokenizer.vocab_size:,} tokens, the model has embeddings of {rows:,}: "
            "they belong to two models; bring the tokenizer that the model was trained with"
        )


def _made(theirs: Any, found: Folder, tokenizers: HuggingFaceTokenizers, language: str | None) -> AnyHuggingFace:
    config = _config(theirs, found, tokenizers, language)
    name, card = found.path.name, {"architecture": found.architecture, "parameters": found.parameters, "kind": found.kind}
    if found.kind == "encoder-decoder":
        return HuggingFaceTranslator(name, HuggingFaceEncoderDecoder(theirs, config).eval(), tokenizers, card)
    if found.kind == "decoder-only":
        return HuggingFaceLanguageModel(name, HuggingFaceDecoderOnly(theirs, config).eval(), tokenizers, card)
    return HuggingFaceEncoder(name, HuggingFaceEncoderOnly(theirs, config).eval(), tokenizers, card)


def _config(theirs: Any, found: Folder, tokenizers: HuggingFaceTokenizers, language: str | None) -> HuggingFaceConfig:
    """Their configuration in our words."""
    config, generation = theirs.config, getattr(theirs, "generation_config", None)

    def said(*names: str, default: Any = None) -> Any:
        """The first of these settings that is given, in the rules for writing before those of the model."""
        values = (getattr(where, name, None) for name in names for where in (generation, config) if where is not None)
        return next((value for value in values if value is not None), default)

    heads = said("num_attention_heads", "encoder_attention_heads", "num_heads", "n_head")
    width = said("d_model", "hidden_size", "n_embd")
    layers = said("num_hidden_layers", "num_layers", "n_layer", default=0)
    target = tokenizers.target.theirs
    end = said("eos_token_id", default=target.eos_token_id)
    start = said("decoder_start_token_id", "bos_token_id", "eos_token_id", default=target.bos_token_id)
    first = said("forced_bos_token_id")
    if language is not None and found.kind == "encoder-decoder":
        known = getattr(target, "lang_code_to_id", None) or {}  # M2M-100 names its tokens otherwise than its languages
        code = known.get(language, target.convert_tokens_to_ids(language))
        if code in (None, target.unk_token_id):
            raise AdapterError(f"{found.path.name} knows no language {language!r}; give a code of its tokenizer")
        start, first = (code, None) if found.architecture == "mbart" and first is None else (start, code)
    forbidden = [ids[0] for ids in said("bad_words_ids", default=[]) if len(ids) == 1]
    pad = said("pad_token_id", default=target.pad_token_id)
    return HuggingFaceConfig(
        architecture=found.architecture,
        family=found.kind,
        source_vocab_size=config.vocab_size,
        target_vocab_size=said("decoder_vocab_size", default=config.vocab_size),
        d_model=width,
        num_heads=heads,
        width=said("d_kv", "head_dim", default=width // heads),
        key_value_heads=said("num_key_value_heads", default=heads),
        decoder_heads=said("decoder_attention_heads", default=heads),
        d_ff=said("d_ff", "encoder_ffn_dim", "intermediate_size", "n_inner", default=4 * width),
        encoder_layers=0 if found.kind == "decoder-only" else said("encoder_layers", default=layers),
        decoder_layers=0 if found.kind == "encoder-only" else said("decoder_layers", "num_decoder_layers", default=layers),
        dropout=0.0,
        norm="post" if found.architecture in ("marian", "bart", "bert", "roberta", "xlm-roberta") else "pre",
        activation=said("activation_function", "hidden_act", "dense_act_fn", default="relu"),
        positions=_positions(found.architecture),
        attention_bias=found.architecture not in ("t5", "mt5", "llama", "mistral"),
        max_length=_longest(config, target, found.architecture),
        padding=end if pad is None else pad,
        start=start if isinstance(start, int) else 0,
        end=end[0] if isinstance(end, list) else end or 0,
        unknown=-1 if target.unk_token_id is None else target.unk_token_id,
        forbidden=tuple(forbidden),
        first=first,
    )


def _positions(architecture: str) -> Any:
    if architecture in ROTARY:
        return "rotary"
    return {"t5": "relative", "mt5": "relative", "marian": "sinusoidal", "m2m_100": "sinusoidal"}.get(architecture, "learned")


def _longest(config: Any, tokenizer: Any, architecture: str) -> int:
    """Tokens that the model takes: what it has positions for, or what its tokenizer was made for."""
    places = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    if places and architecture in ("roberta", "xlm-roberta"):
        places -= 2  # the first two stand for padding
    return int(places) if places else min(int(tokenizer.model_max_length), UNBOUNDED)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
