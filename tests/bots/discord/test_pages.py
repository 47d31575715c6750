"""Turning the pages of a private answer on Discord: for its asker alone, as long as they may read what it rests on."""

import contextlib
import pathlib
from collections.abc import AsyncIterator

import pytest

from bots.discord import DiscordPlatform
from bots.rendering.discord import render_discord
from bots.requests import Ask, Event, Recalled, Search
from bots.turn.claims.claim import Outcome
from tests.bots.discord.scene import ASKER, CHANNEL, FAST, peopled
from tests.bots.discord.test_killed_private import read, to_next
from tests.bots.turn.flows import answer_to
from tests.fakes.bot import Bot, answering_on
from tests.fakes.threads import Threads
from tests.fakes.waiting import until
from tests.servers.discord import DiscordServer
from tests.servers.discord.world import EPHEMERAL, Json
from tests.servers.faults import Fault

CHANGE = "PATCH /webhooks/{}/{}/messages/@original"
TABLE = "\n".join(["| Day | Hours |", "|---|---|", *(f"| day {number} | {number} h |" for number in range(300))])


async def at_length(request: Ask) -> AsyncIterator[Event]:
    yield answer_to(request.question, f"These are the days.\n\n{TABLE}\n\nThat is all.")


@contextlib.asynccontextmanager
async def running(folder: pathlib.Path) -> AsyncIterator[tuple[DiscordServer, Bot[DiscordPlatform]]]:
    async with peopled(FAST) as server:
        platform = DiscordPlatform(token=server.token, api_url=server.url)
        async with answering_on(platform, folder, script=at_length) as bot:
            yield server, bot


async def answered(server: DiscordServer) -> tuple[Json, Json]:
    """Ask in private; return the interaction and its one message, once it shows the first page."""
    asked = await server.command(CHANNEL, "ask", question="Which days?", private=True)
    shown = server.interactions.of(asked).messages
    await until(lambda: shown and to_next(next(iter(shown.values()))))
    (message,) = shown.values()
    return asked, message


async def pressed(server: DiscordServer, message: Json, *, user: int = ASKER) -> str:
    """Turn to the next page; return what was said to the presser beside it."""
    before, following = message["content"], to_next(message)
    assert following is not None
    press = await server.press(message, following, user=user)
    told = server.interactions.of(press).messages
    await until(lambda: message["content"] != before or len(told) > 1)
    beside = [one for one in told.values() if one["id"] != message["id"]]
    assert all(one["flags"] & EPHEMERAL for one in beside)
    return "".join(one["content"] for one in beside)


async def test_a_table_goes_on_with_its_header_and_the_sources_end_it(tmp_path: pathlib.Path) -> None:
    async with running(tmp_path) as (server, _):
        asked, message = await answered(server)
        pages = await read(server, asked)
        assert len(pages) > 2
        assert all(page.count("Day") == 1 and page.count("```") == 2 for page in pages)
        assert [number for number in range(300) if sum(f"day {number} " in page for page in pages) != 1] == []
        assert ["-# \\[1]" in page for page in pages] == [False] * (len(pages) - 1) + [True]
        assert len(server.interactions.of(asked).messages) == 1
        assert server.answers(CHANNEL) == []
        assert message["content"] == pages[-1]


async def test_nobody_else_turns_them(tmp_path: pathlib.Path) -> None:
    async with running(tmp_path) as (server, _):
        _, message = await answered(server)
        before = message["content"]
        assert "no longer at hand" in await pressed(server, message, user=43)
        assert message["content"] == before
        assert await pressed(server, message) == ""


async def test_everybody_turns_what_everybody_sees(tmp_path: pathlib.Path) -> None:
    async with running(tmp_path) as (server, _):
        server.state.channels[CHANNEL].closed = 50013
        asked = await server.command(CHANNEL, "ask", question="Which days?")
        shown = server.interactions.of(asked).messages
        await until(lambda: shown and to_next(next(iter(shown.values()))))
        (message,) = server.answers(CHANNEL)
        assert await pressed(server, message, user=43) == ""
        assert not message["flags"] & EPHEMERAL


