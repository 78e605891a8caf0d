"""Which language a name means: a code in any notation, or the language's name as headers of tables write it."""

import re

_NAMES = {
    "en": "eng english anglais englisch inglés ingles 英语 英文 英語",
    "fr": "fra fre french français francais französisch francés 法语 法文 法語",
    "zh": "zho chi cmn chinese chinois chinesisch mandarin 中文 汉语 漢語 华语 简体中文 普通话 cn",
    "de": "deu ger german allemand deutsch 德语 德文",
    "es": "spa spanish espagnol spanisch español espanol castellano 西班牙语",
    "it": "ita italian italien italienisch italiano 意大利语",
    "pt": "por portuguese portugais portugiesisch português portugues 葡萄牙语",
    "nl": "nld dut dutch néerlandais niederländisch nederlands 荷兰语",
    "ro": "ron rum romanian roumain rumänisch română 罗马尼亚语",
    "ru": "rus russian russe russisch русский 俄语 俄文",
    "pl": "pol polish polonais polnisch polski 波兰语",
    "cs": "ces cze czech tchèque tschechisch čeština 捷克语",
    "sv": "swe swedish suédois schwedisch svenska 瑞典语",
    "ar": "ara arabic arabe arabisch العربية 阿拉伯语",
    "he": "heb hebrew hébreu hebräisch עברית 希伯来语",
    "hi": "hin hindi हिन्दी 印地语",
    "ja": "jpn japanese japonais japanisch 日本語 日语 日文",
    "ko": "kor korean coréen koreanisch 한국어 韩语 韩文",
    "tr": "tur turkish turc türkisch türkçe 土耳其语",
    "vi": "vie vietnamese vietnamien vietnamesisch 越南语",
    "uk": "ukr ukrainian ukrainien ukrainisch українська 乌克兰语",
    "el": "ell gre greek grec griechisch ελληνικά 希腊语",
    "la": "lat latin latein 拉丁语",
}
_CODES = {name: code for code, names in _NAMES.items() for name in [code, *names.split()]}
_SIDES = {
    "source": "source src source_text source_sentence source_lang sourcetext src_text original sentence1 原文 源 源文 源语言",
    "target": "target tgt trg target_text target_sentence target_lang targettext tgt_text cible translation traduction sentence2 "
    "译文 目标 目标语言 翻译",
}
_ROLES = {name: side for side, names in _SIDES.items() for name in names.split()}


_TAG = re.compile(r"([a-z]{2,3})(?:[-_](?:[a-z]{4}|[a-z]{2}|[0-9]{3}))+")

_ASIDE = """
id ids key guid uuid note notes remarque comment comments commentaire tag tags score attribution credit context contexte url
license split domain links alignment alignments pharaoh 备注 注释 编号
"""
ASIDE = frozenset(_ASIDE.split())  # what is called so stands beside the texts


def language(name: str) -> str:
    """The two-letter code of a language's name or code (`EN`, `en-US`, `zh_Hans`, `fra`, `Anglais`); "" if none is known."""
    plain = name.strip().casefold()
    tag = _TAG.fullmatch(plain)
    return _CODES.get(plain) or (_CODES.get(tag[1], "") if tag else "")


def language_in(name: str) -> str:
    """The language of a key such as `text_en` or `fr-sentence`; "" if it names none, or two."""
    whole = language(name)
    parts = {language(part) for part in re.split(r"[-_. ]", name)} - {""}
    return whole or (parts.pop() if len(parts) == 1 else "")


def side(name: str) -> str:
    """Either "source" or "target" for a name that means one of them, "" for any other."""
    return _ROLES.get(name.strip().casefold().replace(" ", "_"), "")
