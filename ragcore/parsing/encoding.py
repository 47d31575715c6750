"""Which encoding a text is in, found by what the text would then say.

A byte order mark decides; valid UTF-8 decides; then every encoding that can read the bytes is scored by the share of
characters that its language really uses. What the document declares (``<meta charset>``) counts as a strong hint.
"""

import codecs
import re
from dataclasses import dataclass

from ragcore.errors import ParseError
from ragcore.parsing import usual_characters as usual

SAMPLE_BYTES = 16_384
"""Enough to tell the encodings apart; more only costs time."""


def not_text() -> ParseError:
    """Return the error for bytes that are no text in any encoding."""
    return ParseError(
        "it is neither text nor a format that Citebot reads",
        mend="save it as pdf, docx, html or text, or exclude it from the source",
    )


_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_ASCII_LETTERS = re.compile("[A-Za-z]")
_HIGH_RUNS = re.compile(rb"[\x80-\xff]+")
_ALIASES = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A text and the codec that read it."""

    text: str
    encoding: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A codec, the characters its texts are mostly made of, and the lead bytes of its commoner characters."""

    codec: str
    usual: frozenset[str]
    leads: range = range(0)


_CANDIDATES = (
    _Candidate(codec="gb18030", usual=usual.SIMPLIFIED | usual.EAST_ASIAN_MARKS, leads=range(0xB0, 0xD8)),
    _Candidate(codec="big5hkscs", usual=usual.TRADITIONAL | usual.EAST_ASIAN_MARKS, leads=range(0xA4, 0xC7)),
    _Candidate(codec="cp932", usual=usual.JAPANESE | usual.EAST_ASIAN_MARKS, leads=range(0x88, 0x98)),
    _Candidate(codec="euc_jp", usual=usual.JAPANESE | usual.EAST_ASIAN_MARKS, leads=range(0xB0, 0xD0)),
    _Candidate(codec="cp949", usual=usual.KOREAN | usual.EAST_ASIAN_MARKS, leads=range(0xB0, 0xC9)),
    _Candidate(codec="cp1251", usual=usual.CYRILLIC),
    _Candidate(codec="koi8_r", usual=usual.CYRILLIC),
    _Candidate(codec="cp1252", usual=usual.LATIN),
)
_WIDE = usual.SIMPLIFIED | usual.TRADITIONAL | usual.JAPANESE | usual.KOREAN | usual.CYRILLIC | usual.EAST_ASIAN_MARKS
_SURE = 0.35
"""Share of usual characters from which on an own candidate needs no second opinion."""
_SURE_CYRILLIC = 0.7
"""The same for Cyrillic, whose letters fill half of its code page: Greek bytes read as Russian ones reach 0.4."""
_CYRILLIC = ("cp1251", "koi8_r")
_DECLARED_BONUS = 0.25


