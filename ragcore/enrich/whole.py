"""What steps make of a document as a whole: each looks at it once, and what it gives is kept with it.

A step reads the chunks a page at a time, as often as it needs to, and holds no more of them than what it asks about.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from ragcore.contents import Entry
from ragcore.enrich.asking import FATAL, Asker, Call
from ragcore.enrich.options import setting_of
from ragcore.enrich.reasons import NO_ROOM
from ragcore.errors import ContextTooSmall, ModelError
from ragcore.prompts import Prompts
from ragcore.stores.rows import Document, StoredChunk

Pages = Callable[[], AsyncGenerator[list[StoredChunk], None]]
"""Reads the chunks of a document in order, from the first on, some at a time."""

Part = Literal["contents", "extracted", "summaries"]
"""What of a document such a step gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What was given to a document, empty where nothing was; None leaves what it had.

    ``contents`` are the entries of its table of contents by the ordinal of the chunk with which they begin.
    ``extracted`` are values by field. ``summaries`` are chunks that stand behind its own.
    """

    contents: Mapping[int, tuple[Entry, ...]] | None = field(default_factory=dict)
    extracted: Mapping[str, str] | None = field(default_factory=dict)
    summaries: Sequence[StoredChunk] | None = ()

    def to_document(self, document: Document) -> Document:
        """Return the document with what of it belongs to the document itself."""
        return document if self.extracted is None else replace(document, extracted=dict(self.extracted))

    def to_chunk(self, stored: StoredChunk) -> StoredChunk:
        """Return a chunk of the document with what of it belongs to that chunk."""
        if self.contents is None:
            return stored
        return replace(stored, contents=self.contents.get(stored.chunk.ordinal, ()))


class DocumentStep(Protocol):
    """A step that looks at a document as a whole."""

    @property
    def template(self) -> str:
        """Return the name of its template, which names it where it fails."""
        ...

    @property
    def part(self) -> Part:
        """Return what it gives: a field of ``Given``."""
        ...

    def told(self, prompts: Prompts) -> Sequence[str]:
        """Return what decides about what it gives, for the fingerprint: its templates as rendered, its options."""
        ...

    def calls(self, document: Document, pages: Pages, asker: Asker) -> AsyncGenerator[tuple[Call, int], None]:
        """Yield what it is going to ask, each with about how many tokens the reply takes; as far as can be foreseen."""
        ...

    def calls_coming(self, documents: int, chunks: int) -> Sequence[tuple[int, int]]:
        """Return about what it is going to ask of documents that are not read yet: tokens of prompts and of replies."""
        ...

    async def apply(self, document: Document, pages: Pages, asker: Asker) -> Any:
        """Return what it gives.

        Raises:
            ModelError, ContextTooSmall: The model says nothing, or nothing of use.
        """
        ...


async def given_to(
    document: Document, pages: Pages, steps: Sequence[DocumentStep], asker: Asker | None
) -> tuple[Given, list[tuple[str, str]]]:
    """Return what steps give a document, and of those that failed the setting and why.

    What a step fails to give is left as it was, and so is all where there is no one to ask.

    Raises:
        ModelUnreachable, ModelAuthError, ModelRateLimited: The model can't be asked at present.
    """
    given, reasons = Given(), list[tuple[str, str]]()
    for step in steps:
        try:
            part = await step.apply(document, pages, asker) if asker else None
        except FATAL:
            raise
        except (ModelError, ContextTooSmall) as error:
            part = None
            reasons.append((setting_of(step.template), str(error)))
            if asker and isinstance(error, ContextTooSmall):  # before anything was asked
                await asker.lack(step.template, NO_ROOM)
        changes: dict[str, Any] = {step.part: part}
        given = replace(given, **changes)
    return given, reasons
