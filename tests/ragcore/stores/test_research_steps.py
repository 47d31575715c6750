"""Steps of researches in both databases, and chunks that are read again."""

import pathlib
from datetime import UTC, datetime, timedelta

from ragcore.research.keeping import Reading
from ragcore.stores.database import Database
from ragcore.stores.registry import Registry
from ragcore.stores.research_steps import KEPT_DAYS, KeptStep, ResearchSteps
from ragcore.stores.staging import Staging
from ragcore.stores.vector_rows import Vectors
from ragcore.types import Question
from tests.fakes.stored import made, put


def step(key: str, elapsed: float, line: str = "{}") -> KeptStep:
    return KeptStep(key=key, elapsed=elapsed, line=line)


async def test_steps_are_kept_by_research_and_question(database: Database) -> None:
    steps = ResearchSteps(database)
    await steps.keep("r1", "q", step("search:1:0", 2.0))
    await steps.keep("r1", "q", step("plan:1:0", 1.0))
    await steps.keep("r2", "q", step("plan:1:0", 1.0))
    assert await steps.steps("r1", "q") == [step("plan:1:0", 1.0), step("search:1:0", 2.0)]
    assert await steps.steps("r1", "other") == []
    await steps.keep("r1", "q", step("plan:1:0", 3.0, '"\\u0000\\ud800"'))
    assert await steps.steps("r1", "q") == [step("search:1:0", 2.0), step("plan:1:0", 3.0, '"\\u0000\\ud800"')]
    await steps.keep("r1", "other", step("plan:1:0", 1.0))
    assert await steps.steps("r1", "q") == []
    assert await steps.steps("r2", "q") == [step("plan:1:0", 1.0)]
    await steps.forget("r1")
    assert await steps.steps("r1", "other") == []
    assert await steps.steps("r2", "q") == [step("plan:1:0", 1.0)]


async def test_steps_go_after_a_day(database: Database) -> None:
    steps = ResearchSteps(database)
    await steps.keep("r1", "q", step("plan:1:0", 1.0))
    now = datetime.now(UTC)
    assert await steps.expire(now=now + timedelta(days=KEPT_DAYS) - timedelta(minutes=1)) == 0
    assert await steps.expire(now=now + timedelta(days=KEPT_DAYS, minutes=1)) == 1
    assert await steps.steps("r1", "q") == []


async def test_what_is_read_again_is_what_may_be_read_now(tmp_path: pathlib.Path) -> None:
    database = await Database.open(tmp_path / "test.sqlite")
    registry, staging, vectors = Registry(database), Staging(database), Vectors(database)
    mine = frozenset({"slack:T/@U1"})
    chunks = {}
    for name, readers in (("open", None), ("mine", mine), ("gone", None)):
        document, stored = made(f"docs:{name}", [f"Text of {name}"], readers=readers)
        await put(staging, vectors, document, stored)
        chunks[name] = stored[0].chunk.id
    document, stored = made("docs:gone", ["Another text"])
    await put(staging, vectors, document, stored)
    scores = dict.fromkeys(chunks.values(), 0.5)

    async def read(*bases: str, readers: frozenset[str] | None) -> set[str]:
        question = Question(text="?", knowledge_bases=bases, readers=readers)
        again = await Reading(registry).again(question, scores)
        assert all(scored.score == 0.5 for scored in again.values())
        return {scored.chunk.document_id for scored in again.values()}

    assert await read("kb", readers=mine) == {"docs:open", "docs:mine"}
    assert await read("kb", readers=frozenset({"slack:T/@U2"})) == {"docs:open"}
    assert await read("other", readers=None) == set()
    await database.close()
