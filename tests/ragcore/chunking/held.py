"""What every chunk method holds, checked on its pieces."""

from collections.abc import Sequence
from typing import Literal

from ragcore.chunking import METHODS, ChunkOptions, Piece, chunk_sections
from ragcore.tokens import offline_tokenizer
from ragcore.types import Section

TOKENIZER = offline_tokenizer()


def cut(
    method: str,
    sections: Sequence[Section],
    *,
    tokens: int = 160,
    overlap: float = 0.0,
    qa_embed: Literal["both", "question"] = "both",
) -> list[Piece]:
    """Return the pieces of sections, which rejoin to the sections' text."""
    assert method in METHODS
    options = ChunkOptions(method=method, chunk_tokens=tokens, overlap=overlap, qa_embed=qa_embed)
    pieces = chunk_sections(sections, options, TOKENIZER)
    assert chunk_sections(sections, options, TOKENIZER) == pieces
    return pieces


def check(section: Section, pieces: Sequence[Piece], *, tokens: int) -> None:
    """Check the pieces of one section: nothing lost, nothing doubled, nothing over so many tokens."""
    own = [piece.text[piece.overlap :] for piece in pieces]
    assert "".join(own) == ("" if section.text.isspace() else section.text)
    for number, piece in enumerate(pieces):
        assert piece.token_count == TOKENIZER.count(piece.text) <= tokens
        assert 0 <= piece.overlap < len(piece.text)
        assert (piece.kind, piece.heading_path) == (section.kind, section.heading_path)
        assert _is_held(piece.text[: piece.overlap], "".join(own[:number]))


def _is_held(repeated: str, before: str) -> bool:
    """Tell whether the text before holds what is repeated: as it is, or a question (a header) and what came later."""
    return not repeated or any(
        repeated[:at] in before and repeated[at:] in before for at in range(len(repeated), 0, -1)
    )
