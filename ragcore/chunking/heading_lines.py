"""What a line of plain text says when it is a heading: its kind, its number, its depth. English and Chinese.

Whether it really is one the lines around it tell: see ``text_headings``.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from ragcore.chunking.numerals import WORDS, value_of

MOST_CHARACTERS = 100
"""A longer line is a sentence."""


class Kind(StrEnum):
    """How a heading is numbered, or that it is known by its name."""

    PART = "part"
    CHAPTER = "chapter"
    APPENDIX = "appendix"
    NAMED = "named"
    SECTION = "section"
    IDEOGRAPH = "ideograph"
    BRACKETED = "bracketed"
    DECIMAL = "decimal"


DEPTHS = {
    Kind.PART: 0,
    Kind.CHAPTER: 1,
    Kind.APPENDIX: 1,
    Kind.NAMED: 1,
    Kind.SECTION: 2,
    Kind.IDEOGRAPH: 3,
    Kind.BRACKETED: 4,
    Kind.DECIMAL: 5,
}
"""How deep each kind stands where several are in one document; 0 is the outermost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadingLine:
    """A line that reads like a heading.

    ``number`` is (2, 1) for ``2.1`` and (3,) for ``Chapter III``; empty where it has none (``Preface``). ``text`` is
    the line, runs of blanks as one. ``is_listed``: it ends in a page number behind a leader, as in a table of contents.
    ``is_stopped``: it ends in a full stop, as a short sentence does too.
    """

    kind: Kind
    number: tuple[int, ...]
    text: str
    title: str
    is_listed: bool = False
    is_stopped: bool = False

    @property
    def depth(self) -> int:
        """Return how deep it is: 0 is a part; a decimal number's own depth is added."""
        return DEPTHS[self.kind] + max(0, len(self.number) - 1)


_BLANK = r"[^\S\n]"
_NUMERAL = r"(?:\d{1,3}|[〇零一二两三四五六七八九十百]{1,7})"
_ENGLISH_NUMERAL = rf"(?:\d{{1,3}}|[IVXLC]{{1,8}}|{'|'.join(WORDS)})"
_AFTER_WORD = rf"(?:{_BLANK}*[.:—–-]+{_BLANK}*|{_BLANK}+|$)"

_LINE = re.compile(
    rf"""(?:
      第{_BLANK}?(?P<chinese>{_NUMERAL}){_BLANK}?(?P<unit>[编編篇部卷章回节節])(?:{_BLANK}*[:：、.．]?{_BLANK}*)
    | (?P<word>part|book|volume|chapter|section){_BLANK}+(?P<english>{_ENGLISH_NUMERAL})\b{_AFTER_WORD}
    | (?:appendix|annex){_BLANK}+(?P<letter>[A-Z])\b{_AFTER_WORD}
    | (?P<named>prologue|epilogue|preface|foreword|afterword|introduction|acknowledge?ments|bibliography|index
        |序章?|序言|自序|前言|引言|导言|楔子|尾声|后记|结语|附录)(?=$|{_BLANK}*[.:：]?{_BLANK}*$)
    | (?P<ideograph>[一二三四五六七八九十]{{1,3}})[、．.]{_BLANK}*
    | [（(](?P<bracketed>[一二三四五六七八九十]{{1,3}})[)）]{_BLANK}*
    | (?P<decimal>\d{{1,2}}(?:[.．]\d{{1,2}}){{0,5}})(?:[.．、](?!\d){_BLANK}*|{_BLANK}+|(?=[\u4e00-\u9fff]))
    )(?P<title>.*)$""",
    re.VERBOSE | re.IGNORECASE,
)
_LEADER = re.compile(
    rf"(?P<title>.*?[^\s.…·])(?:{_BLANK}*(?:(?:[.·]{_BLANK}?){{3,}}+|[…·]{{2,}}+|\t)|{_BLANK}{{3}}){_BLANK}*+"
    r"(?:\d{1,4}|[ivxlc]{1,7})$"
)
_SENTENCE = re.compile(r"[.!?;:,。！？；：，…]$")
_STOPPED = re.compile(r"[^.!?;:]+\.")
_MOST_STOPPED = 60
_UNITS = {**dict.fromkeys("编編篇部卷", Kind.PART), **dict.fromkeys("章回", Kind.CHAPTER)}
_ENGLISH = {"chapter": Kind.CHAPTER, "section": Kind.SECTION}


def heading_line(line: str) -> HeadingLine | None:
    """Return what a line says if it reads like a numbered or named heading, else None."""
    line = line.strip()
    if not line or len(line) > MOST_CHARACTERS:
        return None
    entry = listed(line)
    found = _LINE.match(entry or line)
    if found is None:
        return None
    kind, number = _numbered(found)
    title = found["title"].strip()
    is_stopped = kind is Kind.DECIMAL and len(title) <= _MOST_STOPPED and _STOPPED.fullmatch(title) is not None
    needed = kind in {Kind.DECIMAL, Kind.IDEOGRAPH, Kind.BRACKETED}
    if not _is_title(title.removesuffix(".") if is_stopped else title, needed=needed):
        return None
    text = " ".join((entry or line).split())
    return HeadingLine(kind=kind, number=number, text=text, title=title, is_listed=bool(entry), is_stopped=is_stopped)


def listed(line: str) -> str:
    """Return the title of a line of a table of contents, which ends in a leader and a page number; "" for others."""
    found = _LEADER.match(line.strip()) if len(line) <= 2 * MOST_CHARACTERS else None
    return found["title"] if found else ""


def is_title(line: str) -> bool:
    """Tell whether a line reads like the title that stands below a bare ``Chapter 1``."""
    line = line.strip()
    return len(line) <= MOST_CHARACTERS and _is_title(line, needed=True)


def _is_title(title: str, *, needed: bool) -> bool:
    if not title:
        return not needed
    return (
        not (title[0].islower() or title[0].isdecimal())
        and any(map(str.isalpha, title))
        and not _SENTENCE.search(title)
    )


def _numbered(found: re.Match[str]) -> tuple[Kind, tuple[int, ...]]:
    """Return the kind and the number of a line, by which part of the pattern it has."""
    kind = Kind.NAMED
    number: tuple[int, ...] = ()
    if found["chinese"]:
        kind, number = _UNITS.get(found["unit"], Kind.SECTION), (value_of(found["chinese"]),)
    elif found["english"]:
        kind, number = _ENGLISH.get(found["word"].lower(), Kind.PART), (value_of(found["english"].upper()),)
    elif found["letter"]:
        kind, number = Kind.APPENDIX, (ord(found["letter"].upper()) - ord("A") + 1,)
    elif found["ideograph"]:
        kind, number = Kind.IDEOGRAPH, (value_of(found["ideograph"]),)
    elif found["bracketed"]:
        kind, number = Kind.BRACKETED, (value_of(found["bracketed"]),)
    elif found["decimal"]:
        kind, number = Kind.DECIMAL, tuple(map(int, re.split(r"[.．]", found["decimal"])))
    return kind, number
