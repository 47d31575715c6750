"""Documents that are pictures of their text, and their reading by a model that puts pictures into words."""

import io
import textwrap
import time
from collections.abc import AsyncIterator
from dataclasses import replace

import docx
from PIL import Image, ImageDraw, ImageFont

from benchmarks._judged_sets import JudgedSet
from ragcore.enrich.asking import Asker
from ragcore.enrich.describing import ATTEMPTS, TASK, ModelDescriber
from ragcore.evaluate.retrieval import KNOWLEDGE_BASE
from ragcore.ingest import Asked, Failed, Indexed, IngestOptions, ingest
from ragcore.library import Library
from ragcore.models.llm import ChatModel
from ragcore.prompts import OWN
from ragcore.reports import EnrichReport, Unenriched
from ragcore.stores.model_results import ModelResults
from ragcore.tokens import offline_tokenizer
from ragcore.types import SourceDocument, Usage

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
COLUMNS, LINES = 80, 40
"""Characters of a line, and lines, that a picture shows; what is beyond them is left out."""


def pictured(data: JudgedSet) -> JudgedSet:
    """Return a set whose texts are pictures in Word documents, with their titles for captions."""
    documents = tuple(
        replace(one, content=_word(one.title, one.content.decode()), name=f"{number}.docx", media_type=WORD)
        for number, one in enumerate(data.documents)
    )
    return replace(data, documents=documents)


def _word(title: str, text: str) -> bytes:
    document, written = docx.Document(), io.BytesIO()
    document.add_picture(_picture(text))
    document.add_paragraph(f"Figure 1: {title}", style="Caption")
    document.save(written)
    return written.getvalue()


def _picture(text: str) -> io.BytesIO:
    lines = [part for line in text.splitlines() for part in textwrap.wrap(line, COLUMNS) or [""]][:LINES]
    drawn, written = Image.new("L", (1_000, 24 * max(8, len(lines)) + 40), 255), io.BytesIO()
    ImageDraw.Draw(drawn).multiline_text((20, 20), "\n".join(lines), font=ImageFont.load_default(size=18), fill=0)
    drawn.save(written, "PNG")
    written.seek(0)
    return written


async def described(library: Library, data: JudgedSet, model: ChatModel) -> EnrichReport:
    """Have the pictures of an index put into words, as a sync does once ``llm.vision_model`` is set, and tell the cost.

    What keeps no description is told as failed, with why; it stays found by the rest of its words.
    """
    library.describer = ModelDescriber(
        Asker(
            model=model,
            identity=model.name,
            results=ModelResults(library.database),
            prompts=OWN,
            tokenizer=offline_tokenizer(),
            task=TASK,
            attempts=ATTEMPTS,
        )
    )

    async def sources() -> AsyncIterator[SourceDocument]:
        for document in data.documents:
            yield document

    usage, failed, started = Usage(), list[Unenriched](), time.perf_counter()
    async for event in ingest(library, KNOWLEDGE_BASE, sources(), IngestOptions(describe=library.describer.name)):
        match event:
            case Asked():
                usage += event.usage
            case Failed():
                failed.append(Unenriched(document_id=event.document_id, chunks=0, reason=event.reason))
            case Indexed() if event.warnings:
                failed.append(Unenriched(document_id=event.document_id, chunks=0, reason=event.warnings[0]))
    seconds = time.perf_counter() - started
    return EnrichReport(knowledge_base=KNOWLEDGE_BASE, usage=usage, failed=tuple(failed), seconds=seconds)
