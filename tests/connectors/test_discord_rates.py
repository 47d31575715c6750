"""Discord's limits: kept where they are told, and waited for where they weren't known."""

import pytest

from connectors.base import Origin
from connectors.discord import DiscordConnector
from connectors.discord.api import Api
from connectors.discord.rates import LONGEST, MARGIN, Rates, Route
from ragcore.errors import SourceAuthError, SourceRateLimited
from tests.connectors.discords import GENERAL, Run, a_server, options, post
from tests.servers.discord import Rates as Limits
from tests.servers.faults import Fault

HERE, THERE = Route(kind="messages", about=1), Route(kind="messages", about=2)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def rates(clock):
    return Rates(clock=lambda: clock.now, sleep=clock.sleep)


def used_up(seconds: float, bucket: str = "b1") -> dict[str, str]:
    return {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": str(seconds), "X-RateLimit-Bucket": bucket}


async def test_a_limit_that_is_used_up_is_waited_for_before_it_refuses(rates, clock):
    rates.learn(HERE, {"X-RateLimit-Remaining": "1", "X-RateLimit-Reset-After": "5"})
    await rates.turn(HERE)
    rates.learn(HERE, used_up(2.5))
    await rates.turn(THERE)
    assert clock.slept == [], "another channel has a limit of its own"
    await rates.turn(HERE)
    await rates.turn(HERE)
    assert clock.slept == [pytest.approx(2.5 + MARGIN)]


async def test_routes_that_share_a_limit_wait_for_it_together(rates, clock):
    archive = Route(kind="archive", about=1)
    rates.learn(archive, used_up(0.0))
    rates.learn(HERE, used_up(3.0))
    await rates.turn(archive)
    assert clock.slept == [pytest.approx(3.0 + MARGIN)]


async def test_a_long_wait_is_the_runs_to_decide(rates, clock):
    rates.learn(HERE, used_up(LONGEST + 1))
    with pytest.raises(SourceRateLimited) as told:
        await rates.turn(HERE)
    assert told.value.retry_after == pytest.approx(LONGEST + 1 + MARGIN)
    assert clock.slept == []


@pytest.mark.parametrize("text", ["", "soon", "nan", "inf", "-3"])
async def test_a_wait_that_is_none_is_none(rates, clock, text):
    rates.learn(HERE, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": text})
    await rates.turn(HERE)
    assert clock.slept == []


async def test_the_limits_of_a_server_are_kept_and_none_is_run_into():
    async with a_server(Limits(everything=(100_000, 1.0), history=(3, 0.6))) as server:
        thread = post(server, "Valve", "How?")
        for number in range(60):
            await server.say(thread, f"message {number}")
        slept: list[float] = []
        clock = Rates()

        async def sleep(seconds: float) -> None:
            slept.append(seconds)
            await real(seconds)

        real, clock.sleep = clock.sleep, sleep
        async with Api(options=options(server), interval=0.0, rates=clock) as api:
            for _ in range(5):
                assert [len(page) async for page in api.messages(thread.id, 0)] == [61]
        assert not server.state.refused
        assert slept


async def test_a_refusal_tells_the_wait_of_its_body():
    async with a_server() as server:
        server.faults.add("GET /guilds/{}/channels", Fault(status=429, wait=2.25))
        with pytest.raises(SourceRateLimited) as told:
            await Run(server)()
        assert told.value.retry_after == 2.25


async def test_a_refusal_without_a_body_tells_that_of_its_header():
    from aiohttp import web

    async with a_server() as server:
        server.state.interfere = lambda *_: web.Response(status=429, headers={"Retry-After": "11"}, text="<html>")
        with pytest.raises(SourceRateLimited) as told:
            await Run(server)()
        assert told.value.retry_after == 11


async def test_a_channel_that_is_forbidden_just_when_a_limit_is_used_up_is_no_limit():
    async with a_server() as server:
        await server.say(GENERAL, "Hello")
        server.state.interfere = lambda name, _: (
            forbidden({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": "0.01"})
            if name == "GET /channels/{}/messages"
            else None
        )
        run = Run(server)
        assert await run() == []
        assert list(run.failures) == [f"s:{GENERAL}"]


def forbidden(headers):
    from aiohttp import web

    return web.json_response({"code": 50001, "message": "Missing Access"}, status=403, headers=headers)


async def test_a_wall_before_discord_is_no_closed_channel():
    from aiohttp import web

    async with a_server() as server:
        await server.say(GENERAL, "Hello")
        server.state.interfere = lambda name, _: (
            web.Response(status=403, text="<html>error code: 1015</html>") if "messages" in name else None
        )
        with pytest.raises(SourceAuthError):
            await Run(server)()


async def test_a_refused_token_is_told_with_the_mend_and_not_shown(tmp_path):
    async with a_server() as server:
        wrong = options(server, token="MTAw.secret.token")
        source = DiscordConnector(Origin(source="s", folder=tmp_path), wrong, interval=0.0)
        with pytest.raises(SourceAuthError, match="Reset Token") as told:
            [change async for change in source.changes(None, {})]
        assert "secret" not in str(told.value) + repr(source)
