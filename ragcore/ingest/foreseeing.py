"""What describing the pictures of documents would take, told without asking a model."""

from contextlib import aclosing
from dataclasses import replace

from ragcore.enrich.describing import Describer
from ragcore.errors import CitebotError
from ragcore.ingest.events import Change, Indexed, IngestEvent, IngestOptions
from ragcore.ingest.pictures import beside
from ragcore.parsing.worker import ParseWorker, Part
from ragcore.types import ParsedDocument, SourceDocument, Usage


class ForeseenPictures:
    """Counts the calls that the pictures of documents would take: each document is read, but without OCR.

    What OCR would read in a picture is told to the model, too: where it reads something, a description that stands
    from before is counted as one to be asked for.
    """

    def __init__(self, describer: Describer | None, options: IngestOptions) -> None:
        """Count for documents that would be read with ``options``; none without a ``describer``."""
        self._describer = describer if options.describe else None
        self._options = options
        self._worker = ParseWorker()
        self._keys: set[str] = set()
        self.usage = Usage()

    async def add(self, source: SourceDocument, outcome: IngestEvent) -> None:
        """Count the pictures of a document, if it would be read; one that can't be has none."""
        options = self._options.for_document(source.id, source.name)
        is_read = isinstance(outcome, Indexed) and outcome.change is not Change.UNCHANGED
        if self._describer is None or not is_read:
            return
        title = source.title
        replies = self._worker.parse(
            source.content,
            name=source.name,
            media_type=source.media_type,
            options=replace(options.parse, images=True, ocr=False),
            seconds=options.seconds_per_step,
        )
        try:
            async with aclosing(replies):
                async for reply in replies:
                    if isinstance(reply, ParsedDocument):
                        title = title or reply.title
                    elif isinstance(reply, Part):
                        await self._count(reply, title)
        except CitebotError:
            return  # the run that reads it says why

    async def _count(self, part: Part, title: str) -> None:
        assert self._describer is not None
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
