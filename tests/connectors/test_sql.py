"""What the source type ``sql`` makes of rows, and of queries that are wrong."""

from datetime import UTC, datetime, timedelta

import pytest

from connectors.rows import plain
from connectors.sql import SqlConnector
from ragcore.errors import SourceBadReply, SourceGone
from tests.connectors.databases import WHOLE, Place, all_of, one_row, postgres_place, sqlite_place, two_kinds
from tests.connectors.helpers import collect, known_of, listed

SINCE = f"{WHOLE} WHERE updated_at >= :since"


@pytest.fixture(params=["sqlite", "postgresql"])
async def place(request, tmp_path):
    return await two_kinds(request.param, tmp_path, request)


@pytest.fixture
async def postgres(postgres_url, tmp_path):
    return await one_row(postgres_place(tmp_path, postgres_url))


@pytest.fixture
async def sqlite(tmp_path):
    return await one_row(sqlite_place(tmp_path))


# Rows.


async def test_a_row_is_told_with_all_that_it_has(postgres):
    await postgres.do(
        "CREATE TABLE tickets (id uuid, title text, text text, url text, author text, updated_at timestamptz, "
        "readers text[], product text, open boolean)",
        "INSERT INTO tickets VALUES ('6f4e5d0c-0000-4000-8000-000000000001', 'Head', '# Body', 'https://x.example/1', "
        "'Ann', '2026-02-03 04:05+02', ARRAY['Ann@x.example', 'slack:T1/C1'], 'Router', true)",
    )
    documents, failures, _, _ = await all_of(postgres.connector("SELECT * FROM tickets", text_format="markdown"))
    assert not failures
    assert documents.keys() == {"s:6f4e5d0c-0000-4000-8000-000000000001"}
    (document,) = documents.values()
    assert (document.title, document.content, document.media_type) == ("Head", b"# Body", "text/markdown")
    assert (document.url, document.author) == ("https://x.example/1", "Ann")
    assert document.updated_at == datetime(2026, 2, 3, 2, 5, tzinfo=UTC)
    assert document.readers == {"email:ann@x.example", "slack:T1/C1"}
    assert document.metadata == {"product": "Router", "open": "True"}


@pytest.mark.parametrize(
    ("written", "readers"),
    [
        ("'*'", {"*"}),
        ("'ann@x.example, bob@x.example'", {"email:ann@x.example", "email:bob@x.example"}),
        ("""'["ann@x.example"]'""", {"email:ann@x.example"}),
        ("''", set()),
        ("NULL", set()),
    ],
)
async def test_readers_are_lists_and_none_means_nobody(sqlite, written, readers):
    documents, _, _, _ = await all_of(sqlite.connector(f"SELECT id, text, {written} AS readers FROM docs"))
    assert documents["s:1"].readers == readers


@pytest.mark.parametrize("written", ["'everybody'", "'[1'", "7", "'ann@x.example, all'"])
async def test_what_is_no_reader_is_told_and_lets_nobody_in(sqlite, written):
    documents, failures, _, _ = await all_of(sqlite.connector(f"SELECT id, text, {written} AS readers FROM docs"))
    assert not documents
    assert "reader" in failures["s:1"].reason
    assert "email:" in failures["s:1"].mend


async def test_a_column_counts_by_its_name_in_any_case(place):
    await place.do("INSERT INTO docs (id, text) VALUES (1, 'Valve a.')")
    connector = place.connector("SELECT id, text, 'ann@x.example' AS \"Readers\", 'One' AS \"TITLE\" FROM docs")
    documents, _, _, _ = await all_of(connector)
    assert documents["s:1"].readers == {"email:ann@x.example"}  # taken for another column, everybody could read it
    assert documents["s:1"].title == "One"
    (found,) = [one async for one in connector.fetch(["s:1"])]
    assert found.readers == {"email:ann@x.example"}


def test_a_set_has_the_same_text_in_each_process():
    assert plain({"b", "a", "c"}) == plain(frozenset(("c", "b", "a"))) == '["a", "b", "c"]'


async def test_times_without_a_zone_are_of_the_zone_of_the_settings(postgres):
    query = "SELECT id, text, timestamp '2026-07-01 12:00' AS updated_at FROM docs"
    documents, _, _, _ = await all_of(postgres.connector(query, timezone="Europe/Berlin"))
    assert documents["s:1"].updated_at == datetime(2026, 7, 1, 10, tzinfo=UTC)


async def test_a_row_without_a_url_has_that_of_the_settings(sqlite):
    documents, _, _, _ = await all_of(
        sqlite.connector("SELECT 'a/b c' AS id, text FROM docs", base_url="https://x.example/t/{id}?x")
    )
    assert documents["s:a/b c"].url == "https://x.example/t/a%2Fb%20c?x"


