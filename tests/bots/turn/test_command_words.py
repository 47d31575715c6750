"""What the commands answer, in the asker's language."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bots.platform import Asker
from bots.requests import Event, ListSources, Request, SourceState
from bots.words.sentences import word
from tests.bots.turn.flows import Model, flowing
from tests.fakes.platform import asked
from tests.fakes.virtual import run


class Shelves(Model):
    """One source with one document, read two hours ago, and one that was never read."""

    async def run(self, request: Request) -> AsyncIterator[Event]:
        if isinstance(request, ListSources):
            read = datetime.now(UTC) - timedelta(hours=2, minutes=5)
            yield SourceState(
                name="wiki", type="files", knowledge_base="handbook", documents=1, chunks=9, last_success=read
            )
            yield SourceState(name="notes", type="files", knowledge_base="handbook", documents=0, chunks=0)
            return
        async for event in super().run(request):
            yield event


@pytest.mark.parametrize(
    ("language", "text", "lines"),
    [
        ("en", "sources", ["wiki: 1 document, read 2 h ago", "notes: 0 documents, not read yet"]),
        ("zh", "来源", ["wiki：1 篇文档，2 小时前读取", "notes：0 篇文档，尚未读取"]),
        ("de", "Quellen", ["wiki: 1 Dokument, gelesen vor 2 h", "notes: 0 Dokumente, noch nicht gelesen"]),
    ],
)
def test_each_source_is_told_with_its_documents_and_their_age(language: str, text: str, lines: list[str]) -> None:
    async def talk() -> None:
        async with flowing(model=Shelves()) as flow:
            await flow.turns.receive(replace(asked(text), asker=Asker(id="U1", language=language)))
            await flow.idle()
            (told,) = flow.texts("q1")
            assert [
                line for line in re.sub(r"[*•-] ?|\*", "", told).splitlines() if "wiki" in line or "notes" in line
            ] == lines

    run(talk())


def test_help_does_not_suggest_itself() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            await flow.turns.receive(asked("help"))
            await flow.idle()
            assert flow.platform.suggested == [(word("sources_prompt"),)]

    run(talk())
