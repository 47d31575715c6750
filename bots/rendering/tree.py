"""The tree between an answer and any platform: blocks of inlines, all frozen, no markup in it.

A text holds no control character, a link only an allowed URL, and a citation the number that the reader sees. Whatever
a platform needs (splitting, escaping, its own length) is decided on this tree, before markup exists.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Plain words."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """An inline code span; a URL that may not become a link is one."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Styled:
    """Emphasised, strong or struck inlines."""

    style: Literal["emphasis", "strong", "strike"]
    children: tuple["Inline", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Inlines that lead to an allowed URL; holds neither links nor citations."""

    url: str
    children: tuple["Inline", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cite:
    """A citation ``[number]``; ``url`` is empty when the source has none."""

    number: int
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """The end of a line; a soft one may be shown as a space."""

    hard: bool


Inline = Text | Code | Styled | Link | Cite | Break


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Inlines that stand together."""

    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading, ``level`` 1 to 6."""

    level: int
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListItem:
    """One item: any blocks, further lists among them."""

    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemList:
    """A list; ``start`` is the first number of an ordered one and None for bullets."""

    items: tuple[ListItem, ...]
    start: int | None = None
    tight: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Quoted blocks."""

    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """Code lines, without a newline at the end; ``language`` may be empty."""

    text: str
    language: str = ""


Align = Literal["", "left", "center", "right"]
Cell = tuple[Inline, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table; every row has as many cells as the header, and ``aligns`` one entry a column."""

    header: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    aligns: tuple[Align, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A line across."""


Block = Paragraph | Heading | ItemList | Quote | Fence | Table | Rule


def web_mark(host: str) -> str:
    """Return what marks a page of the web, wherever one is named; "" without a host."""
    return f"web: {host}" if host else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """One line of the source list: what ``[number]`` refers to; all but the number may be empty.

    ``file`` names the document at its source where the link alone would not tell: there is none, or it is a local one.
    ``updated_at`` is when the document last changed, None when its source doesn't tell. ``read_at`` is when its source
    was last read, where that is long ago, and ``remark`` says so in words. ``web`` is the host of a page of the web, ""
    of a document.
    """

    number: int
    title: str
    place: str
    url: str
    file: str = ""
    updated_at: datetime | None = None
    read_at: datetime | None = None
    remark: str = ""
    web: str = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what is to be said of it behind its place."""
        return tuple(filter(None, (web_mark(self.web), self.remark)))

    @property
    def label(self) -> str:
        """Return ``title, place``."""
        return ", ".join(part for part in (self.title, self.place) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLine:
    """One step on the way to an answer, in plain words; ``key`` tells it from the others while it goes on and ends."""

    key: str
    words: str
    state: Literal["going", "done", "failed"] = "going"


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What was done for an answer, in order, beneath a ``title``."""

    title: str
    lines: tuple[StepLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A rendered answer: its blocks, the sources of the citations in them, and remarks for the reader.

    ``steps`` are what was done for it, where that is told; without blocks it is still being looked for.
    """

    blocks: tuple[Block, ...]
    sources: tuple[SourceLine, ...] = ()
    notes: tuple[str, ...] = ()
    steps: Steps | None = None
