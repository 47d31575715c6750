"""A question before its search: what it costs no call for, what runs side by side, and what is late."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any, TypeVar

import pytest

from ragcore.errors import ConfigError, ModelUnreachable, StoreError
from ragcore.models.llm import ChatModel
from ragcore.prompts import Prompts
from ragcore.refine.refining import MOST_LANGUAGES, MOST_REFINED, Refined, RefineOptions, Refiner
from ragcore.tokens import offline_tokenizer
from ragcore.trace import Recorder, recorded
from ragcore.types import Message, Question, Usage
from tests.fakes.virtual import VirtualLoop

T = TypeVar("T")
SPENT = Usage(calls=1, prompt_tokens=9, completion_tokens=3)
SAID = (
    Message(role="user", text="Who leads the Lisbon office?", sent_at=datetime(2026, 11, 20, 9, tzinfo=UTC)),
    Message(role="assistant", text="Dr. Maria Santos leads the Lisbon office [ID:0]."),
)
FOLLOWS = Question(text="When did she join?", knowledge_bases=("kb",), history=SAID)
ALONE = "When did Dr. Maria Santos join?"
PLAIN = replace(FOLLOWS, text="When does the Lisbon office open in the morning?")
GERMAN = "Wann öffnet das Büro in Lissabon am Morgen?"
KEYWORDS = '["opening hours"]'


@dataclass
class Wording:
    """A chat model with one reply to who asks for other words and one to who asks for keywords; late or failing."""

    wording: str | Exception = ""
    keywords: str | Exception = "[]"
    seconds: float = 0.0
    keyword_seconds: float = 0.0
    context_window: int = 8192
    max_tokens: int = 500
    name: str = "fake"
    prompts: list[Sequence[Message]] = field(default_factory=list)
    broken_off: int = 0

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        assert task == "rewrite"
        self.prompts.append(messages)
        words = "translations" in messages[0].text or '"question"' in messages[0].text
        try:
            await asyncio.sleep(self.seconds if words else self.keyword_seconds)
        except asyncio.CancelledError:
            self.broken_off += 1
            raise
        reply = self.wording if words else self.keywords
        if isinstance(reply, Exception):
            raise reply
        return reply, SPENT

    def stream(self, messages: Sequence[Message], *, task: str = "answer") -> object:
        raise AssertionError("nothing is streamed")


@dataclass
class Held:
    """Languages of knowledge bases, as given; or what fails."""

    held: tuple[str, ...] | Exception = ("en",)
    seconds: float = 0.0
    wiki: tuple[str, ...] = ()

    async def of(self, knowledge_bases: Sequence[str]) -> dict[str, tuple[str, ...]]:
        assert knowledge_bases == ("kb",)
        await asyncio.sleep(self.seconds)
        if isinstance(self.held, Exception):
            raise self.held
        return {"kb": self.held, "wiki": self.wiki}


def virtually(work: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """Return what comes of it, and how many seconds it took of a time that only waiting makes pass."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        began = runner.get_loop().time()
        return runner.run(work), runner.get_loop().time() - began


def refined(
    model: Wording, question: Question, options: RefineOptions | None = None, held: Held | None = None
) -> tuple[Refined, float]:
    chat: ChatModel = model  # type: ignore[assignment]
    refiner = Refiner(
        model=chat,
        tokenizer=offline_tokenizer(),
        languages=held or Held(),
        options=options or RefineOptions(),
        today=lambda: date(2026, 11, 23),
    )
    return virtually(refiner.refine(question))


def worded(question: str = "", **translations: str) -> str:
    return json.dumps({"question": question, "translations": translations}, ensure_ascii=False)


@pytest.mark.parametrize(
    "question",
    [
        PLAIN,
        replace(FOLLOWS, history=()),
        replace(PLAIN, text="PTO policy"),
        replace(PLAIN, text="👍"),
        replace(PLAIN, text=" \n"),
        replace(FOLLOWS, text="she " * 10_000),
        replace(FOLLOWS, knowledge_bases=()),
    ],
    ids=["alone", "first", "two words", "emoji", "blank", "long", "nothing to search"],
)
def test_no_model_is_asked_for_a_question_that_needs_nothing(question: Question) -> None:
    model = Wording(worded(ALONE))
    assert refined(model, question)[0] == Refined(question=question)
    assert model.prompts == []


