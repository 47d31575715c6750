"""Right-to-left text: marks that keep a line's order where Latin words, code and citations stand in it.

A client lays out each line by its first strong character (Unicode's bidirectional algorithm, P2 and P3), so a line of
an Arabic paragraph that begins with a product's name would run the other way.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from bots.rendering.tree import Break, Cite, Code, Inline, Link, Styled, Text

RIGHT_TO_LEFT = "\u200f"
_ISOLATE, _END = "\u2066", "\u2069"
_STRONG = {"R": -1, "AL": -1, "L": 1}


def directed(children: Sequence[Inline]) -> tuple[Inline, ...]:
    """Return the inlines of one block; with marks if most of its letters run from right to left."""
    if not is_right_to_left("".join(map(_letters, children))):
        return tuple(children)
    return (Text(text=RIGHT_TO_LEFT), *_marked(children))


def is_right_to_left(text: str) -> bool:
    """Return whether most letters of the text run from right to left."""
    if text.isascii():
        return False
    return sum(_STRONG.get(unicodedata.bidirectional(letter), 0) for letter in text) < 0


def _letters(child: Inline) -> str:
    match child:
        case Text():
            return child.text
        case Styled() | Link():
            return "".join(map(_letters, child.children))
        case _:
            return ""


def _marked(children: Sequence[Inline]) -> list[Inline]:
    found: list[Inline] = []
    for child in children:
        match child:
            case Code():
                found += [Text(text=_ISOLATE), child, Text(text=_END)]
            case Cite():
                found += [Text(text=RIGHT_TO_LEFT), child]
            case Styled():
                found.append(replace(child, children=tuple(_marked(child.children))))
            case Break():
                found += [child, Text(text=RIGHT_TO_LEFT)] if child.hard else [child]
            case _:
                found.append(child)
    return found
