"""The question before the search: in words that stand alone, in the languages of the documents, with keywords.

A question that stands alone, in a language that each knowledge base holds, costs no call. Whatever takes a call runs
side by side with the others, within one time for all: what is late is dropped, and the search goes on without.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, Generic, Protocol, TypeVar

from ragcore.citations.languages import LATIN, tongue
from ragcore.citations.small_words import SMALL_WORDS
from ragcore.context import default_budget, fit_prompt
from ragcore.errors import ConfigError, ContextTooSmall, ModelError, StoreError
from ragcore.models.llm import ChatModel
from ragcore.prompts import OWN, Prompts
from ragcore.refine.conversation import shown
from ragcore.refine.followups import recent, stands_alone
from ragcore.refine.long import LONGEST
from ragcore.refine.replies import Asked, Worded, keywords_of, worded_of
from ragcore.refine.spoken import NAMES, code_of, names_of
from ragcore.tokens import Tokenizer
from ragcore.trace import degraded
from ragcore.types import Message, Question, Usage

T = TypeVar("T")

log = logging.getLogger(__name__)

TASK = "rewrite"
MOST_REFINED = LONGEST
"""Characters of a question that is put in other words: a longer one has something pasted in it, and says enough."""
MOST_LANGUAGES = 3
"""Languages that a question is translated into: each is a search of its own."""
MOST_KEYWORDS = 5
AUTO = "auto"
"""Stands for the languages of those knowledge bases that hold nothing in the question's own."""
ALL = "all"
"""Stands for all languages of the knowledge bases."""


