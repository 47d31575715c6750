"""Method ``naive``: each section on its own, cut within the token budget at the best places.

A section is never joined with another: a citation points at its heading. What a table's chunks repeat is its header,
what a text's chunks repeat is the end of the one before; both are told by ``overlap``, so that nothing is lost and
nothing doubled: ``"".join(piece.text[piece.overlap:])`` is the section's text.

Three rules for what does not fit:

- A header that takes more than half the budget is not repeated, unless it fits beside the table's longest row; it then
  stands once, in the first chunks, like a row.
- A row, a line of code or a sentence over the budget is split at a clause or a cell's border, else between words, else
  between characters; a single character that a reader sees is cut only when it alone exceeds the budget.
- A section with nothing but white space gives no piece, nor does one with nothing but the heading of the table or code
  that follows: that one's heading path holds it.
"""

import re
from collections.abc import Iterator, Sequence

from ragcore.characters import is_edge
from ragcore.chunking.boundaries import boundaries
from ragcore.chunking.packing import pack
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.chunking.places import Places
from ragcore.tokens import Tokenizer
from ragcore.types import Location, Section, SectionKind

_HEADING = re.compile(r"#{1,6}\s")
_OWN_TOKENS = 8
"""What a chunk adds at least to its overlap, whatever share is asked for."""


def chunk(
    sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, following: Section | None
) -> list[Piece]:
    """Return the pieces of all sections, in order; ``following`` is the section after them, if there is one."""
    return [
        piece
        for section, after in zip(sections, [*sections, following][1:], strict=True)
        if not _is_heading_of(section, after)
        for piece in _section_pieces(section, options, tokenizer)
    ]


def _is_heading_of(section: Section, after: Section | None) -> bool:
    """Tell a section that is nothing but the heading of the table or code after it, whose heading path holds it."""
    if after is None or after.heading_path != section.heading_path or not section.heading_path:
        return False
    lines = [line for line in section.text.splitlines() if line.strip()]
    return section.kind is SectionKind.TEXT and all(_HEADING.match(line) for line in lines)


def _section_pieces(section: Section, options: ChunkOptions, tokenizer: Tokenizer) -> Iterator[Piece]:
    if not section.text or section.text.isspace():
        return
    header = _repeated_header(section, options, tokenizer)
    if header:
        yield from _table_pieces(section, header, options, tokenizer)
        return
    own, shared = _shares(section, options)
    start_of_previous = 0
    places = Places(section)
    delimiters = options.delimiter_strings
    for start, end in pack(section.text, section.kind, delimiters, own, tokenizer):
        lead = _lead(section.text, start_of_previous, start, end, shared, options.chunk_tokens, tokenizer)
        text = section.text[lead:end]
        yield _piece(section, text, start - lead, places.within(lead, end), tokenizer)
        start_of_previous = start


def _table_pieces(section: Section, header: str, options: ChunkOptions, tokenizer: Tokenizer) -> Iterator[Piece]:
    body = section.text[len(header) :]
    budget = options.chunk_tokens - tokenizer.count(header)
    spans = pack(body, section.kind, (), budget, tokenizer)
    while any(tokenizer.count(header + body[start:end]) > options.chunk_tokens for start, end in spans):
        # Header and row may count a token more together than apart.
        budget -= 1
        spans = pack(body, section.kind, (), budget, tokenizer)
    places = Places(section)
    for index, (start, end) in enumerate(spans):
        place = places.within(len(header) + start if index else 0, len(header) + end)
        yield _piece(section, header + body[start:end], len(header) if index else 0, place, tokenizer)


def _piece(section: Section, text: str, overlap: int, place: Location, tokenizer: Tokenizer) -> Piece:
    return Piece(
        text=text,
        overlap=overlap,
        kind=section.kind,
        heading_path=section.heading_path,
        location=place,
        token_count=tokenizer.count(text),
    )


def _repeated_header(section: Section, options: ChunkOptions, tokenizer: Tokenizer) -> str:
    """Return the header that each chunk of a table repeats; "" when there is none, no row, or no room for it."""
    header = section.header
    if section.kind is not SectionKind.TABLE or not header or not section.text.startswith(header):
        return ""
    body = section.text[len(header) :]
    own = options.chunk_tokens - tokenizer.count(header)
    longest = max(body.split("\n"), key=len) + "\n"
    if not body or own < min(_OWN_TOKENS, options.chunk_tokens // 2):
        return ""
    beside = 2 * own >= options.chunk_tokens or tokenizer.count(header + longest) <= options.chunk_tokens
    return header if beside else ""


def _shares(section: Section, options: ChunkOptions) -> tuple[int, int]:
    """Return how many tokens a chunk may hold of its own, and how many of the one before; rows are never repeated."""
    if section.kind is SectionKind.TABLE:
        return options.chunk_tokens, 0
    shared = min(int(options.chunk_tokens * options.overlap), options.chunk_tokens - _OWN_TOKENS)
    return options.chunk_tokens - shared, shared


def _lead(text: str, previous: int, start: int, end: int, shared: int, budget: int, tokenizer: Tokenizer) -> int:
    """Return where the chunk ``text[start:end]`` begins with its overlap: only text that the chunk before added.

    At the beginning of a sentence where one lies in the last ``shared`` tokens, else of a word, else at ``start``.
    """
    if not shared or start == 0:
        return start
    tail = tokenizer.tail(text[previous:start], shared)
    earliest = start - len(tail)
    for lead in _beginnings(text, earliest, previous, start):
        if tokenizer.count(text[lead:end]) <= budget:
            return lead
    return start


def _beginnings(text: str, earliest: int, previous: int, start: int) -> Iterator[int]:
    tail = text[earliest:start]
    if earliest == previous:
        yield earliest
    cuts = [earliest + offset for offset, strength in boundaries(tail, SectionKind.TEXT, ()) if strength]
    yield from (cut for cut in cuts if cut < start)
    words = tail.split(None, 1)
    if len(words) == 2 and len(cuts) <= 1 and is_edge(text, start - len(words[1])):
        yield start - len(words[1])
