"""What the source type ``sql`` makes of databases that refuse, of wrong settings, and of time."""

import asyncio
import logging
import sqlite3
import sys
import time
from contextlib import aclosing, closing, suppress

import pytest
import sqlalchemy as sa
import trustme
from pydantic import SecretStr

from connectors.base import Checkpoint, Estimate, Origin, SourceDocument
from connectors.registry import connect
from connectors.sql import SqlConnector, SqlOptions
from ragcore.errors import ConfigError, SourceAuthError, SourceBadReply, SourceError, SourceGone, SourceUnreachable
from tests.connectors.databases import WHOLE, Place, all_of, one_row, postgres_place, sqlite_place, two_kinds
from tests.fakes.ports import free_port

PASSWORD = "s3cret/pass@word"


@pytest.fixture(params=["sqlite", "postgresql"])
async def place(request, tmp_path):
    return await two_kinds(request.param, tmp_path, request)


@pytest.fixture
async def postgres(postgres_url, tmp_path):
    return await one_row(postgres_place(tmp_path, postgres_url))


@pytest.fixture
async def sqlite(tmp_path):
    return await one_row(sqlite_place(tmp_path))


# Databases that refuse.


async def locked(postgres: Place) -> str:
    """Make a user whose password is asked for, and return its name."""
    name = f"locked_{postgres.engine.url.database}"
    await postgres.do(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'", f"GRANT SELECT ON docs TO {name}")
    async with postgres.engine.connect() as connection:
        file = (await connection.execute(sa.text("SHOW hba_file"))).scalar_one()
    await postgres.do(
        "CREATE TABLE hba (number serial, line text)",
        f"INSERT INTO hba (line) VALUES ('host all {name} 127.0.0.1/32 scram-sha-256')",
        f"INSERT INTO hba (line) SELECT unnest(string_to_array(pg_read_file('{file}'), chr(10)))",
        f"COPY (SELECT line FROM hba ORDER BY number) TO '{file}'",
        "SELECT pg_reload_conf()",
    )
    return name


async def test_a_wrong_password_is_told_and_no_password_is_ever_shown(postgres, caplog):
    caplog.set_level(logging.DEBUG)
    name = await locked(postgres)
    url = postgres.url.replace("postgres@", f"{name}@")
    wrong = postgres.connector(url=SecretStr(url), password=SecretStr("wr0ng"))
    for _ in range(100):  # until the server has read its file again
        with suppress(SourceAuthError):
            await all_of(wrong)
            await asyncio.sleep(0.02)
            continue
        break
    with pytest.raises(SourceAuthError) as refused:
        await all_of(wrong)
    assert "user and password" in refused.value.mend
    assert "wr0ng" not in str(refused.value)
    documents, _, _, _ = await all_of(postgres.connector(url=SecretStr(url), password=SecretStr(PASSWORD)))
    assert documents.keys() == {"s:1"}
    with pytest.raises(SourceBadReply) as caught:
        await all_of(
            postgres.connector(
                f"SELECT CAST('{PASSWORD}' AS int) AS id, text FROM docs",
                url=SecretStr(url),
                password=SecretStr(PASSWORD),
            )
        )
    assert "***" in str(caught.value)
    assert (
        PASSWORD
        not in f"{caught.value!r} {caught.value} {caplog.text} {caught.getrepr(showlocals=False, style='short')}"
    )
    await postgres.do(f"DROP OWNED BY {name}", f"DROP ROLE {name}")


async def test_a_host_that_is_not_reached_is_told(postgres):
    url = postgres.url.replace("postgres@", f"postgres:{'s3cret'}@").replace(
        str(postgres.engine.url.port), str(free_port())
    )
    for address in (url, "postgresql://u:s3cret@no-such-host.invalid/db"):
        with pytest.raises(SourceUnreachable) as caught:
            await all_of(postgres.connector(url=SecretStr(address)))
        assert caught.value.mend
        assert "s3cret" not in str(caught.value)


async def test_a_database_that_is_not_there_is_told_as_gone(postgres, sqlite):
    for place, url in ((postgres, f"{postgres.url}x"), (sqlite, "sqlite:///none.db")):
        with pytest.raises(SourceGone):
            await all_of(place.connector(url=SecretStr(url)))
    assert not (sqlite.folder / "none.db").exists()


async def test_a_server_that_wants_no_tls_is_told(postgres):
    with pytest.raises(SourceUnreachable, match="SSL"):
        await all_of(postgres.connector(url=SecretStr(f"{postgres.url}?ssl=require")))


async def test_a_certificate_that_is_not_trusted_is_told(postgres, tmp_path, monkeypatch):
    authority, other = trustme.CA(), trustme.CA()
    key = authority.issue_cert("127.0.0.1")
    async with postgres.engine.connect() as connection:
        folder = (await connection.execute(sa.text("SHOW data_directory"))).scalar_one()
        if not (await connection.execute(sa.text("SHOW ssl_library"))).scalar_one():
            pytest.skip("this PostgreSQL was built without TLS")
    pem = key.private_key_and_cert_chain_pem.bytes().decode()  # one file for both
    await postgres.do(
        "CREATE TABLE pem (number serial, line text)",
        f"INSERT INTO pem (line) SELECT unnest(string_to_array('{pem}', chr(10)))",
        f"COPY (SELECT line FROM pem ORDER BY number) TO PROGRAM 'umask 077; cat > {folder}/tls.pem'",
    )
    await set_tls(postgres, "on", f"{folder}/tls.pem")
    try:
        checked = postgres.connector(url=SecretStr(f"{postgres.url}?ssl=verify-full"))
        for _ in range(100):  # until the server has read its settings again
            if await has_tls(postgres):
                break
            await asyncio.sleep(0.02)
        monkeypatch.setenv("PGSSLROOTCERT", str(tmp_path / "trusted.pem"))
        authority.cert_pem.write_to_path(tmp_path / "trusted.pem")
        assert (await all_of(checked))[0].keys() == {"s:1"}
        other.cert_pem.write_to_path(tmp_path / "trusted.pem")
        with pytest.raises(SourceUnreachable, match="certificate verify failed"):
            await all_of(checked)
    finally:
        await set_tls(postgres, "off", "server.crt")


async def set_tls(place: Place, whether: str, file: str) -> None:
    alone = place.engine.execution_options(isolation_level="AUTOCOMMIT")
    async with alone.connect() as connection:
        for name, value in (("ssl_cert_file", file), ("ssl_key_file", file), ("ssl", whether)):
            await connection.execute(sa.text(f"ALTER SYSTEM SET {name} = '{value}'"))
        await connection.execute(sa.text("SELECT pg_reload_conf()"))


async def has_tls(place: Place) -> bool:
    async with place.engine.connect() as connection:
        return (await connection.execute(sa.text("SHOW ssl"))).scalar_one() == "on"


async def test_a_connection_that_is_lost_half_way_is_told(postgres):
    reading = asyncio.create_task(all_of(endless(postgres, timeout=20)))
    # Within one transaction it would be shown the same state again and again.
    async with postgres.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        for _ in range(500):
            ended = await connection.execute(
                sa.text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
                    "AND query LIKE '%pg_sleep(300)%' AND state = 'active' AND pid <> pg_backend_pid()"
                )
            )
            if ended.all():
                break
            await asyncio.sleep(0.02)
    with pytest.raises(SourceUnreachable) as caught:
        await reading
    assert caught.value.mend