def decode(content: bytes, *, declared: str = "") -> Decoded:
    """Decode a text in any common encoding.

    Args:
        content: The bytes.
        declared: The charset that the document or its transport names; believed only when it fits.

    Raises:
        ParseError: The bytes are not text.
    """
    found = _decode(content, declared)
    controls = len(_CONTROLS.findall(found.text))
    if controls > max(2, len(found.text) // 200):
        raise not_text()
    return Decoded(text=found.text.replace("\x00", ""), encoding=found.encoding)


def _decode(content: bytes, declared: str) -> Decoded:
    for mark, codec in _MARKS:
        if content.startswith(mark):
            return Decoded(text=content.decode(codec, errors="replace").removeprefix("\ufeff"), encoding=codec)
    wide = _wide_without_mark(content) if b"\x00" in content[:SAMPLE_BYTES] else ""
    if wide:
        return Decoded(text=content.decode(wide, errors="replace"), encoding=wide)
    if b"\x1b$" in content and max(content) < 0x80:
        return Decoded(text=content.decode("iso2022_jp", errors="replace"), encoding="iso2022_jp")
    if _is_utf8(content):
        return Decoded(text=content.decode("utf-8", errors="replace"), encoding="utf-8")
    codec = _best_codec(content, _known_codec(declared))
    return Decoded(text=content.decode(codec, errors="replace"), encoding=codec)


def _known_codec(declared: str) -> str:
    name = _ALIASES.get(declared.strip().lower(), declared.strip())
    try:
        return codecs.lookup(name).name if name else ""
    except (LookupError, ValueError):
        return ""


def _wide_without_mark(content: bytes) -> str:
    """Tell UTF-16 and UTF-32 without a mark by where their zero bytes stand."""
    sample = content[: SAMPLE_BYTES - SAMPLE_BYTES % 4]
    if len(content) % 2:
        return ""
    quarter = max(1, len(sample) // 4)
    zeros = [sample[offset::4].count(0) / quarter for offset in range(4)]
    if zeros[2] > 0.9 and zeros[3] > 0.9 and zeros[0] < 0.1:
        return "utf-32-le"
    if zeros[0] > 0.9 and zeros[1] > 0.9 and zeros[3] < 0.1:
        return "utf-32-be"
    scores = {codec: _wide_score(sample, codec) for codec in ("utf-16-le", "utf-16-be")}
    best = max(scores, key=lambda codec: scores[codec])
    return best if scores[best] > 0.5 else ""


def _wide_score(sample: bytes, codec: str) -> float:
    text = sample.decode(codec, errors="replace")
    good = sum(char in _WIDE or " " <= char <= "\u024f" or char in "\t\r\n" for char in text)
    bad = sum(char in "\x00\ufffd" or "\ue000" <= char <= "\uf8ff" for char in text)
    return (good - 10 * bad) / max(1, len(text))


def _is_utf8(content: bytes) -> bool:
    """Tell whether this is UTF-8, allowing for a cut-off end and a rare broken byte."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start >= len(content) - 3 and error.reason == "unexpected end of data":
            return bool(_HIGH_RUNS.search(content[: error.start])) or error.start == 0
    else:
        return True
    sample = content[:SAMPLE_BYTES].decode("utf-8", errors="replace")
    broken = sample.count("\ufffd")
    return sum(char > "\x7f" for char in sample) - broken > 20 * broken


def _best_codec(content: bytes, declared: str) -> str:
    sample = _high_sample(content)
    scores = {candidate.codec: _score(sample, candidate, declared) for candidate in _CANDIDATES}
    best = max(scores, key=lambda codec: scores[codec])
    fits = declared not in ("", "utf-8", *scores) and _reads(sample, declared)
    if fits and (best == "cp1252" or (best in _CYRILLIC and _is_beyond_latin(sample, declared))):
        return declared  # whatever the bytes are, these two read them as letters: they know nothing better
    if _is_sure(best, scores[best], sample):
        return best
    if fits:
        return declared
    other = _wide_without_mark(content) or _second_opinion(sample)
    if other:
        return other
    if scores[best] <= 0.05 and _high_share(content) > 0.2:
        raise not_text()
    return best


def _is_sure(codec: str, score: float, sample: bytes) -> bool:
    """Tell whether the best candidate needs no second opinion."""
    if codec in _CYRILLIC:
        return score >= _SURE_CYRILLIC
    return score >= _SURE and (codec != "cp1252" or "\ufffd" not in sample.decode(codec, errors="replace"))


def _is_beyond_latin(sample: bytes, codec: str) -> bool:
    """Tell whether most characters beyond ASCII are of another script than Latin."""
    high = [char for char in sample.decode(codec, errors="replace") if char > "\x7f"]
    return 2 * sum(char > "\u024f" for char in high) > len(high)


def _high_sample(content: bytes) -> bytes:
    """Return the part of the text where characters beyond ASCII begin: it alone tells the encoding."""
    first = _HIGH_RUNS.search(content)
    start = max(0, first.start() - 64) if first else 0
    if first is not None and start:
        start = content.rfind(b"\n", 0, first.start()) + 1 or start
    sample = content[start : start + SAMPLE_BYTES]
    cut = sample.rfind(b"\n")
    return sample[: cut + 1] if len(sample) == SAMPLE_BYTES and cut > SAMPLE_BYTES // 2 else sample


def _reads(sample: bytes, codec: str) -> bool:
    try:
        text = sample.decode(codec, errors="strict")
    except (UnicodeDecodeError, LookupError):
        return False
    return not _CONTROLS.search(text)


def _high_share(content: bytes) -> float:
    return sum(map(len, _HIGH_RUNS.findall(content[:SAMPLE_BYTES]))) / max(1, len(content[:SAMPLE_BYTES]))


def _score(sample: bytes, candidate: _Candidate, declared: str) -> float:
    """Return how likely the codec is, -1.5 to 1 and a bonus: 1 for a usual character, less for a merely valid one."""
    text = sample.decode(candidate.codec, errors="replace")
    high = [position for position, char in enumerate(text) if char > "\x7f"]
    if not high:
        return 0.0
    single_byte = not candidate.leads
    total = sum(_weight(text, position, candidate, single_byte) for position in high)
    if candidate.usual is usual.CYRILLIC and len(_ASCII_LETTERS.findall(text)) > 2 * len(high):
        total -= 0.5 * len(high)  # a few foreign letters in Latin text are accented ones
    return total / len(high) + (_DECLARED_BONUS if codecs.lookup(candidate.codec).name == declared else 0.0)


def _weight(text: str, position: int, candidate: _Candidate, single_byte: bool) -> float:
    char = text[position]
    if char == "\ufffd" or "\x80" <= char <= "\x9f" or "\ue000" <= char <= "\uf8ff" or "\uff61" <= char <= "\uff9f":
        return -1.5
    if candidate.codec == "cp1252":
        return _latin_weight(text, position)
    if single_byte and any("A" <= beside <= "z" for beside in text[max(0, position - 1) : position + 2]):
        return -0.5  # no word mixes Cyrillic and Latin letters
    if char in candidate.usual:
        return 1.0
    if single_byte:
        return -0.3
    encoded = char.encode(candidate.codec, errors="replace")
    return 0.35 if len(encoded) == 2 and encoded[0] in candidate.leads else 0.0


def _latin_weight(text: str, position: int) -> float:
    """Weigh a Latin-1 character by its neighbours: accented letters stand alone among plain ones."""
    char = text[position]
    if char not in usual.LATIN:
        return 0.0
    around = text[max(0, position - 1) : position] + text[position + 1 : position + 2]
    if all(neighbour <= "\x7f" for neighbour in around):
        return 1.0
    return 0.5 if any(neighbour.isascii() and neighbour.isalpha() for neighbour in around) else -0.3


def _second_opinion(sample: bytes) -> str:
    """Ask charset-normalizer, which knows the encodings of many more languages."""
    from charset_normalizer import from_bytes

    best = from_bytes(sample, steps=5, chunk_size=512, threshold=0.15, preemptive_behaviour=False).best()
    return best.encoding if best is not None and best.chaos < 0.05 and best.coherence > 0.1 else ""
