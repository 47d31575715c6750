import contextlib
import dataclasses
import pathlib
import sqlite3
from collections.abc import AsyncIterator

import pytest
import tantivy
from sqlalchemy import Connection, Row, create_engine, select, text
from sqlalchemy.ext.asyncio import create_async_engine

from ragcore.enrich.asking import MOST_ATTEMPTS
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.passing import enrich
from ragcore.enrich.reasons import UNKNOWN
from ragcore.enrich.without import undone
from ragcore.ingest import ingest
from ragcore.library import DATABASE, Library
from ragcore.library.recovery import check, mend
from ragcore.stores.chroma import WITHOUT_READERS
from ragcore.stores.database import SCHEMA_VERSION, Database
from ragcore.stores.health import IndexState
from ragcore.stores.indexes import Permitted
from ragcore.stores.migrations import upgrade
from ragcore.stores.rows import parts_of_entry, reader_set_of
from ragcore.stores.schema import metadata, model_results
from ragcore.types import SourceDocument
from tests.fakes.chatting import SayingModel
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import each, fill, opened
from tests.ragcore.enrich.test_enrich import asker

TO_0022 = ("ALTER TABLE turns DROP COLUMN typed_by", "ALTER TABLE model_results DROP COLUMN reason")
TO_0008 = (
    TO_0022[0],
    "DROP TABLE research_steps",
    *(f"DROP TABLE people_{name}" for name in ("asks", "replies", "posts")),
    "DROP TABLE kept_answers",
    "DROP TABLE graph_names",
    "DROP TABLE graph_relations",
    "DROP TABLE document_values",
    *(f"ALTER TABLE documents DROP COLUMN {name}" for name in ("extracted", "row_fields")),
    *(
        f"ALTER TABLE sources DROP COLUMN {name}"
        for name in ("faults", "fault", "not_before", "refused", "lease_owner")
    ),
    "DROP TABLE model_results",
    "ALTER TABLE documents DROP COLUMN enriched",
    "DROP TABLE shares",
    "DROP INDEX documents_by_reader_set",
    "DROP INDEX chunks_by_vector",
    "CREATE INDEX chunks_by_vector ON chunks (knowledge_base, vector_key)",
    "ALTER TABLE documents DROP COLUMN reader_set",
    "ALTER TABLE chunks DROP COLUMN reader_set",
)
"""What takes a database back from the newest schema."""
TO_0001 = (
    *(f"DROP TABLE {name}" for name in ("sends", "claim_keys", "claims", "feedback", "heard")),
    "DROP INDEX turns_by_reference",
    "ALTER TABLE sources DROP COLUMN lease_until",
    "ALTER TABLE turns DROP COLUMN audience",
    "ALTER TABLE turns DROP COLUMN reference",
    "ALTER TABLE turns DROP COLUMN rests_on",
    "ALTER TABLE turn_citations DROP COLUMN marker",
    "DROP INDEX chunks_by_generation",
    "DROP INDEX chunks_by_vector",
    "DROP INDEX documents_by_knowledge_base",
    "CREATE INDEX chunks_by_document ON chunks (document_id, generation, ordinal)",
    "CREATE INDEX chunks_by_vector ON chunks (vector_key)",
    "CREATE INDEX documents_by_knowledge_base ON documents (knowledge_base)",
)
"""And from there."""


def take_back(folder: pathlib.Path, version: str, *statements: str) -> None:
    """Give a database the schema of an older version."""
    with contextlib.closing(sqlite3.connect(folder / DATABASE)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
        connection.commit()


def _difference(connection: Connection) -> list[object]:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    return list(compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata))