async def test_a_file_that_is_no_database_is_told(sqlite):
    (sqlite.folder / "other.db").write_text("no database " * 100)
    with pytest.raises(SourceBadReply, match="not a database"):
        await all_of(sqlite.connector(url=SecretStr("sqlite:///other.db")))


async def test_a_query_that_fails_half_way_gives_nothing(place):
    await place.do(*(f"INSERT INTO docs (id, text) VALUES ({number}, 'text')" for number in range(100)))
    overflows = "SELECT id, CASE WHEN id > 90 THEN id + 9223372036854775807 ELSE id END AS text FROM docs"
    if place.engine.dialect.name == "sqlite":
        overflows = "SELECT id, CASE WHEN id > 90 THEN abs(-9223372036854775807 - 1) ELSE id END AS text FROM docs"
    told = []

    async def read() -> None:
        async for change in place.connector(overflows).changes(None, {}):
            told.append(change)  # noqa: PERF401  what came before the error counts

    with pytest.raises(SourceBadReply) as caught:
        await read()
    assert caught.value.mend
    assert told
    assert all(isinstance(change, Estimate) for change in told)


async def test_a_damaged_file_is_told(sqlite):
    await sqlite.do(*(f"INSERT INTO docs VALUES ('{number}', '{'x' * 3_000}')" for number in range(100)))
    file = sqlite.folder / "data.db"
    whole = file.read_bytes()
    file.write_bytes(whole[:40_000] + b"\xff" * 100_000 + whole[140_000:])
    with pytest.raises(SourceBadReply, match="malformed") as caught:
        await all_of(sqlite.connector())
    assert "backup" in caught.value.mend


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql+aiomysql://u:s3cret@h/d", "aiomysql"),
        ("quantum://u:s3cret@h/d", 'knows no "quantum"'),
        ("postgresql://u:s3cret@127.0.0.1/d?nonsense=1", "nonsense"),
        ("sqlite://", "name a file"),
    ],
)
async def test_a_url_that_no_driver_takes_is_told(sqlite, url, said):
    with pytest.raises(ConfigError, match=said) as caught:
        await all_of(sqlite.connector(url=SecretStr(url)))
    assert "s3cret" not in str(caught.value)


