"""Notion's rich text: its parts, and how they are written as Markdown. Pure.

https://developers.notion.com/reference/rich-text
"""

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from connectors.markdown import harmless_blocks, harmless_words
from connectors.notion.ids import id_of


class Reply(BaseModel):
    """A part of a reply, as far as it is read."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _told(cls, told: Any) -> Any:
        """Leave out what is null: in an entry of a list it would be a fault of the list, and of all that it tells."""
        return {name: value for name, value in told.items() if value is not None} if isinstance(told, dict) else told


class _Marks(Reply):
    bold: bool = False
    italic: bool = False
    strikethrough: bool = False
    code: bool = False


class _Formula(Reply):
    expression: str = ""


class Pointer(Reply):
    """What is meant by its id."""

    id: str = ""


class _Mention(Reply):
    type: str = ""
    page: Pointer | None = None
    database: Pointer | None = None


class Span(Reply):
    """A piece of text with one look; ``href`` is where it leads, within Notion without a host."""

    type: str = "text"
    plain_text: str = ""
    href: str | None = None
    annotations: _Marks = Field(default_factory=_Marks)
    equation: _Formula | None = None
    mention: _Mention | None = None

    @property
    def is_reference(self) -> bool:
        """Whether it counts as a reference to a page or person, of which Notion tells 25 a property at most."""
        return self.mention is not None and self.mention.type in {"page", "database", "user"}


def plain(spans: Sequence[Span]) -> str:
    """Return the words alone, on one line: a title."""
    return " ".join("".join(span.plain_text for span in spans).split())


def markdown(spans: Sequence[Span]) -> str:
    """Return a text as Markdown; its own line breaks stay, without blanks that would make code of a line."""
    lines = "".join(map(_written, spans)).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return harmless_blocks("\n".join(line.strip() for line in lines)).strip("\n")


def one_line(spans: Sequence[Span]) -> str:
    """Return a text as Markdown on one line: in a heading or a cell."""
    return " ".join(markdown(spans).split())


def link(label: str, address: str) -> str:
    """Return a link of Markdown, the label alone where the address can't stand in one."""
    if not address.startswith(("https://", "http://", "mailto:")) or re.search(r"[\s<>]", address):
        return label
    return f"[{label}]({address.replace('(', '%28').replace(')', '%29')})"


def _written(span: Span) -> str:
    if span.equation is not None or span.type == "equation":
        formula = " ".join((span.equation.expression if span.equation else span.plain_text).split())
        return f"${formula}$" if formula else ""
    words = span.plain_text.strip()
    if not words:
        return span.plain_text
    before, _, after = span.plain_text.partition(words)
    if span.annotations.code:
        words = _code(words)
    else:
        words = harmless_words(words)
        for is_set, mark in (
            (span.annotations.italic, "*"),
            (span.annotations.bold, "**"),
            (span.annotations.strikethrough, "~~"),
        ):
            words = f"{mark}{words}{mark}" if is_set and "\n" not in words else words
    if span.href and "\n" not in words:
        words = link(_label(words), _address(span))
    return f"{before}{words}{after}"


def _label(words: str) -> str:
    """Return words that may stand between brackets."""
    return words.replace("[", "\\[").replace("]", "\\]") if "[" in words or "]" in words else words


def _address(span: Span) -> str:
    """Return where a span leads; Notion tells an address within itself from the root, such as ``/0123...``."""
    href = span.href or ""
    inner = id_of(href.removeprefix("/").partition("#")[0].partition("?")[0])
    return f"https://www.notion.so/{href.removeprefix('/')}" if href.startswith("/") and inner else href


def _code(words: str) -> str:
    line = " ".join(words.split("\n"))
    runs = {len(run) for run in re.findall(r"`+", line)}
    fence = "`" * next(length for length in range(1, len(runs) + 2) if length not in runs)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"