def test_a_follow_up_is_searched_in_words_that_stand_alone() -> None:
    model = Wording(worded(ALONE))
    found, _ = refined(model, FOLLOWS)
    assert found == Refined(question=replace(FOLLOWS, wordings=(ALONE,)), usage=SPENT)
    assert found.question.asked == ALONE
    ((system, asked),) = model.prompts
    assert "2026-11-23" in system.text
    assert "translations" not in system.text
    assert "user (2026-11-20): Who leads the Lisbon office?" in asked.text
    assert "assistant: Dr. Maria Santos leads the Lisbon office." in asked.text, "without its marker"
    assert asked.text.endswith(FOLLOWS.text)
    off = Wording(worded(ALONE))
    assert refined(off, FOLLOWS, RefineOptions(multiturn=False))[0] == Refined(question=FOLLOWS)
    assert off.prompts == []


def test_a_question_is_translated_into_the_languages_of_the_documents_it_is_not_in() -> None:
    model = Wording(worded(German=GERMAN))
    found, _ = refined(model, PLAIN, RefineOptions(languages=("all",)), Held(("de", "en")))
    assert found.question.wordings == (PLAIN.text, GERMAN)
    ((system, asked),) = model.prompts
    assert "German" in system.text
    assert "English" not in system.text
    assert "stand" not in system.text, "no stand-alone words are asked for"
    assert "Lisbon office [" not in asked.text
    assert "Santos" not in asked.text, "what was said before is not shown where nothing leans on it"


def test_wording_and_translations_take_one_call() -> None:
    model = Wording(worded(ALONE, German="Wann kam Dr. Maria Santos dazu?", Chinese="Maria Santos 博士什么时候加入？"))
    found, _ = refined(model, FOLLOWS, RefineOptions(languages=("all",)), Held(("de", "en", "zh")))
    assert found.question.wordings == (ALONE, "Wann kam Dr. Maria Santos dazu?", "Maria Santos 博士什么时候加入？")
    assert (len(model.prompts), found.usage) == (1, SPENT)


def test_a_knowledge_base_that_holds_the_language_of_the_question_asks_for_no_other() -> None:
    model = Wording(worded(German=GERMAN))
    assert refined(model, PLAIN, held=Held(("de", "en")))[0].question == PLAIN
    assert model.prompts == []
    found, _ = refined(model, PLAIN, held=Held(("en", "zh"), wiki=("de",)))
    assert found.question.wordings == (PLAIN.text, GERMAN)
    assert "Chinese" not in model.prompts[0][0].text


def test_which_languages_are_searched_is_the_settings_word() -> None:
    model = Wording(worded(German=GERMAN))
    named = RefineOptions(languages=("German", "english", "de"))
    assert refined(model, PLAIN, named, Held(("zh",)))[0].question.wordings == (PLAIN.text, GERMAN)
    assert "Chinese" not in model.prompts[0][0].text
    none = RefineOptions(languages=())
    assert refined(Wording(worded(German=GERMAN)), PLAIN, none, Held(("de",)))[0].question == PLAIN
    many = Wording(worded(German=GERMAN))
    refined(many, PLAIN, held=Held(("de", "zh", "fr", "es", "ja")))
    assert "French" in many.prompts[0][0].text
    assert "Spanish" not in many.prompts[0][0].text, f"at most {MOST_LANGUAGES}"


def test_words_that_tell_no_language_may_be_in_any_of_their_script() -> None:
    model = Wording(worded(Chinese="年假政策"))
    short = replace(PLAIN, text="PTO policy", history=())
    assert refined(model, short, held=Held(("de", "en")))[0].question == short
    assert refined(model, short, held=Held(("de",), wiki=("zh",)))[0].question.wordings == ("PTO policy", "年假政策")
    assert "German" not in model.prompts[0][0].text
    refined(model, replace(PLAIN, text="PTO policy"), held=Held(("de",)))
    assert "German" in model.prompts[1][0].text, "the conversation is in English"
    refined(model, replace(short, text="Wie viele Urlaubstage verfallen Ende März?"))
    assert "English" in model.prompts[2][0].text, "one small word tells it, where it is no language of the documents"


def test_a_failing_look_at_the_languages_leaves_the_rest() -> None:
    found, _ = refined(Wording(worded(ALONE)), FOLLOWS, held=Held(StoreError("gone")))
    assert found.question.wordings == (ALONE,)
    found, took = refined(Wording(worded(ALONE)), FOLLOWS, held=Held(seconds=60.0))
    assert (found.question, found.late, took) == (FOLLOWS, ("other words",), 3.0), "the time is one for all"


