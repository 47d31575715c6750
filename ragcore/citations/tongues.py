"""Which language a sentence is in: by its script, and among the languages of the Latin script by their small words."""

import re

from ragcore.terms import language_of

LATIN = "latin"
"""A text of the Latin script without small words: a table cell, a name."""
_SMALL_WORDS = {
    "en": (
        "the of and to in is are was were that for with on by it as be from this at or not have has an which "
        "you your they their can will its he she his her"
    ),
    "de": (
        "der die das und ist nicht ein eine einen einem dem den des mit für von zu im auf bei wird werden "
        "sind oder auch sich nach aus als vom zum zur es"
    ),
    "fr": (
        "le la les des et est une un du dans pour que qui par sur avec au aux ne pas sont ou ce cette il "
        "elle de en se ont"
    ),
    "es": "el la los las de del y es un una en que por para con se no su al como más son está lo sus hay",
    "it": "il lo la gli le di e è un una in che per con non del della dei sono si da al nel alla anche",
    "pt": "os as de do da e é um uma em que para com não na no dos das por se são ao pela pelo",
    "nl": "de het een en van is niet dat die in op te zijn voor met aan er ook als bij wordt door naar",
    "sv": "och att det som en är på av för med den till inte har ett om de vid kan",
    "da": "og at det som en er på af for med den til ikke har et om de ved kan der",
    "pl": "i w na nie się z do jest to że o jak po za od są przez oraz dla",
}
_LANGUAGES = {
    word: [language for language, words in _SMALL_WORDS.items() if word in words.split()]
    for words in _SMALL_WORDS.values()
    for word in words.split()
}
_WORD = re.compile(r"[^\W\d_]+")
_ENOUGH = 4000
"""Characters of a long text that are looked at."""


def tongue(text: str) -> str:
    """Return the language of a text as a code of two letters, or ``LATIN`` when its script alone is known."""
    by_script = language_of(text)
    if by_script != "en":
        return by_script
    counts: dict[str, int] = {}
    for word in _WORD.findall(text[:_ENOUGH].lower()):
        for language in _LANGUAGES.get(word, ()):
            counts[language] = counts.get(language, 0) + 1
    most = max(counts.values(), default=0)
    if counts.get("en", 0) == most:
        return "en" if most else LATIN
    best = [language for language, count in counts.items() if count == most]
    return best[0] if len(best) == 1 and most > 1 else LATIN


def shared(one: str, other: str) -> str:
    """Return the language that two texts are both in, as far as can be told; "" when they differ."""
    if one == other:
        return "en" if one == LATIN else one
    known = [language for language in (one, other) if language != LATIN]
    return known[0] if len(known) == 1 and known[0] in _SMALL_WORDS else ""
