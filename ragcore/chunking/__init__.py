"""Sections to chunks, one file a chunk method."""

from collections.abc import Callable, Mapping

from ragcore.chunking import naive
from ragcore.chunking.embedding_text import embedding_text
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.errors import ConfigError
from ragcore.tokens import Tokenizer
from ragcore.types import ParsedDocument

__all__ = ["CHUNKER_VERSION", "METHODS", "ChunkOptions", "Piece", "chunk_sections", "embedding_text"]

CHUNKER_VERSION = "4"
"""Part of the document hash: raised whenever the same options would cut differently."""

METHODS: Mapping[str, Callable[[ParsedDocument, ChunkOptions, Tokenizer], list[Piece]]] = {"naive": naive.chunk}


def chunk_sections(parsed: ParsedDocument, options: ChunkOptions, tokenizer: Tokenizer) -> list[Piece]:
    """Cut a document into pieces, in reading order; the same input always gives the same pieces.

    Blocks for about a second a megabyte: call it in a thread.

    Raises:
        ConfigError: There is no such chunk method.
    """
    method = METHODS.get(options.method)
    if method is None:
        raise ConfigError(f"there is no chunk method {options.method!r}; there is {', '.join(sorted(METHODS))}")
    return method(parsed, options, tokenizer)
