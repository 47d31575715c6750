"""The step that reads out of each chunk which things it names, and how it says that they are related."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from ragcore.chunking import embedding_text
from ragcore.enrich.asking import Asker, Call
from ragcore.enrich.graph_reply import MOST_ENTITIES, MOST_RELATIONS, graph_of
from ragcore.prompts import Prompts
from ragcore.stores.rows import StoredChunk


@dataclass(frozen=True, slots=True)
class GraphStep:
    """Gives each chunk its part of the knowledge graph, for one call of the model."""

    needs_model: ClassVar[bool] = True
    template: ClassVar[str] = "graph"
    field: ClassVar[Literal["graph"]] = "graph"
    count: ClassVar[int] = 1
    reply_tokens: ClassVar[int] = 400

    def told(self, prompts: Prompts | None) -> tuple[str, ...]:
        """Return what of it is wanted, for the fingerprint: its template as it is rendered."""
        return (self.template, prompts.render(self.template, **_INPUTS)) if prompts else (self.template,)

    async def call(self, stored: StoredChunk) -> Call | None:
        """Return what is asked about a chunk."""
        return _call(stored)

    async def apply(self, stored: StoredChunk, asker: Asker | None) -> StoredChunk:
        """Return the chunk with its part of the graph; without, where it names nothing.

        Raises:
            ModelError, ContextTooSmall: The model says nothing, or nothing of use.
        """
        assert asker is not None
        call = _call(stored)
        found = await asker.ask(call, lambda reply: graph_of(reply, call.text))
        return replace(stored, graph=found if found is not None and found.entities else None)


_INPUTS = {"entities": MOST_ENTITIES, "relations": MOST_RELATIONS}


def _call(stored: StoredChunk) -> Call:
    chunk = stored.chunk
    text = embedding_text(chunk.title, chunk.heading_path, chunk.text)
    return Call(template=GraphStep.template, inputs=_INPUTS, text=text)
