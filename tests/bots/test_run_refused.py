"""``citebot run`` where a platform refuses or is away: told, tried again, and nothing else is touched by it."""

import contextlib
import json
import pathlib
import re
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from tests.fakes.ports import free_port
from tests.fakes.running import Running, begin, running
from tests.fakes.waiting import until
from tests.servers.discord import discord_server
from tests.servers.discord.gateway import MESSAGE_CONTENT
from tests.servers.github import GithubServer
from tests.servers.slack import slack_server
from tests.servers.telegram import telegram_server

QUESTION = "How many unused leave days may be carried over?"
SDKS = {"slack": "slack_bolt", "discord": "discord", "telegram": "aiogram"}


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    return begin(tmp_path / "citebot")


@contextlib.asynccontextmanager
async def refusing(platform: str) -> AsyncIterator[dict[str, str]]:
    """Give the environment of a process with one platform, which refuses it."""
    match platform:
        case "slack":
            async with slack_server() as slack:
                yield {**slack.environment, "SLACK_APP_TOKEN": "xapp-of-another-app"}
        case "discord":
            async with discord_server() as discord:
                discord.gateway.forbidden_intents = MESSAGE_CONTENT
                yield {**discord.environment, "CITEBOT_DISCORD__MESSAGE_CONTENT": "on"}
        case _:
            async with telegram_server() as telegram:
                yield {**telegram.environment, "TELEGRAM_BOT_TOKEN": "654321:REVOKED"}


@pytest.mark.parametrize(
    ("platform", "mend"),
    [
        pytest.param("slack", "SLACK_APP_TOKEN", marks=pytest.mark.soak),
        pytest.param("discord", "Message Content Intent", marks=pytest.mark.soak),
        pytest.param("telegram", "TELEGRAM_BOT_TOKEN", marks=pytest.mark.soak),
    ],
)
async def test_a_refusal_is_told_and_tried_again_with_that_sdk_alone(
    folder: pathlib.Path, platform: str, mend: str
) -> None:
    more = {"PYTHONPROFILEIMPORTTIME": "1", "CITEBOT_MONITORING__PORT": str(watched := free_port())}
    async with refusing(platform) as env, running(folder, anew=True, **env, **more) as citebot:
        await until(lambda: "trying again in" in citebot.log() or citebot.process.returncode is not None, 60.0)
        status, _, _ = await citebot.command("sources")
        assert status == 0, "the rest runs on"
        status, health = await healthz(watched)
        assert (status, health["status"]) == (503, "down")
        assert mend in health["platforms"][platform]["fault"]
        assert await citebot.end() == 0
    (told,) = [line for line in citebot.log().splitlines() if "trying again in 30 s" in line]
    assert f"{platform}: " in told
    assert mend in told
    assert all(secret not in citebot.log() for name, secret in env.items() if name.endswith("TOKEN"))
    assert imported(citebot) == {SDKS[platform]}


def imported(citebot: Running) -> set[str]:
    """Return the platforms' SDKs that a process imported."""
    names = set(re.findall(r"^import time:.*\| +(\S+)$", citebot.log(), re.M))
    assert "bots.app.running" in names, "the interpreter tells of each import"
    return {name.partition(".")[0] for name in names} & set(SDKS.values())


async def healthz(port: int) -> tuple[int, dict[str, Any]]:
    """Return the status and what ``/healthz`` tells."""
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/healthz") as answer:
        return answer.status, await answer.json()