class Languages(Protocol):
    """Knows in which languages knowledge bases are written."""

    async def of(self, knowledge_bases: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the codes of the languages of each of them, that of most chunks first; raise StoreError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineOptions:
    """Which steps there are; the settings' ``[answer]`` table.

    ``languages`` are those that a question is also searched in: ``AUTO``, ``ALL``, or languages by name or code.
    ``seconds`` is how long all of it may take.
    """

    multiturn: bool = True
    languages: tuple[str, ...] = (AUTO,)
    keyword: bool = False
    seconds: float = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What a question needs, and what is spent on telling; false where it needs nothing.

    ``leans`` on the conversation; ``languages`` are the names of those to translate it into.
    """

    leans: bool = False
    languages: tuple[str, ...] = ()
    keyword: bool = False
    seconds: float = 0.0

    def __bool__(self) -> bool:
        """Tell whether there is anything to be done."""
        return self.leans or bool(self.languages) or self.keyword


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """A question with what it is searched by; ``late`` names the steps that were dropped for the time they took."""

    question: Question
    usage: Usage = Usage()
    late: tuple[str, ...] = ()


class Refiner:
    """Puts questions in other words. Safe to share between conversations."""

    def __init__(
        self,
        *,
        model: ChatModel,
        tokenizer: Tokenizer,
        languages: Languages,
        options: RefineOptions = RefineOptions(),
        prompts: Prompts = OWN,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        """Compose.

        Args:
            model: words, translates and names keywords.
            tokenizer: counts the prompts.
            languages: knows what the knowledge bases are written in.
            options: which steps there are.
            prompts: the templates.
            today: tells the day that "yesterday" is told from.
        """
        self._model = model
        self._tokenizer = tokenizer
        self._languages = languages
        self._options = options
        self._prompts = prompts
        self._today = today

    @property
    def seconds(self) -> float:
        """Return how long all that is done to a question before its search may take."""
        return self._options.seconds

    async def steps(self, question: Question) -> Steps:
        """Return what a question needs; no model is asked."""
        began = asyncio.get_running_loop().time()
        text = question.text.strip()
        if not question.knowledge_bases or len(text) > MOST_REFINED or not any(one.isalnum() for one in text):
            return Steps()
        # In a thread: a long conversation takes milliseconds.
        leans = self._options.multiturn and not await asyncio.to_thread(stands_alone, text, question.history)
        return Steps(
            leans=leans,
            languages=await self._others(question),
            keyword=self._options.keyword,
            seconds=asyncio.get_running_loop().time() - began,
        )

    async def refine(self, question: Question, steps: Steps | None = None) -> Refined:
        """Return the question with its wordings and keywords, as far as they came in time; it never fails.

        Args:
            question: As it was asked.
            steps: What it needs, where that is known already.
        """
        steps = await self.steps(question) if steps is None else steps
        if not steps:
            return Refined(question=question)
        try:
            wording = self._wording(question, steps) if steps.leans or steps.languages else None
            keywords = self._keywords(question) if steps.keyword else None
        except ConfigError as error:
            log.warning("searching for the question as it is: %s", error)  # a template of the operator's own
            degraded("searched for the question as it is: a template cannot be used")
            return Refined(question=question)
        calls = [call for call in (wording, keywords) if call is not None]
        late = await self._in_time(calls, self._options.seconds - steps.seconds)
        if late:
            log.warning("searching without %s: not there within %g s", " and ".join(late), self._options.seconds)
            degraded(f"searched without {' and '.join(late)}: not there in time")
        refined = replace(
            question,
            wordings=_wordings(question.text, wording.result) if wording else (),
            keywords=keywords.result if keywords else (),
        )
        return Refined(question=refined, usage=sum((call.usage for call in calls), Usage()), late=late)

    async def _others(self, question: Question) -> tuple[str, ...]:
        """Return the names of the languages that the question is to be searched in besides its own."""
        wanted = self._options.languages
        if not wanted:
            return ()
        around = [message.text[:MOST_REFINED] for message in reversed(recent(question.history))]
        asked = tongue(question.text, around)
        # A question whose words don't tell its language may be in any of the documents' in its script.
        own = frozenset(SMALL_WORDS) if asked == LATIN else frozenset({asked})
        others: list[str] = []
        for name in wanted:
            if name.casefold() in {AUTO, ALL}:
                held = (await self._held(question)).values()
                missed = (codes for codes in held if name.casefold() == ALL or own.isdisjoint(codes))
                others += names_of([code for codes in missed for code in codes if code not in own])
            elif (code := code_of(name)) != asked:
                others.append(NAMES.get(code, name))
        return tuple(dict.fromkeys(others))[:MOST_LANGUAGES]

    async def _held(self, question: Question) -> Mapping[str, tuple[str, ...]]:
        """Return the languages of each knowledge base, none where that cannot be told in time."""
        try:
            async with asyncio.timeout(self._options.seconds):
                return await self._languages.of(question.knowledge_bases)
        except (StoreError, TimeoutError) as error:
            log.warning("searching in no other language: %s: %s", type(error).__name__, error)
            degraded("searched in no other language: which ones there are could not be told")
            return {}

    def _wording(self, question: Question, steps: Steps) -> "_Call[Worded]":
        """Return the call for a stand-alone wording, translations, or both."""
        said = shown(question.history) if steps.leans else ""
        rules = self._prompts.render(
            "rewrite", alone=steps.leans, languages=list(steps.languages), today=self._today().isoformat()
        )
        asked = Asked(
            question=question.text.strip(), said=said, rules=rules, alone=steps.leans, languages=steps.languages
        )
        return _Call(
            name="other words",
            rules=rules,
            material=self._prompts.render("rewrite_question", said=said, question=asked.question),
            read=lambda reply: worded_of(reply, asked),
            result=Worded(),
            question=asked.question,
        )

    def _keywords(self, question: Question) -> "_Call[tuple[str, ...]]":
        return _Call(
            name="keywords",
            rules=self._prompts.render("question_keywords", count=MOST_KEYWORDS),
            material=question.text.strip(),
            read=lambda reply: keywords_of(reply, question.text, MOST_KEYWORDS),
            result=(),
        )

    async def _in_time(self, calls: "Sequence[_Call[Any]]", seconds: float) -> tuple[str, ...]:
        """Ask side by side, and break off what is late; return the names of these."""
        asking = {asyncio.create_task(self._ask(call)): call.name for call in calls}
        try:
            done, late = await asyncio.wait(asking, timeout=max(0.0, seconds))
        finally:
            # Nothing goes on behind the search, also where whoever asked has gone.
            for task in asking:
                task.cancel()
            await asyncio.gather(*asking, return_exceptions=True)
        for task in done:
            task.result()
        return tuple(name for task, name in asking.items() if task in late)

    async def _ask(self, call: "_Call[Any]") -> None:
        """Ask the model; nothing comes of a call that fails."""
        try:
            fitted = await asyncio.to_thread(
                fit_prompt,
                [Message(role="system", text=call.rules), Message(role="user", text=call.material)],
                default_budget(self._model.context_window),
                reserve=self._model.max_tokens,
                tokenizer=self._tokenizer,
            )
            # A call that is broken off tells nothing of what it took; it has read its prompt.
            call.usage = Usage(calls=1, prompt_tokens=fitted.count)
            reply, call.usage = await self._model.complete(fitted.messages, task=TASK)
        except (ModelError, ContextTooSmall) as error:
            log.warning("searching without %s: %s: %s", call.name, type(error).__name__, error)
            degraded(f"searched without {call.name}: asking for it failed")
            call.usage = Usage(calls=call.usage.calls)
            return
        nothing = call.result
        call.result = await asyncio.to_thread(call.read, reply)
        if call.question and call.result == nothing and not _repeats(reply, call.question):
            log.warning("searching without %s: what was written for it can't be used", call.name)
            degraded(f"searched without {call.name}: what was written for it could not be used")


@dataclass(slots=True, kw_only=True)
class _Call(Generic[T]):
    """What the model is asked, how its reply is read, what came of it so far, and what that took.

    ``question``: what a reply may repeat if there is nothing to change; "" where a reply may well say nothing.
    """

    name: str
    rules: str
    material: str
    read: Callable[[str], T]
    result: T
    question: str = ""
    usage: Usage = Usage()


def _repeats(reply: str, question: str) -> bool:
    return " ".join(question.split()).casefold() in " ".join(reply.split()).casefold()


def _wordings(text: str, worded: Worded) -> tuple[str, ...]:
    """Return what is searched for in place of the question; nothing where it is the question alone."""
    if not worded.alone and not worded.translations:
        return ()
    return (worded.alone or text, *worded.translations)
