"""Greetings, thanks and goodbyes: messages that ask nothing, so nothing is searched and nothing is cited. Pure.

A message counts only when all of it is small talk: "hi" does, "hi, how many days of leave do I have?" does not.
"""

import re
import unicodedata

_PHRASES = {
    "en": (
        "hi", "hi there", "hello", "hello there", "hey", "hey there", "good morning", "good afternoon", "good evening",
        "morning", "thanks", "thank you", "thanks a lot", "thank you very much", "many thanks", "thx", "ty", "bye",
        "goodbye", "good night", "see you", "ok", "okay", "ok thanks", "great", "great thanks", "cool", "nice",
        "perfect", "cheers", "how are you", "how are you doing", "you are welcome", "sorry",
    ),
    "de": (
        "hallo", "guten tag", "guten morgen", "guten abend", "moin", "danke", "danke schön", "vielen dank", "tschüss",
        "auf wiedersehen", "servus",
    ),
    "fr": ("bonjour", "bonsoir", "salut", "merci", "merci beaucoup", "au revoir"),
    "es": (
        "hola", "buenos días", "buenas tardes", "buenas noches", "gracias", "muchas gracias", "adiós",
    ),
    "pt": ("olá", "oi", "bom dia", "boa tarde", "boa noite", "obrigado", "obrigada", "tchau"),
    "ru": (
        "привет", "здравствуйте", "добрый день", "доброе утро", "добрый вечер", "спасибо", "большое спасибо", "пока",
    ),
    "zh": (
        "你好", "您好", "你好啊", "大家好", "早上好", "早", "晚上好", "下午好", "谢谢", "谢谢你", "谢谢您", "多谢",
        "再见", "非常感谢", "拜拜", "好的", "好的谢谢", "辛苦了", "嗨",
    ),
    "ja": (
        "こんにちは", "おはよう", "おはようございます", "こんばんは", "ありがとう", "ありがとうございます",
        "さようなら",
    ),
    "ko": ("안녕하세요", "안녕", "감사합니다", "고마워요", "고맙습니다"),
}  # fmt: skip
_LANGUAGES = {text: language for language, texts in _PHRASES.items() for text in texts}
_LONGEST = max(map(len, _LANGUAGES))
_NOISE = re.compile(r"[^\w\s]+")
_STOP = re.compile(r"[.,;:!?…。，、！？～~\n]+")
_MOST = 4
"""Phrases in one message."""


def small_talk_language(message: str) -> str:
    """Return the language of a message that is greetings, thanks or goodbyes as a whole; "" for any other.

    Its case, stops and emoji don't count. Of several it is that of the first.
    """
    if len(message) > _MOST * _LONGEST:
        return ""
    whole = _words(message)
    if whole in _LANGUAGES:
        return _LANGUAGES[whole]
    parts = [part for part in map(_words, _STOP.split(message)) if part]
    known = 0 < len(parts) <= _MOST and all(part in _LANGUAGES for part in parts)
    return _LANGUAGES[parts[0]] if known else ""


def _words(text: str) -> str:
    return " ".join(_NOISE.sub(" ", unicodedata.normalize("NFKC", text)).casefold().split())
