"""How old what an answer rests on is: told where a source hasn't been read for three of its intervals."""

from dataclasses import replace
from datetime import UTC, datetime

from bots.rendering.tree import Document, SourceLine
from bots.words.sentences import age, word


def with_ages(document: Document, language: str, now: datetime | None = None) -> Document:
    """Return the document with the age of each source that is old, in words."""
    if all(source.read_at is None for source in document.sources):
        return document
    return replace(
        document, sources=tuple(_aged(source, language, now or datetime.now(UTC)) for source in document.sources)
    )


def _aged(source: SourceLine, language: str, now: datetime) -> SourceLine:
    if source.read_at is None:
        return source
    told = age(max(0.0, (now - source.read_at).total_seconds()), language)
    return replace(source, remark=word("last_read", language, age=told))
