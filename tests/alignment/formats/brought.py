"""Files as people bring them: named streams, small good ones of every format (most are cases of the public record), reading."""

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from model.alignment.formats import Pairs, read_pairs


class Named(io.BytesIO):
    """An upload."""

    def __init__(self, name: str, content: bytes) -> None:
        super().__init__(content)
        self.name = name


@dataclass(frozen=True)
class Case:
    """Files with their names and bytes, and the pairs that must come out of them."""

    files: tuple[tuple[str, bytes], ...]
    rows: tuple[tuple[str, str], ...]
    format: str
    encoding: str = "utf-8"

    @property
    def streams(self) -> list[BinaryIO]:
        return [Named(name, content) for name, content in self.files]


def one(name: str, content: bytes, format: str, *rows: tuple[str, str], encoding: str = "utf-8") -> Case:
    return Case(((name, content),), rows, format, encoding)


def read(*files: tuple[str, bytes], **options: Any) -> tuple[Pairs, list[tuple[str, str]]]:
    """What was understood, and the pairs."""
    pairs = read_pairs([Named(name, content) for name, content in files], **options)
    return pairs, [(row.source, row.target) for row in pairs.rows]


def told(pairs: Pairs) -> list[tuple[str, int | None]]:
    """The codes of the problems with their lines."""
    return [(problem.message.code, problem.line) for problem in pairs.problems]


def packed(entries: Sequence[tuple[str, bytes]], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, compression)
    return stream.getvalue()


UTF16 = "English\tChinese\r\nHello\t你好\r\nThank you\t谢谢\r\n"
OPUS = packed(
    [
        ("README", b"OPUS style package\n"),
        ("LICENSE", b"example licence text\n"),
        ("Tiny.en-fr.en", b"Hello .\nThank you .\n"),
        ("Tiny.en-fr.fr", b"Bonjour .\nMerci .\n"),
        ("Tiny.en-fr.xml", b"<cesAlign/>\n"),
    ]
)