@pytest.mark.soak
async def test_those_that_are_away_are_connected_when_they_come_and_one_answers_meanwhile(
    folder: pathlib.Path,
) -> None:
    ports = [free_port(), free_port()]
    async with slack_server() as slack:
        env = {
            **slack.environment,
            "DISCORD_TOKEN": "MTAw.local.token",
            "CITEBOT_DISCORD__API_URL": f"http://127.0.0.1:{ports[0]}/api/v10",
            "TELEGRAM_BOT_TOKEN": "123456:LOCAL",
            "CITEBOT_TELEGRAM__API_URL": f"http://127.0.0.1:{ports[1]}",
            "CITEBOT_MONITORING__PORT": str(watched := free_port()),
        }
        async with running(folder, **env) as citebot:
            away = ("discord: Discord cannot be reached", "telegram: Telegram cannot be reached", "slack: connected")
            await until(lambda: all(told in citebot.log() for told in (*away, "1 document added")), 60.0)
            status, health = await healthz(watched)
            assert (status, health["status"]) == (200, "degraded")
            assert {name: told["state"] for name, told in health["platforms"].items()}["slack"] == "connected"
            assert "cannot be reached" in health["platforms"]["discord"]["fault"]
            slack.channel("D1")
            slack.say("D1", QUESTION)
            await until(lambda: "31 March" in "".join(slack.plain(one) for one in slack.answers("D1")))
            async with discord_server(port=ports[0]) as discord, telegram_server(port=ports[1]) as telegram:
                await until(lambda: citebot.log().count(": connected") == 3, 60.0)
                direct = discord.direct(42)
                await discord.say(direct, QUESTION)
                telegram.say(42, QUESTION)
                await until(lambda: citebot.log().count(": answered") == 3)
                assert (await healthz(watched))[1]["status"] == "ok"
                assert await citebot.end() == 0
            assert "31 March" in discord.answers(direct.id)[-1]["content"]
            assert "31 March" in telegram.answers(42)[-1]["text"]


@pytest.mark.soak  # a refusal is tried again after half a minute
async def test_what_was_refused_is_connected_once_it_is_mended(folder: pathlib.Path) -> None:
    async with discord_server() as discord:
        discord.gateway.forbidden_intents = MESSAGE_CONTENT
        async with running(folder, **discord.environment, CITEBOT_DISCORD__MESSAGE_CONTENT="on") as citebot:
            await until(lambda: "trying again in 30 s" in citebot.log(), 60.0)
            discord.gateway.forbidden_intents = 0
            await until(lambda: "discord: connected" in citebot.log(), 60.0)
            direct = discord.direct(42)
            await discord.say(direct, QUESTION)
            await until(lambda: discord.answers(direct.id) and ": answered" in citebot.log())
            assert await citebot.end() == 0


@pytest.mark.soak
async def test_a_source_that_refuses_its_credential_is_told_to_the_admin_once_and_mended_in_the_file(
    folder: pathlib.Path,
) -> None:
    async with GithubServer(prefix="/api/v3").serving() as github, telegram_server() as telegram:
        github.repo().write("a.md", "# Valves\n\nTurn them left.")
        telegram.chat(42)
        file = folder / "citebot.toml"
        source = f'[[sources]]\nname = "code"\ntype = "github"\nschedule = "1m"\nurl = "{github.url}"\n'
        source += 'repositories = ["octo/docs"]\nkinds = ["files"]\ntoken = "{token}"\n'
        settings = f"{file.read_text(encoding='utf-8')}\n{source}"
        file.write_text(settings.replace("{token}", "wr0ng"), encoding="utf-8")
        async with running(folder, **telegram.environment, CITEBOT_ADMINS="telegram:@42") as citebot:
            await until(lambda: telegram.answers(42) or citebot.process.returncode is not None, 60.0)
            status, out, _ = await citebot.command(
                "sync", "code", "--json"
            )  # by hand it is tried, and nobody told again
            assert (status, "refused the token" in out) == (1, True)
            file.write_text(settings.replace("{token}", "t1"), encoding="utf-8")
            status, out, _ = await citebot.command("sync", "code", "--json")
            assert (status, json.loads(out)[0]["added"]) == (0, 1)
            assert await citebot.end() == 0
    (told,) = telegram.answers(42)
    assert told["text"].startswith("Source code pauses until its credential is changed")
    assert "refused the token" in told["text"]
    assert "wr0ng" not in citebot.log() + told["text"] + out
