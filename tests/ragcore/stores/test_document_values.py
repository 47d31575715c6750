"""Which documents meet a filter, as the database says it, and as the filter itself does."""

import dataclasses
import random
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select

from ragcore.filter_grammar import parse_filter, print_filter
from ragcore.filters import SHOWN, Kind
from ragcore.stores import document_values as module
from ragcore.stores.database import Database
from ragcore.stores.document_values import DocumentValues
from ragcore.stores.indexes import Permitted
from ragcore.stores.rows import Document, reader_set_of
from ragcore.stores.schema import document_values
from ragcore.stores.staging import Staging
from ragcore.stores.together import Together
from ragcore.stores.value_rows import values_of
from ragcore.stores.vector_rows import Vectors
from tests.fakes.stored import made, put
from tests.ragcore.filtered import drawn_filter, drawn_record
from tests.soak import FIXED, scaled


async def _put(database: Database, short: str, /, **said: object) -> Document:
    document, chunks = made(f"s:{short}", [f"Text of {short}"], readers=said.pop("readers", None))  # type: ignore[arg-type]
    document = dataclasses.replace(document, **said)  # type: ignore[arg-type]
    await put(Staging(database), Vectors(database), document, chunks)
    return document


async def _names(database: Database, text: str, only: Permitted | None = None, ids: tuple[str, ...] = ()) -> set[str]:
    filters = [parse_filter(each) for each in text.split(";")]
    found = await DocumentValues(database).matching("kb", filters, only, ids)
    async with database.connect() as connection:
        rows = await connection.execute(select(document_values.c.document_id, document_values.c.generation).distinct())
        names = {row[1]: row[0].removeprefix("s:") for row in rows}
    return {names[generation] for generation in found.generations}


async def test_the_database_finds_what_the_filter_is_met_by(database: Database) -> None:
    """For made documents and filters, closed documents and named ones."""
    draw = random.Random(11 if FIXED else None)
    readers = [None, None, frozenset({"slack:T"}), frozenset({"email:a@b.example"})]
    documents = [
        await _put(database, str(number), metadata=drawn_record(draw), readers=draw.choice(readers))
        for number in range(40)
    ]
    values = DocumentValues(database)
    mine = reader_set_of(readers[2])
    only = Permitted(sets=frozenset({mine}), closed=frozenset({reader_set_of(readers[3])}))
    found_any = 0
    for _ in range(scaled(60)):
        filters = [drawn_filter(draw) for _ in range(draw.randint(1, 2))]
        named = tuple(document.id for document in draw.sample(documents, draw.choice((0, 0, 5))))
        admitted = draw.choice((None, only))
        expected = {
            document.generation
            for document in documents
            if all(one.is_met_by(values_of(document)) for one in filters)
            and (not named or document.id in named)
            and (admitted is None or admitted.admits(document.reader_set))
        }
        found = await values.matching("kb", filters, admitted, named)
        assert found.generations == expected, [print_filter(one) for one in filters]
        assert not (await values.matching("other", filters)).generations
        found_any += bool(expected)
    assert found_any > scaled(60) // 5


async def test_what_is_known_of_a_document_can_be_asked_for(database: Database) -> None:
    changed = datetime(2026, 2, 1, 23, tzinfo=UTC)
    await _put(
        database,
        "a",
        title="The plan",
        author="Ann",
        name="plan.pdf",
        media_type="application/pdf",
        updated_at=changed,
        metadata={"Status": "Open", "title": "Another"},
        extracted={"status": "closed", "Year": "2024"},
    )
    await _put(database, "b")
    for asked in ("title = 'the plan'", "author = ANN", "name ends with .pdf", "media_type contains pdf", "source = s"):
        assert "a" in await _names(database, asked), asked
    assert await _names(database, "updated_at = 2026-02-01") == {"a"}
    assert await _names(database, "status = open and year > 2023") == {"a"}, (
        "the source's word counts, then the model's"
    )
    assert await _names(database, "status = closed") == set()
    assert await _names(database, "title = another") == set()
    assert await _names(database, "author empty") == {"b"}
    assert await _names(database, "author empty; source = s") == {"b"}


