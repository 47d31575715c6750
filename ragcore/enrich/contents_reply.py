"""What a model writes where it was asked for the sections that begin in some pieces of text. Pure."""

from collections.abc import Mapping, Sequence

from ragcore.contents import Entry
from ragcore.enrich.replies import shares_words
from ragcore.errors import ModelBadOutput
from ragcore.json_replies import list_of, says_none, whole_number

LONGEST_TITLE = 120
"""Characters. What is longer is no title, but the text itself."""
DEEPEST = 4
MOST_IN_PIECE = 3
"""Sections that begin in one piece: more are a list that was taken for headings."""


def sections_of(reply: str, pieces: Sequence[str]) -> tuple[Entry, ...]:
    """Return the sections that a reply finds, in order, with the number of the piece in which each begins.

    An entry that names no piece or has no title is dropped, and so is one that shares no word with its piece, or that
    was written before in that piece.

    Raises:
        ModelBadOutput: It holds no list, or a list in which nothing can be used.
    """
    said = list_of(reply, "sections")
    found: dict[int, dict[str, Entry]] = {}
    for one in said:
        entry = _entry(one, pieces)
        if entry is not None and len(found.setdefault(entry.ordinal, {})) < MOST_IN_PIECE:
            found[entry.ordinal].setdefault(entry.title.casefold(), entry)
    if not found and not says_none(reply, said):
        raise ModelBadOutput("none of its sections is in the text", raw=reply)
    return tuple(entry for piece in sorted(found) for entry in found[piece].values())


def _entry(said: object, pieces: Sequence[str]) -> Entry | None:
    if not isinstance(said, Mapping):
        return None
    piece, level, title = whole_number(said.get("piece")), whole_number(said.get("level")), said.get("title")
    if piece is None or not 0 <= piece < len(pieces) or not isinstance(title, str):
        return None
    title = " ".join(title.split()).strip("#* ")
    if not 0 < len(title) <= LONGEST_TITLE or not shares_words(title, pieces[piece]):
        return None
    return Entry(ordinal=piece, level=min(max(1, level or 1), DEEPEST), title=title)
