"""Splits an answer into sentences whose offsets tile the text: joined again they are the text, to the character."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sentencex

from ragcore.citations import markers
from ragcore.citations.blocks import Block, BlockKind, split_blocks
from ragcore.citations.literals import Literals, mask
from ragcore.terms import language_of

__all__ = ["BlockKind", "Sentence", "split_sentences"]

_CLOSERS = "\"'”’»›)）]】」』》〉*_~"
# sentencex sees none of these: a full-width or danda stop without a space, a stop inside quotes or brackets.
_WIDE_STOP = re.compile(rf"[。！？।॥።။។։]++[{re.escape(_CLOSERS)}]*+(?=[^\s{re.escape(_CLOSERS)}。！？])")
_CLOSED_STOP = re.compile(rf"(?<=[^\W_]{{3}})[.!?]++[{re.escape(_CLOSERS)}]++[^\S\n]++(?=[^\sa-z])")
# A quote that ends inside its sentence: Japanese particles follow.
_QUOTE_GOES_ON = re.compile(r"[とっでのはがをにも、，,]")
# Abbreviations that a number follows.
_BEFORE_NUMBER = re.compile(
    r"(?:^|[^\w])(?:approx|est|ca|c|circa|al|art|arts|ch|cl|eq|fig|figs|no|nos|nr|p|pp|par|para|sec|vol|vs|v|cf|ed|tab|mt|st|г|стр|рис|табл)\.\s*$",
    re.IGNORECASE,
)
_THAI_SPACE = re.compile(r"(?<=[\u0e00-\u0e7f])[ ]+(?=[\u0e00-\u0e7f])")
_THAI_SENTENCE = 40
"""Thai ends a sentence with nothing but a space, which it also sets inside: shorter stretches are not split, in
characters."""
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """``text[start:end]``, tiling the text; ``text[body:body_end]`` is what it says, markers included.

    Before ``body`` stand list signs and quote signs, after ``body_end`` white space. A data row of a table, a heading
    or a fence is one unit. A marker behind the full stop belongs to the sentence before it.
    """

    start: int
    body: int
    body_end: int
    end: int
    kind: BlockKind

    @property
    def citable(self) -> bool:
        """Whether it can say something that needs a source."""
        return self.kind in (BlockKind.PROSE, BlockKind.ROW)


def split_sentences(text: str) -> list[Sentence]:
    """Split any Markdown in any script; the empty text has no sentence.

    Linear in the text's length.
    """
    if not text:
        return []
    found = markers.find(text)
    cuts = markers.cuts(text, found)
    bare = _without(text, cuts)
    literals = Literals(bare)
    # Inside links and code no stop is a stop; a capital letter lets a stop before them be one.
    masked = mask(bare, literals.spans, "X")
    starts = [
        (start, body, block.kind)
        for block in split_blocks(bare, literals)
        for start, body in _sentence_starts(bare, masked, block)
    ]
    if not starts:
        return [_sentence(text, 0, 0, len(text), BlockKind.LAYOUT)]
    kept = _Kept(text, cuts)
    bounds = [0, *(kept.boundary(start) for start, _, _ in starts[1:]), len(text)]
    return [
        _sentence(text, bounds[index], kept.before(body) if body > start else bounds[index], bounds[index + 1], kind)
        for index, (start, body, kind) in enumerate(starts)
    ]


def _sentence(text: str, start: int, body: int, end: int, kind: BlockKind) -> Sentence:
    body_end = start + len(text[start:end].rstrip())
    body = min(max(body, start), max(body_end, start))
    return Sentence(start=start, body=body, body_end=max(body_end, body), end=end, kind=kind)


def _sentence_starts(bare: str, masked: str, block: Block) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a block starts, and where its words do."""
    yield block.start, block.body
    if block.kind is not BlockKind.PROSE:
        return
    content = masked[block.body : block.end].replace("\n", " ").replace("\r", " ")
    for boundary in _boundaries(content, language_of(bare[block.body : block.end])):
        yield block.body + boundary, block.body + boundary