GOOD = {
    "moses": Case(
        (
            ("093.en", b"The cat sleeps .\nI like tea .\nGood night .\n"),
            ("093.fr", b"Le chat dort .\r\nJ' aime le th\xc3\xa9 .\r\nBonne nuit ."),
        ),
        (("The cat sleeps .", "Le chat dort ."), ("I like tea .", "J' aime le thé ."), ("Good night .", "Bonne nuit .")),
        "lines",
    ),
    "separators": Case(
        (
            ("096.en", b"First part\xe2\x80\xa8second part .\nA\xc2\x85B .\nPage\x0cbreak .\n"),
            ("096.fr", b"Premi\xc3\xa8re partie deuxi\xc3\xa8me partie .\nA B .\nSaut de page .\n"),
        ),
        (
            ("First part second part .", "Première partie deuxième partie ."),
            ("A B .", "A B ."),
            ("Page break .", "Saut de page ."),
        ),
        "lines",
    ),
    "bars": one(
        "097.txt",
        b"the house ||| la maison\nI am here . ||| je suis ici .\na | b ||| a | b\nclear data||| effacer\nnothing ||| \n",
        "bars",
        ("the house", "la maison"),
        ("I am here .", "je suis ici ."),
        ("a | b", "a | b"),
    ),
    "markup": one(
        "004.tsv",
        b'a<b<c & &lt;tag&gt; <script>document.title="x"</script>\t'
        b'<img src=x onerror="document.title=1"> <b>gras</b> <pad> </s>\n',
        "tsv",
        (
            'a<b<c & &lt;tag&gt; <script>document.title="x"</script>',
            '<img src=x onerror="document.title=1"> <b>gras</b> <pad> </s>',
        ),
    ),
    "right to left": one(
        "008.tsv",
        "I bought 3 books from IBM\tاشتريت 3 كتب من IBM\nshalom world 42\tשלום world 42\n".encode(),
        "tsv",
        ("I bought 3 books from IBM", "اشتريت 3 كتب من IBM"),
        ("shalom world 42", "שלום world 42"),
    ),
    "composed": one(
        "011.tsv", b"coffee\tcaf\xc3\xa9\ncoffee\tcafe\xcc\x81\n", "tsv", ("coffee", "caf\u00e9"), ("coffee", "caf\u00e9")
    ),
    "spaces": one(
        "013.tsv",
        b"He has  3,000 euros . \tIl a 3\xe2\x80\xaf000\xc2\xa0euros .\n"
        b"I\xe3\x80\x80am here\t\xe6\x88\x91\xe3\x80\x80\xe5\x9c\xa8\n",
        "tsv",
        ("He has  3,000 euros . ", "Il a 3\u202f000\u00a0euros ."),
        ("I\u3000am here", "我\u3000在"),
    ),
    "not parallel": one(
        "046.tsv",
        b"I will see you there . The weather is cold today .\tJe te verrai l\xc3\xa0-bas .\n",
        "tsv",
        ("I will see you there . The weather is cold today .", "Je te verrai là-bas ."),
    ),
    "quotes": one(
        "099.tsv",
        b'Hi .\tSalut .\n"Wait !\tAttendez !\nYes .\tOui .\n'
        b'He said "no" .\tIl a dit \xc2\xab non \xc2\xbb .\n5" nail\tclou de 5"\n',
        "tsv",
        ("Hi .", "Salut ."),
        ('"Wait !', "Attendez !"),
        ("Yes .", "Oui ."),
        ('He said "no" .', "Il a dit « non » ."),
        ('5" nail', 'clou de 5"'),
    ),
    "tatoeba": one(
        "100.tsv",
        b"Go.\tVa !\tCC-BY 2.0 (France) Attribution: tatoeba.org #1 (aaa) & #2 (bbb)\n"
        b"Run!\tCours !\tCC-BY 2.0 (France) Attribution: tatoeba.org #3 (aaa) & #4 (ccc)\nStop!\tStop !\n",
        "tsv",
        ("Go.", "Va !"),
        ("Run!", "Cours !"),
        ("Stop!", "Stop !"),
    ),
    "tatoeba with numbers": one(
        "pairs.tsv",
        b"1276\tLet's try something.\t3087\tEssayons quelque chose !\n1277\tI have to go.\t4512\tJe dois aller dormir.\n",
        "tsv",
        ("Let's try something.", "Essayons quelque chose !"),
        ("I have to go.", "Je dois aller dormir."),
    ),
    "anki": one(
        "102.txt",
        b"#separator:tab\n#html:true\n#tags column:3\ngood morning\t<b>bonjour</b>\tgreet\nthank&nbsp;you\tmerci\tgreet\n"
        b'see you\t"\xc3\xa0<br>\nbient\xc3\xb4t"\tgreet\n',
        "anki",
        ("good morning", "bonjour"),
        ("thank\u00a0you", "merci"),
        ("see you", "à bientôt"),
    ),
    "inner newline": one(
        "103.csv",
        b'en,fr\nFirst,Premier\n"Second\nline","Deuxi\xc3\xa8me\nligne"\nThird,Troisi\xc3\xa8me\n',
        "csv",
        ("First", "Premier"),
        ("Second line", "Deuxième ligne"),
        ("Third", "Troisième"),
    ),
    "excel": one(
        "105.csv",
        b"sep=;\r\nanglais;fran\xe7ais\r\nI came, I saw;Je suis venu, j\x92ai vu\r\nWhere is he?;O\xf9 est-il ?\r\n",
        "csv",
        ("I came, I saw", "Je suis venu, j\u2019ai vu"),
        ("Where is he?", "Où est-il ?"),
        encoding="windows-1252",
    ),
    "utf-16 le": one(
        "106.txt",
        b"\xff\xfe" + UTF16.encode("utf-16-le"),
        "tsv",
        ("Hello", "你好"),
        ("Thank you", "谢谢"),
        encoding="utf-16-le",
    ),
    "utf-16 be": one(
        "106.txt",
        b"\xfe\xff" + UTF16.encode("utf-16-be"),
        "tsv",
        ("Hello", "你好"),
        ("Thank you", "谢谢"),
        encoding="utf-16-be",
    ),
    "gb18030": one(
        "108.tsv",
        b"Hello\t\xc4\xe3\xba\xc3\nHe is Rong .\t\xcb\xfb\xbd\xd0\xe9F \xa1\xa3\nTea\t\xb2\xe8\n",
        "tsv",
        ("Hello", "你好"),
        ("He is Rong .", "他叫镕 。"),
        ("Tea", "茶"),
        encoding="gb18030",
    ),
    "latin": one("108.tsv", b"already seen\td\xe9j\xe0 vu\n", "tsv", ("already seen", "déjà vu"), encoding="windows-1252"),
    "windows": one(
        "109.csv",
        b"en,fr\nHe said \x93yes\x94 \x96 twice,Il a dit \xab oui \xbb \x96 deux fois\nIt costs 5 \x80,Cela co\xfbte 5 \x80\n",
        "csv",
        ("He said “yes” – twice", "Il a dit « oui » – deux fois"),
        ("It costs 5 €", "Cela coûte 5 €"),
        encoding="windows-1252",
    ),
    "no header": one(
        "111.csv", b"Good morning,Bonjour\nThank you,Merci\n", "csv", ("Good morning", "Bonjour"), ("Thank you", "Merci")
    ),
    "swapped header": one(
        "111.csv",
        b"Fran\xc3\xa7ais,Anglais,Note\nBonsoir,Good evening,formel\n",
        "csv",
        ("Good evening", "Bonsoir"),
    ),
    "json lines": one(
        "112.jsonl",
        b'{"translation": {"en": "Hello", "fr": "Bonjour"}}\n'
        b'{"id": "7", "translation": {"fr": "un caf\\u00e9", "en": "a coffee"}}\n'
        b'{"translation": {"en": "yes", "fr": "oui", "de": "ja"}}\n\n',
        "jsonl",
        ("Hello", "Bonjour"),
        ("a coffee", "un café"),
        ("yes", "oui"),
    ),
    "json": one(
        "flat.json",
        b'[\n  {"source": "Hello", "target": "Bonjour"},\n  {"target": "oui", "source": "yes"}\n]\n',
        "json",
        ("Hello", "Bonjour"),
        ("yes", "oui"),
    ),
    "dictionaries": one(
        "114.csv",
        b"translation\n"
        b"\"{'en': \"\"It wasn't me.\"\", 'fr': \"\"Ce n'\xc3\xa9tait pas moi.\"\"}\"\n\"{'en': 'Yes.', 'fr': 'Oui.'}\"\n",
        "csv",
        ("It wasn't me.", "Ce n'était pas moi."),
        ("Yes.", "Oui."),
    ),
    "tmx": one(
        "memory.tmx",
        b'<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header srclang="en"/><body>\n'
        b'<tu><tuv xml:lang="EN-us"><seg>Press <bpt i="1">&lt;b></bpt>Enter<ept i="1">&lt;/b></ept> now</seg></tuv>'
        b'<tuv xml:lang="fr"><seg>Appuyez &amp; voyez</seg></tuv></tu>\n'
        b'<tu><tuv lang="en"><seg>\xf0\x9f\x93\x96 Read</seg></tuv><tuv lang="fr"><seg>Lisez</seg></tuv></tu>\n</body></tmx>\n',
        "tmx",
        ("Press Enter now", "Appuyez & voyez"),
        ("\N{OPEN BOOK} Read", "Lisez"),
    ),
    "xliff": one(
        "file.xlf",
        b'<?xml version="1.0"?><xliff version="1.2"><file source-language="en" target-language="fr" original="a" '
        b'datatype="plaintext"><body>\n<trans-unit id="1"><source>Hello</source><target>Bonjour</target></trans-unit>\n'
        b'<trans-unit id="2"><source>Yes <g id="1">sir</g></source><target>Oui monsieur</target></trans-unit>\n'
        b"</body></file></xliff>\n",
        "xliff",
        ("Hello", "Bonjour"),
        ("Yes sir", "Oui monsieur"),
    ),
    "subtitles": Case(
        (
            (
                "120.en.srt",
                b"\xef\xbb\xbf1\r\n00:00:01,000 --> 00:00:02,000\r\nHello .\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\n"
                b"<i>I am\r\nlate .</i>\r\n\r\n3\r\n00:00:04,100 --> 00:00:05,000\r\nSorry .\r\n",
            ),
            (
                "120.fr.srt",
                b"\n1\n00:00:01,000 --> 00:00:02,000\nBonjour .\n\n2\n00:00:03,000 --> 00:00:05,000\n"
                b"Je suis en retard ,\nd\xc3\xa9sol\xc3\xa9 .\n",
            ),
        ),
        (("Hello .", "Bonjour ."), ("I am late . Sorry .", "Je suis en retard , désolé .")),
        "srt",
    ),
    "opus": one("126.zip", OPUS, "zip", ("Hello .", "Bonjour ."), ("Thank you .", "Merci .")),
}
