"""A platform in memory, a scripted model and a real database of claims, put together as a process does."""

import asyncio
import pathlib
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bots.counting import by_document
from bots.given import with_given
from bots.platform import Platform, View
from bots.rendering.parse import parse_answer
from bots.rendering.tree import Document
from bots.requests import (
    Ask,
    Describe,
    Described,
    Event,
    Forget,
    Forgotten,
    Found,
    ListSources,
    Recall,
    Recalled,
    Request,
    Search,
    Summarise,
    Sync,
)
from bots.service import Backend
from bots.turn.claims import Claims
from bots.turn.claims.claim import Outcome
from bots.turn.feedback import Feedback
from bots.turn.options import TurnOptions
from bots.turn.people.ledger import Ledger
from bots.turn.turns import Turns
from ragcore.errors import CitebotError
from ragcore.gist.summarising import Summariser
from ragcore.reports import SyncReport
from ragcore.stores.database import Database
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, Citation, Delta, Status, Support, Usage
from tests.bots.turn.helpers import LoopClock
from tests.fakes.operations import CHUNKS, cited
from tests.fakes.platform import FakePlatform, Server, asked

CLAIMS = "claims.sqlite"
"""The file of the claims in a process's folder."""
OPTIONS = TurnOptions(readers_of={"handbook": ("*",)}, admins=("discord:@9",))

SEEN = "ERR_CONN_104\n\nA dialog box."

MANNERS = ["edit", "stream", "draft", "none"]
"""How a platform shows words that grow."""

Script = Callable[[Ask], AsyncIterator[Event]]


def words_for(question: str) -> str:
    """Return the answer to a question: it names all of it, in many words."""
    return " ".join(f"The answer to {question!r} has five days." for _ in range(3))


async def answering(request: Ask, pause: float = 0.2, tail: str = "") -> AsyncIterator[Event]:
    """Answer in many pieces, the last of them ``tail``."""
    yield Status(stage="search")
    await asyncio.sleep(pause)
    text = words_for(request.question) + tail
    for word in text.split(" "):
        await asyncio.sleep(pause / 10)
        yield Delta(text=f"{word} ")
    yield answer_to(request.question, text)


def answer_to(question: str, text: str) -> Answer:
    citations: tuple[Citation, ...] = (cited(1, 2),)
    return Answer(
        question=question, raw_text=f"{text} [ID:2]", support=Support.CITED, citations=citations, chunks=CHUNKS
    )


def document_of(answer: Answer) -> Document:
    """Return what is shown of an answer, without a notice."""
    return with_given(parse_answer(answer), answer.citations, by_document(answer.chunks), "en")


class Model:
    """A backend that answers by a script, and remembers as the real one does."""

    def __init__(self, script: Script = answering) -> None:
        self.script = script
        self.asked: list[Request] = []
        self.turns: dict[str, Recalled] = {}
        self.seen: str | CitebotError = SEEN
        """What it sees in any picture."""
        self.looks = 0.0
        """Seconds that this takes."""

    async def run(self, request: Request) -> AsyncIterator[Event]:
        self.asked.append(request)
        match request:
            case Ask():
                async for event in self.script(request):
                    if isinstance(event, Answer):
                        told = Recalled(
                            question=request.question,
                            answer=event.raw_text,
                            citations=event.citations,
                            allowed_urls=event.allowed_urls,
                            given=by_document(event.chunks),
                        )
                        self.turns[request.reference] = told
                    yield event
            case Recall():
                if request.reference in self.turns:
                    yield self.turns[request.reference]
            case Forget():
                forgotten = [self.turns.pop(request.reference, None)] if request.reference else list(self.turns)
                yield Forgotten(turns=len(forgotten))
            case Summarise():
                summariser = Summariser(model=None, tokenizer=offline_tokenizer())
                async for told in summariser.summarise(request.messages, request.language):
                    yield told
            case Search():
                yield Found(chunks=CHUNKS[: request.limit])
            case Describe():
                await asyncio.sleep(self.looks)
                if isinstance(self.seen, CitebotError):
                    raise self.seen
                yield Described(text=self.seen, usage=Usage(calls=1, prompt_tokens=9, completion_tokens=3))
            case ListSources():
                return
            case Sync():
                yield SyncReport(source=request.sources[0])

    @property
    def questions(self) -> list[str]:
        return [request.question for request in self.asked if isinstance(request, Ask)]


@dataclass(slots=True)
class Flow:
    """All parts of one process."""

    turns: Turns[Any]
    platform: FakePlatform
    server: Server
    model: Model
    claims: Claims
    database: Database
    people: Ledger

    async def idle(self) -> None:
        """Wait until no turn is under way."""
        while self.turns.running():  # noqa: ASYNC110 (virtual time)
            await asyncio.sleep(0.05)

    def texts(self, message: str) -> list[str]:
        """Return what stands in answer to a message, part by part."""
        return [one.text for one in self.server.standing(message)]


BEGINNING = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def loop_clock() -> LoopClock:
    """Return a clock of the database's that goes by the loop's own seconds."""
    return LoopClock(asyncio.get_running_loop())


def virtual_now() -> datetime:
    """Return the time by the loop's own seconds."""
    return BEGINNING + timedelta(seconds=asyncio.get_running_loop().time() - 1_000)


@asynccontextmanager
async def flowing(
    where: str | pathlib.Path | None = None,
    *,
    server: Server | None = None,
    model: Model | None = None,
    options: TurnOptions = OPTIONS,
    now: Callable[[], datetime] = virtual_now,
    alone: bool = True,
    **manners: Any,
) -> AsyncIterator[Flow]:
    """Run one process."""
    server = server or Server()
    model = model or Model()
    # A process that is killed leaves its folder behind: it has one of its own only where it needs it.
    folder = None if where else tempfile.TemporaryDirectory()
    database = await Database.open(where or pathlib.Path(folder.name if folder else "") / CLAIMS)
    claims = Claims(database)
    platform = FakePlatform(server, **manners)
    people = Ledger(database, clock=loop_clock())
    turns = Turns(
        platform,
        backend=model,
        claims=claims,
        feedback=Feedback(database),
        options=options,
        alone=alone,
        now=now,
        people=people,
    )
    try:
        async with turns:
            yield Flow(turns, platform, server, model, claims, database, people)
    finally:
        await database.close()
        if folder:
            folder.cleanup()


@asynccontextmanager
async def turning(
    platform: Platform[Any], backend: Backend, options: TurnOptions, folder: pathlib.Path, *, alone: bool = True
) -> AsyncIterator[Turns[Any]]:
    """Run the turns of a real platform."""
    database = await Database.open(folder / CLAIMS)
    try:
        async with Turns(
            platform,
            backend=backend,
            claims=Claims(database),
            feedback=Feedback(database),
            options=options,
            alone=alone,
        ) as turns:
            yield turns
    finally:
        await database.close()


def final(question: str) -> str:
    """Return what stands in the end in answer to a question, as the platform in memory shows it."""
    shown = FakePlatform(Server(), longest=10**6)
    view = View(document=document_of(answer_to(question, words_for(question))), reference="")
    return shown.render(view)[0].text


async def outcome(flow: Flow, message: str) -> Outcome | None:
    """Return how the question of a message ended, None before it did."""
    claims = await flow.claims.by_message(asked("").conversation, message)
    return claims[0].outcome


__all__ = [
    "CLAIMS",
    "MANNERS",
    "OPTIONS",
    "SEEN",
    "Flow",
    "Model",
    "answer_to",
    "answering",
    "document_of",
    "final",
    "flowing",
    "outcome",
    "replace",
    "turning",
    "words_for",
]
