"""What chunking takes and gives: the options, the pieces."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ragcore.chunk_methods import CHUNK_TOKENS
from ragcore.errors import ConfigError
from ragcore.filters import RowValues
from ragcore.tokens import Tokenizer
from ragcore.types import Location, Section, SectionKind

MIN_CHUNK_TOKENS = 16
"""Below this a visible character, such as a flag, is not sure to fit beside an overlap."""

_DELIMITER = re.compile(r"`([^`]+)`|(.)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkOptions:
    r"""How a document is cut; part of the document hash, so a change re-chunks.

    ``chunk_tokens`` is the most that a chunk holds, in the tokenizer's tokens, overlap and repeated header included.
    ``delimiters`` lists the characters after which text may be cut, several characters as one between backticks:
    ``"\n!?。；！？"``, ``"`##`\n"``. Empty, the default, means paragraphs, lines and sentences, in that order.
    ``overlap`` is the share of ``chunk_tokens`` that a chunk may repeat of the one before it, 0 <= overlap < 1.
    ``parent_tokens`` is the most that the chunks hold together that are quoted when one of them is found; 0: each is
    quoted alone.
    ``qa_embed`` is what the method ``qa`` embeds of a pair: question and answer, or as RAGFlow does the question alone.

    Raises:
        ConfigError: A value is out of its range.
    """

    method: str = "naive"
    chunk_tokens: int = CHUNK_TOKENS
    delimiters: str = ""
    overlap: float = 0.0
    parent_tokens: int = 0
    qa_embed: Literal["both", "question"] = field(default="both", repr=False)

    @property
    def of_method(self) -> tuple[str, ...]:
        """Return the options that only this method reads, as far as they are set: another method's change nothing."""
        return ("qa_embed", self.qa_embed) if self.method == "qa" and self.qa_embed != "both" else ()

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        if self.chunk_tokens < MIN_CHUNK_TOKENS:
            raise ConfigError(f"chunk_tokens is {self.chunk_tokens}, and must be at least {MIN_CHUNK_TOKENS}")
        if not 0 <= self.overlap < 1:
            raise ConfigError(f"overlap is {self.overlap}, and must be a share from 0 to less than 1")
        if self.parent_tokens and self.parent_tokens <= self.chunk_tokens:
            raise ConfigError(
                f"parent_tokens is {self.parent_tokens}, and must be larger than chunk_tokens, which is "
                f"{self.chunk_tokens}, or 0, which leaves parents out"
            )

    @property
    def delimiter_strings(self) -> tuple[str, ...]:
        """Return the delimiters one by one, longest first."""
        found = {quoted or single for quoted, single in _DELIMITER.findall(self.delimiters)}
        return tuple(sorted(found, key=lambda delimiter: (-len(delimiter), delimiter)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A chunk before it has an identity; the fields are those of ``Chunk``.

    ``embedded``, where a method sets it, is what is embedded in place of heading path and text: the question of a
    question and its answer. It is kept with the chunk, so that another embedder reads the same. ``rows`` are the values
    of the rows of a table that the piece holds, for filters.
    """

    text: str
    token_count: int
    overlap: int = 0
    kind: SectionKind = SectionKind.TEXT
    heading_path: tuple[str, ...] = ()
    location: Location = Location()
    embedded: str = ""
    tags: tuple[str, ...] = ()
    rows: RowValues | None = None


Cut = Callable[[Sequence[Section], ChunkOptions, Tokenizer, Section | None], list[Piece]]
"""What a chunk method does: sections, options, what counts, and the section that follows, to pieces in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A chunk method.

    ``is_whole``: ``cut`` must be given all sections of a document at once, and ``following`` is None. Any other method
    is given a document part by part. ``authors`` tells from all sections who wrote it, "" where that is not plain.
    """

    cut: Cut
    is_whole: bool = False
    authors: Callable[[Sequence[Section]], str] | None = None
