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
        "perfect", "cheers", "how are you", "how are you doing", "you are welcome", "sorry", "thank you so much",
        "thanks so much", "thanks again", "thank you again", "that helped", "that helps", "this helps", "very helpful",
        "that was helpful", "good job", "great job", "nice work", "well done", "got it", "awesome", "wonderful", "lol",
        "haha", "no problem", "you're welcome", "how's it going", "what's up", "nice to meet you", "have a nice day",
        "good bye", "see you later",
    ),
    "de": (
        "hallo", "guten tag", "guten morgen", "guten abend", "moin", "danke", "danke schön", "vielen dank", "tschüss",
        "auf wiedersehen", "servus", "danke dir", "danke ihnen", "dankeschön", "danke sehr", "vielen lieben dank",
        "besten dank", "herzlichen dank", "wie geht's", "wie geht es dir", "wie geht es ihnen", "grüß gott",
        "grüezi", "tschau", "gute nacht", "bis bald", "bis später", "alles klar", "super", "prima", "das hat geholfen",
        "gut gemacht", "schönen tag noch",
    ),
    "fr": (
        "bonjour", "bonsoir", "salut", "merci", "merci beaucoup", "au revoir", "merci bien", "un grand merci",
        "mille mercis", "coucou", "ça va", "comment ça va", "comment allez-vous", "bonne nuit", "bonne journée",
        "d'accord", "à bientôt", "bien joué", "parfait", "super merci",
    ),
    "es": (
        "hola", "buenos días", "buenas tardes", "buenas noches", "gracias", "muchas gracias", "adiós", "buenas",
        "mil gracias", "qué tal", "cómo estás", "cómo está", "hasta luego", "hasta pronto", "de acuerdo", "vale",
        "perfecto", "genial", "buen trabajo",
    ),
    "pt": (
        "olá", "oi", "bom dia", "boa tarde", "boa noite", "obrigado", "obrigada", "tchau", "muito obrigado",
        "muito obrigada", "valeu", "tudo bem", "como vai", "até logo", "até mais",
    ),
    "it": (
        "ciao", "buongiorno", "buon giorno", "buonasera", "buona sera", "buonanotte", "salve", "grazie", "grazie mille",
        "molte grazie", "tante grazie", "arrivederci", "come stai", "come va", "a presto", "perfetto", "va bene",
    ),
    "nl": (
        "hoi", "goedemorgen", "goedemiddag", "goedenavond", "goedendag", "bedankt", "dank je", "dank je wel",
        "dankjewel", "dank u", "dank u wel", "hartelijk dank", "hartelijk bedankt", "heel erg bedankt", "doei",
        "tot ziens", "hoe gaat het",
    ),
    "sv": ("hej", "hejsan", "god morgon", "tack", "tack så mycket", "hej då", "tusen tack", "hur mår du"),
    "da": ("goddag", "godmorgen", "tak", "mange tak", "tusind tak", "farvel"),
    "no": ("god dag", "takk", "mange takk", "tusen takk", "ha det"),
    "fi": ("moi", "hei", "terve", "hyvää huomenta", "hyvää päivää", "kiitos", "kiitos paljon", "näkemiin"),
    "pl": (
        "cześć", "dzień dobry", "dobry wieczór", "dziękuję", "dziękuję bardzo", "bardzo dziękuję", "dzięki",
        "wielkie dzięki", "do widzenia", "jak się masz",
    ),
    "cs": ("ahoj", "dobrý den", "dobré ráno", "děkuji", "děkuju", "díky", "na shledanou"),
    "hu": ("szia", "sziasztok", "jó napot", "köszönöm", "köszi", "viszlát"),
    "ro": ("bună", "bună ziua", "salutare", "mulțumesc", "mulțumesc mult", "la revedere"),
    "tr": ("merhaba", "selam", "günaydın", "iyi günler", "teşekkürler", "teşekkür ederim", "hoşça kal"),
    "ru": (
        "привет", "здравствуйте", "добрый день", "доброе утро", "добрый вечер", "спасибо", "большое спасибо", "пока",
        "спасибо большое", "благодарю", "как дела", "до свидания", "отлично", "хорошо",
    ),
    "uk": ("привіт", "вітаю", "добрий день", "доброго ранку", "дякую", "щиро дякую", "до побачення"),
    "zh": (
        "你好", "您好", "你好啊", "大家好", "早上好", "早", "晚上好", "下午好", "谢谢", "谢谢你", "谢谢您", "多谢",
        "再见", "非常感谢", "拜拜", "好的", "好的谢谢", "辛苦了", "嗨", "谢谢啦", "太感谢了", "谢谢你的帮助", "你好吗",
        "謝謝", "謝謝你", "多謝", "早安", "晚安", "再見",
    ),
    "ja": (
        "こんにちは", "おはよう", "おはようございます", "こんばんは", "ありがとう", "ありがとうございます",
        "さようなら", "ありがとうございました", "どうもありがとう", "どうもありがとうございます", "お疲れ様です",
        "了解です", "お元気ですか",
    ),
    "ko": (
        "안녕하세요", "안녕", "감사합니다", "고마워요", "고맙습니다", "고마워", "정말 감사합니다", "안녕히 계세요",
        "안녕히 가세요", "좋은 아침입니다",
    ),
    "vi": ("xin chào", "chào bạn", "cảm ơn", "cảm ơn bạn", "cám ơn", "tạm biệt"),
    "id": ("halo", "selamat pagi", "selamat siang", "selamat malam", "terima kasih", "terima kasih banyak"),
    "ar": ("مرحبا", "السلام عليكم", "صباح الخير", "مساء الخير", "شكرا", "شكرا جزيلا", "شكراً", "مع السلامة"),
    "he": ("שלום", "תודה", "תודה רבה", "בוקר טוב"),
    "hi": ("नमस्ते", "धन्यवाद", "शुक्रिया"),
    "th": ("สวัสดี", "สวัสดีครับ", "สวัสดีค่ะ", "ขอบคุณ", "ขอบคุณครับ", "ขอบคุณค่ะ"),
    "el": ("γεια", "γεια σας", "γεια σου", "καλημέρα", "καλησπέρα", "ευχαριστώ"),
}  # fmt: skip
_CALLED = frozenset(
    (
        *("bot", "citebot", "everyone", "everybody", "all", "team", "folks", "guys", "zusammen", "leute", "alle"),
        *("à tous", "tout le monde", "a todos", "a tutti", "allemaal", "всем"),
    )
)
"""Who is greeted or thanked; said alone it is no greeting."""
_THANKS_FOR = re.compile(
    r"(?:many )?(?:thanks|thank you|thx)(?: so much| very much| a lot| again)? for (?:(?:your|the|this|that|all) ){0,2}"
    r"(?:(?:quick|fast|kind|great|good|helpful) )?(?:help|helping|answer|answers|reply|support|info|information|time"
    r"|response|explanation|explaining)"
    r"|(?:vielen |herzlichen |besten )?dank(?:e)? für (?:die|deine|ihre|eure) (?:schnelle |gute )?"
    r"(?:hilfe|antwort|info|information|unterstützung|auskunft)"
    r"|merci (?:beaucoup )?pour (?:ton|votre|l|cette) (?:aide|réponse|information)"
    r"|(?:muchas )?gracias por (?:tu|su|la) (?:ayuda|respuesta|información)"
)
_THANKED = {
    **dict.fromkeys(("vielen", "herzlichen", "besten", "dank", "danke"), "de"),
    "merci": "fr",
    **dict.fromkeys(("muchas", "gracias"), "es"),
}
_NOISE = re.compile(r"[^\w\s]+")
_STOP = re.compile(r"[.,;:!?…。，、！？～~\n]+")
_MOST = 4
"""Phrases in one message."""
_SIGNS = frozenset({"So", "Sk", "Cf", "Mn", "Me"})
"""Of what emoji are made, by Unicode's categories: the sign, its colour of skin, what joins them, how it is shown."""


