"""Lines that open a part, chapter, section or article of a law, told from lines that only speak of one.

A reference such as "see Article 5" or "依照第五条" opens nothing. What tells them apart:

- an opening begins its line, and that line begins a sentence;
- after its number comes a stop, a caption or a sentence, never the rest of one ("Article 5 of", "第五条规定");
- where only a sentence follows, its number is the next one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragcore.chunking.numerals import CHINESE, ORDINALS, ROMAN, WORDS, value_of
from ragcore.chunking.parts import lines_of
from ragcore.parsing.titles import one_line

KINDS = (
    "law", "annex", "book", "subbook", "title", "subtitle", "part", "subpart", "chapter", "subchapter", "division",
    "subdivision", "node", "section", "item", "subitem", "article", "paragraph", "front",
)  # fmt: skip
"""Outermost first, as they usually stand; 分编 is a subbook, 节 a node, 款 and 目 as headings an item and a subitem.

A ``front`` is a preamble or a table of contents, which whatever opens next ends."""

_CHINESE_KINDS = {
    "分编": "subbook", "分編": "subbook", "编": "book", "編": "book", "章": "chapter", "节": "node", "節": "node",
    "款": "item", "目": "subitem", "条": "article", "條": "article",
}  # fmt: skip
_ENGLISH_KINDS = {
    "art": "article", "clause": "article", "rule": "article", "regulation": "article", "sec": "section",
    "§": "paragraph", "§§": "paragraph", "schedule": "annex", "appendix": "annex", "annexe": "annex",
}  # fmt: skip
_TEXTED = frozenset({"section", "article", "paragraph"})
"""Kinds whose text may follow on the line of the number."""

_BLANK = r"[^\S\n]"
_MARKS = re.compile(rf"{_BLANK}*+(#{{1,6}}{_BLANK}++)?[*_]{{0,3}}{_BLANK}*+")
_CHINESE = re.compile(rf"第{_BLANK}?({CHINESE}){_BLANK}?(分编|分編|[编編章节節款目条條])(?:之({CHINESE}))?")
_SPELLED = "|".join(word for name in (*WORDS, *ORDINALS) for word in (name.title(), name.upper()))
_ENGLISH = re.compile(
    r"(?:(?i:(book|title|subtitle|part|subpart|chapter|subchapter|division|subdivision|section|sec|article|art|clause"
    rf"|rule|regulation|annexe|annex|appendix|schedule))\.?{_BLANK}++|(§{{1,2}}){_BLANK}*+)"
    rf"(\d{{1,5}}(?:[A-Za-z]{{1,2}}(?![A-Za-z]))?(?:[.\-–:]\d{{1,4}}[A-Za-z]?)*|{ROMAN}(?:-?[A-Z])?|{_SPELLED}|[A-Z])(?!\w)"
)
_NAMED = re.compile(
    rf"(?:序言|序文|前言|(?i:preamble)|目{_BLANK}*录|目{_BLANK}*錄|目{_BLANK}*次|(?i:(?:table of )?contents)"
    rf"|(?i:arrangement of (?:sections|clauses|articles))"
    rf"|(?:附件|附录|附錄|附表){_BLANK}?(?:{CHINESE}|[A-Z])?|ANNEXE?|Annexe?|APPENDIX|Appendix"
    rf"|(?:T(?:he|HE){_BLANK})?(?:(?:{_SPELLED}){_BLANK})?(?:SCHEDULE|Schedule))(?=[\s:：]|$)"
)
_CONTENTS = re.compile(rf"目{_BLANK}*[录錄次]|(?:table of )?contents|arrangement of .*", re.I)
_WHOLE = re.compile(rf"[附总總分]{_BLANK}*[则則]")
"""Divisions of a Chinese law without a number, such as its last: 附则. They end those before them as an annex does."""
_FRONT = re.compile(r"序言|序文|前言|preamble", re.I)
_LAW = re.compile(
    r"[《]?[\u4e00-\u9fff（）()·、〇\d]{1,40}(?:法|条例|條例|规定|規定|办法|辦法|细则|細則|规则|規則|规程|决定|章程|法典"
    r"|通则|准则|公约|协定|条约|制度)[》]?(?:[（(][^）)]{1,30}[）)])?"
    r"|(?=.{3,100}$)[A-Z].*?\b(?i:act|law|code|regulations?|ordinance|statutes?|constitution|rules|directive|decree|by-?laws"
    r"|convention|treaty|charter|agreement)\b(?:,? (?:of )?\d{4}| \([^)]*\)| No\.? ?\d[\d/]*)*"
)
_CHINESE_REFERENCE = re.compile(
    rf"{_BLANK}*+(?:第{_BLANK}?{CHINESE}{_BLANK}?[款项項目条條]|之?规定|之?規定|[的、至和及与與或所，,。；;）)中以等内內条]"
    rf"|[（(]{CHINESE}[）)][项項])"
)
_STOP = re.compile(rf"{_BLANK}*+(?:[.:：—–]|-(?=\s|[—–])){{1,2}}{_BLANK}*+")
_ENGLISH_REFERENCE = re.compile(
    r"\([^()\n]{2,80}\)\s+[a-z]|(?:Paragraphs?|Articles?|Sections?|Clauses?|Sub-?sections?|Para|Sub-?paragraphs?|Parts?|Chapters?)\b"
)
_BRACKETED = re.compile(rf"{_BLANK}*+(?:【[^】]{{1,40}}】|\[[^\]]{{1,60}}\]|[（(][\u4e00-\u9fff、]{{2,30}}[）)])")
_TITLED = re.compile(r"\([A-Z][^()\n]{2,80}\)(?=\s+[^\sa-z]|$)")
"""``(Purpose)`` behind a number."""
_CLOSED = re.compile(r"(?:[^\s.]+ ){0,4}[^\s.]+\.")
"""A title of a few words that ends in a full stop, as in American acts, where the text begins on the next line."""
_DASHED = re.compile(r"(.{1,80}?)\.?\s?[—–]")
_ENDED = re.compile(r"[.;:!?。；：！？…”’」』)）\]】>*_|][\"'”’]?$")
_OPEN_WORD = re.compile(r"(?:[照据据依按和或及、，,与由对在从]|(?:^|\s)[a-z]+|[,\-—–])$")
_CLAUSE = re.compile(
    rf"{_BLANK}*+(?:[（(](?:{CHINESE}|[a-zA-Z]{{1,4}})[)）]|(?:\d{{1,3}}[.)、．]|[a-z][.)])(?={_BLANK}|[\u4e00-\u9fff])|{CHINESE}、)"
)
_CAPTION_CHARACTERS = 100
_REPEALED = 5
"""How many numbers may be left out before a sentence that begins like an article is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A line that opens a division: ``text[start:end]`` is all of it that is heading, its caption's line included.

    ``label`` is the name without its caption ("Article 5"), ``number`` is 0 where it has none. ``is_contents``: it
    opens a table of contents.
    """

    kind: str
    name: str
    start: int
    end: int
    label: str = ""
    number: int = 0
    is_contents: bool = False


class Finder:
    """Finds the openings of one document, section after section, remembering how far its numbers have come."""

    def __init__(self) -> None:
        """Begin a document."""
        self._last: dict[str, int] = {}

    def openings(self, text: str) -> list[Opening]:
        """Return the openings in the text of the next section."""
        lines = list(lines_of(text))
        found: list[Opening] = []
        filled_until = max((index for index, (_, line) in enumerate(lines) if line.strip()), default=0)
        free, fenced = True, False
        before = ""
        for index, (start, line) in enumerate(lines):
            filled = line.strip()
            if filled.startswith(("```", "~~~")):
                fenced = not fenced
            if not filled or fenced or (found and start < found[-1].end):
                free = free or not filled
                continue
            after = lines[index + 1][1].strip() if index < filled_until else None
            opening = self._opening(line, free=free, before=before, after=after)
            if opening is not None:
                opening = replace(opening, start=start, end=start + len(line) if opening.end else start)
                found.append(_with_caption(opening, lines[index + 1 : index + 4], line))
            free = opening is not None or bool(_ENDED.search(filled)) or filled.startswith("#")
            before = filled
        return found

    def _opening(self, line: str, *, free: bool, before: str, after: str | None) -> Opening | None:
        """Return what the line opens; its ``end`` is 0 where text follows on the line.

        ``after`` is the line below it, None where nothing comes any more in this section.
        """
        opening, is_sure = read(line)
        if opening is None:
            return None
        if opening.kind == "law":
            return opening if free else None
        last = self._last.get(opening.kind, 0)
        # Some numbers are repealed; "5a" follows "5"; an excerpt begins anywhere.
        near = last == 0 or last < opening.number <= last + _REPEALED
        follows = near or opening.number == 1 or (opening.number == last and opening.kind in _TEXTED)
        if not free and not (follows and is_sure and len(before) <= _CAPTION_CHARACTERS and _may_end(before)):
            return None
        if not is_sure and not follows:
            return None
        self._last[opening.kind] = opening.number
        if opening.end and opening.kind in _TEXTED and after != "" and opening.name != opening.label:
            # The first line of a sentence that goes on in the next one, or on the next page, is no caption.
            long = len(opening.name) > _CAPTION_CHARACTERS // 2
            goes_on = after[0].islower() or not is_sure if after else long
            goes_on = goes_on or opening.label.startswith("第")
            return replace(opening, name=opening.label, end=0) if goes_on else opening
        has_text = not opening.end and after and not after[0].islower()
        return replace(opening, name=_closed_title(line, opening.label) or opening.name) if has_text else opening


def _closed_title(line: str, label: str) -> str:
    """Return "§ 101. Short title" of a line that ends in a full stop there; "" for another."""
    rest = one_line(line.strip(" \t*_#")).removeprefix(label)
    stop = _STOP.match(rest)
    title = rest[stop.end() :] if stop else ""
    return f"{label}. {title[:-1]}" if _CLOSED.fullmatch(title) and is_caption(title[:-1]) else ""


def _may_end(line: str) -> bool:
    """Tell whether a line without a stop may end where it does: a title, not half a sentence."""
    return not _OPEN_WORD.search(line)


def read(line: str) -> tuple[Opening | None, bool]:
    """Read a line as an opening, and tell whether its form leaves no doubt.

    ``end`` is 1 where the whole line is heading, 0 where text follows.
    """
    marks = _MARKS.match(line)
    at = marks.end() if marks else 0
    is_heading = bool(marks and marks[1])
    body = line[at:].rstrip(" \t\u3000*_#" if is_heading or at else None)
    if found := _CHINESE.match(body):
        return _chinese(found, body)
    if (found := _ENGLISH.match(body)) and not body[0].islower():
        return _english(found, body, is_heading=is_heading)
    if _WHOLE.fullmatch(body):
        return Opening(kind="annex", name=one_line(body), start=0, end=1), True
    if found := _NAMED.match(body):
        rest = body[found.end() :].strip(" \t\u3000:：")
        if not rest or (is_caption(rest) and not rest[0].islower() and found[0].upper() != "CONTENTS"):
            contents = bool(_CONTENTS.fullmatch(body))
            kind = "front" if contents or _FRONT.match(body) else "annex"
            return Opening(kind=kind, name=one_line(body), start=0, end=1, is_contents=contents), True
    if not is_heading and _LAW.fullmatch(body):
        return Opening(kind="law", name=one_line(body), start=0, end=1), False
    return None, False


def kind_of_heading(heading: str) -> str:
    """Return what kind of division a heading of the parser's names; "" for none."""
    opening, _ = read(heading)
    return opening.kind if opening is not None else ""


