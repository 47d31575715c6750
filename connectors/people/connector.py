"""The connector of kept answers: a document is one reply, under its question, dated, with its author."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from connectors.base import Change, Checkpoint, Failure, Origin, SourceDocument, Tombstone
from ragcore.errors import SourceError, StoreError
from ragcore.parsing.titles import one_line
from ragcore.stores.people_replies import KeptAnswer


class Answers(Protocol):
    """Where the kept answers stand (``ragcore.stores.people_replies``)."""

    async def all(self) -> tuple[KeptAnswer, ...]:
        """Return all that are kept now; StoreError when they cannot be read."""
        ...


class PeopleConnector:
    """Reads the kept answers of one knowledge base."""

    def __init__(self, origin: Origin, answers: Answers) -> None:
        """Read for ``origin``."""
        self._origin = origin
        self._answers = answers

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield every answer whose version isn't the known one, and that the others are gone."""
        there = await self._all()
        for identity in sorted(known.keys() - there.keys()):
            yield Tombstone(id=identity)
        for identity, document in there.items():
            if known.get(identity) != document.version:
                yield document
        yield Checkpoint()

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of every answer that is kept."""
        for identity in await self._all():
            yield identity

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these answers as they are kept now."""
        there = await self._all()
        for identity in dict.fromkeys(ids):
            yield there.get(identity) or Tombstone(id=identity)

    async def _all(self) -> dict[str, SourceDocument]:
        try:
            kept = await self._answers.all()
        except StoreError as error:
            raise SourceError(str(error), mend="look with `citebot doctor`") from error
        found = (self._document(answer) for answer in kept)
        return {document.id: document for document in found}

    def _document(self, answer: KeptAnswer) -> SourceDocument:
        title = one_line(answer.question)
        day = answer.said_at.date().isoformat()
        text = f"# {title}\n\n{answer.text.strip()}\n\n({one_line(answer.author)}, {day})\n"
        return SourceDocument(
            id=self._origin.document_id(answer.id),
            source=self._origin.source,
            content=text.encode("utf-8", "replace"),
            name=f"{answer.id}.md",
            media_type="text/markdown",
            title=title,
            author=answer.author,
            version=answer.version,
            updated_at=answer.said_at,
        )
