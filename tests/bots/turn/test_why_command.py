"""The command ``why`` in a chat: for admins alone, about the answer that is replied to or the newest one there."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bots.platform import Asker
from bots.requests import Event, Explained, Request, Why
from bots.words.sentences import word
from ragcore.trace import Recorder
from ragcore.types import Answer, Message, Support
from tests.bots.turn.flows import Model, flowing
from tests.fakes.platform import asked
from tests.fakes.virtual import run

ADMIN, OTHER = Asker(id="9", language="en"), Asker(id="U1", language="en")


class Knowing(Model):
    """Knows how one answer came about."""

    def __init__(self, *, known: bool = True) -> None:
        super().__init__()
        self.known = known
        self.whys = list[Why]()

    async def run(self, request: Request) -> AsyncIterator[Event]:
        if not isinstance(request, Why):
            async for event in super().run(request):
                yield event
            return
        self.whys.append(request)
        if self.known:
            recorder = Recorder()
            recorder.call("answer", "m", [Message(role="user", text="The rendered prompt")]).failure = ""
            answer = Answer(question="What?", raw_text="That.", support=Support.CITED)
            yield Explained(reference="aaaa0001", trace=recorder.trace(answer))


def told_to(asker: Asker, text: str, model: Knowing, *, private: bool = True, goes_on: str = "") -> str:
    async def talk() -> str:
        async with flowing(model=model) as flow:
            incoming = replace(asked(text), asker=asker, private=private, goes_on=goes_on)
            await flow.turns.receive(incoming)
            await flow.idle()
            (told,) = flow.texts("q1")
            return str(told)

    return run(talk())


@pytest.mark.parametrize("private", [True, False])
def test_an_admin_is_told_and_the_prompt_where_nobody_else_sees_it(private: bool) -> None:
    model = Knowing()
    told = told_to(ADMIN, "/why", model, private=private)
    assert "Why this answer" in told
    assert "1 model call" in told
    assert ("The rendered prompt" in told) is private
    (why,) = model.whys
    assert why.reference == ""
    assert why.audience is not None, "never as the operator"
    assert why.person.endswith("@9") is private, "what they alone saw is told where they alone see it"


def test_an_answer_may_be_named() -> None:
    model = Knowing()
    told_to(ADMIN, "/why AAAA0001", model)
    assert [why.reference for why in model.whys] == ["aaaa0001"]


def test_nobody_else_is_told() -> None:
    model = Knowing()
    assert word("why_admins") in told_to(OTHER, "/why", model)
    assert not model.whys


def test_what_is_not_known_any_more_is_told_so() -> None:
    assert word("why_gone") in told_to(ADMIN, "/why", Knowing(known=False))


@pytest.mark.parametrize("text", ["why", "why?", "/why is that"])
def test_a_question_that_begins_with_the_word_is_a_question(text: str) -> None:
    model = Knowing()
    told_to(ADMIN, text, model)
    assert not model.whys
