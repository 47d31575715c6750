"""What the commands answer, in the asker's language."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bots.platform import Asker
from bots.requests import Event, ListSources, Request, SourceState
from bots.words.sentences import word
from ragcore.reports import Fault
from tests.bots.turn.flows import Model, flowing
from tests.fakes.platform import asked
from tests.fakes.virtual import run


class Shelves(Model):
    """One source with one document, read two hours ago; one that was never read; one refused, and one behind."""

    async def run(self, request: Request) -> AsyncIterator[Event]:
        if isinstance(request, ListSources):
            read = datetime.now(UTC) - timedelta(hours=2, minutes=5)
            yield SourceState(
                name="wiki", type="files", knowledge_base="handbook", documents=1, chunks=9, last_success=read
            )
            yield SourceState(name="notes", type="files", knowledge_base="handbook", documents=0, chunks=0)
            yield SourceState(
                name="chat",
                type="slack",
                knowledge_base="handbook",
                documents=7,
                chunks=8,
                last_success=read,
                last_error="xoxb-1 was refused by https://slack.example",
                fault=Fault.AUTH,
                is_paused=True,
            )
            yield SourceState(
                name="site",
                type="web",
                knowledge_base="handbook",
                documents=7,
                chunks=8,
                last_success=read,
                last_error="3 documents could not be read",
                next_run=datetime.now(UTC) + timedelta(minutes=10, seconds=30),
            )
            return
        async for event in super().run(request):
            yield event


@pytest.mark.parametrize(
    ("language", "text", "lines"),
    [
        (
            "en",
            "sources",
            [
                "wiki: 1 document (9 chunks), read 2 h ago",
                "notes: 0 documents (0 chunks), not read yet",
                "chat: 7 documents (8 chunks), read 2 h ago, paused; the last attempt: its credential was refused",
                "site: 7 documents (8 chunks), read 2 h ago, next in 10 min; the last attempt: "
                "some documents could not be read",
            ],
        ),
        (
            "zh",
            "来源",
            [
                "wiki：1 篇文档（9 个片段），2 小时前读取",
                "notes：0 篇文档（0 个片段），尚未读取",
                "chat：7 篇文档（8 个片段），2 小时前读取，已暂停；最近一次：凭据被拒绝",
                "site：7 篇文档（8 个片段），2 小时前读取，10 分钟后再次读取；最近一次：部分文档无法读取",
            ],
        ),
        (
            "de",
            "Quellen",
            [
                "wiki: 1 Dokument (9 Abschnitte), gelesen vor 2 h",
                "notes: 0 Dokumente (0 Abschnitte), noch nicht gelesen",
                "chat: 7 Dokumente (8 Abschnitte), gelesen vor 2 h, ruht; zuletzt: ihr Zugang wurde abgelehnt",
                "site: 7 Dokumente (8 Abschnitte), gelesen vor 2 h, wieder in 10 min; zuletzt: "
                "einige Dokumente konnten nicht gelesen werden",
            ],
        ),
    ],
)
def test_each_source_is_told_with_its_documents_and_their_age(language: str, text: str, lines: list[str]) -> None:
    async def talk() -> None:
        async with flowing(model=Shelves()) as flow:
            await flow.turns.receive(replace(asked(text), asker=Asker(id="U1", language=language)))
            await flow.idle()
            (told,) = flow.texts("q1")
            assert [
                line for line in re.sub(r"[*•-] ?|\*", "", told).splitlines() if re.search("wiki|notes|chat|site", line)
            ] == lines
            assert "xoxb" not in told

    run(talk())


def test_help_does_not_suggest_itself() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            await flow.turns.receive(asked("help"))
            await flow.idle()
            assert flow.platform.suggested == [(word("sources_prompt"),)]

    run(talk())
