"""Articles that are named by number alone, as in contracts: "5. Payment", "5. Payment. Bills are due", 五、付款.

British acts name their sections so: "5 Fines".
"""

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
_FEWEST_IN_PARTS = 2
"""Of a text with parts or chapters, which is a law."""
TEXTED = frozenset(("section", "article", "paragraph"))
"""Kinds of division that hold the text itself, and are numbered through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Numbered:
    section: int
    start: int
    end: int
    number: int
    name: str
    has_text: bool


def bare_articles(
    sections: Sequence[Section], named: Sequence[Sequence[Opening]], *, in_parts: bool
) -> dict[int, list[Opening]]:
    """Return the articles by the section that they open in; {} for a text that is neither contract nor act.

    Their numbers follow each other from 1, each with a caption on its line, and text stands between most of them: what
    stands line below line is a list. Those of a table of contents begin again with the same caption.

    Args:
        sections: all of the document.
        named: what opens in each section by its name ("Section 4"); its number may be the next one.
        in_parts: whether the text has parts or chapters.
    """
    first = next((opening for openings in named for opening in openings if opening.kind in TEXTED), None)
    kind = first.kind if first is not None else "article"
    for pattern in (_IDEOGRAPH, _ARABIC):
        found = _numbered(sections, pattern, named)
        if len(found) >= (_FEWEST_IN_PARTS if in_parts else _FEWEST) and 2 * sum(one.has_text for one in found) > len(
            found
        ):
            by_section: dict[int, list[Opening]] = {}
            for one in found:
                opening = Opening(kind=kind, name=one.name, start=one.start, end=one.end, number=one.number)
                by_section.setdefault(one.section, []).append(opening)
            return by_section
    return {}


def _numbered(
    sections: Sequence[Section], pattern: re.Pattern[str], named: Sequence[Sequence[Opening]]
) -> list[_Numbered]:
    found: list[_Numbered] = []
    before, last = "", 0
    for index, section in enumerate(sections):
        known = {opening.start: opening for opening in named[index] if opening.kind in TEXTED}
        lines = list(lines_of(section.text)) if section.kind is SectionKind.TEXT else []
        for at, (start, line) in enumerate(lines):
            opened = None if start in known else pattern.fullmatch(line)
            number = value_of(opened[1]) if opened else 0
            free = not before or bool(_ENDED.search(before))
            again = number == 1 and bool(found) and _name(line) == _name(found[0].name)
            caption = _caption(opened[2]) if opened and free and (again or number == last + 1) else ""
            if start in known and known[start].number == last + 1:
                last += 1
            if opened and caption:
                found, last = [] if again else found, number
                below = next((text.strip() for _, text in lines[at + 1 : at + 3] if text.strip()), "")
                is_whole = len(caption) >= len(opened[2].rstrip("."))
                name = line[: opened.start(2) + len(caption)]
                found.append(
                    _Numbered(
                        section=index,
                        start=start,
                        end=start + len(line) if is_whole else start,
                        number=number,
                        name=_name(name),
                        has_text=pattern.fullmatch(below) is None,
                    )
                )
            before = line.strip()
        before = ""
    return found


def _name(text: str) -> str:
    return " ".join(text.strip(" \t\u3000#*").split())


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
