"""What is done to a question before its search, by the settings, and a chat where there is nothing to search."""

import json
import pathlib

import pytest

from bots.app.options import answer_options, refine_options
from bots.requests import Ask, Sync
from bots.settings import load_settings
from bots.turn.claims.claim import Outcome
from bots.turn.options import TurnOptions, turn_options
from bots.words.sentences import word
from ragcore.errors import ConfigError
from ragcore.phrases import phrase
from ragcore.refine.refining import RefineOptions
from ragcore.types import Answer, ConversationKey, Status, Support
from tests.bots.handbook import SETTINGS, answered, opened, told
from tests.bots.turn.flows import flowing, outcome
from tests.fakes.openai_server import OpenAIServer, Reply, Request
from tests.fakes.platform import asked
from tests.fakes.virtual import run

FIRST = "How many unused leave days may be carried over?"
NEXT = "And when do they lapse?"
ALONE = "And when do unused leave days that were carried over lapse?"
CONVERSATION = ConversationKey(platform="terminal", thread="1")


@pytest.mark.soak
async def test_a_follow_up_is_searched_by_its_wording_and_a_plain_question_asks_nothing_more(
    home: pathlib.Path,
) -> None:
    def reply(request: Request) -> Reply:
        if "stands alone" in request.texts[0] or "translations" in request.texts[0] or '"question"' in request.texts[0]:
            return Reply(text=json.dumps({"question": ALONE, "translations": {"English": FIRST}}))
        return Reply(text="They lapse on 31 March [ID:0].")

    async with OpenAIServer(default=reply) as server:
        llm = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n'
        (home / "citebot.toml").write_text(f"{SETTINGS}{llm}[answer]\nrefine_seconds = 90\n")
        async with opened(home) as (operations, _):
            await told(operations, Sync())
            first = await answered(operations, Ask(question=FIRST, conversation=CONVERSATION))
            assert (first.usage.calls, len(server.requests)) == (1, 1)
            events = await told(operations, Ask(question=NEXT, conversation=CONVERSATION))
            answer = events[-1]
            assert isinstance(answer, Answer)
            assert [event.stage for event in events if isinstance(event, Status)][:2] == ["rewrite", "search"]
            assert (answer.support, answer.usage.calls) == (Support.CITED, 2)
            assert answer.question == NEXT
            wording, writing = server.requests[1], server.requests[2]
            assert FIRST in wording.texts[-1]
            assert writing.texts[-1] == NEXT
            assert ALONE not in " ".join(writing.texts)
            before = len(server.requests)
            german = Ask(
                question="Wie viele Tage Urlaub darf ich in das nächste Jahr mitnehmen?", knowledge_bases=("secret",)
            )
            await told(operations, german)
            assert "English" in server.requests[before].texts[0], "the documents of that knowledge base are in English"


def test_the_settings_arrive(tmp_path: pathlib.Path, no_settings: None) -> None:
    file = tmp_path / "citebot.toml"
    file.write_text("[answer]\n")
    assert refine_options(load_settings(file)) == RefineOptions()
    file.write_text(
        '[answer]\nrefine_multiturn = false\ncross_languages = ["de", "Chinese"]\nkeyword = true\nrefine_seconds = 1.5\n'
    )
    assert refine_options(load_settings(file)) == RefineOptions(
        multiturn=False, languages=("de", "Chinese"), keyword=True, seconds=1.5
    )


@pytest.mark.parametrize(
    "line", ["refine_seconds = 0", 'cross_languages = "German"', 'cross_languages = [""]', "plain_chat = 2"]
)
def test_a_setting_that_cannot_be_is_named(line: str, tmp_path: pathlib.Path, no_settings: None) -> None:
    file = tmp_path / "citebot.toml"
    file.write_text(f"[answer]\n{line}\n")
    with pytest.raises(ConfigError, match=line.partition(" ")[0]):
        load_settings(file)


def test_plain_chat_is_for_where_no_knowledge_base_is_set_up(tmp_path: pathlib.Path, no_settings: None) -> None:
    file = tmp_path / "citebot.toml"
    for bases, allowed in (("", True), ("[knowledge_bases.a]\n", False)):
        file.write_text(f'[answer]\nplain_chat = true\n[llm]\nmodel = "m"\n{bases}')
        assert answer_options(load_settings(file), ()).plain_chat is allowed
    file.write_text("[answer]\nplain_chat = true\n")
    assert not turn_options(load_settings(file)).plain_chat, "there is no model"


async def test_without_a_knowledge_base_the_model_answers_where_it_may(home: pathlib.Path) -> None:
    async with OpenAIServer(default=lambda _: Reply(text="100 °C.")) as server:
        llm = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n'
        question = Ask(question="At how many degrees does water boil?")
        (home / "citebot.toml").write_text(llm)
        async with opened(home) as (operations, _):
            assert (await answered(operations, question)).abstained
            assert server.requests == []
        (home / "citebot.toml").write_text(f"{llm}[answer]\nplain_chat = true\n")
        async with opened(home) as (operations, _):
            answer = await answered(operations, question)
            assert answer.raw_text == f"{phrase('plain_chat', 'en')}\n\n100 °C."
            assert (answer.support, answer.notes) == (Support.UNSUPPORTED, ())


@pytest.mark.parametrize("allowed", [False, True])
def test_in_a_chat_too(allowed: bool) -> None:
    async def talk() -> None:
        async with flowing(options=TurnOptions(plain_chat=allowed)) as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.idle()
            (text,) = flow.texts("q1")
            assert (word("no_documents") in text) is not allowed
            assert (await outcome(flow, "q1") is Outcome.NO_DOCUMENTS) is not allowed

    run(talk())