async def test_bytes_are_taken_as_they_are(sqlite):
    documents, _, _, _ = await all_of(sqlite.connector("SELECT id, CAST(text AS BLOB) AS text FROM docs"))
    assert documents["s:1"].content == b"one"


async def test_text_that_is_no_utf8_hides_no_other(sqlite):
    await sqlite.do("INSERT INTO docs VALUES ('2', CAST(X'c3' AS TEXT))")
    documents, _, _, _ = await all_of(sqlite.connector())
    assert documents["s:2"].content.decode() == "�"
    assert documents["s:1"].content == b"one"


async def test_rows_that_cannot_be_taken_are_named_and_hide_no_other(place):
    await place.do(
        "INSERT INTO docs (id, text) VALUES (1, 'one'), (2, NULL), (3, 'three'), (3, 'other'), (4, 'four'), (4, 'four'), "
        "(NULL, 'nameless'), (5, :huge)",
        huge="x" * 20_001,
    )
    connector = place.connector(max_megabytes=0.02)
    documents, failures, _, cursor = await all_of(connector)
    assert documents.keys() == {"s:1", "s:4"}
    assert {identity: failure.reason[:26] for identity, failure in failures.items()} == {
        "s:2": "its text is NULL",
        "s:3": "the query gives its id mor",
        "s:5": "its text has 0.0 MB, over ",
        "s:(a row without an id)": "1 row has no id",
    }
    assert all(failure.mend for failure in failures.values())
    ids, nameless = await listed(connector)
    assert ids == {f"s:{number}" for number in range(1, 6)}
    assert len(nameless) == 1
    assert (await listed(place.connector()))[0] == ids

    # What failed and stays as it is isn't yielded again, but for what no version can tell.
    known = known_of(documents) | {failure.id: failure.version for failure in failures.values() if failure.version}
    again, failures, _, _ = await all_of(place.connector(max_megabytes=0.02), cursor, known)
    assert not again
    assert failures.keys() == {"s:3", "s:(a row without an id)"}
    documents, failures, gone, _ = await collect(place.connector().fetch([f"s:{n}" for n in (1, 2, 3, 4, 9)]))
    assert (documents.keys(), failures.keys(), gone) == ({"s:1", "s:4"}, {"s:2", "s:3"}, {"s:9"})


async def test_a_row_deleted_between_listing_and_fetching_is_gone(place):
    await place.do("INSERT INTO docs (id, text) VALUES (1, 'one'), (2, 'two')")
    connector = place.connector()
    assert (await listed(connector))[0] == {"s:1", "s:2"}
    await place.do("DELETE FROM docs WHERE id = 2")
    documents, failures, gone, _ = await collect(connector.fetch(["s:1", "s:2"]))
    assert (documents.keys(), failures.keys(), gone) == ({"s:1"}, set(), {"s:2"})


async def test_ids_that_cannot_be_looked_up_are_found_all_the_same(postgres):
    # CHAR(n) is told with the blanks that it compares without; a number with a fraction isn't bound as one.
    await postgres.do("CREATE TABLE odd (id char(4), text text)", "INSERT INTO odd VALUES ('ab', 'x'), ('abc', 'y')")
    for query in ("SELECT * FROM odd", "SELECT 1.5 AS id, 'x' AS text UNION ALL SELECT 2.5, 'y'"):
        documents, _, _, _ = await all_of(postgres.connector(query))
        assert len(documents) == 2
        again, _, gone, _ = await collect(postgres.connector(query).fetch(list(documents)))
        assert again == documents
        assert not gone


# By `:since`.


def at(place: Place, moment: datetime) -> object:
    return moment if place.url.startswith("postgresql") else f"{moment:%Y-%m-%d %H:%M:%S}"


async def put(place: Place, number: int, age: timedelta) -> None:
    await place.do(
        "INSERT INTO docs (id, text, updated_at) VALUES (:id, :text, :at)",
        id=number,
        text=f"text {number}",
        at=at(place, datetime.now(UTC) - age),
    )


async def test_only_what_is_newer_than_the_cursor_is_read(place, monkeypatch):
    for number in range(50):
        await put(place, number, timedelta(days=3 if number else 2))
    documents, _, _, cursor = await all_of(place.connector(SINCE))
    assert len(documents) == 50
    await place.do("UPDATE docs SET text = 'unseen' WHERE id = 7")  # its time tells nothing: it isn't read
    await put(place, 50, timedelta(days=1))
    hashed = []
    real = SqlConnector._keep
    monkeypatch.setattr(
        SqlConnector, "_keep", lambda self, scan, rows, known: (hashed.extend(rows), real(self, scan, rows, known))
    )
    await put(place, 51, timedelta(days=2, minutes=5))  # late, by less than the overlap
    again, _, _, later = await all_of(place.connector(SINCE), cursor, known_of(documents))
    assert again.keys() == {"s:50", "s:51"}
    assert later > cursor
    hashed.clear()
    assert not (await all_of(place.connector(SINCE), later, known_of(documents | again)))[0]
    assert len(hashed) == 1, "the newest, looked back at"


