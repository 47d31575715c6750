"""Greetings, thanks and goodbyes: messages that ask nothing, so nothing is searched and nothing is cited. Pure.

A message counts only when all of it is small talk: "hi" does, "hi, how many days of leave do I have?" does not.
"""

import re
import unicodedata

_PHRASES = {
    # English
    "hi", "hi there", "hello", "hello there", "hey", "hey there", "good morning", "good afternoon", "good evening",
    "morning", "thanks", "thank you", "thanks a lot", "thank you very much", "many thanks", "thx", "ty", "bye",
    "goodbye", "good night", "see you", "ok", "okay", "ok thanks", "great", "great thanks", "cool", "nice", "perfect",
    "cheers", "how are you", "how are you doing", "you are welcome", "sorry",
    # German
    "hallo", "guten tag", "guten morgen", "guten abend", "moin", "danke", "danke schön", "vielen dank", "tschüss",
    "auf wiedersehen", "servus",
    # French
    "bonjour", "bonsoir", "salut", "merci", "merci beaucoup", "au revoir",
    # Spanish and Portuguese
    "hola", "buenos días", "buenas tardes", "buenas noches", "gracias", "muchas gracias", "adiós",
    "olá", "oi", "bom dia", "boa tarde", "boa noite", "obrigado", "obrigada", "tchau",
    # Russian
    "привет", "здравствуйте", "добрый день", "доброе утро", "добрый вечер", "спасибо", "большое спасибо", "пока",
    # Chinese
    "你好", "您好", "你好啊", "大家好", "早上好", "早", "晚上好", "下午好", "谢谢", "谢谢你", "谢谢您", "多谢", "再见",
    "非常感谢", "拜拜", "好的", "好的谢谢", "辛苦了", "嗨",
    # Japanese and Korean
    "こんにちは", "おはよう", "おはようございます", "こんばんは", "ありがとう", "ありがとうございます", "さようなら",
    "안녕하세요", "안녕", "감사합니다", "고마워요", "고맙습니다",
}  # fmt: skip
_LONGEST = max(map(len, _PHRASES))
_NOISE = re.compile(r"[^\w\s]+")


def is_small_talk(message: str) -> bool:
    """Return whether the whole message is a greeting, thanks or a goodbye, whatever its case, stops and emoji."""
    if len(message) > 4 * _LONGEST:
        return False
    words = " ".join(_NOISE.sub(" ", unicodedata.normalize("NFKC", message)).casefold().split())
    return words in _PHRASES