async def test_the_missing_extra_is_named(sqlite, monkeypatch):
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(ConfigError, match=r"pip install 'citebot\[postgres\]'"):
        await all_of(sqlite.connector(url=SecretStr("postgresql://u@127.0.0.1/d")))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"url": "s3cret"}, "url: .*must be an address"),
        ({"query": " ; "}, "query: .*must be a SELECT"),
        ({"timezone": "Mars/Base"}, "no time zone"),
        ({"base_url": "https://x.example/"}, "base_url: .*{id}"),
        ({"timeout": 0}, "timeout"),
        ({"quary": "x"}, "quary"),
    ],
)
def test_wrong_settings_are_refused_without_their_secrets(tmp_path, options, said):
    whole = {"url": "postgresql://u:s3cret@h/d", "query": WHOLE} | options
    with pytest.raises(ConfigError, match=said) as caught:
        connect("sql", Origin(source="s", folder=tmp_path), whole)
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in repr(SqlOptions(url=SecretStr("postgresql://u:s3cret@h/d"), query=WHOLE))


# Time.

ENDLESS = {
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS id, 'x' AS text FROM n",
    "postgresql": "SELECT 1 AS id, pg_sleep(300)::text AS text",
}


async def is_idle(place: Place) -> bool:
    """Tell whether nothing runs in the database any more."""
    async with place.engine.connect() as connection:
        running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(300)%' AND state = 'active' AND pid <> pg_backend_pid()"
        return (await connection.execute(sa.text(running))).scalar_one() == 0


def endless(place: Place, **options) -> SqlConnector:
    return place.connector(ENDLESS[place.engine.dialect.name], **options)


async def test_a_statement_that_takes_too_long_is_broken_off(place):
    with pytest.raises(SourceError, match="timeout") as caught:
        await all_of(endless(place, timeout=0.2))
    assert "index" in caught.value.mend


async def test_a_run_that_is_cancelled_ends_at_once_and_stops_the_statement(place):
    reading = asyncio.create_task(all_of(endless(place)))
    await asyncio.sleep(0.2)
    assert not reading.done()
    began = time.monotonic()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert time.monotonic() - began < 15, "the statement itself has no end"
    if place.engine.dialect.name == "postgresql":
        for _ in range(500):
            if await is_idle(place):
                break
            await asyncio.sleep(0.02)
        assert await is_idle(place)
    else:
        with closing(sqlite3.connect(place.folder / "data.db")) as connection:
            connection.execute("DROP TABLE docs")  # nobody holds it


async def test_the_database_is_free_before_the_first_document_comes(place):
    await place.do(*(f"INSERT INTO docs (id, text) VALUES ({number}, 'text {number}')" for number in range(100)))
    seen, points = 0, 0
    async with aclosing(place.connector().changes(None, {})) as changes:
        async for change in changes:
            if isinstance(change, SourceDocument):
                seen += 1
                if seen == 1:
                    async with asyncio.timeout(20):
                        await place.do("DROP TABLE docs")  # waits for whoever reads it
            points += isinstance(change, Checkpoint)
    assert (seen, points) == (100, 3)
