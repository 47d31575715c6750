"""Articles that are named by number alone, as in contracts: "5. Payment", "5. Payment. Bills are due", 五、付款."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.chunking.law_openings import Opening, is_caption
from ragcore.chunking.numerals import CHINESE, value_of
from ragcore.chunking.parts import lines_of
from ragcore.types import Section, SectionKind

_ARABIC = re.compile(r"[ \t]{0,8}(?:\*\*|#{1,6} )?(\d{1,3})[.)．、]?[ \t]+(.*?)[*]{0,2}[ \t]*")
_IDEOGRAPH = re.compile(rf"[ \t\u3000]{{0,8}}({CHINESE})[、．.][ \t\u3000]*(.*?)[ \t\u3000]*")
_RUN_IN = re.compile(r"([^.]{1,80})\.(?= |$)")
"""A caption that its text follows on the same line."""
_MINOR = re.compile(r"[a-z]{1,4}|without|within")
"""Words that a caption writes small where it writes the others large: of, and, with, upon."""
_ENDED = re.compile(r"[.;:!?。；：！？)）]$")
_FEWEST = 3
"""Fewer are a list in something that is no contract."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Numbered:
    section: int
    start: int
    end: int
    number: int
    name: str
    has_text: bool


def bare_articles(sections: Sequence[Section]) -> dict[int, list[Opening]]:
    """Return the articles by the section that they open in; {} for a text that is no contract.

    Their numbers follow each other from 1, each with a caption on its line, and text stands between most of them: what
    stands line below line is a list.
    """
    for pattern in (_IDEOGRAPH, _ARABIC):
        found = _numbered(sections, pattern)
        if len(found) >= _FEWEST and 2 * sum(one.has_text for one in found) > len(found):
            by_section: dict[int, list[Opening]] = {}
            for one in found:
                opening = Opening(kind="article", name=one.name, start=one.start, end=one.end, number=one.number)
                by_section.setdefault(one.section, []).append(opening)
            return by_section
    return {}


def _numbered(sections: Sequence[Section], pattern: re.Pattern[str]) -> list[_Numbered]:
    found: list[_Numbered] = []
    before = ""
    for index, section in enumerate(sections):
        lines = list(lines_of(section.text)) if section.kind is SectionKind.TEXT else []
        for at, (start, line) in enumerate(lines):
            opened = pattern.fullmatch(line)
            number = value_of(opened[1]) if opened else 0
            free = not before or bool(_ENDED.search(before))
            caption = _caption(opened[2]) if opened and free and number == len(found) + 1 else ""
            if opened and caption:
                below = next((text.strip() for _, text in lines[at + 1 : at + 3] if text.strip()), "")
                is_whole = len(caption) >= len(opened[2].rstrip("."))
                name = line[: opened.start(2) + len(caption)]
                found.append(
                    _Numbered(
                        section=index,
                        start=start,
                        end=start + len(line) if is_whole else start,
                        number=number,
                        name=" ".join(name.strip(" \t\u3000#*").split()),
                        has_text=pattern.fullmatch(below) is None,
                    )
                )
            before = line.strip()
        before = ""
    return found


def _caption(text: str) -> str:
    """Return the caption of an article: all of its line, or what its text follows there, each word written large."""
    if is_caption(text, 80):
        return text
    run_in = _RUN_IN.match(text)
    if not run_in or not is_caption(run_in[1], 80):
        return ""
    words = re.findall(r"[^\W\d_]+", run_in[1])
    is_title = bool(words) and not any(word[0].islower() and not _MINOR.fullmatch(word) for word in words)
    return run_in[1] if is_title else ""
