"""The names of languages, as models are told them and as settings may name them. Data."""

from collections.abc import Iterable, Mapping

NAMES: Mapping[str, str] = {
    "am": "Amharic", "ar": "Arabic", "bn": "Bengali", "bo": "Tibetan", "ca": "Catalan", "cs": "Czech", "da": "Danish",
    "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "fi": "Finnish", "fr": "French",
    "gu": "Gujarati", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian",
    "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ka": "Georgian", "km": "Khmer", "kn": "Kannada",
    "ko": "Korean", "lo": "Lao", "ml": "Malayalam", "my": "Burmese", "nl": "Dutch", "no": "Norwegian", "or": "Odia",
    "pa": "Punjabi", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "si": "Sinhala",
    "sk": "Slovak", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai", "tr": "Turkish",
    "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
"""The languages that texts are told to be in (``ragcore.citations.languages``), by their codes of two letters."""
_CODES = {name.casefold(): code for code, name in NAMES.items()}


def code_of(language: str) -> str:
    """Return the code of a language by its English name or by its code, whatever its case; "" of an unknown one."""
    written = language.strip().casefold()
    return _CODES.get(written, written if written in NAMES else "")


def names_of(codes: Iterable[str]) -> tuple[str, ...]:
    """Return the names of languages by their codes, in order; unknown ones are left out."""
    return tuple(NAMES[code] for code in codes if code in NAMES)
