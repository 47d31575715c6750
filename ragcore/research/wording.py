"""What the questions of a research are searched by beside their own words: words that stand alone, other languages.

Asked for while the research goes on: for the question itself beside the planning, for what was planned in one call a
round. What is late, or over a limit, is left out, and the search goes on with the words as they are.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from ragcore.errors import ConfigError
from ragcore.refine.conversation import shown
from ragcore.refine.long import searched_of
from ragcore.refine.refining import Refiner, Steps
from ragcore.refine.replies import Asked, translations_of, worded_of
from ragcore.research.asking import Asker, Reply
from ragcore.trace import degraded
from ragcore.types import Question, Usage

log = logging.getLogger(__name__)

SHARE = 0.2
"""Of the time for searching that is left so much may pass before a search for the sake of its wording: a model on small
hardware takes longer for one call than somebody waits for a plain answer's search."""


@dataclass(slots=True, kw_only=True)
class _Worded:
    """Wordings of questions, and what they took as long as nobody has counted it."""

    wordings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    usage: Usage = Usage()


class Wordings:
    """The wordings of one research; ``close`` leaves nothing running."""

    def __init__(self, asker: Asker, refiner: Refiner | None) -> None:
        """Ask through ``asker``, so that it counts; without a ``refiner``, which tells what is needed, do nothing."""
        self._asker = asker
        self._refiner = refiner if asker.model is not None else None
        self._steps: asyncio.Task[Steps] | None = None
        self._asking: dict[str, asyncio.Task[_Worded]] = {}

    def begin(self, question: Question) -> None:
        """Ask for what the question itself needs."""
        if self._refiner is not None:
            self._asking[question.text] = asyncio.ensure_future(self._own(question, self._refiner))

    def expect(self, question: Question, asked: Sequence[str]) -> None:
        """Ask for what the parts of a question need that are searched for next."""
        if self._refiner is not None and asked:
            task = asyncio.ensure_future(self._translated(question, asked, self._refiner))
            self._asking |= dict.fromkeys(asked, task)

    async def of(self, asked: str) -> tuple[tuple[str, ...], Usage]:
        """Return what is searched for in place of the words as they are, () where that is they alone; and what it took.

        What several share is told as taken once.
        """
        task = self._asking.get(asked)
        if task is None:
            return (), Usage()
        await asyncio.wait({task})  # a search that is broken off ends nothing that others wait for
        worded = task.result()
        usage, worded.usage = worded.usage, Usage()
        return worded.wordings.get(asked, ()), usage

    async def close(self) -> None:
        """Break off what is under way."""
        tasks = {*self._asking.values(), *((self._steps,) if self._steps else ())}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _needed(self, question: Question, refiner: Refiner) -> Steps:
        if self._steps is None:
            self._steps = asyncio.ensure_future(_steps(question, refiner))
        await asyncio.wait({self._steps})
        return self._steps.result()

    async def _own(self, question: Question, refiner: Refiner) -> _Worded:
        """Return the question in words that stand alone and in other languages, as far as it needs them.

        Of a long one it is the piece by which it is searched that is put in other words.
        """
        steps = await self._needed(question, refiner)
        if not steps.leans and not steps.languages:
            return _Worded()
        prompts, own = self._asker.prompts, await asyncio.to_thread(searched_of, question.text)
        said, text = shown(question.history) if steps.leans else "", own.strip()
        inputs: dict[str, Any] = {"alone": steps.leans, "languages": list(steps.languages), "today": _today()}

        def read(reply: str) -> dict[str, tuple[str, ...]]:
            rules = prompts.render("rewrite", **inputs)
            asked = Asked(question=text, said=said, rules=rules, alone=steps.leans, languages=steps.languages)
            worded = worded_of(reply, asked)
            found = (worded.alone or own, *worded.translations)
            return {question.text: found} if found != (own,) else {}

        return await self._read(
            lambda: self._asker.ask("rewrite", prompts.render("rewrite_question", said=said, question=text), **inputs),
            read,
        )

    async def _translated(self, question: Question, asked: Sequence[str], refiner: Refiner) -> _Worded:
        """Return the parts of a question with their translations."""
        languages = (await self._needed(question, refiner)).languages
        if not languages:
            return _Worded()
        material = "\n".join(f"{number}. {one}" for number, one in enumerate(asked, start=1))
        inputs: dict[str, Any] = {"languages": list(languages)}

        def read(reply: str) -> dict[str, tuple[str, ...]]:
            rules = self._asker.prompts.render("translate_questions", **inputs)
            translations = translations_of(reply, asked, languages, rules)
            return {one: (one, *found) for one, found in zip(asked, translations, strict=True) if found}

        return await self._read(lambda: self._asker.ask("translate_questions", material, **inputs), read)

    async def _read(
        self, ask: Callable[[], Awaitable[Reply]], read: Callable[[str], dict[str, tuple[str, ...]]]
    ) -> _Worded:
        left = self._asker.meter.end_of_rounds - asyncio.get_running_loop().time()
        seconds = max(0.0, SHARE * left)
        try:
            async with asyncio.timeout(seconds):
                reply = await ask()
        except TimeoutError:
            log.warning("researching without other words: not there within %g s", seconds)
            degraded("searched without other words: not there in time")
            return _Worded(usage=Usage(calls=1))
        except ConfigError as error:  # a template of the operator's own
            log.warning("researching without other words: %s", error)
            degraded("searched without other words: a template cannot be used")
            return _Worded()
        if reply.text is None:
            degraded("searched without other words: asking for them failed")
            return _Worded(usage=reply.usage)
        return _Worded(wordings=await asyncio.to_thread(read, reply.text), usage=reply.usage)


async def _steps(question: Question, refiner: Refiner) -> Steps:
    """Return what a question needs, or of a long one the piece by which it is searched."""
    piece = await asyncio.to_thread(searched_of, question.text)
    return await refiner.steps(replace(question, text=piece))


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
