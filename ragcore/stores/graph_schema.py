"""The tables of the knowledge graph: rows are written and deleted with the chunks that tell them."""

from collections.abc import Iterator

from sqlalchemy import Column, Index, Integer, MetaData, String, Table, Text


def graph_tables(metadata: MetaData) -> tuple[Table, Table]:
    """Return the table of names and that of relations."""
    # A name by its key (ragcore.graph.names); ``stands_for`` is the key that it is a short form of, if any, or behind
    # "=" one that a model says means the same (ragcore.stores.graph_same).
    names = Table(
        "graph_names",
        metadata,
        Column("chunk_id", String(80), primary_key=True),
        Column("key", Text, primary_key=True),
        Column("stands_for", Text, primary_key=True),
        *_place(),
        Column("said", Text, nullable=False),
        Index("graph_names_by_key", "knowledge_base", "key", "chunk_id"),
        Index("graph_names_by_long_form", "knowledge_base", "stands_for", "chunk_id"),
        Index("graph_names_by_generation", "generation"),
    )
    # ``source`` and ``target`` are keys of names.
    relations = Table(
        "graph_relations",
        metadata,
        Column("chunk_id", String(80), primary_key=True),
        Column("number", Integer, primary_key=True),
        *_place(),
        Column("source", Text, nullable=False),
        Column("target", Text, nullable=False),
        Column("said", Text, nullable=False),
        Column("weight", Integer, nullable=False),
        Index("graph_relations_by_source", "knowledge_base", "source", "weight", "chunk_id", "number"),
        Index("graph_relations_by_target", "knowledge_base", "target", "weight", "chunk_id", "number"),
        Index("graph_relations_by_generation", "generation"),
    )
    return names, relations


def _place() -> Iterator[Column[str]]:
    """Yield where a chunk stands, as in its own row."""
    yield Column("document_id", Text, nullable=False)
    yield Column("knowledge_base", String(200), nullable=False)
    yield Column("generation", String(64), nullable=False)
    yield Column("reader_set", String(32), nullable=False)