async def test_only_what_is_live_is_found_and_as_it_is_now(database: Database) -> None:
    staging = Staging(database)
    before = await _put(database, "a", metadata={"year": "2023"})
    await _put(database, "b", metadata={"year": "2023"})
    assert await _names(database, "year = 2023") == {"a", "b"}
    again = dataclasses.replace(before, generation="0" * 32, metadata={"year": "2024"})
    await staging.switch([again])
    assert await _names(database, "year = 2023") == {"b"}
    found = await DocumentValues(database).matching("kb", [parse_filter("year = 2024")])
    assert found.generations == {"0" * 32}
    assert found.admits(f"{'0' * 32}-7")
    assert not found.admits(f"{before.generation}-7")
    today = dataclasses.replace(again, updated_at=datetime(2026, 11, 23, tzinfo=UTC))
    await staging.switch([], Together(refreshed=(today,)))
    assert await _names(database, "updated_at >= 2026-11-23") == {"a"}
    stale = dataclasses.replace(today, generation="1" * 32, updated_at=datetime(2026, 11, 24, tzinfo=UTC))
    await staging.switch([], Together(refreshed=(stale,)))
    assert await _names(database, "updated_at >= 2026-11-24") == set(), "another version is live"
    await staging.tombstone(["s:a"])
    assert await _names(database, "source = s") == {"b"}
    async with database.connect() as connection:
        left = select(func.count()).select_from(document_values).where(document_values.c.document_id == "s:a")
        assert await connection.scalar(left) == 0


@pytest.mark.parametrize("text", ["%", "_", "/", "\\", "a_b"])
async def test_signs_of_the_database_are_signs_of_the_text(text: str, database: Database) -> None:
    await _put(database, "a", metadata={"x": f"1{text}2"})
    await _put(database, "b", metadata={"x": "1z2"})
    quoted = text.replace("\\", "\\\\")
    assert await _names(database, f'x contains "{quoted}"') == {"a"}
    assert await _names(database, f'x starts with "1{quoted}"') == {"a"}
    assert await _names(database, f'x not contains "{quoted}"') == {"b"}


async def test_the_fields_are_known_with_values_of_what_may_be_read(database: Database) -> None:
    readers = frozenset({"slack:T"})
    for number in range(12):
        await _put(database, f"o{number}", metadata={"Year": str(2000 + number), "status": "Open"})
    await _put(database, "c", metadata={"status": "closed", "secret": "1", "mixed": "1"}, readers=readers)
    await _put(database, "d", metadata={"mixed": "one", "due": "2026-01-01"})
    values = DocumentValues(database)
    every = {field.name: field for field in await values.fields("kb")}
    assert set(every) == {"due", "mixed", "secret", "source", "status", "title", "year"}
    assert (every["status"].sample, every["status"].is_whole) == (("closed", "open"), True)
    assert (every["mixed"].kind, every["due"].kind, every["year"].kind) == (Kind.TEXT, Kind.DATE, Kind.NUMBER)
    assert not every["year"].is_whole
    assert len(every["year"].sample) == SHOWN
    assert (every["year"].sample[0], every["year"].sample[-1]) == ("2000", "2011")
    only = Permitted(sets=frozenset(), closed=frozenset({reader_set_of(readers)}))
    told = {field.name: field.sample for field in await values.fields("kb", only)}
    assert "secret" not in told
    assert (told["status"], told["mixed"]) == (("open",), ("one",))
    assert [field.name for field in await values.fields("kb", only, ("STATUS", "secret", "nowhere"))] == ["status"]
    assert len(await values.fields("kb", most=2)) == 2
    assert await values.fields("other") == []
    told = {field.name: field for field in await values.fields("kb", only, filters=[parse_filter("status empty")])}
    assert set(told) == {"due", "mixed", "source", "title"}
    told = {field.name: field for field in await values.fields("kb", filters=[parse_filter("year < 2003")])}
    assert (told["year"].sample, told["year"].is_whole) == (("2000", "2001", "2002"), True)
    assert await values.fields("kb", only, document_ids=["s:c"]) == [], "a closed one by its name"
    assert len(await values.fields("kb", document_ids=["s:c"], most=2)) == 2


async def test_of_many_documents_that_may_be_looked_at_some_are(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SAMPLED_DOCUMENTS", 3)
    for number in range(6):
        await _put(database, f"o{number}", metadata={"status": "open"})
    (told,) = await DocumentValues(database).fields("kb", names=["status"], filters=[parse_filter("source = s")])
    assert (told.sample, told.is_whole) == (("open",), False)


async def test_what_belongs_elsewhere_now_is_not_there(database: Database) -> None:
    """By its name to the letter: a source may differ from another by case alone."""
    await _put(database, "a", source="Wiki", metadata={"pin": "1"})
    await _put(database, "b", source="wiki", metadata={"status": "open"})
    values, homes = DocumentValues(database), {"Wiki": "private", "wiki": "kb", "more": "private"}
    filters = [parse_filter("source = wiki")]
    assert len((await values.matching("kb", filters)).generations) == 2
    assert len((await values.matching("kb", filters, homes=homes)).generations) == 1
    assert {field.name for field in await values.fields("kb", homes=homes)} == {"source", "status", "title"}
    shown = await values.fields("kb", homes=homes, filters=filters)
    assert {field.name for field in shown} == {"source", "status", "title"}
    assert len((await values.matching("kb", [], homes={"wiki": "kb"})).generations) == 2