def _words(text: str) -> str:
    return " ".join(_NOISE.sub(" ", unicodedata.normalize("NFKC", text)).casefold().split())


_LANGUAGES = {_words(text): language for language, texts in _PHRASES.items() for text in texts}
_LANGUAGES |= dict.fromkeys(("ok", "okay", "super", "lol", "haha"), "")  # said in most languages
_LONGEST = 40
"""Characters of a phrase."""
_LONGEST_WORDS = max(len(text.split()) for text in _LANGUAGES)


def small_talk_language(message: str) -> str:
    """Return the language of a message that is greetings, thanks or goodbyes as a whole; "" for any other.

    Its case, stops and emoji don't count. Of several it is that of the first.
    """
    if len(message) > _MOST * _LONGEST:
        return ""
    found: list[str] = []
    for part in filter(None, map(_words, _STOP.split(message))):
        phrases = _phrases(part)
        if not phrases:
            return ""
        found += phrases
    if not 0 < len(found) <= _MOST:
        return ""
    return next((language for language in found if language), "en")


def is_signs_alone(message: str) -> bool:
    """Tell whether a message is emoji and nothing else, which asks nothing."""
    kinds = {unicodedata.category(one) for one in message if not one.isspace()}
    return "So" in kinds and kinds <= _SIGNS


def _phrases(part: str) -> list[str]:
    """Return the language of each phrase of a part of a message, "" of what is said in many; none if any is unknown.

    Who is called behind a phrase doesn't count.
    """
    if part in _LANGUAGES:
        return [_LANGUAGES[part]]
    if _THANKS_FOR.fullmatch(part):
        return [_THANKED.get(part.split(maxsplit=1)[0], "en")]
    words, found, at = part.split(), list[str](), 0
    while at < len(words):
        for length in range(min(_LONGEST_WORDS, len(words) - at), 0, -1):
            said = " ".join(words[at : at + length])
            if said in _LANGUAGES:
                found.append(_LANGUAGES[said])
                break
            if found and said in _CALLED:
                break
        else:
            return []
        at += length
    return found