def _boundaries(content: str, language: str) -> list[int]:
    """Return the offsets inside a line at which a sentence starts; none at 0 or at the end."""
    proposed = {_past_closers(content, end) for end in _segment_ends(content, language)}
    proposed.update(found.end() for found in _WIDE_STOP.finditer(content))
    proposed.update(found.end() for found in _CLOSED_STOP.finditer(content))
    accepted: list[int] = []
    last, word = 0, _WORD.search(content)
    for boundary in sorted(proposed):
        # A sentence holds a word. Where the next one stands is looked for once: thousands of stops may come before it.
        worded = word is not None and word.start() < boundary
        if worded and last < boundary < len(content) and _is_boundary(content, last, boundary):
            accepted.append(boundary)
            last, word = boundary, _WORD.search(content, boundary)
    # What is left at the end without a word belongs to the sentence before.
    if accepted and not _WORD.search(content, accepted[-1]):
        accepted.pop()
    return _with_thai_spaces(content, accepted) if language == "th" else accepted


def _segment_ends(content: str, language: str) -> list[int]:
    return [int(found["end_index"]) for found in sentencex.get_sentence_boundaries(language, content)]


def _past_closers(content: str, boundary: int) -> int:
    """Move a boundary behind the closing marks that sentencex leaves to the next: ``**Done.`` | ``** Next``."""
    if boundary == 0 or boundary >= len(content) or content[boundary - 1].isspace():
        return boundary
    end = boundary
    while end < len(content) and content[end] in _CLOSERS:
        end += 1
    if end == boundary or (end < len(content) and not content[end].isspace()):
        return boundary
    while end < len(content) and content[end].isspace():
        end += 1
    return end


def _is_boundary(content: str, last: int, boundary: int) -> bool:
    """Whether a proposed boundary is one: it parts words, and doesn't cut a name, a number or a quote short."""
    before = content[max(last, boundary - 40) : boundary]
    stop = before.rstrip().rstrip(_CLOSERS)[-1:]
    following = content[boundary]
    if stop == "." and not before[-1].isspace():
        # "A.B公司": only between two wide characters does a stop without a space end a sentence.
        return _is_wide(before[-2:-1]) and _is_wide(following)
    if stop == "." and following.isdigit() and _BEFORE_NUMBER.search(before):
        return False
    quoted = before[-1] in "」』”’"
    return not (quoted and _QUOTE_GOES_ON.match(following))


def _is_wide(character: str) -> bool:
    return "\u2e80" <= character <= "\uffef"


def _with_thai_spaces(content: str, accepted: Sequence[int]) -> list[int]:
    bounds: list[int] = []
    last = 0
    for candidate in sorted({*accepted, *(found.end() for found in _THAI_SPACE.finditer(content))}):
        long_enough = candidate - last >= _THAI_SENTENCE and len(content) - candidate >= _THAI_SENTENCE // 2
        if candidate in accepted or long_enough:
            bounds.append(candidate)
            last = candidate
    return bounds


class _Kept:
    """Leads offsets of the text without markers back to the text with them."""

    __slots__ = ("_bare_starts", "_removed", "_text")

    def __init__(self, text: str, cuts: Sequence[tuple[int, int]]) -> None:
        self._text = text
        self._bare_starts: list[int] = []
        self._removed = [0]
        for start, end in cuts:
            self._bare_starts.append(start - self._removed[-1])
            self._removed.append(self._removed[-1] + end - start)

    def offset(self, bare: int) -> int:
        """Return where this character stands in the text: behind a marker that was cut out right before it."""
        return bare + self._removed[bisect_right(self._bare_starts, bare)]

    def before(self, bare: int) -> int:
        """Return where the character before it ends: in front of a marker that was cut out here."""
        return self.offset(bare - 1) + 1 if bare else 0

    def boundary(self, bare: int) -> int:
        """Return where the sentence starts: behind the markers before it, unless they head its own line."""
        before, after = self.before(bare), self.offset(bare)
        return before if before < after and self._text[before - 1] == "\n" else after


def _without(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end in cuts:
        pieces.append(text[done:start])
        done = end
    return "".join((*pieces, text[done:]))
