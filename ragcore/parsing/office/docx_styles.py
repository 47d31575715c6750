"""What styles and numbering of a Word document mean: heading levels, and the numbers that Word only shows."""

import re
from dataclasses import dataclass, field

from lxml import etree

from ragcore.parsing.office.ooxml import attribute, child, children, number

_HEADING_NAME = re.compile(r"^heading (\d)$", re.IGNORECASE)
_CONTENTS_NAME = re.compile(r"^toc (?:\d|heading)$", re.IGNORECASE)
_PLACE = re.compile(r"%(\d)")
_BULLETS = frozenset(("bullet", "none", ""))
_MAX_BASED_ON = 12
_BODY_LEVEL = 9


@dataclass(slots=True)
class _Style:
    name: str
    based_on: str
    level: int
    num: tuple[str, int] | None


class Styles:
    """The paragraph styles of a document."""

    def __init__(self, root: etree._Element | None) -> None:
        self._styles: dict[str, _Style] = {}
        for style in children(root, "style") if root is not None else []:
            self._styles[attribute(style, "styleId")] = _Style(
                name=_value(style, "name"),
                based_on=_value(style, "basedOn"),
                level=_outline(style),
                num=_number_of(child(style, "pPr")),
            )

    def level(self, paragraph: etree._Element) -> int:
        """Return the heading level of a paragraph, 1 to 9; 0 for running text."""
        own = _outline(paragraph)
        if own:
            return own if own <= _BODY_LEVEL else 0
        for style in self._chain(paragraph):
            named = _HEADING_NAME.match(style.name)
            if named and named.group(1) != "0":
                return int(named.group(1))
            if style.name.lower() == "title":
                return 1
            if style.level:
                return style.level if style.level <= _BODY_LEVEL else 0
        return 0

    def is_title(self, paragraph: etree._Element) -> bool:
        """Tell whether a paragraph has the style Title."""
        return any(style.name.lower() == "title" for style in self._chain(paragraph)[:1])

    def is_contents(self, paragraph: etree._Element) -> bool:
        """Tell whether a paragraph is a line of a table of contents, by its style (``toc 1``)."""
        return any(_CONTENTS_NAME.match(style.name) for style in self._chain(paragraph)[:1])

    def is_caption(self, paragraph: etree._Element) -> bool:
        """Tell whether a paragraph has the style Caption."""
        return any(style.name.lower() == "caption" for style in self._chain(paragraph)[:1])

    def numbered(self, paragraph: etree._Element) -> tuple[str, int] | None:
        """Return the numbering id and level that a paragraph has by itself or by its style."""
        own = _number_of(child(paragraph, "pPr"))
        return own or next((style.num for style in self._chain(paragraph) if style.num), None)

    def _chain(self, paragraph: etree._Element) -> list[_Style]:
        """Return a paragraph's style and those it is based on, nearest first."""
        named = child(paragraph, "pPr", "pStyle")
        key = attribute(named, "val") if named is not None else ""
        chain: list[_Style] = []
        while key in self._styles and len(chain) < _MAX_BASED_ON:
            chain.append(self._styles[key])
            key = self._styles[key].based_on
        return chain


def _value(element: etree._Element, name: str) -> str:
    found = child(element, name)
    return attribute(found, "val") if found is not None else ""


def _outline(element: etree._Element) -> int:
    """Return the outline level from 1; 10 says that it is body text; 0 says nothing."""
    found = child(element, "pPr", "outlineLvl")
    return number(attribute(found, "val"), 9) + 1 if found is not None else 0


def _number_of(properties: etree._Element | None) -> tuple[str, int] | None:
    numbered = child(properties, "numPr")
    if numbered is None:
        return None
    return _value(numbered, "numId"), max(0, min(number(_value(numbered, "ilvl")), 8))


@dataclass(slots=True)
class _Level:
    kind: str
    text: str
    start: int


@dataclass(slots=True)
class Numbering:
    """The lists of a document; gives each item the number that Word shows before it."""

    root: etree._Element | None
    _levels: dict[str, dict[int, _Level]] = field(default_factory=dict)
    _abstract: dict[str, str] = field(default_factory=dict)
    _counts: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the list definitions."""
        for abstract in children(self.root, "abstractNum") if self.root is not None else []:
            self._levels[attribute(abstract, "abstractNumId")] = {
                number(attribute(level, "ilvl")): _Level(
                    kind=_value(level, "numFmt"),
                    text=_value(level, "lvlText"),
                    start=number(_value(level, "start"), 1),
                )
                for level in children(abstract, "lvl")
            }
        for one in children(self.root, "num") if self.root is not None else []:
            self._abstract[attribute(one, "numId")] = _value(one, "abstractNumId")

    def marker(self, paragraph: etree._Element, styles: Styles) -> str:
        """Return what stands before a paragraph: ``"- "`` for a bullet, the number and a space, "" for no list."""
        numbered = styles.numbered(paragraph)
        if numbered is None or numbered[0] in ("", "0"):
            return ""
        list_id, depth = numbered
        abstract = self._abstract.get(list_id, "")
        levels = self._levels.get(abstract, {})
        level = levels.get(depth)
        indent = "" if styles.level(paragraph) else "  " * depth
        if level is None or level.kind in _BULLETS:
            return f"{indent}- "
        counts = self._counts.setdefault(abstract, [levels[at].start - 1 if at in levels else 0 for at in range(9)])
        counts[depth] += 1
        for deeper in range(depth + 1, 9):
            counts[deeper] = levels[deeper].start - 1 if deeper in levels else 0
        shown = _PLACE.sub(lambda place: _figure(counts, levels, int(place.group(1)) - 1), level.text)
        return f"{indent}{shown} " if shown.strip() else ""


def _figure(counts: list[int], levels: dict[int, _Level], at: int) -> str:
    if not 0 <= at < len(counts):
        return ""
    count = max(counts[at], levels[at].start if at in levels else 1)
    kind = levels[at].kind if at in levels else "decimal"
    if kind in ("lowerLetter", "upperLetter"):
        letter = chr(ord("a") + (count - 1) % 26) * (1 + (count - 1) // 26)
        return letter.upper() if kind == "upperLetter" else letter
    if kind in ("lowerRoman", "upperRoman"):
        roman = _roman(count)
        return roman if kind == "upperRoman" else roman.lower()
    return f"{count:02d}" if kind == "decimalZero" else str(count)


def _roman(count: int) -> str:
    steps = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"))
    text = ""
    for value, letters in (*steps, (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        text += letters * (min(count, 3999) // value)
        count = min(count, 3999) % value
    return text
