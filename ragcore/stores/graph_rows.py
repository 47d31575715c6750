"""The tables of the knowledge graph: written with the chunks that tell it, and deleted with them."""

from collections.abc import Iterator, Sequence

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncConnection

from ragcore.graph.names import key_of
from ragcore.graph.values import ChunkGraph, line_of
from ragcore.stores.rows import Record, StoredChunk, insert_new, pages
from ragcore.stores.schema import graph_names, graph_relations

_PAGE = 500


async def put_graph(connection: AsyncConnection, stored: Sequence[StoredChunk]) -> None:
    """Write what chunks say for the graph; done twice it changes nothing."""
    told = [(one, one.graph) for one in stored if one.graph]
    await insert_new(connection, graph_names, [row for one, graph in told for row in _names(one, graph)])
    await insert_new(connection, graph_relations, [row for one, graph in told for row in _relations(one, graph)])


async def drop_graph(connection: AsyncConnection, generations: Sequence[str]) -> None:
    """Delete what the chunks of generations said."""
    for page in pages(generations, _PAGE):
        for table in (graph_names, graph_relations):
            await connection.execute(delete(table).where(table.c.generation.in_(page)))


def _names(stored: StoredChunk, graph: ChunkGraph) -> Iterator[Record]:
    for entity in graph.entities:
        key = key_of(entity.name)
        yield {**_place(stored), "key": key, "stands_for": "", "said": line_of(entity)}
        for short, long in entity.also:
            if (one := key_of(short)) and (other := key_of(long)) and one != other:
                yield {**_place(stored), "key": one, "stands_for": other, "said": ""}
                # The long form is a name of its own, also where the chunk's entity has the short one.
                if other != key:
                    yield {**_place(stored), "key": other, "stands_for": "", "said": ""}


def _relations(stored: StoredChunk, graph: ChunkGraph) -> Iterator[Record]:
    for number, relation in enumerate(graph.relations):
        yield {
            **_place(stored),
            "number": number,
            "source": key_of(graph.entities[relation.source].name),
            "target": key_of(graph.entities[relation.target].name),
            "said": graph.line_of(relation),
            "weight": relation.weight,
        }


def _place(stored: StoredChunk) -> Record:
    chunk = stored.chunk
    return {
        "chunk_id": chunk.id,
        "document_id": chunk.document_id,
        "knowledge_base": chunk.knowledge_base,
        "generation": stored.generation,
        "reader_set": chunk.reader_set,
    }
