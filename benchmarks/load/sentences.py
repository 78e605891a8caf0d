"""Sentences that nobody has typed before, in words that the shipped models know: the same for the same visitor in every run."""

import random

ENGLISH = (
    ("The", "My", "Your", "This", "Our", "That"),
    ("old", "young", "small", "tired", "happy", "quiet", "new", "tall"),
    ("teacher", "dog", "child", "doctor", "friend", "woman", "student", "cat"),
    ("found", "saw", "bought", "lost", "wanted", "likes", "forgot", "opened"),
    ("a red book", "the white door", "some bread", "the big car", "his old hat", "an apple", "the key", "three letters"),
    ("in the city", "near the river", "at school", "last night", "this morning", "in the garden", "on Monday", "with us"),
)
FRENCH = (
    ("Le", "Mon", "Ton", "Ce", "Notre"),
    ("professeur", "chien", "médecin", "chat", "voisin", "garçon", "frère", "train"),
    ("cherche", "trouve", "regarde", "attend", "oublie", "aime", "veut", "perd"),
    ("un livre rouge", "la porte", "du pain", "sa voiture", "une pomme", "la clé", "trois lettres", "le chapeau"),
    ("dans la ville", "près de la rivière", "ce matin", "hier soir", "dans le jardin", "avec nous", "lundi", "ici"),
)
CHINESE = (
    ("我的", "你的", "这个", "那个", "我们的"),
    ("老师", "朋友", "孩子", "医生", "学生", "女人", "哥哥", "邻居"),
    ("今天", "昨天", "明天", "早上", "晚上", "现在", "星期一", "去年"),
    ("在学校", "在家", "在城里", "在花园里", "在这里", "在河边", "在车站", "在店里"),
    ("看书", "吃苹果", "等朋友", "写信", "学习英语", "喝水", "买面包", "找钥匙"),
)
MODELS = ("en-fr", "en-zh", "en-fr", "zh-en", "en-fr", "fr-en", "en-fr-rotary", "en-lm")  # of visitors who follow each other


def sentence(model: str, visitor: int, turn: int) -> str:
    """One of some ten thousand: which one is drawn from the visitor's number and how many they have typed."""
    chance = random.Random(1_000_003 * visitor + turn)
    if model.startswith("zh"):
        return "".join(chance.choice(words) for words in CHINESE) + "。"
    words = [chance.choice(part) for part in (FRENCH if model.startswith("fr") else ENGLISH)]
    return " ".join(words) + ("" if model == "en-lm" else ".")
