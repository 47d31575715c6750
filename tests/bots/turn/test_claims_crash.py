"""kill -9 between any two steps: the next life answers each message, and nothing is sent twice."""

import asyncio
import pathlib
from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import delete, select

from ragcore.stores.database import Database
from ragcore.stores.schema import claim_keys, claims, sends
from tests.bots.turn.helpers import place_of
from tests.fakes.forking import Workers, workers
from tests.fakes.turn_crashing import FIRST, PARTS, SECOND, Life, taken_parts


@pytest.fixture(scope="module")
def forked() -> Iterator[Workers]:
    with workers("tests.fakes.turn_crashing") as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> str:
    return str(place_of(request, tmp_path))


@pytest.mark.soak
def test_killed_at_each_moment_of_a_turn(forked: Workers, where: str, tmp_path: pathlib.Path) -> None:
    """Also in the recovery from having been killed."""
    asyncio.run(_emptied(where))
    life = Life(where=where, taken=str(tmp_path / "undisturbed"))
    forked.start(life)
    moments = forked.wait()
    assert moments >= 20
    for point in range(1, moments + 1):
        asyncio.run(_emptied(where))
        life = replace(life, taken=str(tmp_path / str(point)))
        for die_at in (point, point // 2 + 1, 0):
            forked.start(replace(life, die_at=die_at))
            ended = forked.wait()
        assert ended >= 0
        _check(where, tmp_path / str(point), f"killed at moment {point} of {moments}")


def _check(where: str, taken: pathlib.Path, told: str) -> None:
    parts = taken_parts(taken)
    keys = [part["key"] for part in parts]
    assert len(keys) == len(set(keys)), f"a part was sent twice, {told}"
    for question in (FIRST, SECOND):
        numbers = [part["number"] for part in parts if question in part["asked"]]
        assert numbers == list(range(PARTS)), f"{question!r} was not answered once and whole, {told}"
    states, keys_left = asyncio.run(_rows(where))
    assert set(states) <= {("done", "answered"), ("merged", "")}, told
    assert len(states) == 2, told
    assert keys_left == ["a", "b", "event:1"], told


async def _rows(where: str) -> tuple[list[tuple[str, str]], list[str]]:
    database = await Database.open(where)
    try:
        async with database.connect() as connection:
            states = [tuple(row) for row in await connection.execute(select(claims.c.state, claims.c.outcome))]
            keys = (await connection.execute(select(claim_keys.c.key).order_by(claim_keys.c.key))).scalars().all()
    finally:
        await database.close()
    return states, list(keys)  # type: ignore[return-value]


async def _emptied(where: str) -> None:
    database = await Database.open(where)
    try:
        async with database.begin() as connection:
            for table in (claim_keys, sends, claims):
                await connection.execute(delete(table))
    finally:
        await database.close()
