"""All tries of a model share the patience of whoever asks: however often it is tried, a quote or a reason stands in time."""

import asyncio
import pathlib
from dataclasses import replace

import pytest

from bots.app import open_operations
from bots.requests import Sync
from bots.settings import load_settings
from bots.turn.claims.claim import Outcome
from bots.words.sentences import word
from ragcore.phrases import phrase
from tests.bots.turn.flows import OPTIONS, turning
from tests.fakes.openai_server import Failure, OpenAIServer, Reply
from tests.fakes.platform import FakePlatform, Server, asked
from tests.fakes.waiting import until

PATIENCE = 6.0
TROUBLE: dict[str, Failure | Reply] = {
    "busy": Failure(status=429, headers={"Retry-After": "1"}),
    "away": Failure(status=503),
    "silent": Reply(text="Five days [ID:0].", first_delay=60.0),
    "breaks off": Reply(text="Five days [ID:0].", break_after=0),
}


async def told(folder: pathlib.Path, trouble: Failure | Reply) -> tuple[str, float, int, str]:
    """Ask a real client of a model in trouble; return what is told, after how long, and how often it was tried."""
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "leave.md").write_text("# Leave\n\nFive unused days of leave may be carried over.\n")
    async with OpenAIServer(default=trouble) as server:
        (folder / "citebot.toml").write_text(
            f'[llm]\nbase_url = "{server.base_url}"\nmodel = "writer"\ncontext_window = 16384\n'
            '[knowledge_bases.docs]\nreaders = ["*"]\n[[sources]]\nname = "docs"\ntype = "files"\npath = "docs"\n'
        )
        async with open_operations(load_settings(folder / "citebot.toml")) as operations:
            async for _ in operations.run(Sync()):
                pass
            platform = FakePlatform(Server())
            options = replace(OPTIONS, readers_of={"docs": ("*",)}, patience=PATIENCE)
            async with turning(platform, operations, options, folder) as turns:
                began = asyncio.get_running_loop().time()
                await turns.receive(asked("How many unused days of leave may be carried over?"))
                await until(lambda: platform.server.standing("q1"), seconds=30.0)
                took = asyncio.get_running_loop().time() - began
                await until(lambda: not turns.running())
                (reason,) = platform.server.standing("q1")
                (outcome,) = turns.meter.outcomes
                return reason.text, took, len(server.requests), outcome


@pytest.mark.soak  # it tries as often as a model is tried
async def test_a_quote_or_a_reason_stands_in_time_however_often_it_is_tried(tmp_path: pathlib.Path) -> None:
    found = await asyncio.gather(*(told(tmp_path / name, trouble) for name, trouble in TROUBLE.items()))
    for (reason, took, tries, outcome), name in zip(found, TROUBLE, strict=True):
        assert took < 2 * PATIENCE, name  # it is within it where nothing else keeps the machine busy
        assert tries > 1 or name == "silent", name
        if outcome == Outcome.ANSWERED:  # the tries were over in time: the documents are quoted instead
            assert "Five unused days" in reason, (name, reason)
        else:
            assert outcome == Outcome.FAILED, name
            assert reason.startswith((phrase("model_down"), phrase("model_busy"), word("too_slow"))), (name, reason)