def test_calls_run_side_by_side() -> None:
    model = Wording(worded(ALONE), KEYWORDS, seconds=2.0, keyword_seconds=2.0)
    found, took = refined(model, FOLLOWS, RefineOptions(keyword=True))
    assert found.question == replace(FOLLOWS, wordings=(ALONE,), keywords=("opening hours",))
    assert (found.usage, took) == (SPENT + SPENT, 2.0)


@pytest.mark.parametrize("late", ["other words", "keywords"])
def test_what_is_late_is_broken_off_and_the_rest_counts(late: str) -> None:
    slow = {"other words": "seconds", "keywords": "keyword_seconds"}[late]
    model = replace(Wording(worded(ALONE), KEYWORDS), **{slow: 60.0})
    found, took = refined(model, FOLLOWS, RefineOptions(keyword=True, seconds=1.5))
    assert (took, found.late, model.broken_off) == (1.5, (late,), 1)
    assert bool(found.question.wordings) is (late == "keywords")
    assert bool(found.question.keywords) is (late == "other words")
    assert found.question.text == FOLLOWS.text
    assert (found.usage.calls, found.usage.completion_tokens) == (2, SPENT.completion_tokens)
    assert found.usage.prompt_tokens > SPENT.prompt_tokens, "a call that is broken off has read its prompt"


@pytest.mark.parametrize(
    "model",
    [
        Wording(ModelUnreachable("gone"), ModelUnreachable("gone")),
        Wording("I'd rather not.", "Neither."),
        Wording("", ""),
        Wording(worded(ALONE), KEYWORDS, context_window=60),
    ],
    ids=["fails", "prose", "empty", "small"],
)
def test_a_model_that_is_no_use_changes_nothing(model: Wording) -> None:
    found, _ = refined(model, FOLLOWS, RefineOptions(keyword=True), Held(("de",)))
    assert (found.question, found.late) == (FOLLOWS, ())


def test_a_broken_template_of_the_operators_own_changes_nothing(tmp_path: Any) -> None:
    (tmp_path / "rewrite.j2").write_text("{# inputs: nonsense -#}\n{{ nonsense }}")
    with pytest.raises(ConfigError):
        Prompts(tmp_path).render("rewrite")
    chat: Any = Wording(worded(ALONE))
    refiner = Refiner(model=chat, tokenizer=offline_tokenizer(), languages=Held(), prompts=Prompts(tmp_path))
    assert virtually(refiner.refine(FOLLOWS))[0] == Refined(question=FOLLOWS)


def test_who_goes_away_leaves_no_call_behind() -> None:
    model = Wording(worded(ALONE), KEYWORDS, seconds=60.0, keyword_seconds=60.0)
    chat: Any = model
    options = RefineOptions(keyword=True, seconds=30.0)
    refiner = Refiner(model=chat, tokenizer=offline_tokenizer(), languages=Held(), options=options)

    async def leave() -> None:
        asking = asyncio.create_task(refiner.refine(FOLLOWS))
        await asyncio.sleep(5.0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert asyncio.all_tasks() == {asyncio.current_task()}

    virtually(leave())
    assert model.broken_off == 2


def test_a_long_past_and_a_long_question_cost_little() -> None:
    told = tuple(
        Message(role="user" if number % 2 else "assistant", text="Dr. Maria Santos leads Lisbon. " * 500)
        for number in range(100)
    )
    model = Wording(worded("What does Dr. Maria Santos lead?"))
    began = time.perf_counter()
    refined(model, replace(FOLLOWS, text="What does she lead?", history=told))
    refined(model, replace(FOLLOWS, text="she " * (MOST_REFINED // 4 + 1), history=told))
    assert time.perf_counter() - began < 5.0
    assert [len(asked.text) < 6_000 for _, asked in model.prompts] == [True]


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (worded(ALONE), False),
        (worded(FOLLOWS.text), False),
        ("Visit https://evil.example and ask @channel what is paid?", True),
        ("", True),
    ],
)
def test_a_reply_that_is_not_believed_is_told(reply: str, told: bool) -> None:
    recorder = Recorder()

    async def asked() -> AsyncGenerator[Refined]:
        chat: ChatModel = Wording(reply)  # type: ignore[assignment]
        refiner = Refiner(model=chat, tokenizer=offline_tokenizer(), languages=Held())
        yield await refiner.refine(FOLLOWS)

    async def whole() -> list[Refined]:
        return [one async for one in recorded(asked(), recorder)]

    (found,) = asyncio.run(whole())
    assert bool(found.question.wordings) == (reply == worded(ALONE))
    assert recorder.went_well is not told
