"""Sections to chunks, one file a chunk method."""

from collections.abc import Mapping, Sequence

from ragcore.chunking import book, email, laws, manual, naive, one, paper, picture, presentation, qa, table, tag
from ragcore.chunking.embedding_text import embedding_text
from ragcore.chunking.paper_authors import authors_of
from ragcore.chunking.pieces import ChunkOptions, Method, Piece
from ragcore.errors import ConfigError
from ragcore.tokens import Tokenizer
from ragcore.types import Section

__all__ = [
    "CHUNKER_VERSION",
    "METHODS",
    "ChunkOptions",
    "Method",
    "Piece",
    "chunk_sections",
    "embedding_text",
    "method_named",
]

CHUNKER_VERSION = "8"
"""Part of the document hash: raised whenever the same options would cut differently."""

# Each has its line in ragcore/chunk_methods.py, too: the settings are read without importing any of this.
METHODS: Mapping[str, Method] = {
    "book": Method(cut=book.chunk, is_whole=True),
    "email": Method(cut=email.chunk, is_whole=True),
    "laws": Method(cut=laws.chunk, is_whole=True),
    "manual": Method(cut=manual.chunk, is_whole=True),
    "naive": Method(cut=naive.chunk),
    "one": Method(cut=one.chunk, is_whole=True),
    "paper": Method(cut=paper.chunk, is_whole=True, authors=authors_of),
    "picture": Method(cut=picture.chunk, is_whole=True),
    "presentation": Method(cut=presentation.chunk, is_whole=True),
    "qa": Method(cut=qa.chunk),
    "table": Method(cut=table.chunk),
    "tag": Method(cut=tag.chunk),
}


def method_named(name: str) -> Method:
    """Return a chunk method.

    Raises:
        ConfigError: There is none of this name.
    """
    method = METHODS.get(name)
    if method is None:
        raise ConfigError(f"there is no chunk method {name!r}; there is {', '.join(sorted(METHODS))}")
    return method


def chunk_sections(
    sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, *, following: Section | None = None
) -> list[Piece]:
    """Cut a document, or a part of it, into pieces, in reading order; the same input always gives the same pieces.

    Blocks for about a second a megabyte: call it in a thread.

    Args:
        sections: all of the document, or, unless its method wants it whole, some that follow each other.
        options: how they are cut.
        tokenizer: counts.
        following: the section after them; None at the document's end.

    Raises:
        ConfigError: There is no such chunk method.
    """
    return method_named(options.method).cut(sections, options, tokenizer, following)
