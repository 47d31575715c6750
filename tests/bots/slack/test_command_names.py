"""A workspace that has /ask already: other names hold from the settings and the manifest to the answer."""

import json
import pathlib

import pytest

from bots.app.platforms import open_platform
from bots.cli.setup import print_manifest
from bots.settings import load_settings
from tests.bots.slack.whole import CHANNEL, OPTIONS, QUESTION, slowly
from tests.fakes.bot import answering_on
from tests.fakes.settings import forget_settings
from tests.fakes.waiting import until
from tests.servers.slack import SlackServer, slack_server

ASKER = "U1"
SETTINGS = '[slack]\nask_command = "/docs"\nbot_command = "/docs-bot"\n'


async def told(server: SlackServer, command: str, text: str) -> str:
    """Type a command that somebody listens to; return what it shows its asker in the end."""
    server.shown.clear()
    server.command(CHANNEL, command, text, user=ASKER)
    await until(server.answers_alone, seconds=60.0)
    return "\n".join(server.plain({"blocks": one.blocks}) for one in server.answers_alone())


async def test_other_names_hold_from_the_manifest_to_the_answer(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    forget_settings(monkeypatch)
    (tmp_path / "citebot.toml").write_text(SETTINGS)
    assert print_manifest(tmp_path / "citebot.toml", name="Docs", url="") == 0
    made = json.loads(capsys.readouterr().out)
    ask, more = (one["command"] for one in made["features"]["slash_commands"])
    assert (ask, more) == ("/docs", "/docs-bot")
    async with slack_server() as server:
        server.ack_seconds = 60.0  # a busy machine may take longer than Slack's 3 s to acknowledge
        server.channel(CHANNEL).members.add(ASKER)
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        platform = open_platform("slack", load_settings(tmp_path / "citebot.toml"))
        async with answering_on(platform, tmp_path, script=slowly, options=OPTIONS):
            assert (await told(server, ask, QUESTION)).count("has five days.") == 3
            assert "over five days" in await told(server, more, "search days")
            assert "Ask me about the documents" in await told(server, more, "help")
            server.shown.clear()
            server.ack_seconds = 0.5
            server.command(CHANNEL, "/ask", QUESTION, user=ASKER)
            await until(lambda: server.unacknowledged, seconds=60.0)
            assert not server.answers_alone(), "the default name belongs to somebody else now"
