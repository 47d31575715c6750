"""``citebot run`` behind signed HTTP, a webhook and two shards: what its metrics and its log tell of what happens."""

import json
import pathlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import aiohttp
import pytest

from tests.fakes.openai_server import OpenAIServer, Reply
from tests.fakes.ports import free_port
from tests.fakes.running import Running, begin, running
from tests.fakes.waiting import until
from tests.servers.discord import DiscordServer, discord_server
from tests.servers.discord.world import BOT
from tests.servers.faults import Fault
from tests.servers.slack import SlackServer, slack_server
from tests.servers.telegram import TelegramServer, telegram_server

ASKER, CHAT = 42, 4242
QUESTION = "How many unused leave days can I carry over, and until when?"
ANSWER = "Up to five unused leave days may be carried over until 31 March [ID:0]."
CHANNELS = {11: 7 << 22, 21: 8 << 22}
"""One on each shard."""


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    return begin(tmp_path / "citebot")


@dataclass(frozen=True, kw_only=True)
class Scene:
    slack: SlackServer
    discord: DiscordServer
    telegram: TelegramServer
    model: OpenAIServer
    hook: str
    port: int

    def env(self) -> dict[str, str]:
        return {
            "SLACK_BOT_TOKEN": self.slack.bot_token,
            "SLACK_SIGNING_SECRET": self.slack.signing_secret,
            "CITEBOT_SLACK__API_URL": f"{self.slack.url}/api/",
            "CITEBOT_SLACK__HTTP_PORT": self.slack.request_url.partition("1:")[2].partition("/")[0],
            "DISCORD_TOKEN": self.discord.token,
            "CITEBOT_DISCORD__API_URL": self.discord.url,
            "TELEGRAM_BOT_TOKEN": self.telegram.token,
            "CITEBOT_TELEGRAM__API_URL": self.telegram.url,
            "CITEBOT_TELEGRAM__WEBHOOK_URL": self.hook,
            "CITEBOT_TELEGRAM__WEBHOOK_PORT": self.hook.partition("1:")[2].partition("/")[0],
            "CITEBOT_LLM__BASE_URL": self.model.base_url,
            "CITEBOT_LLM__MODEL": "words",
            "CITEBOT_MONITORING__PORT": str(self.port),
            "CITEBOT_MONITORING__LOG_FORMAT": "json",
        }

    async def ask(self) -> None:
        """Ask on each platform, on Discord on both shards; on each of them one call is told to wait."""
        self.telegram.faults.add("sendMessage", Fault(status=429, wait=1.0))
        self.slack.faults.add("assistant.threads.setStatus", Fault(status=429, wait=1.0))
        self.discord.state.faults.add("POST /channels/{}/messages", Fault(status=429, wait=1.0))
        self.telegram.say(CHAT, QUESTION, user=ASKER)
        self.slack.channel("D1")
        self.slack.say("D1", QUESTION)
        for channel in CHANNELS:
            await self.discord.say(channel, f"<@{BOT}> {QUESTION}")

    def texts(self) -> list[str]:
        """Return all that the bot has said."""
        discord = [one["content"] for channel in CHANNELS for one in self.discord.answers(channel)]
        slack = [self.slack.plain(one) for one in self.slack.answers("D1")]
        return [*discord, *slack, *(one["text"] for one in self.telegram.answers(CHAT))]


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with (
        slack_server() as slack,
        discord_server() as discord,
        telegram_server() as telegram,
        OpenAIServer(default=Reply(text=ANSWER, delay=0.05)) as model,
    ):
        slack.request_url = f"http://127.0.0.1:{free_port()}/slack/events"
        discord.state.shards = 2
        for channel, guild in CHANNELS.items():
            discord.channel(channel, guild=guild)
        hook = f"http://127.0.0.1:{free_port()}/telegram"
        yield Scene(slack=slack, discord=discord, telegram=telegram, model=model, hook=hook, port=free_port())