async def test_what_may_not_be_read_any_more_is_not_shown(tmp_path: pathlib.Path) -> None:
    async with running(tmp_path) as (server, bot):
        _, message = await answered(server)
        ((reference, told),) = bot.model.turns.items()
        closed = Recalled(question=told.question, answer=told.answer, withheld=1)
        bot.model.turns[reference] = closed
        assert "no longer at hand" in await pressed(server, message)
        bot.model.turns[reference] = told
        everybody, stranger = frozenset({"*"}), frozenset({"discord:@1"})
        assert await bot.turns.page(reference, str(ASKER), 1, stranger) is None
        assert await bot.turns.page(reference, str(ASKER), 1, everybody) is not None
        assert await pressed(server, message) == ""
        await bot.turns.withdraw(reference, str(ASKER))
        assert await bot.turns.page(reference, str(ASKER), 1, everybody) is None


async def test_a_list_is_made_anew_for_whoever_turns_its_pages(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.rendering.discord.messages.MAX_CONTENT", 90)
    async with running(tmp_path) as (server, bot):
        asked = await server.command(CHANNEL, "search", question="days")
        shown = server.interactions.of(asked).messages
        await until(lambda: shown and to_next(next(iter(shown.values()))))
        pages = await read(server, asked)
        said = "".join(pages).replace("*", "")
        assert [said.count(words) for words in ("lapse in March", "Nothing.", "年假可以结转。")] == [1, 1, 1], pages
        searches = [one for one in bot.model.asked if isinstance(one, Search)]
        assert len(searches) == len(pages)
        assert {one.query for one in searches} == {"days"}
        assert all(one.audience and "discord:@42" in one.audience for one in searches)


async def test_a_page_that_does_not_go_is_told_and_can_be_turned_to_again(tmp_path: pathlib.Path) -> None:
    async with running(tmp_path) as (server, bot):
        _, message = await answered(server)
        await bot.idle()
        server.faults.add(CHANGE, Fault(status=404, error="10008 Unknown Message"))
        assert "went wrong" in await pressed(server, message)
        assert await pressed(server, message) == ""
        (claim,) = [await bot.turns._claims.by_reference(name) for name in bot.model.turns]
        assert claim is not None
        assert claim.outcome is Outcome.ANSWERED


async def test_a_page_that_is_refused_is_shown_as_plain_text(tmp_path: pathlib.Path) -> None:
    async with running(tmp_path) as (server, bot):
        _, message = await answered(server)
        await bot.idle()
        server.faults.add(CHANGE, Fault(status=400, error="50035 Invalid Form Body"))
        assert await pressed(server, message) == ""
        assert "```" not in message["content"]
        assert "day " in message["content"]


async def test_an_answer_that_its_asker_deletes_is_gone_also_when_its_own_token_is_old(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as (server, bot):
        asked, message = await answered(server)
        await bot.idle()
        monkeypatch.setattr("bots.discord.interacting.TOKEN_SECONDS", 0.0)
        server.interactions.expire(asked)
        ((reference, _),) = bot.model.turns.items()
        others = server.interactions.of(await server.press(message, f"cb:delete:{reference}:", user=43))
        await until(lambda: others.answered)
        press = server.interactions.of(await server.press(message, f"cb:delete:{reference}:"))
        await until(lambda: press.answered and not press.messages)
        assert others.messages, "it is not theirs to delete"


async def test_a_page_is_written_in_a_thread(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads()
    monkeypatch.setattr("bots.discord.pressing.render_discord", threads.watched("page", render_discord))
    async with running(tmp_path) as (server, _):
        _, message = await answered(server)
        assert await pressed(server, message) == ""
    assert threads.in_loop == {"page": {False}}