def _chinese(found: re.Match[str], body: str) -> tuple[Opening | None, bool]:
    kind = _CHINESE_KINDS[found[2]]
    rest = body[found.end() :]
    label = one_line(found[0])
    opening = Opening(kind=kind, name=one_line(body), start=0, end=1, label=label, number=value_of(found[1]))
    if not rest.strip():
        return opening, True
    if _CHINESE_REFERENCE.match(rest):
        return None, False
    is_apart = rest[0] in " \t\u3000\xa0【[（(：:*"
    if kind != "article":
        return (opening, is_apart) if is_caption(rest.strip(), 60) else (None, False)
    bracketed = _BRACKETED.match(rest)
    is_run_in = bracketed is not None and bracketed.end() < len(rest)
    if is_apart and is_caption(rest.strip(), 30) and not is_run_in:
        return opening, True
    name = body[: found.end() + (bracketed.end() if bracketed else 0)]
    return replace(opening, name=one_line(name), end=0), is_apart


def _english(found: re.Match[str], body: str, *, is_heading: bool) -> tuple[Opening | None, bool]:
    word = (found[1] or found[2]).lower()
    kind = _ENGLISH_KINDS.get(word, word)
    if kind == "annexe":
        kind = "annex"
    rest = body[found.end() :]
    label = one_line(found[0])
    opening = Opening(kind=kind, name=one_line(body), start=0, end=1, label=label, number=value_of(found[3]))
    if not rest.strip(" \t.:"):
        return opening, True
    stop = _STOP.match(rest)
    tail = rest[stop.end() :] if stop else rest.lstrip()
    if not stop and rest[0] not in " \t\xa0\u3000":
        return None, False
    if tail[:1].islower() or tail[:1] in ",;)" or _ENGLISH_REFERENCE.match(tail):
        return None, False
    titled = _TITLED.match(tail)
    is_sure = stop is not None or is_heading or titled is not None
    is_run_in = titled is not None and kind in _TEXTED and titled.end() < len(tail)
    is_whole = is_caption(tail) and not is_run_in
    if is_whole or (stop is not None and kind not in _TEXTED and is_caption(tail.rstrip("."))):
        return opening, is_sure or kind not in _TEXTED
    if kind not in _TEXTED:
        return None, False
    dashed = _DASHED.match(tail)
    caption = dashed[1] if dashed and is_caption(dashed[1]) else ""
    name = f"{found[0]}{stop[0].strip() if stop and caption else ''} {caption or (titled[0] if titled else '')}"
    return replace(opening, name=one_line(name), end=0), is_sure


