"""The steps: what each asks of a model about a chunk, and what of a chunk it fills."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

from ragcore.chunking import embedding_text
from ragcore.enrich.across import AcrossStep
from ragcore.enrich.asking import Asker, Call
from ragcore.enrich.community_step import CommunityStep
from ragcore.enrich.contents import ContentsStep
from ragcore.enrich.graph_step import GraphStep
from ragcore.enrich.growing import TreeStep
from ragcore.enrich.metadata import MetadataStep
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.overview import OverviewStep
from ragcore.enrich.replies import keywords_of, questions_of
from ragcore.enrich.tag_step import TagStep
from ragcore.enrich.whole import DocumentStep
from ragcore.library import Library
from ragcore.prompts import Prompts
from ragcore.stores.rows import StoredChunk
from ragcore.types import Chunk

Field = Literal["keywords", "questions", "tag_scores", "graph"]
FIELDS: tuple[Field, ...] = get_args(Field)
"""What of a chunk steps fill."""

Read = Callable[[str, str, int], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkStep:
    """A list of at most ``count`` things about each chunk, asked for by ``template`` and kept in ``field`` of it.

    ``read`` makes the list of a reply, the chunk's words and the count. ``reply_tokens`` is about what one of the
    things takes, for an estimate.
    """

    needs_model: ClassVar[bool] = True
    template: str
    field: Literal["keywords", "questions"]
    count: int
    read: Read
    reply_tokens: int

    def told(self, prompts: Prompts | None) -> tuple[str, ...]:
        """Return what of it is wanted, for the fingerprint: its template as it is rendered."""
        return (self.template, prompts.render(self.template, count=self.count)) if prompts else (self.template,)

    async def call(self, stored: StoredChunk) -> Call | None:
        """Return what is asked about a chunk."""
        return self._call(stored)

    async def apply(self, stored: StoredChunk, asker: Asker | None) -> StoredChunk:
        """Return the chunk with what the model says of it; without, where it never said anything of use.

        Raises:
            ModelError, ContextTooSmall: It says nothing, or nothing of use.
        """
        assert asker is not None
        call = self._call(stored)
        found = await asker.ask(call, lambda reply: self.read(reply, call.text, self.count))
        return _with(stored, self.field, found or ())

    def _call(self, stored: StoredChunk) -> Call:
        return Call(template=self.template, inputs={"count": self.count}, text=_material(stored.chunk))


Step = ChunkStep | TagStep | GraphStep


def steps_of(options: EnrichOptions) -> tuple[Step, ...]:
    """Return the steps that are switched on, of those that ask a model about every chunk."""
    steps = (
        ChunkStep(template="keywords", field="keywords", count=options.auto_keywords, read=keywords_of, reply_tokens=5),
        ChunkStep(
            template="questions", field="questions", count=options.auto_questions, read=questions_of, reply_tokens=18
        ),
    )
    graph = (GraphStep(),) if options.graph else ()
    return (*(step for step in steps if step.count), *graph)


def document_steps_of(options: EnrichOptions, library: Library) -> tuple[DocumentStep, ...]:
    """Return the steps that are switched on, of those that look at a document as a whole."""
    contents: tuple[DocumentStep, ...] = (ContentsStep(),) if options.contents else ()
    metadata: tuple[DocumentStep, ...] = (MetadataStep(fields=options.metadata),) if options.metadata else ()
    tree: tuple[DocumentStep, ...] = (TreeStep(library),) if options.raptor else ()
    return (*contents, *metadata, *tree)


def across_steps_of(options: EnrichOptions, library: Library) -> tuple[AcrossStep, ...]:
    """Return the steps that are switched on, of those that look at many documents together."""
    communities: tuple[AcrossStep, ...] = (CommunityStep(library),) if options.graph_communities else ()
    overview: tuple[AcrossStep, ...] = (OverviewStep(library),) if options.overview else ()
    return (*communities, *overview)


def bare(stored: StoredChunk) -> StoredChunk:
    """Return a chunk without what steps filled."""
    for field in FIELDS:
        stored = _with(stored, field, ())
    return stored


def kept(before: StoredChunk, stored: StoredChunk, step: Step) -> StoredChunk:
    """Return a chunk with what a step said of it before."""
    return _with(stored, step.field, before.graph if step.field == "graph" else getattr(before.chunk, step.field))


def _with(stored: StoredChunk, field: Field, said: Any) -> StoredChunk:
    if field == "graph":
        return replace(stored, graph=said or None)
    fill: dict[str, Any] = {field: said}
    return replace(stored, chunk=replace(stored.chunk, **fill))


def _material(chunk: Chunk) -> str:
    """Return what a model is shown of a chunk: its place in the document, then its text."""
    return embedding_text(chunk.title, chunk.heading_path, chunk.text)
