"""A research asked for through the operations: over real documents, within access, and gone on with after a crash."""

import json
import pathlib
from contextlib import aclosing
from dataclasses import replace

import pytest
from sqlalchemy import func, select

from bots.app.operations import Operations
from bots.app.researching import limits_of
from bots.requests import Ask, Sync
from bots.settings import load_settings
from bots.showing import step_text
from bots.terminal_research import terminal_reference
from ragcore.models.prices import price_of
from ragcore.phrases import phrase
from ragcore.research import Limits, Outcome, Price, Progress, StepKind
from ragcore.research.sentences import sentence
from ragcore.stores.schema import research_steps
from ragcore.types import Answer
from tests.bots.handbook import SETTINGS, opened, told
from tests.fakes.openai_server import Failure, OpenAIServer, Reply, Request, tool_call

QUESTION = "How many unused leave days may be carried over, and who must be told of sickness?"


async def test_documents_are_researched_as_their_readers_may_read_them(home: pathlib.Path) -> None:
    for name in ("broken.json", "休假.md"):
        (home / "handbook" / name).unlink()
    (home / "citebot.toml").write_text(f"{SETTINGS}[research]\nsearches = 3\n")
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        request = Ask(question=QUESTION, research=True, audience=frozenset({"slack:T1"}), reference="r1")
        *steps, answer = await told(operations, request)
        assert isinstance(answer, Answer)
        assert {citation.document_id for citation in answer.citations} == {"handbook:leave.md"}
        # "Report sickness to your manager" is no plain answer to a "who" for whoever quotes: it is told as what is nearest.
        assert answer.notes == (
            phrase("no_model", "en"), sentence("missing", "en", what="who must be told of sickness?"),
        )  # fmt: skip
        ended = [one for one in steps if isinstance(one, Progress) and one.outcome is not Outcome.BEGUN]
        assert {one.stage for one in ended} == set(StepKind)
        assert all(one.outcome in {Outcome.DONE, Outcome.NOTHING} for one in ended)

        async with operations.database.connect() as connection:
            kept = await connection.scalar(select(func.count()).select_from(research_steps))
        assert kept == len(ended)
        *_, same = await told(operations, request)
        assert isinstance(same, Answer)
        assert same.raw_text == answer.raw_text

        # With another access, what was read before is closed: nothing of it is shown.
        *_, closed = await told(operations, replace(request, audience=frozenset({"slack:T2"})))
        assert isinstance(closed, Answer)
        assert not closed.chunks


async def test_documents_in_another_language_are_researched(home: pathlib.Path) -> None:
    replies = {
        "You plan a search": '{"questions": []}',
        "You put a question": '{"translations": {"English": "How many unused leave days may be carried over?"}}',
        "You judge how far": '{"enough": true}',
    }

    def play(request: Request) -> Reply:
        written = next((text for start, text in replies.items() if request.texts[0].startswith(start)), "")
        return Reply(text=written or "Up to five unused leave days may be carried into the next year [ID:0].")

    for name in ("broken.json", "休假.md"):
        (home / "handbook" / name).unlink()
    async with OpenAIServer(default=play) as server:
        (home / "citebot.toml").write_text(
            f'{SETTINGS}[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n[answer]\nrefine_seconds = 30\n'
        )
        async with opened(home) as (operations, _):
            await told(operations, Sync())
            german = Ask(
                question="Wie viele ungenutzte Urlaubstage darf ich ins nächste Jahr übertragen?", research=True
            )
            *_, answer = await told(operations, german)
    assert isinstance(answer, Answer)
    assert {citation.document_id for citation in answer.citations} == {"handbook:leave.md"}
    assert answer.usage.calls == len(server.requests) == 5


async def test_in_a_terminal_what_was_broken_off_is_gone_on_with_and_what_was_answered_is_not(
    home: pathlib.Path,
) -> None:
    async def kept(operations: Operations) -> int:
        async with operations.database.connect() as connection:
            return await connection.scalar(select(func.count()).select_from(research_steps)) or 0

    (home / "handbook" / "broken.json").unlink()
    async with opened(home) as (operations, _):
        await told(operations, Sync(sources=("handbook",)))
        request = Ask(question=QUESTION, research=True)
        request = replace(request, reference=terminal_reference(request))
        seen = 0
        async with aclosing(operations.run(request)) as events:  # type: ignore[type-var]
            async for event in events:
                seen += isinstance(event, Progress) and event.stage == StepKind.SEARCH and event.outcome == Outcome.DONE
                if seen == 2:
                    break
        assert await kept(operations) >= 3  # the plan, and two searches
        *_, answer = await told(operations, request)
        assert isinstance(answer, Answer)
        assert answer.citations
        assert await kept(operations) == 0


