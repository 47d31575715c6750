"""Scripts: which characters belong to which, and the language that a text's script suggests."""

import re
from functools import lru_cache

HAN = "\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HIRAGANA = "\u3041-\u3096\u309d\u309e"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30fe\u31f0-\u31ff\uff66-\uff9d\u3099\u309a\uff9e\uff9f"
HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af\uffa1-\uffdc"
# Scripts written without spaces between words (South-East Asia); their combining vowels belong to the letter before.
THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
LAO = "\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf"
MYANMAR = "\u1000-\u1049\u104c-\u109f"
KHMER = "\u1780-\u17d3\u17d7\u17dc\u17dd"
TIBETAN = "\u0f00\u0f18\u0f19\u0f20-\u0f39\u0f3e-\u0fbc"
UNSPACED = HAN + HIRAGANA + KATAKANA + HANGUL + THAI + LAO + MYANMAR + KHMER + TIBETAN

# Marks that Python's \w leaves out although they stand inside words: combining accents, vowel signs, joiners, and the
# soft hyphen that PDFs leave behind.
MARKS = (
    "\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
    "\u0980-\u0983\u09bc-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a75\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03"
    "\u0b3c-\u0b57\u0b82\u0bbe-\u0bd7\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0d57"
    "\u0d81-\u0d83\u0dca-\u0df3\u135d-\u135f\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe20-\ufe2f"
)

_LANGUAGES = {
    "zh": HAN,
    "ja": HIRAGANA + KATAKANA,
    "ko": HANGUL,
    "ru": "\u0400-\u052f",
    "ar": "\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc",
    "he": "\u0590-\u05ff\ufb1d-\ufb4f",
    "el": "\u0370-\u03ff\u1f00-\u1fff",
    "hi": "\u0900-\u097f",
    "bn": "\u0980-\u09ff",
    "pa": "\u0a00-\u0a7f",
    "gu": "\u0a80-\u0aff",
    "or": "\u0b00-\u0b7f",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",
    "kn": "\u0c80-\u0cff",
    "ml": "\u0d00-\u0d7f",
    "si": "\u0d80-\u0dff",
    "th": THAI,
    "lo": LAO,
    "my": MYANMAR,
    "km": KHMER,
    "bo": TIBETAN,
    "ka": "\u10a0-\u10ff\u1c90-\u1cbf",
    "hy": "\u0530-\u058f",
    "am": "\u1200-\u137f",
    "en": "A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a",
}
_RUNS = re.compile("|".join(f"(?P<{name}>[{chars}]+)" for name, chars in _LANGUAGES.items()))
# A character of these carries about as much text as two or three letters of an alphabet.
_DENSE = frozenset({"zh", "ja", "ko"})
_SAMPLE = 4_000


@lru_cache(maxsize=4_096)
def language_of(text: str) -> str:
    """Return the language that the script of most of the text suggests, as an ISO 639-1 code.

    Latin letters count as English and Cyrillic as Russian, since a script doesn't tell more; kana make a text
    Japanese even where most of its characters are Chinese. Text without letters counts as English. Judges by the
    first 4,000 characters.
    """
    weights: dict[str, int] = {}
    for run in _RUNS.finditer(text, 0, _SAMPLE):
        name = run.lastgroup or "en"
        weight = (run.end() - run.start()) * (2 if name in _DENSE else 1)
        weights[name] = weights.get(name, 0) + weight
    if not weights:
        return "en"
    kana, han = weights.get("ja", 0), weights.get("zh", 0)
    if kana and kana * 10 >= han:
        weights["ja"] = kana + weights.pop("zh", 0)
    return max(weights, key=lambda name: weights[name])
