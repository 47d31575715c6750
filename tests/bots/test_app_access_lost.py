"""Access that was taken away: what was said before reaches no prompt and nobody else, as long as it repeats a document."""

import pathlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from sqlalchemy import update

from bots.access import audience_of
from bots.requests import Ask, Recall, Recalled, Sync
from bots.settings import load_settings
from ragcore.library import DATABASE
from ragcore.stores.database import Database
from ragcore.stores.schema import turns
from ragcore.types import Answer, ConversationKey
from tests.bots.handbook import opened, told
from tests.fakes.openai_server import OpenAIServer, Reply

HERE = ConversationKey(platform="slack", workspace="T1", channel="C1", thread="1.5")
MEMBER = audience_of("slack:T1/C1")
SAID = "The merger with Brightwater closes in May."
FIRST = Ask(
    question="When does the merger with Brightwater close?", audience=MEMBER, conversation=HERE, reference="00000001"
)
THEN = Ask(
    question="How many unused leave days may be carried over?",
    audience=MEMBER,
    conversation=HERE,
    reference="00000002",
)
LAST = replace(THEN, question="How many leave days may be carried into the next year?", reference="00000003")


@pytest.fixture
async def model() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer(default=Reply(text=SAID)) as server:
        yield server


def settle(home: pathlib.Path, model: OpenAIServer, *, secret: str, handbook: str = '["slack:T1"]') -> None:
    """Write settings in which these may read the two knowledge bases."""
    sources = "".join(
        f'[[sources]]\nname = "{one}"\ntype = "files"\npath = "{one}"\n' for one in ("handbook", "secret")
    )
    (home / "citebot.toml").write_text(
        f'[llm]\nbase_url = "{model.base_url}"\nmodel = "m"\ncontext_window = 32000\n'
        f"[knowledge_bases.handbook]\nreaders = {handbook}\n[knowledge_bases.secret]\nreaders = {secret}\n{sources}"
    )


async def asked(home: pathlib.Path, *requests: Ask | Sync | Recall) -> list[object]:
    """Let a process of its own answer, and return the last event of each request."""
    async with opened(home) as (operations, _):
        return [(await told(operations, request) or [None])[-1] for request in requests]


def told_in_prompt(model: OpenAIServer) -> int:
    """Return how often the last prompt holds what was said."""
    return sum(text.count(SAID) for text in model.requests[-1].texts)


async def test_what_was_said_is_not_recalled_once_a_document_of_it_may_not_be_read(
    home: pathlib.Path, model: OpenAIServer
) -> None:
    settle(home, model, secret='["slack:T1"]')
    await asked(home, Sync(), FIRST, THEN)
    assert told_in_prompt(model) == 1
    settle(home, model, secret="[]")
    await asked(home, LAST)
    # Neither the answer itself nor the one that was written with it at hand.
    assert told_in_prompt(model) == 0
    settle(home, model, secret='["slack:T1"]')
    await asked(home, LAST)
    assert told_in_prompt(model) == 2


@pytest.mark.parametrize("taken", ["narrowed", "deleted", "operator"])
async def test_a_narrowed_question_and_a_deleted_document_recall_nothing_of_it(
    taken: str, home: pathlib.Path, model: OpenAIServer
) -> None:
    settle(home, model, secret='["slack:T1"]')
    who = MEMBER if taken != "operator" else None
    first, last = replace(FIRST, audience=who), replace(LAST, audience=who)
    await asked(home, Sync(), first)
    if taken == "narrowed":
        last = replace(last, knowledge_bases=("handbook",))
    if taken == "deleted":
        (home / "secret" / "merger.txt").unlink()
        await asked(home, Sync(full=True))
    await asked(home, last)
    assert told_in_prompt(model) == (taken == "operator")


async def test_an_answer_is_not_told_again_to_who_may_not_read_what_was_recalled_into_it(
    home: pathlib.Path, model: OpenAIServer
) -> None:
    settle(home, model, secret='["slack:T1/@U1"]')
    asker = audience_of("slack:T1/@U1")
    first, then = replace(FIRST, audience=asker, private_to="U1"), replace(THEN, audience=asker, private_to="U1")
    again = Recall(reference=then.reference, audience=asker)
    narrowed = replace(again, knowledge_bases=("handbook",))
    # The second answer is written from the handbook alone, and may repeat the first.
    *_, second = await asked(home, Sync(), first, replace(then, knowledge_bases=("handbook", "secret")))
    recalled = await asked(home, again, replace(again, audience=MEMBER), narrowed)
    withheld = [one.withheld for one in recalled if isinstance(one, Recalled)]
    assert withheld == [0, 1, 1]
    assert second is not None


async def test_a_source_that_was_moved_is_closed_in_its_old_knowledge_base_before_it_is_read_anew(
    home: pathlib.Path, model: OpenAIServer
) -> None:
    settle(home, model, secret="[]")
    settings = (home / "citebot.toml").read_text()
    together = settings.replace('path = "secret"', 'path = "secret"\nknowledge_base = "handbook"')
    (home / "citebot.toml").write_text(together)
    _, before = await asked(home, Sync(), FIRST)
    assert isinstance(before, Answer)
    assert "secret:merger.txt" in {scored.chunk.document_id for scored in before.chunks}
    (home / "citebot.toml").write_text(settings)
    again = Recall(reference=FIRST.reference, audience=MEMBER)
    told_again, after = await asked(home, again, replace(FIRST, reference="00000009"))
    assert isinstance(told_again, Recalled)
    assert told_again.withheld
    assert isinstance(after, Answer)
    assert "secret:merger.txt" not in {scored.chunk.document_id for scored in after.chunks}
    assert told_in_prompt(model) == 0
    _, moved = await asked(home, Sync(), Ask(question=FIRST.question))
    assert isinstance(moved, Answer)
    assert "secret:merger.txt" in {scored.chunk.document_id for scored in moved.chunks}


async def test_nobody_is_told_again_what_an_older_version_wrote(home: pathlib.Path, model: OpenAIServer) -> None:
    settle(home, model, secret='["slack:T1"]')
    await asked(home, Sync(), FIRST)
    database = await Database.open(load_settings(home / "citebot.toml").data_dir / DATABASE)
    async with database.begin() as connection:
        await connection.execute(update(turns).values(rests_on=""))
    await database.close()
    (recalled,) = await asked(home, Recall(reference=FIRST.reference, audience=MEMBER))
    assert isinstance(recalled, Recalled)
    assert recalled.withheld == 1
    await asked(home, THEN)
    assert told_in_prompt(model) == 0
