"""Cuts the inlines of one paragraph in two: behind a sentence, else a word, else a visible character."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from bots.rendering.tree import Break, Cite, Code, Inline, Link, Styled, Text
from ragcore.characters import edge_after, edge_before
from ragcore.citations.sentences import split_sentences

_Inlines = tuple[Inline, ...]
_LONG = 200
"""A code span or a link's label beyond this may be cut, in characters; in a small part, beyond half of the part."""
_WORD_END = re.compile(r"\s")


class Cutter:
    """The first ``most`` characters of a paragraph's text, to be cut once.

    Places are counted in its plain text, where a citation is ``[ID:n]``, so that a sentence ends behind it.
    """

    def __init__(self, children: Sequence[Inline], most: int) -> None:
        """Look at no more of the children than can be needed."""
        self._children = tuple(children)
        self._text = _start_of(self._children, most + 80)
        self._limit = most
        self._most = min(most, len(self._text))
        self._long = min(_LONG, most // 2)
        # Where what is never cut begins and ends, in order.
        self._solid = list(_solid(self._children, 0, len(self._text), self._long))

    def cut(self, fits: Callable[[_Inlines], bool], *, anywhere: bool = False) -> tuple[_Inlines, _Inlines]:
        """Return the longest good start that fits, possibly empty, and the rest.

        ``anywhere``: the start of a word is good however short it is, since nothing else stands in the part.
        """
        if anywhere:
            self._limit = 0
        low, high = 0, self._most + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(_head(self._children, middle, self._long)) else (low, middle)
        place, step = self._good(low), 1
        # Less text may take more: without its end most of its letters may run from right to left, which adds marks.
        while place > 0 and not fits(self._at(place)[0]):
            place, step = self._good(max(0, place - step)), 2 * step
        return self._at(place)

    def least(self) -> tuple[_Inlines, _Inlines]:
        """Return the first visible character or piece, and the rest."""
        first = self._children[0]
        if isinstance(first, Text) and len(first.text) > 1:
            return self._at(edge_after(first.text, 1))
        return self._children[:1], _trimmed(self._children[1:])

    def _at(self, place: int) -> tuple[_Inlines, _Inlines]:
        if place <= 0:
            return (), self._children
        head = _trimmed_end(_head(self._children, place, self._long))
        return (head, _trimmed(_tail(self._children, place, self._long))) if head else ((), self._children)

    def _good(self, place: int) -> int:
        """Return the best place to cut at or before this one."""
        if place >= len(self._text):
            return place
        found = self._behind_sentence(place) or self._behind_word(place)
        if found or place < self._limit // 8:
            return found  # the start of a word at the end of a part is better whole in the next
        return self._behind_character(place)

    def _behind_sentence(self, place: int) -> int:
        ends = (sentence.end for sentence in split_sentences(self._text))
        return max((end for end in ends if place // 2 < end <= place and self._whole(end)), default=0)

    def _behind_word(self, place: int) -> int:
        for end in range(place, place // 2, -1):
            if _WORD_END.match(self._text[end - 1]) and self._whole(end):
                return end
        return 0

    def _behind_character(self, place: int) -> int:
        end = edge_before(self._text, place)
        while end > place // 2:
            if self._whole(end) and not self._text.startswith("[ID:", end):
                return end
            end = edge_before(self._text, end - 1)
        return edge_before(self._text, place)

    def _whole(self, place: int) -> bool:
        """Return whether nothing that stands as one is cut here."""
        before = bisect_left(self._solid, (place, 0)) - 1
        return before < 0 or self._solid[before][1] <= place


def _length(child: Inline) -> int:
    match child:
        case Text() | Code():
            return len(child.text)
        case Cite():
            return len(f"[ID:{child.number}]")
        case Break():
            return 1
        case Styled() | Link():
            return sum(map(_length, child.children))


def _start_of(children: Sequence[Inline], most: int) -> str:
    text = ""
    for child in children:
        if len(text) > most:
            break
        match child:
            case Text() | Code():
                text += child.text[: most + 1]
            case Cite():
                text += f"[ID:{child.number}]"
            case Break():
                text += "\n" if child.hard else " "
            case Styled() | Link():
                text += _start_of(child.children, most - len(text))
    return text


def _can_cut(child: Inline, long: int) -> bool:
    match child:
        case Text() | Styled():
            return True
        case Code() | Link():
            return _length(child) > long
        case _:
            return False


def _solid(children: Sequence[Inline], at: int, end: int, long: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of what is never cut, in order, as far as it begins before ``end``."""
    for child in children:
        if at >= end:
            return
        length = _length(child)
        if not _can_cut(child, long):
            yield at, at + length
        elif isinstance(child, Styled | Link):
            yield from _solid(child.children, at, end, long)
        at += length


def _head(children: Sequence[Inline], place: int, long: int) -> _Inlines:
    """Return what stands whole before the place."""
    found: list[Inline] = []
    for child in children:
        if place <= 0:
            break
        length = _length(child)
        if length <= place:
            found.append(child)
        elif isinstance(child, Text | Code) and _can_cut(child, long):
            found.append(replace(child, text=child.text[:place]))
        elif isinstance(child, Styled | Link) and _can_cut(child, long):
            inside = _head(child.children, place, long)
            found += [replace(child, children=inside)] if inside else []
        place -= length
    return tuple(found)


def _tail(children: Sequence[Inline], place: int, long: int) -> _Inlines:
    """Return what ``_head`` leaves."""
    for index, child in enumerate(children):
        length = _length(child)
        if place <= 0:
            return tuple(children[index:])
        if length > place:
            first: Inline = child
            if isinstance(child, Text | Code) and _can_cut(child, long):
                first = replace(child, text=child.text[place:])
            elif isinstance(child, Styled | Link) and _can_cut(child, long):
                first = replace(child, children=_tail(child.children, place, long))
            return (first, *children[index + 1 :])
        place -= length
    return ()


def _trimmed(children: _Inlines) -> _Inlines:
    """Return the inlines without white space and line ends at their start."""
    while children:
        first = children[0]
        if isinstance(first, Text):
            text = first.text.lstrip()
            if text:
                return (replace(first, text=text), *children[1:])
        elif not isinstance(first, Break):
            return children
        children = children[1:]
    return children


def _trimmed_end(children: _Inlines) -> _Inlines:
    while children:
        last = children[-1]
        if isinstance(last, Text):
            text = last.text.rstrip()
            if text:
                return (*children[:-1], replace(last, text=text))
        elif not isinstance(last, Break):
            return children
        children = children[:-1]
    return children