def test_in_a_terminal_a_research_has_the_name_of_what_is_asked() -> None:
    request = Ask(question=QUESTION, research=True)
    others = (
        replace(request, question="Who must be told?"),
        replace(request, knowledge_bases=("handbook",)),
        replace(request, audience=frozenset({"slack:T1"})),
        replace(request, filter="source = handbook"),
    )
    assert terminal_reference(replace(request, why=True)) == terminal_reference(request)
    assert len({terminal_reference(one) for one in (request, *others)}) == 1 + len(others)


@pytest.mark.soak
@pytest.mark.parametrize("how", ["auto", "native", "json", "refused"])
async def test_a_model_that_chooses_its_tools_reads_real_documents(home: pathlib.Path, how: str) -> None:
    calls = {"list_documents": "leave", "read_document": "handbook:leave.md"}
    replies = {
        "You prepare a task": "It asks how many days may be carried over.",
        "You choose the next": json.dumps([{"tool": tool, "what": what} for tool, what in calls.items()]),
        "You look back": '{"enough": true}',
    }

    def play(request: Request) -> Reply | Failure:
        if "tools" in request.body:
            if how == "refused":
                return Failure(status=400, message="m does not support tools")
            return Reply(calls=[tool_call(tool, {"what": what}, tool) for tool, what in calls.items()])
        head = request.texts[0]
        written = next((text for start, text in replies.items() if head.startswith(start)), "")
        return Reply(text=written or "Up to five unused leave days may be carried into the next year [ID:0].")

    async with OpenAIServer(default=play) as server:
        (home / "citebot.toml").write_text(
            f'{SETTINGS}[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n[research]\ntools = true\n'
            f'tool_calls = "{how if how != "refused" else "auto"}"\n'
        )
        async with opened(home) as (operations, _):
            await told(operations, Sync())
            *steps, answer = await told(operations, Ask(question=QUESTION, research=True))
    assert isinstance(answer, Answer)
    assert {citation.document_id for citation in answer.citations} == {"handbook:leave.md"}
    found = {one.detail: one.found for one in steps if isinstance(one, Progress) and one.outcome is Outcome.DONE}
    assert found["read document: leave.md"] == 2
    assert found["list documents: leave"] == 1
    assert answer.usage.calls == len(server.requests)
    assert sum("tools" in request.body for request in server.requests) == (how != "json")


def test_limits_are_those_of_the_settings(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "citebot.toml"
    file.write_text('[llm]\nmodel = "gpt-4.1-mini"\n[research]\nrounds = 2\ndollars = 0.5\nseconds = 60\n')
    limits = limits_of(load_settings(file))
    assert (limits.rounds, limits.money, limits.seconds, limits.searches) == (2, 0.5, 60, Limits().searches)
    assert limits.price == price_of("gpt-4.1-mini")
    file.write_text('[llm]\nmodel = "llama3.1:8b-at-home"\n[research]\ndollars = 0.5\n')
    assert limits_of(load_settings(file)).price is None
    file.write_text("")
    assert limits_of(load_settings(file)) == Limits()


def test_prices_are_known_of_models_that_are_sold() -> None:
    price = price_of("gpt-4.1-mini")
    assert isinstance(price, Price)
    assert 0 < price.prompt < price.completion
    assert price_of("openai/gpt-4.1-mini") == price
    tiered = price_of("gemini-2.5-pro")
    assert tiered is not None
    assert tiered.prompt >= 1.25
    assert price_of("my-own-model") is None


@pytest.mark.parametrize(
    ("outcome", "stage", "line"),
    [
        (Outcome.DONE, "research", "Searching: leave (3 passages; without the model: away)"),
        (Outcome.NOTHING, "research", "Searching: leave (nothing found; without the model: away)"),
        (Outcome.FAILED, "research", "Searching: leave (failed: away)"),
    ],
)
def test_a_step_is_a_line(outcome: Outcome, stage: str, line: str) -> None:
    step = Progress(stage=stage, detail="leave", round=1, outcome=outcome, found=3, reason="away")
    assert step_text(step).plain == line
