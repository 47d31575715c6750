"""What documents would come to that are not stored: the calls about their pictures, and how they would be cut."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace

from ragcore.errors import CitebotError, ParseError
from ragcore.ingest.events import Change, Indexed, IngestEvent, IngestOptions
from ragcore.ingest.pictures import beside
from ragcore.ingest.prepare import Cutter, cutter_of, document_of
from ragcore.ingest.spool import Spool
from ragcore.library import Library
from ragcore.parsing.detect import detect
from ragcore.parsing.media import Media
from ragcore.parsing.ocr import has_ocr
from ragcore.parsing.options import ParseOptions
from ragcore.parsing.worker import ParseWorker, Part
from ragcore.stores.rows import Document
from ragcore.tokens import offline_tokenizer
from ragcore.types import ParsedDocument, SourceDocument, Usage

Told = Callable[[Document, Spool], Awaitable[None]]
"""Is told of each document that would be read, and its chunks, as they are without OCR and descriptions of pictures."""


class ForeseenReading:
    """Reads documents that would be read, without OCR and without a model, where somebody wants to know of that.

    What OCR would read in a picture is told to the model, too: where it reads something, a description that stands
    from before is counted as one to be asked for.
    """

    def __init__(self, library: Library, knowledge_base: str, options: IngestOptions, told: Told | None = None) -> None:
        """Read as with ``options``: for the calls about pictures that a model describes, and for ``told``."""
        self._library = library
        self._knowledge_base = knowledge_base
        self._describer = library.describer if options.describe else None
        self._options = options
        self._told = told
        self._worker = ParseWorker()
        self._keys: set[str] = set()
        self.usage = Usage()

    async def add(self, source: SourceDocument, outcome: IngestEvent) -> None:
        """Count a document, if it would be read; one that can't be is none.

        One of which here nothing can be read, and of which OCR may read something, is told of without chunks.
        """
        is_read = isinstance(outcome, Indexed) and outcome.change is not Change.UNCHANGED
        if (self._describer is None and self._told is None) or not is_read:
            return
        options = self._options.for_document(source.id, source.name)
        replies = self._worker.parse(
            source.content,
            name=source.name,
            media_type=source.media_type,
            options=replace(options.parse, images=self._describer is not None, ocr=False),
            seconds=options.seconds_per_step,
        )
        title, cutter = source.title, None
        try:
            async with aclosing(replies):
                async for reply in replies:
                    if isinstance(reply, ParsedDocument):
                        title = title or reply.title
                        cutter = self._cutter(source, reply, options)
                    elif isinstance(reply, Part):
                        await self._count(reply, title)
                        if cutter is not None:
                            await asyncio.to_thread(cutter.cut, reply)
        except CitebotError:
            if cutter is not None or not await asyncio.to_thread(_may_be_read, source, options.parse):
                return  # the run that reads it says why
            cutter = self._cutter(source, ParsedDocument(title=title, media_type="", sections=()), options)
        if cutter is not None and self._told is not None:
            await self._told(cutter.document, cutter.spool)

    def _cutter(self, source: SourceDocument, parsed: ParsedDocument, options: IngestOptions) -> Cutter | None:
        if self._told is None:
            return None
        row = document_of(source, parsed, knowledge_base=self._knowledge_base, hashed="", pipeline="")
        return cutter_of(row, source, parsed, options, offline_tokenizer(), self._library.data_dir)

    async def _count(self, part: Part, title: str) -> None:
        if self._describer is None:
            return
        for at, section in enumerate(part.sections):
            if section.image is None:
                continue
            call = await self._describer.foresee(section.image, title=title, beside=beside(part.sections, at))
            if call is not None and call.key not in self._keys:
                self._keys.add(call.key)
                self.usage += Usage(calls=1, prompt_tokens=call.prompt_tokens, completion_tokens=call.reply_tokens)

    async def aclose(self) -> None:
        """End the process that reads."""
        await self._worker.close()


def _may_be_read(source: SourceDocument, options: ParseOptions) -> bool:
    """Tell whether OCR may read what a document says: a picture's, or a PDF's that is made of pictures. Blocks."""
    if not options.ocr or not has_ocr():
        return False
    try:
        media = detect(source.content, name=source.name, media_type=source.media_type, options=options)
    except ParseError:
        return False
    return media in (Media.PICTURE, Media.PDF)
