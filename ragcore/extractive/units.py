"""What an extractive answer can quote: the sentences of a chunk, and the rows of its tables as sentences. Pure."""

import re
from dataclasses import dataclass
from itertools import pairwise

from ragcore.citations.sentences import BlockKind, split_sentences
from ragcore.types import Chunk, SectionKind

_SHORTEST = 12
"""Characters, a dense character counting double: less is a heading, a label or a stray number, never an answer."""
_FRAGMENT = 40
"""Prose without a full stop that is shorter than this is a label, a caption or a row of a table that lost its form."""
_STOP = re.compile(r"[.!?。！？…:：；;][\"'”’」』)）*_`]*$")
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEAD = re.compile(r"^\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|>\s*|\[[ x]\]\s+)+")
_WRAPPED = 50
"""A line shorter than this ends where its writer wanted it to: an address, a verse, a label."""
_STARTS_BLOCK = re.compile(r"^\s*(?:[-*+•>|#]|\d{1,3}[.)]\s|```|~~~)")
_STARTS_BLOCK_ALONE = re.compile(r"^\s*(?:[|#]|```|~~~)")
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_OPENS_WITH_REFERENCE = re.compile(
    r"^\W*(?:(?:it|its|they|them|their|he|she|his|her|this|that|these|those|such|both|either|neither|otherwise|however|"
    r"then|also|after that|in that case|if (?:it|they|this|that|so)|outside them|"
    r"er|sie|es|dies|diese[rs]?|il|elle|ils|elles|cela|ello|esto|estos|este|он|она|они|это)\b"
    r"|其(?!他|它|中)|该|此|这|那(?!么)|它|他|她|上述|但|并|否则|因此|逾期)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One whole sentence, or one table row read as a sentence.

    ``chunk`` and ``order`` tell where it stands: the chunk's index in the prompt, and its place in the chunk.
    ``leans`` says that it opens with a word that points back, so that it can't stand without the unit before it.
    """

    text: str
    chunk: int
    order: int
    leans: bool = False
    row: bool = False


def units_of(chunk: Chunk, index: int) -> list[Unit]:
    """Return the quotable units of a chunk, in order; headings, fragments and rules are left out."""
    if chunk.kind is SectionKind.TABLE:
        texts = list(_rows(chunk.text))
    elif chunk.kind is SectionKind.CODE:
        texts = [f"`{line.strip()}`" for line in chunk.text.splitlines() if line.strip() and "`" not in line]
    else:
        texts = list(_sentences(chunk.text))
    return [
        Unit(
            text=text,
            chunk=index,
            order=order,
            leans=bool(_OPENS_WITH_REFERENCE.match(text)) and chunk.kind is SectionKind.TEXT,
            row=chunk.kind is not SectionKind.TEXT,
        )
        for order, text in enumerate(texts)
        if _weight(text) >= _SHORTEST
    ]


def _sentences(text: str) -> list[str]:
    text = _unwrapped(text)
    prose = (sentence for sentence in split_sentences(text) if sentence.kind is BlockKind.PROSE)
    plain = (_LEAD.sub("", " ".join(text[sentence.body : sentence.body_end].split())) for sentence in prose)
    return [sentence for sentence in plain if _STOP.search(sentence) or _weight(sentence) >= _FRAGMENT]


def _unwrapped(text: str) -> str:
    """Join the lines of a paragraph that a writer wrapped: a line that is long and goes on, and isn't a list item."""
    lines = text.split("\n")
    out = lines[:1]
    for before, line in pairwise(lines):
        wrapped = _weight(before.strip()) >= _WRAPPED and line.strip() and not _STARTS_BLOCK.match(line)
        if wrapped and not _STARTS_BLOCK_ALONE.match(before):
            joint = "" if _DENSE.search(before[-1:]) or _DENSE.search(line[:1]) else " "
            out[-1] = out[-1].rstrip() + joint + line.lstrip()
        else:
            out.append(line)
    return "\n".join(out)


def _rows(text: str) -> list[str]:
    """Read a Markdown table's rows as sentences: ``Column: value; column: value.`` each."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not _RULE.match(lines[1]):
        return [" ".join(line.split()) for line in lines]
    columns = _cells(lines[0])
    return [row for row in (_row(columns, _cells(line)) for line in lines[2:]) if row]


def _row(columns: list[str], cells: list[str]) -> str:
    # The columns' language is the table's: a name or an address in another one stands in it as a guest.
    wide = bool(_DENSE.search("".join(columns) or "".join(cells)))
    colon, semicolon, stop = ("：", "；", "。") if wide else (": ", "; ", ".")
    pairs = [
        f"{column}{colon}{cell}" if column else cell
        for column, cell in zip(columns + [""] * (len(cells) - len(columns)), cells, strict=False)
        if cell
    ]
    return semicolon.join(pairs) + stop if pairs else ""


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    parts = [part.strip() for part in _CELL_BORDER.split(inner)]
    if parts and not parts[-1]:
        parts.pop()
    return [part.replace("\\|", "|").replace("<br>", " ") for part in parts]


def _weight(text: str) -> int:
    return len(text) + len(_DENSE.findall(text))
