"""A passage of a document for a reader: its words without markup, and which of them are set in strong type."""

import re
from collections.abc import Iterator, Sequence

from bots.rendering.clean import clean
from bots.rendering.parse import parse_markdown
from bots.rendering.plain import plain_inlines
from bots.rendering.tree import (
    Block,
    Fence,
    Heading,
    Inline,
    ItemList,
    Paragraph,
    Quote,
    Rule,
    Styled,
    Table,
    Text,
)
from ragcore.characters import edge_after, edge_before
from ragcore.terms import is_stop_word, terms
from ragcore.terms.scripts import UNSPACED

Span = tuple[int, int]

CELLS = " · "
"""What stands between the cells of a table's row."""
_ROW = re.compile(r"\|.*\|")
_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[\s:|-]+")
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_LETTER = rf"[^\W{UNSPACED}]"
"""A letter or digit of a script that sets spaces between words."""
_GAP = 24
"""Characters between two words that support a sentence, of which no word counts, up to which they are one."""
_BACK = 40
"""Characters by which a cut may be moved to stand between two words."""


def passage_lines(text: str) -> tuple[str, ...]:
    """Return the words of a passage of Markdown: a line for each heading, paragraph, item, row and line of code."""
    return tuple(line for _, line in _lines(text))


def snippet(text: str, matched: Sequence[str], most: int, *, label: str = "") -> str:
    """Return what a passage says around the matched words, on one line.

    Args:
        text: The passage, in Markdown.
        matched: The words that were looked for, as they stand in it.
        most: The longest snippet in characters, the dots for what is left out aside.
        label: What is shown above it; headings that stand there already are left out.
    """
    found = [(is_heading and line in label, " ".join(line.split())) for is_heading, line in _lines(text)]
    lines = [line for is_told, line in found if not is_told] or [line for _, line in found]
    whole = " ".join(lines)
    if len(whole) <= most:
        return whole
    best = max(lines, key=lambda line: len({line[start:end].casefold() for start, end in word_spans(line, matched)}))
    start = whole.index(best)
    spans = word_spans(best, matched)
    if spans and spans[-1][1] > most:
        start = _word_start(whole, start + max(0, spans[0][0] - most // 3))
    start = min(start, _word_start(whole, len(whole) - most))
    end = _word_end(whole, start + most)
    before, after = "… " if start else "", " …" if end < len(whole) else ""
    return f"{before}{whole[start:end].strip()}{after}"


def word_spans(text: str, words: Sequence[str]) -> list[Span]:
    """Return where these words stand in a text: whole where their script sets spaces between words, in any case."""
    wanted = sorted({word for word in words if word.strip()}, key=len, reverse=True)
    if not wanted:
        return []
    alternatives = (
        ("" if _UNSPACED.match(word[0]) else rf"(?<!{_LETTER})")
        + re.escape(word)
        + ("" if _UNSPACED.match(word[-1]) else rf"(?!{_LETTER})")
        for word in wanted
    )
    return [found.span() for found in re.finditer("|".join(alternatives), text, re.IGNORECASE)]


def joined(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return the spans in order, those as one between which nothing stands that counts: spaces, commas, "of the"."""
    runs: list[Span] = []
    for start, end in sorted(spans):
        if runs and _belongs(text[runs[-1][1] : start]):
            runs[-1] = (runs[-1][0], max(runs[-1][1], end))
        else:
            runs.append((start, end))
    return runs


def strong(text: str, spans: Sequence[Span]) -> tuple[Inline, ...]:
    """Return the text with these parts, in order and apart, in strong type."""
    pieces: list[Inline] = []
    at = 0
    for start, end in spans:
        pieces += [Text(text=text[at:start])] if start > at else []
        pieces.append(Styled(style="strong", children=(Text(text=text[start:end]),)))
        at = end
    return (*pieces, *((Text(text=text[at:]),) if at < len(text) else ()))


def _belongs(gap: str) -> bool:
    return len(gap) <= _GAP and not _SENTENCE_END.search(gap) and all(is_stop_word(term) for term in terms(gap))


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the lines, and whether each is a heading."""
    text = clean(text).strip()
    rows = [row.strip() for row in text.split("\n") if row.strip()]
    if all(_ROW.fullmatch(row) for row in rows):
        # Rows without the header above them, which alone makes a table of them.
        text = "\n\n".join(_cells(_BAR.split(row[1:-1])) for row in rows if not _RULE.fullmatch(row))
    for block in parse_markdown(text).blocks:
        for line in _block(block):
            if line.strip():
                yield isinstance(block, Heading), line.strip()


def _block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph() | Heading():
            yield from plain_inlines(block.children).split("\n")
        case ItemList():
            for index, item in enumerate(block.items):
                mark = "• " if block.start is None else f"{block.start + index}. "
                for inner in item.blocks:
                    for line in _block(inner):
                        yield mark + line
                        mark = ""
        case Quote():
            for inner in block.blocks:
                yield from _block(inner)
        case Fence():
            yield from block.text.split("\n")
        case Table():
            yield from (_cells([plain_inlines(cell) for cell in row]) for row in (block.header, *block.rows))
        case Rule():
            pass


def _cells(cells: Sequence[str]) -> str:
    return CELLS.join(" ".join(cell.split()) for cell in cells if cell.strip())


def _word_start(text: str, index: int) -> int:
    space = text.find(" ", max(0, index - 1), index + _BACK)
    return space + 1 if space >= 0 and index > 0 else edge_after(text, index)


def _word_end(text: str, index: int) -> int:
    if index >= len(text):
        return len(text)
    space = text.rfind(" ", max(0, index - _BACK), index + 1)
    return space if space >= 0 else edge_before(text, index)
