"""A summary by the real operations and a model's endpoint, asked for over the socket: one call, and nothing is kept."""

import pathlib
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from bots.app import open_operations
from bots.requests import Summarise
from bots.service import Remote, serve
from bots.settings import load_settings
from ragcore.gist.values import Said
from ragcore.stores.schema import metadata
from ragcore.types import Answer, Status, Support
from tests.fakes.openai_server import OpenAIServer, Reply

BEGAN = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
MESSAGES = tuple(
    Said(id=str(number), author=author, text=text, sent_at=BEGAN + timedelta(minutes=number), url=f"https://c.example/{number}")
    for number, (author, text) in enumerate(
        [("Ben", "The release of 4.2 is blocked by AUTH-117."), ("Chen", "I will fix AUTH-117 tomorrow."), ("Dora", "Lunch?")]
    )
)  # fmt: skip


@pytest.mark.soak
async def test_it_takes_one_call_and_leaves_nothing_behind(tmp_path: pathlib.Path) -> None:
    said = (
        "- Release 4.2 is blocked by AUTH-117 [ID:0].\n- Chen will fix AUTH-117 on 23 November [ID:1].\n- All is well."
    )
    async with OpenAIServer(default=Reply(text=said)) as server:
        (tmp_path / "citebot.toml").write_text(f'[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n')
        settings = load_settings(tmp_path / "citebot.toml")
        async with open_operations(settings) as operations, serve(operations, settings.data_dir) as path:
            events = [event async for event in Remote(path).run(Summarise(messages=MESSAGES, language="en"))]
            async with operations.database.connect() as connection:
                for table in metadata.sorted_tables:
                    assert "AUTH-117" not in str((await connection.execute(select(table))).all()), table.name
        (request,) = server.requests
        assert "tomorrow = 2026-11-23" in request.texts[0]
        assert "https://c.example" not in "".join(request.texts), "links take no room in the prompt"
    *steps, answer = events
    assert [step.stage for step in steps if isinstance(step, Status)] == ["write", "read", "cite"]
    assert isinstance(answer, Answer)
    assert answer.support is Support.CITED
    assert [citation.url for citation in answer.citations] == ["https://c.example/0", "https://c.example/1"]
    assert "All is well" not in answer.raw_text