@pytest.mark.soak
async def test_what_happens_is_told_in_metrics_and_log(folder: pathlib.Path, scene: Scene) -> None:
    async with running(folder, **scene.env()) as citebot:
        await until(lambda: citebot.log().count(": connected") == 3 or citebot.process.returncode is not None, 60.0)
        await until(lambda: "1 document added" in citebot.log(), 60.0)
        before = await metrics(scene.port)
        await scene.ask()
        await until(lambda: citebot.log().count(": answered") == 4)
        await forge(scene)
        update = {"update_id": 1, "message": next(iter(scene.telegram.chat(CHAT).messages.values()))}
        scene.telegram.redeliver(update)
        await until(lambda: len(scene.telegram.webhook_answers) == 2)
        after = await metrics(scene.port)
        assert await citebot.end() == 0
    assert sorted(one["shard"] for one in scene.discord.gateway.identified) == [[0, 2], [1, 2]]
    assert len(scene.texts()) == 4
    assert all("31 March" in text for text in scene.texts())
    moved(before, after)
    told(citebot, scene)


async def metrics(port: int) -> dict[str, float]:
    """Return every sample of the page by its name and labels, as Prometheus reads it."""
    from prometheus_client.parser import text_string_to_metric_families

    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/metrics") as page:
        assert page.headers["Content-Type"].startswith("text/plain")
        families = text_string_to_metric_families(await page.text())
    return {
        " ".join([sample.name, *(value for _, value in sorted(sample.labels.items()))]): sample.value
        for family in families
        for sample in family.samples
    }


def moved(before: dict[str, float], after: dict[str, float]) -> None:
    """See that each metric stands where what has happened puts it."""
    turns = {"slack": 1, "discord": 2, "telegram": 1}
    for platform, count in turns.items():
        assert before[f"citebot_connected {platform}"] == 1
        assert f"citebot_turns_total answered {platform}" not in before
        assert after[f"citebot_turns_total answered {platform}"] == count
        assert after[f"citebot_claims_total new {platform}"] == count
        for name in ("first_sign", "first_words", "turn"):
            seconds = f"citebot_{name}_seconds"
            assert before[f"{seconds}_count {platform}"] == 0
            assert after[f"{seconds}_count {platform}"] == count
            assert 0 < after[f"{seconds}_sum {platform}"] < 60 * count
        for kind in ("prompt", "completion"):
            assert after[f"citebot_tokens_total {kind} {platform}"] > count
        sends = [value for name, value in after.items() if re.fullmatch(f"citebot_sends_total .+ {platform}", name)]
        assert sum(sends) >= count
        assert after[f"citebot_turns_running {platform}"] == 0
        assert before[f"citebot_rate_limited_total {platform}"] == 0
        assert after[f"citebot_rate_limited_total {platform}"] == 1
    assert after["citebot_refusals_total PlatformRateLimited telegram"] == 1
    assert after["citebot_claims_total again telegram"] == 1
    assert after["process_resident_memory_bytes"] > 0


async def forge(scene: Scene) -> None:
    """Send what neither Slack nor Telegram has signed."""
    event = {"type": "message", "user": "U1", "text": "forged", "channel": "D1", "channel_type": "im", "ts": "1.0"}
    body = json.dumps({"type": "event_callback", "event_id": "E0", "team_id": "T0001", "event": event})
    forged = scene.slack.signed(body) | {"X-Slack-Signature": "v0=00", "Content-Type": "application/json"}
    update = {"update_id": 2, "message": next(iter(scene.telegram.chat(CHAT).messages.values())) | {"message_id": 99}}
    async with aiohttp.ClientSession() as session:
        async with session.post(scene.slack.request_url, data=body, headers=forged) as answer:
            assert answer.status == 401
        for headers in ({}, {"X-Telegram-Bot-Api-Secret-Token": "guessed"}):
            async with session.post(scene.hook, json=update, headers=headers) as answer:
                assert answer.status == 401


def told(citebot: Running, scene: Scene) -> None:
    """See that each line is an object, those of a turn with its reference, and none with what anybody wrote."""
    lines = [json.loads(line) for line in citebot.log().splitlines()]
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
    ended = [line for line in lines if line["message"].endswith(": answered")]
    assert len({line["turn"] for line in ended}) == 4
    assert all(re.fullmatch("[0-9a-f]{8}", line["turn"]) for line in ended)
    begun = {line["turn"] for line in lines if " in " in line["message"] and "turn" in line}
    assert {line["turn"] for line in ended} <= begun
    secrets = (scene.slack.bot_token, scene.slack.signing_secret, scene.discord.token, scene.telegram.token)
    for hidden in ("unused leave days", "31 March", *secrets):
        assert hidden not in citebot.log()
