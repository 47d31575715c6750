"""Operations that answer from a script: what the surface is tested against while the index is not the point."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from datetime import UTC, datetime

from bots.requests import (
    Ask,
    BackedUp,
    Backup,
    Check,
    Decide,
    Diagnose,
    Doubt,
    Event,
    Forget,
    Forgotten,
    Found,
    Judgement,
    ListFeedback,
    ListSources,
    ReadChunk,
    Request,
    Search,
    SourceState,
    Sync,
    Unanswered,
)
from ragcore.errors import ModelUnreachable
from ragcore.phrases import phrase
from ragcore.reports import FailedDocument, SyncProgress, SyncReport
from ragcore.types import Answer, Chunk, Citation, Delta, Location, ScoredChunk, Status, Support, Usage

NO_MODEL = phrase("no_model", "en")
CUT = phrase("length_cut", "en")
TEXT = "You may carry over **five days**. [ID:2] They lapse in *March*. [ID:0] 年假可以结转五天。[ID:2]"


def scored(number: int, text: str) -> ScoredChunk:
    return ScoredChunk(
        chunk=Chunk(
            id=f"g-{number}",
            document_id=f"handbook:leave-{number}.md",
            knowledge_base="handbook",
            ordinal=number,
            text=text,
            title="Leave",
            token_count=5,
            url=f"file:///srv/leave-{number}.md",
            heading_path=("Carry-over",),
            location=Location(anchor="carry-over"),
        ),
        score=0.9 - number / 10,
        matched=("carry", "年假"),
    )


CHUNKS = (scored(0, "Days lapse in March."), scored(1, "Nothing."), scored(2, "Carry over five days. 年假可以结转。"))


def cited(number: int, identifier: int) -> Citation:
    chunk = CHUNKS[identifier].chunk
    return Citation(
        number=number,
        id=identifier,
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        title=chunk.title,
        url=f"{chunk.url}#carry-over",
        location="Carry-over",
        quote=chunk.text,
    )


VOTE = Judgement(
    reference="0a1b2c3d",
    platform="slack",
    voter="U1",
    side="down",
    reason="outdated",
    question="How many days?",
    answer="Five days. [ID:1] Or so. [ID:0]",
    chunks=tuple(
        ReadChunk(
            id=index,
            number=number,
            chunk_id=f"g-{index}",
            document_id=f"handbook:leave-{index}.md",
            title="Leave",
            url="",
            score=0.5,
        )
        for index, number in enumerate((2, 1, 0))
    ),
    voted_at=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
)
UNANSWERED = Unanswered(
    reference="0a1b2c3e",
    platform="telegram",
    asker="7",
    question="什么是年假？",
    outcome="abstained",
    asked_at=datetime(2026, 1, 2, 3, 5, tzinfo=UTC),
)


ANSWER = Answer(
    question="How many days?", raw_text=TEXT, support=Support.CITED, citations=(cited(1, 2), cited(2, 0)), chunks=CHUNKS
)


class Scripted:
    """Answers every request from the script; ``asked`` keeps the requests."""

    def __init__(self, *, documents: int = 3, pause: float = 0.0, failing: bool = False) -> None:
        self.asked: list[Request] = []
        self.documents = documents
        self.pause = pause
        self.failing = failing
        self.found = CHUNKS

    async def run(self, request: Request) -> AsyncIterator[Event]:
        self.asked.append(request)
        match request:
            case Ask():
                async for event in self._answer(request):
                    yield event
            case Search():
                yield Found(chunks=self.found[: request.limit])
            case Sync():
                for report in self._sync(request):
                    yield report
            case ListSources():
                if self.documents >= 0:
                    yield SourceState(
                        name="handbook",
                        type="files",
                        knowledge_base="handbook",
                        documents=self.documents,
                        chunks=7,
                        last_success=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
                    )
            case ListFeedback():
                yield VOTE
                yield UNANSWERED
            case Diagnose():
                yield Check(name="database", state="ok", found="3 documents")
                yield Check(name="model", state="fail", found="the key was refused", mend="set another key")
            case Decide():
                pass
            case Backup():
                yield BackedUp(path=request.path, size=10, documents=3, chunks=7)
            case Forget():
                yield Forgotten(turns=1)

    async def _answer(self, request: Ask) -> AsyncIterator[Event]:
        yield Status(stage="search")
        await asyncio.sleep(self.pause)
        if self.failing:
            raise ModelUnreachable("no connection to http://localhost:1")
        yield Status(stage="write")
        for word in TEXT.replace(". [", ".\0[").split(" "):
            await asyncio.sleep(self.pause / 5)
            yield Delta(text=word.replace("\0", " ") + " ")
        yield Answer(
            question=request.question,
            raw_text=TEXT,
            support=Support.CITED,
            citations=(cited(1, 2), cited(2, 0)),
            chunks=CHUNKS,
            notes=(NO_MODEL, CUT),
            usage=Usage(calls=1, prompt_tokens=10, completion_tokens=5),
            timings_ms={"search": 1.23456},
        )

    def _sync(self, request: Sync) -> list[Event]:
        failed = FailedDocument(id="handbook:x.pdf", reason="it is encrypted", mend="save it without a password")
        doomed = 12 if request.full else 0
        doubts = [Doubt(id="d", source="handbook", documents=doomed)] if doomed and not request.dry_run else []
        return [
            *doubts,
            SyncProgress(source="handbook", done=1, total=2, document_id="leave.md"),
            SyncProgress(source="handbook", done=2, total=2, document_id="x.pdf"),
            SyncReport(
                source="handbook", added=1, failed=(failed,), seconds=0.5, deleted=doomed, dry_run=request.dry_run
            ),
        ]

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncGenerator["Scripted"]:
        yield self
