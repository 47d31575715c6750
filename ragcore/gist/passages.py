"""Messages as passages that can be cited: one chunk each, never indexed and never kept. Pure."""

import re
from collections.abc import Sequence

from ragcore.citations.unmarked import unmarked
from ragcore.gist.days import days_meant
from ragcore.gist.values import Limits, Said
from ragcore.types import Chunk, Location, Permalink, ScoredChunk

DOCUMENT = "chat"
"""Whose chunks they are: no source has this name and no id behind it, so that no document is meant."""
LONGEST_NAME = 60
_MARKUP = re.compile(r"[\[\](){}<>*_`~|#\\]")
"""What a name could make a link, a mention or a marker of."""


def passages(said: Sequence[Said], limits: Limits) -> tuple[ScoredChunk, ...]:
    """Return the newest messages as chunks, oldest first, as many as the limits let through.

    The title names who said it and when, the headings which days its words mean; its link is the permalink. What reads
    as a citation is left out of a message: quoted, it would lend its words the name of another.
    """
    kept: list[Chunk] = []
    left = limits.characters
    for one in sorted(said, key=lambda one: one.sent_at)[::-1][: limits.messages]:
        text = unmarked(one.text[: limits.longest]).strip()
        if not text:
            continue
        left -= len(text)
        if left < 0 and kept:
            break
        kept.append(_chunk(one, text))
    return tuple(ScoredChunk(chunk=chunk, score=1.0) for chunk in reversed(kept))


def name_of(author: str) -> str:
    """Return a name on one line, with nothing in it that could be markup."""
    return " ".join(_MARKUP.sub(" ", unmarked(author[: 4 * LONGEST_NAME])).split())[:LONGEST_NAME].strip() or "?"


def _chunk(one: Said, text: str) -> Chunk:
    # As the one permalink of its first line it is linked, and takes no room in the prompt.
    links = (Permalink(line=1, url=one.url),) if one.url else ()
    return Chunk(
        id=f"{DOCUMENT}:{one.id}",
        document_id=f"{DOCUMENT}:{one.id}",
        knowledge_base="",
        ordinal=0,
        text=text,
        title=f"{name_of(one.author)}, {one.sent_at:%Y-%m-%d %H:%M}",
        token_count=0,
        heading_path=days_meant(text, one.sent_at),
        location=Location(first_line=1, last_line=1, permalinks=links),
    )
