"""``citebot run`` as a real process, with the real libraries against local servers."""

import asyncio
import json
import pathlib
import shutil
import signal
import sqlite3
import time
from collections.abc import AsyncIterator, Mapping

import aiohttp
import pytest

from tests.fakes.openai_server import OpenAIServer, Reply
from tests.fakes.ports import free_port
from tests.fakes.running import SETTINGS, Running, command, environment, prepare, running
from tests.fakes.waiting import until
from tests.servers.discord import discord_server
from tests.servers.slack import slack_server
from tests.servers.telegram import TelegramServer, telegram_server

ASKER = 42
QUESTION = "How many unused leave days can I carry over, and until when?"
ANSWER = "You can carry over five days, until 31 March [ID:0]."


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return prepare(tmp_path_factory.mktemp("indexed"))


@pytest.fixture
def folder(indexed: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    return pathlib.Path(shutil.copytree(indexed, tmp_path / "citebot"))


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramServer]:
    async with telegram_server() as server:
        yield server


async def connected(process: Running, server: TelegramServer) -> None:
    await until(lambda: server.count("getUpdates") or process.process.returncode is not None, 60.0)
    assert process.process.returncode is None, process.log()


@pytest.mark.soak
async def test_a_question_is_answered_once_with_its_sources(folder: pathlib.Path, telegram: TelegramServer) -> None:
    port = free_port()
    async with running(folder, **telegram.environment, CITEBOT_MONITORING__PORT=str(port)) as citebot:
        await connected(citebot, telegram)
        telegram.say(ASKER, QUESTION)
        await until(lambda: telegram.answers(ASKER))
        status, _, told = await citebot.command("run")
        assert status == 1
        assert "`citebot run`" in told
        (source,) = json.loads((await citebot.command("sources", "--json"))[1])
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/healthz") as health:
                assert (health.status, (await health.json())["status"]) == (200, "ok")
            async with session.get(f"http://127.0.0.1:{port}/metrics") as metrics:
                page = await metrics.text()
        assert await citebot.end() == 0
    (answer,) = telegram.answers(ASKER)
    assert "31 March" in answer["text"]
    links = {entity["url"] for entity in answer["entities"] if entity["type"] == "text_link"}
    assert any(link.startswith("https://wiki.example/") for link in links)
    assert source["documents"] == 17
    assert source["next_run"] > source["last_success"]
    assert 'citebot_turns_total{outcome="answered",platform="telegram"} 1.0' in page
    assert 'citebot_turn_seconds_count{platform="telegram"} 1.0' in page
    assert QUESTION not in citebot.log()


@pytest.mark.soak
async def test_all_three_platforms_answer_side_by_side(folder: pathlib.Path, telegram: TelegramServer) -> None:
    async with slack_server() as slack, discord_server() as discord:
        async with running(folder, **telegram.environment, **slack.environment, **discord.environment) as citebot:
            await until(lambda: citebot.log().count(": connected") == 3, 60.0)
            telegram.say(ASKER, QUESTION)
            slack.channel("D1")
            slack.say("D1", QUESTION)
            discord.guild(7)
            direct = discord.direct(ASKER)
            await discord.say(direct, QUESTION)
            await until(lambda: citebot.log().count(": answered") == 3)
            _, out, remarks = await citebot.command("doctor", "--json")
            assert await citebot.end() == 0
        told = [
            telegram.answers(ASKER)[-1]["text"],
            slack.plain(slack.answers("D1")[-1]),
            discord.answers(direct.id)[-1]["content"],
        ]
        counts = (len(telegram.answers(ASKER)), len(slack.answers("D1")), len(discord.answers(direct.id)))
    assert counts == (1, 1, 1)
    assert remarks == ""
    assert all("31 March" in text for text in told)
    checks = {check["name"]: check["state"] for check in json.loads(out)}
    platforms = {name: state for name, state in checks.items() if name.startswith(("slack", "discord", "telegram"))}
    assert len(platforms) >= 7
    assert set(platforms.values()) == {"ok"}


@pytest.mark.soak
async def test_one_that_is_refused_is_told_to_an_admin_elsewhere(
    folder: pathlib.Path, telegram: TelegramServer
) -> None:
    telegram.chat(ASKER)
    async with discord_server() as discord:
        env = {
            **telegram.environment,
            "CITEBOT_ADMINS": f"telegram:@{ASKER},discord:@{ASKER}",
            **discord.environment,
            "DISCORD_TOKEN": "MTAx.wrong.token",
        }
        async with running(folder, **env) as citebot:
            await until(lambda: telegram.answers(ASKER), 60.0)
            telegram.say(ASKER, QUESTION)
            await until(lambda: len(telegram.answers(ASKER)) > 1)
            _, out, _ = await citebot.command("doctor", "--json")
            assert await citebot.end() == 0
    told, answer = telegram.answers(ASKER)
    assert "Discord refused the token" in told["text"]
    assert "31 March" in answer["text"]
    (failed,) = [check for check in json.loads(out) if check["state"] == "fail"]
    assert failed["name"] == "discord token"
    assert "wrong.token" not in citebot.log() + out


@pytest.mark.soak  # it waits for the answer's end
async def test_a_stop_lets_an_answer_that_is_written_come_to_its_end(
    folder: pathlib.Path, telegram: TelegramServer
) -> None:
    async with OpenAIServer() as model:
        model.default = Reply(text=ANSWER, delay=0.3)
        async with running(folder, **telegram.environment, **model.environment) as citebot:
            await connected(citebot, telegram)
            telegram.say(ASKER, QUESTION)
            await until(lambda: model.requests)
            began = time.monotonic()
            assert await citebot.end() == 0
            assert time.monotonic() - began < 20
    (answer,) = telegram.answers(ASKER)
    assert "five days" in answer["text"]