def test_the_migrations_lead_to_the_schema() -> None:
    """A change of schema.py needs a file in migrations/versions (and a new SCHEMA_VERSION)."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        upgrade(connection, None)
        assert _difference(connection) == []
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == SCHEMA_VERSION
    engine.dispose()


async def test_the_migrations_lead_to_the_schema_on_postgresql(postgres_url: str) -> None:
    engine = create_async_engine(postgres_url)
    async with engine.begin() as connection:
        await connection.run_sync(upgrade, None)
        assert await connection.run_sync(_difference) == []
        assert await connection.scalar(text("SELECT version_num FROM alembic_version")) == SCHEMA_VERSION
    await engine.dispose()


async def test_a_database_of_the_first_schema_is_brought_up_to_date(tmp_path: pathlib.Path) -> None:
    """Its rows stay, and its index, which had an entry for each chunk, is built anew without embedding."""
    async with opened(tmp_path) as library:
        await fill(library, {f"d{n}": f"Text {n}" for n in range(30)})
        live = await library.registry.live_page("kb")
        base = (await library.registry.knowledge_bases())["kb"]
        await library.vectors._chroma.drop(base.collection)
    take_back(tmp_path, "0001", *TO_0008, *TO_0001)
    embedder = HashEmbedder()
    async with opened(tmp_path, embedder) as library:
        async with library.database.connect() as reading:
            assert await reading.run_sync(_difference) == []
        async for _ in mend(library):
            pass
        assert {health.state for health in await check(library)} == {IndexState.WELL}
        assert await library.registry.live_page("kb") == live
        assert embedder.texts == []


async def test_what_was_told_before_the_indexes_knew_readers_is_kept_and_searched_by(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The indexes from before are filled anew, and nothing is embedded."""
    told = frozenset({"slack:T/@U1"})

    async def documents() -> AsyncIterator[SourceDocument]:
        async for document in each({f"d{n}": f"Text {n}" for n in range(20)}):
            yield dataclasses.replace(document, readers=told if document.name < "d2" else None)

    with monkeypatch.context() as before:
        before.setattr("ragcore.stores.rows.reader_set_of", lambda readers: "")
        before.setattr("ragcore.stores.chroma.LAYOUT", WITHOUT_READERS)
        before.setattr("ragcore.stores.keywords.FORMAT", 4)
        before.setattr("ragcore.stores.keywords._schema", without_readers)
        async with opened(tmp_path) as library:
            async for _ in ingest(library, "kb", documents()):
                pass
    take_back(tmp_path, "0008", *TO_0008)
    embedder = HashEmbedder()
    async with opened(tmp_path, embedder) as library:
        assert {(health.index, health.state) for health in library.health} == {
            ("vectors", IndexState.DAMAGED),
            ("keywords", IndexState.DAMAGED),
        }
        async for _ in mend(library):
            pass
        assert {health.state for health in await check(library)} == {IndexState.WELL}
        told_of = [parts_of_entry(entry)[1] for entry in await library.vectors.ids("kb")]
        assert told_of.count(reader_set_of(told)) == 12
        assert told_of.count("") == 8
        closed = Permitted(sets=frozenset(), closed=frozenset({reader_set_of(told)}))
        counted = await library.keywords.read(lambda reader: reader.statistics("kb", ["text"], closed))
        assert (counted.count, counted.frequencies, counted.indexed) == (8, (8,), 20)
        assert embedder.texts == []


async def test_what_models_wrote_before_their_reasons_were_kept_stays(tmp_path: pathlib.Path) -> None:
    """Nothing of it is asked again; why it can't be used is not known, and told as that."""
    wanted = EnrichOptions(auto_keywords=2)

    def bad(rules: str, material: str) -> str:
        return "" if "Text 1" in material else f"text, {material[-1]}"

    async def enriched(library: Library, model: SayingModel) -> None:
        async for _ in enrich(library, "kb", wanted, asker(library, model)):
            pass

    async def rows(library: Library) -> list[Row[tuple[object, ...]]]:
        query = select(*(column for column in model_results.c if column.name != "reason")).order_by(model_results.c.key)
        async with library.database.connect() as connection:
            return list(await connection.execute(query))

    async with opened(tmp_path) as library:
        await fill(library, {f"d{n}": f"Text {n}" for n in range(3)})
        for _ in range(MOST_ATTEMPTS):
            await enriched(library, SayingModel(bad))
        before = await rows(library)
    take_back(tmp_path, "0022", *TO_0022)
    async with opened(tmp_path) as library:
        assert await rows(library) == before
        assert len(before) == 3
        (one,) = (await undone(library, "kb", wanted)).without
        assert [(why.reason, why.count) for why in one.reasons] == [(UNKNOWN, 1)]
        unasked = SayingModel(bad)
        await enriched(library, unasked)
        assert unasked.asked == []


async def test_reasons_come_to_rows_on_postgresql(postgres_url: str) -> None:
    row = "'k', 'keywords', 'm', '', 3, 5, 6, now(), now(), 's:a', 'enrich'"
    engine = create_async_engine(postgres_url)
    async with engine.begin() as connection:
        await connection.run_sync(upgrade, None)
        for statement in TO_0022:
            await connection.execute(text(statement))
        await connection.execute(text(f"INSERT INTO model_results VALUES ({row})"))
        await connection.execute(text("UPDATE alembic_version SET version_num = '0022'"))
        await connection.run_sync(upgrade, "0022")
        assert await connection.run_sync(_difference) == []
        kept = (await connection.execute(select(model_results))).one()
        assert (kept.key, kept.attempts, kept.prompt_tokens, kept.owner, kept.reason) == ("k", 3, 5, "s:a", "")
    await engine.dispose()


def without_readers() -> tantivy.Schema:
    """Return the keyword index's schema as it was in format 4; what is not in it is not written."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    for name in ("document", "generation", "knowledge_base", "kind", "marker"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("revision", stored=True)
    builder.add_unsigned_field("format", stored=True)
    return builder.build()


async def test_a_new_database_is_what_the_migrations_lead_to(database: Database) -> None:
    async with database.connect() as connection:
        assert await connection.run_sync(_difference) == []
        assert await connection.scalar(text("SELECT version_num FROM alembic_version")) == SCHEMA_VERSION
