"""Sections to chunks, one file a chunk method."""

from collections.abc import Callable, Mapping, Sequence

from ragcore.chunking import naive
from ragcore.chunking.embedding_text import embedding_text
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.errors import ConfigError
from ragcore.tokens import Tokenizer
from ragcore.types import Section

__all__ = ["CHUNKER_VERSION", "METHODS", "ChunkOptions", "Piece", "chunk_sections", "embedding_text"]

CHUNKER_VERSION = "4"
"""Part of the document hash: raised whenever the same options would cut differently."""

_Method = Callable[[Sequence[Section], ChunkOptions, Tokenizer, Section | None], list[Piece]]

METHODS: Mapping[str, _Method] = {"naive": naive.chunk}


def chunk_sections(
    sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, *, following: Section | None = None
) -> list[Piece]:
    """Cut a document, or a part of it, into pieces, in reading order; the same input always gives the same pieces.

    Blocks for about a second a megabyte: call it in a thread.

    Args:
        sections: all of the document, or some that follow each other.
        options: how they are cut.
        tokenizer: counts.
        following: the section after them; None at the document's end.

    Raises:
        ConfigError: There is no such chunk method.
    """
    method = METHODS.get(options.method)
    if method is None:
        raise ConfigError(f"there is no chunk method {options.method!r}; there is {', '.join(sorted(METHODS))}")
    return method(sections, options, tokenizer, following)
