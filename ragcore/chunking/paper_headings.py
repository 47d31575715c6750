"""What a line of a paper is: the heading of a section, an abstract, references, a caption."""

import re
from dataclasses import dataclass
from enum import StrEnum

from ragcore.chunking.numerals import CHINESE, ROMAN, value_of
from ragcore.parsing.titles import one_line

_BLANK = r"[^\S\n]"
_HEADING_CHARACTERS = 90

_ABSTRACT = re.compile(rf"(?:Abstract|ABSTRACT|摘{_BLANK}*要)(?={_BLANK}*+(?:[.:：—–-]|$)|{_BLANK}++[A-Z]|】|\*)")
_KEYWORDS = re.compile(
    rf"(?:Key{_BLANK}?-?words?(?: and phrases)?|KEY{_BLANK}?-?WORDS?|Index Terms|INDEX TERMS"
    rf"|CCS Concepts|关{_BLANK}*键{_BLANK}*词)"
    rf"(?={_BLANK}*+(?:[.:：—–-]|$|·|】|\*))"
)
_REFERENCES = re.compile(
    rf"(?:references(?: and notes)?|bibliography|literature cited|works cited|literature"
    rf"|参{_BLANK}*考{_BLANK}*文{_BLANK}*献)",
    re.I,
)
_USUAL = re.compile(
    r"(?:introduction|background|related works?|preliminaries|motivation|materials?(?: and methods?)?"
    r"|methods?(?: and materials?)?"
    r"|methodology|approach|data|datasets?|experiments?|experimental (?:setup|results)|evaluation"
    r"|results?(?: and discussion)?"
    r"|discussion|analysis|ablations?|limitations?|ethics(?: statement)?|future work"
    r"|conclusions?(?: and future work)?|summary"
    r"|acknowledge?ments?|funding|author contributions|data availability|competing interests|conflicts? of interest"
    r"|supplementary materials?|appendix(?: [A-Z\d])?|appendices"
    r"|引言|绪论|前言|背景|相关工作|方法|材料与方法|实验|实验结果|结果|结果与讨论|讨论|结论|结语|总结|致谢|附录)",
    re.I,
)
_NUMBERED = re.compile(
    rf"(?:(?P<digits>\d{{1,2}}(?:\.\d{{1,2}}){{0,3}})\.?|(?P<roman>{ROMAN})\.|(?P<letter>[A-Z])\.|(?P<chinese>{CHINESE})、)"
    rf"{_BLANK}*+(?P<title>.+)"
)
_CAPTION = re.compile(
    rf"[*_]{{0,3}}(?P<label>(?:Figure|FIGURE|Fig\.|FIG\.|Table|TABLE|Algorithm|Listing|Scheme){_BLANK}?(?:\d{{1,3}}|{ROMAN}|[A-Z]\.?\d{{1,2}})"
    rf"|[图圖表]{_BLANK}?\d{{1,3}}(?:[-–.]\d{{1,3}})?)"
    rf"(?:[*_]{{0,3}}{_BLANK}*+[.:：|—–][*_]{{0,3}}{_BLANK}*+(?![a-z])|(?<=\d){_BLANK}++(?=[\u4e00-\u9fff]))"
)


class Role(StrEnum):
    """What a heading opens."""

    ABSTRACT = "abstract"
    KEYWORDS = "keywords"
    REFERENCES = "references"
    SECTION = "section"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading that a line is, or begins with: ``name`` is what the path says.

    ``numbers`` is its number level by level, (3, 2) for "3.2", and empty without one; ``scheme`` tells how it is
    written. ``is_run_in``: text follows on the line.
    """

    role: Role
    name: str
    numbers: tuple[int, ...] = ()
    scheme: str = ""
    is_run_in: bool = False
    is_usual: bool = False


def bare_of(line: str) -> str:
    """Return a line without the marks of Markdown around it."""
    return line.strip().lstrip("#").strip(" \t*_【[").rstrip(" \t*_#】]")


def read(line: str) -> Heading | None:
    """Return the heading that a line is; None for text."""
    body = bare_of(line)
    for role, pattern in ((Role.ABSTRACT, _ABSTRACT), (Role.KEYWORDS, _KEYWORDS)):
        if found := pattern.match(body):
            run_in = bool(body[found.end() :].strip(" .:：—–-*_】"))
            return Heading(
                role=role,
                name="".join(found[0].split()) if not found[0].isascii() else one_line(found[0]),
                is_run_in=run_in,
            )
    if not 0 < len(body) <= _HEADING_CHARACTERS:
        return None
    plain = body.rstrip(".:： ")
    if _REFERENCES.fullmatch(plain):
        return Heading(role=Role.REFERENCES, name=plain)
    if _USUAL.fullmatch(plain) and not plain[0].islower():
        return Heading(role=Role.SECTION, name=plain, is_usual=True)
    return _numbered(body)


def _numbered(body: str) -> Heading | None:
    found = _NUMBERED.fullmatch(body)
    if found is None or found.lastgroup is None:
        return None
    title = found["title"]
    scheme = next(name for name in ("digits", "roman", "letter", "chinese") if found[name])
    plain = title.rstrip(".:： ")
    if _REFERENCES.fullmatch(plain):
        return Heading(role=Role.REFERENCES, name=plain)
    is_usual = bool(_USUAL.fullmatch(plain))
    has_end = re.search(r"[.,;:!?。；：，！？]$|[。；！？]", title)
    if not (title[0].isupper() or "\u4e00" <= title[0] <= "\u9fff") or (has_end and not is_usual):
        return None
    numbers = tuple(map(value_of, found[scheme].split(".")))
    return Heading(role=Role.SECTION, name=one_line(body), numbers=numbers, scheme=scheme, is_usual=is_usual)


def is_references(heading: str) -> bool:
    """Tell whether a heading of the parser's is that of the references."""
    found = read(heading)
    return found is not None and found.role is Role.REFERENCES


def caption_of(paragraph: str) -> str:
    """Return the label of a caption ("Figure 3", "表 2"), "" for a paragraph that is none."""
    found = _CAPTION.match(paragraph.lstrip())
    return one_line(found["label"]) if found else ""


def is_picture(paragraph: str) -> bool:
    """Tell whether a paragraph is nothing but a picture in Markdown."""
    return bool(re.fullmatch(r"!\[[^\]\n]*\]\([^)\n]*\)", paragraph.strip()))