@pytest.mark.soak  # it waits for what a stop waits
async def test_what_a_stop_could_not_finish_the_next_process_does(
    folder: pathlib.Path, telegram: TelegramServer
) -> None:
    async with OpenAIServer() as model:
        model.default = Reply(text=ANSWER, first_delay=60.0)
        async with running(folder, **telegram.environment, **model.environment) as citebot:
            await connected(citebot, telegram)
            telegram.say(ASKER, QUESTION)
            await until(lambda: model.requests)
            assert await citebot.end() == 0
        assert not telegram.answers(ASKER)
        model.default = Reply(text=ANSWER)
        async with running(folder, **telegram.environment, **model.environment) as citebot:
            await until(lambda: telegram.answers(ASKER), 60.0)
            assert await citebot.end() == 0
    (answer,) = telegram.answers(ASKER)
    assert "five days" in answer["text"]


@pytest.mark.soak
@pytest.mark.parametrize("moment", ["asked", "writing"])
async def test_a_kill_leaves_one_answer_in_the_end(folder: pathlib.Path, telegram: TelegramServer, moment: str) -> None:
    async with OpenAIServer() as model:
        model.default = Reply(text=ANSWER, first_delay=1.0 if moment == "asked" else 0.0, delay=0.5)
        async with running(folder, **telegram.environment, **model.environment) as citebot:
            await connected(citebot, telegram)
            telegram.say(ASKER, QUESTION)
            await until(lambda: telegram.draft(ASKER) if moment == "writing" else model.requests)
            await citebot.end(signal.SIGKILL)
        assert not telegram.answers(ASKER)
        model.default = Reply(text=ANSWER)
        async with running(folder, **telegram.environment, **model.environment) as citebot:
            await until(lambda: telegram.answers(ASKER), 60.0)
            telegram.say(ASKER, "How long is the warranty of the main unit in Germany?")
            await until(lambda: len(telegram.answers(ASKER)) > 1)
            assert await citebot.end() == 0
    assert len(telegram.answers(ASKER)) == 2


@pytest.mark.soak
async def test_the_log_can_be_json_with_the_turn(folder: pathlib.Path, telegram: TelegramServer) -> None:
    env = {"CITEBOT_MONITORING__LOG_FORMAT": "json", "CITEBOT_MONITORING__LOG_QUESTIONS": "true"}
    async with running(folder, **telegram.environment, **env) as citebot:
        await connected(citebot, telegram)
        telegram.say(ASKER, QUESTION)
        await until(lambda: telegram.answers(ASKER))
        assert await citebot.end() == 0
    lines = [json.loads(line) for line in citebot.log().splitlines()]
    turns = {line["turn"] for line in lines if "turn" in line}
    assert len(turns) == 1
    assert any(QUESTION in line["message"] for line in lines)
    assert telegram.token not in citebot.log()


@pytest.mark.soak
async def test_a_source_that_is_due_is_read(folder: pathlib.Path, telegram: TelegramServer) -> None:
    (folder / "documents" / "new.md").write_text("# Canteen\n\nThe canteen opens at 11:20 every day.\n")
    database = folder / ".citebot" / "citebot.sqlite"
    await asyncio.to_thread(_forget_runs, database)
    async with running(folder, **telegram.environment) as citebot:
        await until(lambda: "1 document added" in citebot.log(), 60.0)
        telegram.say(ASKER, "When does the canteen open?")
        await until(lambda: telegram.answers(ASKER))
        assert await citebot.end() == 0
    assert "11:20" in telegram.answers(ASKER)[-1]["text"]


def _forget_runs(database: pathlib.Path) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE sources SET last_run_at = '2026-01-01 00:00:00.000000'")
    connection.close()


@pytest.mark.soak
async def test_a_refused_token_is_told_and_the_rest_runs_on(folder: pathlib.Path, telegram: TelegramServer) -> None:
    env = {**telegram.environment, "TELEGRAM_BOT_TOKEN": "654321:WRONG"}
    async with running(folder, **env) as citebot:
        await until(lambda: "Telegram refused the token" in citebot.log(), 60.0)
        (source,) = json.loads((await citebot.command("sources", "--json"))[1])
        status, out, _ = await citebot.command("doctor", "--json")
        assert await citebot.end() == 0
    assert source["documents"] == 17
    assert status == 1
    (failed,) = [check for check in json.loads(out) if check["state"] == "fail"]
    assert (failed["name"], "@BotFather" in failed["mend"]) == ("telegram token", True)
    assert "654321:WRONG" not in citebot.log()


@pytest.mark.soak
async def test_doctor_tells_what_groups_hide(folder: pathlib.Path, telegram: TelegramServer) -> None:
    listening = '[[channels]]\nid = "telegram:-1001"\nrespond = "all"\n'
    (folder / "citebot.toml").write_text(SETTINGS + listening, encoding="utf-8")
    env = environment(**telegram.environment)
    hidden = await checks(folder, env)
    telegram.bot["can_read_all_group_messages"] = True
    shown = await checks(folder, env)
    assert hidden["telegram privacy mode"]["state"] == "warn"
    assert "/setprivacy" in hidden["telegram privacy mode"]["mend"]
    assert shown["telegram privacy mode"]["state"] == "ok"


async def checks(folder: pathlib.Path, env: Mapping[str, str]) -> dict[str, dict[str, str]]:
    _, out, _ = await command(folder, env, "doctor", "--json")
    return {check["name"]: check for check in json.loads(out)}