def is_caption(text: str, most: int = _CAPTION_CHARACTERS) -> bool:
    """Tell whether a text reads like a caption: short, no sentence, not the rest of one."""
    return (
        0 < len(text) <= most
        and not re.search(r"[.,;:!?。；：，！？、—]$|[。；！？]|[.;] ", text)
        and not text[0].islower()
    )


def _with_caption(opening: Opening, following: Sequence[tuple[int, str]], line: str) -> Opening:
    """Add the caption on the line after a number that stands alone."""
    label, _, rest = one_line(line.strip(" \t\u3000*_#.:")).partition(" ")
    is_bare = opening.kind != "law" and opening.number and not rest.strip(" ").partition(" ")[2]
    if not (opening.end > opening.start and is_bare and _stands_alone(label, rest)):
        return opening
    for index, (start, text) in enumerate(following[:2]):
        caption = text.strip(" \t\u3000*_")
        if not caption:
            continue
        after = following[index + 1][1].strip() if index + 1 < len(following) else ""
        wraps = bool(after) and after[0].islower()
        chinese = label.startswith("第")
        taken = is_caption(caption, 30 if chinese else 80) and caption[0].isalpha() and not wraps
        opened = read(text)[0]
        taken = taken and (opened is None or opened.kind == "law")
        if taken and not (chinese and opening.kind == "article"):
            return replace(opening, name=f"{opening.name} {caption}", end=start + len(text))
        break
    return opening


def _stands_alone(label: str, rest: str) -> bool:
    """Tell whether a heading is a number and its kind alone, such as "Article 5", "§ 5" and "第一章"."""
    whole = f"{label} {rest}".strip()
    for pattern in (_CHINESE, _ENGLISH):
        found = pattern.match(whole)
        if found and found.end() == len(whole):
            return True
    return False


def is_clause(line: str) -> bool:
    """Tell whether a line begins a numbered clause: （一）, 一、, (1), (a), 1."""
    return bool(_CLAUSE.match(line))