async def test_a_time_to_come_hides_nothing(place):
    await put(place, 1, timedelta(days=-400))
    await put(place, 2, timedelta(days=1))
    documents, _, _, cursor = await all_of(place.connector(SINCE))
    assert cursor
    await place.do("UPDATE docs SET text = 'new', updated_at = :at WHERE id = 2", at=at(place, datetime.now(UTC)))
    again, _, _, _ = await all_of(place.connector(SINCE), cursor, known_of(documents))
    assert again.keys() == {"s:2"}


async def test_an_id_that_comes_twice_is_told_also_when_only_one_is_new(place):
    await put(place, 1, timedelta(days=2))
    await put(place, 2, timedelta(days=1))
    documents, _, _, cursor = await all_of(place.connector(SINCE))
    await place.do("INSERT INTO docs SELECT * FROM docs WHERE id = 2")  # the same once more does no harm
    assert await all_of(place.connector(SINCE), cursor, known_of(documents)) == ({}, {}, set(), cursor)
    await put(place, 1, timedelta())
    for _ in range(2):
        again, failures, _, cursor = await all_of(place.connector(SINCE), cursor, known_of(documents))
        assert (again.keys(), failures.keys()) == (set(), {"s:1"})
        await place.do("UPDATE docs SET updated_at = :at WHERE id = 2", at=at(place, datetime.now(UTC)))
        documents |= (await all_of(place.connector(SINCE), cursor, known_of(documents)))[0]


async def test_another_query_begins_from_the_beginning(place):
    await put(place, 1, timedelta(days=2))
    await put(place, 2, timedelta(days=1))
    documents, _, _, cursor = await all_of(place.connector(SINCE))
    other = "SELECT id, 'prefix ' || text AS text, updated_at FROM docs WHERE updated_at >= :since"
    again, _, _, _ = await all_of(place.connector(other), cursor, known_of(documents))
    assert again["s:1"].content == b"prefix text 1"


async def test_a_colon_is_a_parameter_in_since_alone(place):
    await put(place, 1, timedelta(days=2))
    query = "SELECT id, ':foo at 12:30, [:bar:] :since1' AS text, updated_at FROM docs WHERE updated_at >= :since; -- ?"
    query = query.replace("; -- ?", " -- :note")
    documents, _, _, _ = await all_of(place.connector(query))
    assert documents["s:1"].content == b":foo at 12:30, [:bar:] :since1"
    assert (await listed(place.connector(query)))[0] == {"s:1"}


# What is wrong with a query.


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT id FROM docs", 'no column "text"'),
        ("SELECT text FROM docs", 'no column "id"'),
        ("SELECT id, text FROM docs WHERE updated_at >= :since", 'no column "updated_at", which :since goes by'),
        ("SELECT id, text, title AS text FROM docs", 'the column "text" twice'),
        ("SELECT id, text, nothing FROM docs", "nothing"),
        ("SELEC id, text FROM docs", "SELEC"),
    ],
)
async def test_a_query_that_is_wrong_is_told_with_its_mend(place, query, said):
    with pytest.raises(SourceBadReply, match=said) as caught:
        await all_of(place.connector(query))
    assert caught.value.mend


async def test_a_table_that_is_not_there_is_told_as_gone(place):
    with pytest.raises(SourceGone, match="tickets"):
        await all_of(place.connector("SELECT id, text FROM tickets"))


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM docs RETURNING id, text",
        "INSERT INTO docs (id, text) VALUES (9, 'nine') RETURNING id, text",
        "UPDATE docs SET text = 'changed' RETURNING id, text",
        "DELETE FROM docs",
        "DROP TABLE docs",
    ],
)
async def test_a_query_that_writes_is_refused(place, query):
    await place.do("INSERT INTO docs (id, text) VALUES (1, 'one')")
    with pytest.raises(SourceBadReply, match="may only read"):
        await all_of(place.connector(query))
    assert await place.count() == 1


async def test_a_function_that_writes_is_refused(postgres):
    await postgres.do(
        "CREATE FUNCTION take() RETURNS text LANGUAGE sql AS $$ DELETE FROM docs RETURNING text $$",
    )
    with pytest.raises(SourceBadReply, match="may only read"):
        await all_of(postgres.connector("SELECT '1' AS id, take() AS text"))
    assert await postgres.count() == 1
