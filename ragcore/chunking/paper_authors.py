"""The authors of a paper, from the lines between its title and its abstract. Pure.

Only where the layout leaves no doubt; a wrong author is worse than none. All of this must hold, else there is none:

- The title is a heading of its own. Right below it stand names, and right below these where their bearers work: an
  institution, an address of mail.
- Every name is two to four words with capitals, initials and particles among them ("van", "de"), and no word of titles
  or institutions. Chinese ones are two or three characters, the first a usual family name, at least two of them.
- They stand in a list with commas or "and", on one or more lines. Where a line does not end so, marks of places
  ("Lee4", "Lee∗") tell whether the next one goes on with its last name. Names side by side without anything between
  can't be told apart, nor can a line of one name from the rest of a title.
- One name alone is that of the author where it is marked or has an initial, or is part of an address of mail, and no
  line below reads like a name: blocks of name and place, one below the other, look like that.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ragcore.chunking.paper_headings import Role, bare_of, read
from ragcore.types import Section, SectionKind

_MOST_LINES = 60
"""Lines before an abstract: a hundred authors and where they work fill a page, which is then no plain layout."""
_MOST_CHARACTERS = 300
"""Of a line of names."""
_MARKS = "0123456789∗*†‡§¶#♯♭⋆✉^()[] "
"""What stands behind a name and tells a place, one to ask, an equal share."""
_NOTHING = re.compile(r"\(\s*\)|\[\s*\]|\{\s*\}|[\[(]\d{4}(?:[-‐−–]\d{3}[\dX]){3}[\])]?")
"""Icons that are no text, and numbers of people (ORCID)."""
_LETTER = re.compile(r"(?:^|(?<=\w)\s+)[a-h]$")
_BETWEEN = re.compile(r"\s*[,;，、；·]\s*(?:and\s+|&\s*)?|\s+(?:and|und|et|y)\s+|\s*&\s*|\s*[•|]\s*")
_ENDS_OPEN = re.compile(r"(?:[,;，、；&]|\b(?:and|und|et))\s*$")
_BEFORE = re.compile(r"(?:by|and|und|et|&)\s+", re.IGNORECASE)
_PLACE = re.compile(
    r"@|universi|universidad|institut|department|\bdept\b|\bschool\b|\bcollege\b|laborator|\blabs?\b|\bresearch\b"
    r"|facult|fakult|\bcent(?:er|re)\b|hospital|academy|\bagency\b|\bministry\b|\bbank\b|\binc\b|\bltd\b|\bgmbh\b"
    r"|corporation|foundation|大学|学院|研究所|研究院|实验室|医院|公司|中心",
    re.IGNORECASE,
)
_TITLE_WORDS = (
    "a an the of on in for with and case study report paper article review research survey technical working "
    "extended original short long letter letters note notes preprint draft version volume issue journal "
    "proceedings conference workshop symposium transactions magazine edition submission submitted accepted "
    "published received revised learning analysis systems system methods method models model data science "
    "sciences theory applications application approach introduction overview tutorial thesis dissertation "
    "master doctoral chapter part open access copyright license rights reserved january february march april "
    "june july august september october november december member fellow senior student ieee acm team group "
    "consortium collaboration san los hong buenos rio tel saint north south east west new united states "
    "kingdom authors author editor editors anonymous under"
)
_NO_NAME = frozenset(_TITLE_WORDS.split())
_PARTICLE_WORDS = "van von der den de del della di da dos das du la le el al bin ibn ben ter ten zu af av"
_PARTICLES = frozenset(_PARTICLE_WORDS.split())
_DEGREES = frozenset({"phd", "md", "msc", "bsc", "mph", "mba", "frcp", "dphil", "rn", "dds", "mbbs"})
_WORD = re.compile(r"[^\W\d_]+(?:['’ʼ‐-][^\W\d_]+)*")
_INITIAL = re.compile(r"(?:[^\W\d_]\.-?)+")
_FAMILY = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石贾夏付邹熊孟"
    "秦邱侯江尹薛闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔常汤"
)


def authors_of(sections: Sequence[Section]) -> str:
    """Return the authors of a paper, "Ann Meier, Bob Zou"; "" where they are not plain to see."""
    lines = _front(sections)
    at = next((at for at, line in enumerate(lines) if _PLACE.search(line)), 0)
    if not at or any(len(line) > _MOST_CHARACTERS for line in lines[:at]):
        return ""
    marked = [_names_in(line) for line in lines[:at]]
    if not all(marked):
        return ""
    names = _joined(lines[:at], marked)
    plain = [name for name, _ in names]
    is_list = len(plain) > 1
    if not plain or not all(_is_name(name, is_list) for name in plain) or len(set(plain)) < len(plain):
        return ""
    return ", ".join(plain) if is_list or _is_sole(*names[0], lines[at:]) else ""


def _is_sole(name: str, is_marked: bool, below: Sequence[str]) -> bool:
    """Tell whether one name alone is that of the author, by the lines below it."""
    if any(_is_like_a_name(line) for line in below):
        return False
    family = name.rsplit(maxsplit=1)[-1].casefold()
    return is_marked or "." in name or any("@" in line and family in line.casefold() for line in below)


def _front(sections: Sequence[Section]) -> list[str]:
    """Return the lines between the title, a heading of its own, and the abstract; [] where either is missing."""
    found: list[str] = []
    for line in _lines(sections):
        if len(found) > _MOST_LINES:
            break
        heading = read(line)
        if heading is not None and heading.role is Role.ABSTRACT:
            return [_NOTHING.sub("", unicodedata.normalize("NFKC", bare_of(one))).strip() for one in found[1:]]
        if (heading is not None and heading.is_usual) or (not found and not line.startswith("#")):
            break
        found.append(line)
    return []


def _lines(sections: Sequence[Section]) -> Iterator[str]:
    for section in sections:
        if section.kind is not SectionKind.TEXT:
            return
        yield from (line.strip() for line in section.text.split("\n") if line.strip())


def _names_in(line: str) -> list[tuple[str, bool]]:
    """Return the parts of a line that may be names, each without its marks, and whether it had any."""
    found: list[tuple[str, bool]] = []
    before = _BEFORE.match(line)
    for part in _BETWEEN.split(line[before.end() :] if before else line):
        words = _LETTER.sub("", part.strip().rstrip(_MARKS)).split()
        is_marked = "".join(words) != "".join(part.split())
        while words and words[-1].replace(".", "").casefold() in _DEGREES:
            words.pop()
        if words:
            found.append((" ".join(words), is_marked))
        elif found and is_marked:
            found[-1] = (found[-1][0], True)  # the second of two marks: "Shen1,2"
    return found


def _joined(lines: Sequence[str], marked: Sequence[list[tuple[str, bool]]]) -> list[tuple[str, bool]]:
    """Return the names of all lines; [] where it can't be told whether one goes on in the next line.

    It does where every other name is marked and it is not.
    """
    found = list(marked[0])
    for (before, line), own in zip(pairwise(lines), marked[1:], strict=True):
        others = [has for one in marked for _, has in one]
        is_open = not found[-1][1] and sum(others) >= len(others) - 1 >= 1
        if is_open and not _ENDS_OPEN.search(before) and not _BEFORE.match(line):
            found[-1] = (f"{found[-1][0]} {own[0][0]}", own[0][1])
            found += own[1:]
        elif _ENDS_OPEN.search(before) or _BEFORE.match(line) or all(others):
            found += own
        else:
            return []
    return found


def _is_name(name: str, is_list: bool) -> bool:
    """Tell whether this is a whole name; ``is_list``: of others beside it, so that four words are one, not two."""
    if any("\u4e00" <= letter <= "\u9fff" for letter in name):
        return is_list and 2 <= len(name) <= 3 and name[0] in _FAMILY and name.isalpha()
    words = name.split()
    if not 2 <= len(words) <= (4 if is_list else 3) or not all(_is_word(word) for word in words):
        return False
    # The first may be an initial, the last is the family's.
    return len(words[-1]) > 1 and "." not in words[-1] and words[-1] not in _PARTICLES and words[0] not in _PARTICLES


def _is_word(word: str) -> bool:
    if word.casefold().strip(".") in _NO_NAME or _PLACE.search(word):
        return False
    if word in _PARTICLES:
        return True
    return word[0].isupper() and bool(_WORD.fullmatch(word) or _INITIAL.fullmatch(word))


def _is_like_a_name(line: str) -> bool:
    parts = _names_in(line[:_MOST_CHARACTERS])
    return len(parts) == 1 and not _PLACE.search(line) and _is_name(parts[0][0], is_list=True)
