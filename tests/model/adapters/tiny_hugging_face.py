"""Folders as `save_pretrained` writes them: random models of a few thousand parameters, tokenizers of a few sentences."""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
import torch
import transformers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

ENGLISH = ("I love you.", "The red car is here.", "She didn't know 12 things.", "Where is the café?")
FRENCH = ("Je t'aime.", "La voiture rouge est là.", "Elle ne savait pas 12 choses.", "Où est le café ?")
LANGUAGES = ("eng_Latn", "fra_Latn")


@contextmanager
def quiet() -> Iterator[None]:
    """sacremoses is not needed: without it, Marian's tokenizer leaves punctuation as it is."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Recommended: pip install sacremoses")
        yield


def marian(folder: Path) -> None:
    """Two vocabularies, as newer opus-mt models have them."""
    sides = {}
    for side, sentences in (("source", ENGLISH), ("target", FRENCH)):
        text = folder / f"{side}.txt"
        text.write_text("\n".join(sentences * 20), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(text), model_prefix=str(folder / side), vocab_size=60, hard_vocab_limit=False, minloglevel=2
        )
        (folder / f"{side}.model").rename(folder / f"{side}.spm")
        engine = sentencepiece.SentencePieceProcessor(str(folder / f"{side}.spm"))
        pieces = [engine.id_to_piece(index) for index in range(engine.get_piece_size())]
        names = ["</s>", "<unk>", *(piece for piece in pieces if piece not in ("</s>", "<unk>", "<s>")), "<pad>"]
        sides[side] = {name: index for index, name in enumerate(names)}
    vocabulary, target = folder / "vocab.json", folder / "target_vocab.json"
    # One id of <pad> in both, the last of the longer one, as the embeddings are padded by one id.
    for file, names in ((vocabulary, sides["source"]), (target, sides["target"])):
        names["<pad>"] = max(map(len, sides.values())) - 1
        file.write_text(json.dumps(names), encoding="utf-8")
    with quiet():
        tokenizer = transformers.MarianTokenizer(
            str(folder / "source.spm"), str(folder / "target.spm"), str(vocabulary), str(target), separate_vocabs=True
        )
    size = max(map(len, sides.values()))
    config = transformers.MarianConfig(
        **_bart(size), decoder_vocab_size=size, pad_token_id=size - 1, eos_token_id=0, decoder_start_token_id=size - 1,
        forced_eos_token_id=0, share_encoder_decoder_embeddings=False, scale_embedding=True,
    )  # fmt: skip
    model = transformers.MarianMTModel(config)
    model.generation_config.bad_words_ids = [[size - 1]]
    _save(folder, model, tokenizer)


def t5(folder: Path, config_of: Any = transformers.T5Config, model_of: Any = transformers.T5ForConditionalGeneration) -> None:
    tokenizer = _metaspace(["<pad>", "</s>", "<unk>"], "$A </s>")
    config = config_of(
        vocab_size=len(tokenizer), d_model=16, d_kv=6, d_ff=24, num_layers=3, num_decoder_layers=2, num_heads=2,
        decoder_start_token_id=0,
    )  # fmt: skip
    _save(folder, model_of(config), tokenizer)


def bart(folder: Path) -> None:
    tokenizer = _bytes(["<s>", "<pad>", "</s>", "<unk>"], "<s> $A </s>")
    _save(folder, transformers.BartForConditionalGeneration(transformers.BartConfig(**_bart(len(tokenizer)))), tokenizer)


def mbart(folder: Path) -> None:
    tokenizer = _metaspace(["<s>", "<pad>", "</s>", "<unk>", *LANGUAGES], "$A </s> eng_Latn")
    _save(folder, transformers.MBartForConditionalGeneration(transformers.MBartConfig(**_bart(len(tokenizer)))), tokenizer)


def nllb(folder: Path) -> None:
    """The language that is written is asked for as the first token."""
    tokenizer = _metaspace(["<s>", "<pad>", "</s>", "<unk>", *LANGUAGES], "eng_Latn $A </s>")
    config = transformers.M2M100Config(**_bart(len(tokenizer)), decoder_start_token_id=2)
    _save(folder, transformers.M2M100ForConditionalGeneration(config), tokenizer)


def gpt2(folder: Path) -> None:
    tokenizer = _bytes(["<|endoftext|>"], None)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=64, n_embd=16, n_layer=3, n_head=2, bos_token_id=0, eos_token_id=0
    )
    _save(folder, transformers.GPT2LMHeadModel(config), tokenizer)


def llama(folder: Path, config_of: Any = transformers.LlamaConfig, model_of: Any = transformers.LlamaForCausalLM) -> None:
    """Six heads of queries share two of keys; the width of a head is not d_model / heads."""
    tokenizer = _metaspace(["<unk>", "<s>", "</s>"], "<s> $A", fallback=True)
    config = config_of(
        vocab_size=len(tokenizer), hidden_size=18, intermediate_size=20, num_hidden_layers=2, num_attention_heads=6, head_dim=4,
        num_key_value_heads=2, max_position_embeddings=64, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    _save(folder, model_of(config), tokenizer)


def bert(folder: Path) -> None:
    engine = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    engine.normalizer, engine.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    engine.train_from_iterator(ENGLISH, trainers.WordPieceTrainer(vocab_size=60, special_tokens=specials, show_progress=False))
    engine.decoder = decoders.WordPiece()
    tokenizer = _fast(engine, specials, "[CLS] $A [SEP]")
    config = transformers.BertConfig(**_bert(len(tokenizer)))
    _save(folder, transformers.BertModel(config), tokenizer)


FAMILIES: dict[str, Callable[[Path], None]] = {
    "marian": marian, "t5": t5, "bart": bart, "mbart": mbart, "nllb": nllb, "gpt2": gpt2, "llama": llama, "bert": bert,
}  # fmt: skip


def mt5(folder: Path) -> None:
    t5(folder, transformers.MT5Config, transformers.MT5ForConditionalGeneration)


def roberta(folder: Path) -> None:
    """Positions are counted from the id of padding."""
    tokenizer = _bytes(["<s>", "<pad>", "</s>", "<unk>"], "<s> $A </s>")
    config = transformers.RobertaConfig(**_bert(len(tokenizer)), pad_token_id=1)
    _save(folder, transformers.RobertaModel(config), tokenizer)


def mistral(folder: Path) -> None:
    llama(folder, transformers.MistralConfig, transformers.MistralForCausalLM)


def qwen2(folder: Path) -> None:
    llama(folder, transformers.Qwen2Config, transformers.Qwen2ForCausalLM)


RELATIVES: dict[str, Callable[[Path], None]] = {"mt5": mt5, "roberta": roberta, "mistral": mistral, "qwen2": qwen2}
"""Architectures that differ from one of these in a detail: only their numbers are compared."""


def _bert(size: int) -> dict[str, Any]:
    return {
        "vocab_size": size, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24,
        "max_position_embeddings": 64,
    }  # fmt: skip


def _bart(size: int) -> dict[str, Any]:
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 4}
    return {
        "vocab_size": size, "d_model": 16, "encoder_layers": 2, "decoder_layers": 3, **heads,
        "encoder_ffn_dim": 24, "decoder_ffn_dim": 20, "max_position_embeddings": 64,
    }  # fmt: skip


def _metaspace(specials: list[str], template: str, fallback: bool = False) -> Any:
    """Pieces that begin with a sign for the space before them, as SentencePiece makes them."""
    engine = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=fallback, fuse_unk=True))
    engine.normalizer = normalizers.NFKC()
    engine.pre_tokenizer = pre_tokenizers.Metaspace()
    numbers = [f"<0x{byte:02X}>" for byte in range(256)] if fallback else []
    trainer = trainers.BpeTrainer(vocab_size=90 + len(numbers), special_tokens=[*specials, *numbers], show_progress=False)
    engine.train_from_iterator([*ENGLISH, *FRENCH], trainer)
    settings = json.loads(engine.to_str())
    settings["added_tokens"] = [token for token in settings["added_tokens"] if token["content"] in specials]
    engine = tokenizers.Tokenizer.from_str(json.dumps(settings))
    engine.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return _fast(engine, specials, template)


def _bytes(specials: list[str], template: str | None) -> Any:
    """Byte-level BPE: every text can be written, a character may be several pieces."""
    engine = tokenizers.Tokenizer(models.BPE())
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=specials, initial_alphabet=alphabet, show_progress=False)
    engine.train_from_iterator([*ENGLISH], trainer)
    engine.decoder = decoders.ByteLevel()
    return _fast(engine, specials, template)


def _fast(engine: Any, specials: list[str], template: str | None) -> Any:
    if template:
        named = [(name, engine.token_to_id(name)) for name in specials if name in template.split()]
        engine.post_processor = processors.TemplateProcessing(single=template, special_tokens=named)
    roles = {"<pad>": "pad_token", "[PAD]": "pad_token", "<s>": "bos_token", "</s>": "eos_token", "<unk>": "unk_token"}
    roles |= {"[UNK]": "unk_token", "[CLS]": "cls_token", "[SEP]": "sep_token", "<|endoftext|>": "eos_token"}
    given = {roles[name]: name for name in specials if name in roles}
    languages = [name for name in specials if name in LANGUAGES]
    return transformers.PreTrainedTokenizerFast(tokenizer_object=engine, extra_special_tokens=languages, **given)


def _save(folder: Path, model: Any, tokenizer: Any) -> None:
    """Every parameter at random, so that no bias of 0 and no gain of 1 hides a mistake."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
