"""Every search engine keeps the one contract, against a server of ours that enforces what its documentation says."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import ClassVar

import pytest

from connectors.http import HttpClient, HttpOptions
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceRateLimited, SourceUnreachable
from ragcore.web.asking import MOST_ROWS, Asking, Engine
from ragcore.web.brave import Brave
from ragcore.web.http import JsonHttp, JsonReply
from ragcore.web.pages import WebSearch
from ragcore.web.searxng import SearXNG
from ragcore.web.tavily import Tavily
from tests.fakes.web_engines import (
    KEY,
    EngineServer,
    Style,
    Trouble,
    found,
    hanging,
    refusing,
    saying,
    without_end,
)

PAGES = [
    found("Annual leave", "https://a.example/leave", "Thirty days a year.", "2026-03-01T08:00:00"),
    found("Sick pay", "https://b.example/sick?x=1", "From the fourth day."),
    found("Lunch", "https://c.example/", "Soup from noon."),
]


class Conformance:
    """What is demanded of an engine."""

    style: ClassVar[Style]
    key_setting: ClassVar[str]
    used_up: ClassVar[tuple[int, ...]] = (402,)

    def engine(self, http: JsonHttp, url: str, key: str = KEY) -> WebSearch:
        raise NotImplementedError

    @asynccontextmanager
    async def asking(
        self, trouble: Trouble | None = None, *, key: str = KEY, within: float = 5.0
    ) -> AsyncIterator[tuple[EngineServer, WebSearch]]:
        options = HttpOptions(addresses=None, timeout=within)
        async with EngineServer(style=self.style, pages=list(PAGES)) as server, HttpClient(options) as http:
            server.trouble = trouble
            yield server, self.engine(http, server.url, key)

    async def test_pages_come_in_order_with_what_is_said_of_them(self) -> None:
        async with self.asking() as (server, engine):
            pages = await engine.search("How many days of leave?", 2)
            assert server.asked == ["How many days of leave?"]
        assert [(one.title, one.url, one.text) for one in pages] == [
            ("Annual leave", "https://a.example/leave", "Thirty days a year."),
            ("Sick pay", "https://b.example/sick?x=1", "From the fourth day."),
        ]
        assert pages[0].published_at == datetime(2026, 3, 1, 8, tzinfo=UTC)
        assert pages[1].published_at is None
        assert engine.name

    async def test_nothing_found_is_nothing(self) -> None:
        async with self.asking() as (server, engine):
            server.pages = []
            assert await engine.search("xyzzy", 5) == ()

    @pytest.mark.parametrize(
        "query", ["word " * 6_000, "x" * 30_000, "年假" * 400, "🙂", "a\nb\x00c\td", "!!g leave", ":de !images <3 leave", "wow !! leave", "&q=x#y%"],
        ids=["words", "one-word", "chinese", "emoji", "controls", "bang", "syntax", "lucky", "url"],
    )  # fmt: skip
    async def test_any_question_is_asked_within_the_limits(self, query: str) -> None:
        async with self.asking() as (server, engine):
            assert len(await engine.search(query, 50)) == 3
            (asked,) = server.asked
        assert 0 < len(asked) <= 400
        assert len(asked.split()) <= 50
        assert asked.isprintable()

    async def test_of_a_blank_question_nothing_is_asked(self) -> None:
        async with self.asking() as (server, engine):
            assert await engine.search(" \n\x00", 3) == ()
            assert not server.requests

    @pytest.mark.parametrize("status", [401, 403])
    async def test_a_refused_key_names_its_setting(self, status: int) -> None:
        async with self.asking(refusing(status)) as (_, engine):
            with pytest.raises(SourceAuthError) as caught:
                await engine.search("leave", 3)
        assert self.key_setting in caught.value.mend
        assert "[web]" in caught.value.mend

    async def test_a_wrong_key_is_told_as_this_engine_tells_it_and_never_shown(self) -> None:
        async with self.asking(key="wrong-secret") as (_, engine):
            with pytest.raises(SourceAuthError) as caught:
                await engine.search("what the boss earns", 3)
        assert "wrong-secret" not in f"{caught.value!r} {caught.value} {engine!r}"
        assert "boss" not in str(caught.value)

    async def test_a_limit_is_told_and_nobody_asked_again_before_it_is_over(self) -> None:
        async with self.asking(refusing(429, {"Retry-After": "700"})) as (server, engine):
            with pytest.raises(SourceRateLimited) as caught:
                await engine.search("leave", 3)
            assert caught.value.retry_after == 700.0
            assert len(server.requests) == 1
            server.trouble = None
            with pytest.raises(SourceRateLimited) as again:
                await engine.search("leave", 3)
            assert 0.0 < again.value.retry_after <= 700.0
            assert len(server.requests) == 1

    @pytest.mark.parametrize(
        ("headers", "wait"),
        [({}, 60.0), ({"Retry-After": "soon"}, 60.0), ({"Retry-After": "99999999999"}, 86_400.0), ({"Retry-After": "0"}, 0.0)],
        ids=["unsaid", "rubbish", "endless", "none"],
    )  # fmt: skip
    async def test_whatever_wait_is_told_is_bounded(self, headers: dict[str, str], wait: float) -> None:
        async with self.asking(refusing(429, headers)) as (_, engine):
            with pytest.raises(SourceRateLimited) as caught:
                await engine.search("leave", 3)
        assert caught.value.retry_after == wait

    async def test_a_plan_that_is_used_up_is_told(self) -> None:
        for status in self.used_up:
            async with self.asking(refusing(status)) as (server, engine):
                for _ in range(2):
                    with pytest.raises(SourceRateLimited):
                        await engine.search("leave", 3)
                assert len(server.requests) == 1

    @pytest.mark.parametrize("status", [500, 502, 503])
    async def test_an_engine_that_fails_is_told(self, status: int) -> None:
        async with self.asking(refusing(status)) as (server, engine):
            with pytest.raises(SourceError, match=f"fault of its own \\({status}\\)"):
                await engine.search("leave", 3)
            assert len(server.requests) == 1, "who asked a question waits: nothing is tried again"

    @pytest.mark.parametrize("status", [404, 405])
    async def test_an_address_without_a_search_is_told_with_its_setting(self, status: int) -> None:
        async with self.asking(refusing(status)) as (_, engine):
            with pytest.raises(
                SourceBadReply, match=rf"no search of {engine.name} at its address \({status}\)"
            ) as caught:
                await engine.search("leave", 3)
        assert "base_url under [web]" in caught.value.mend

    @pytest.mark.parametrize("status", [400, 413, 422])
    async def test_a_refusal_is_told_without_what_was_asked(self, status: int) -> None:
        async with self.asking(refusing(status, said={"detail": "what the boss earns"})) as (_, engine):
            with pytest.raises(SourceBadReply, match=rf"refused the search \({status}\)") as caught:
                await engine.search("what the boss earns", 3)
        assert "boss" not in str(caught.value)

    @pytest.mark.parametrize(
        "content",
        [
            b"", b"<html>busy</html>", b'{"results": [', b"[]", b"7", b"null", b'{"results": 5}', b'{"results": {"a": 1}}', b'{"web": 3}', b"{}",
            b"[" * 100_000, b"\xff\xfe\x00",
        ],
        ids=["empty", "page", "half", "list", "number", "null", "no-list", "table", "web", "bare", "deep", "bytes"],
    )  # fmt: skip
    async def test_rubbish_is_told(self, content: bytes) -> None:
        async with self.asking(saying(content)) as (_, engine):
            with pytest.raises(SourceBadReply):
                await engine.search("leave", 3)

    async def test_results_that_can_not_be_used_are_left_out(self) -> None:
        async with self.asking() as (server, engine):
            server.pages = [
                found("Script", "javascript:alert(1)", "x"),
                found("File", "file:///etc/passwd", "x"),
                found("Spaces", "https://a.example/a b", "x"),
                found("Lines", "https://a.example/\n<!channel>", "x"),
                found("Login", "https://user:pass@a.example/", "x"),
                found("Endless", "https://a.example/" + "x" * 3_000, "x"),
                found("No host", "https:///leave", "x"),
                found("Two hosts", "https://evil.example\\.a.example/leave", "x"),
                found("Port", "https://a.example:99999999/", "x"),
                {"title": 7, "url": 8, "text": 9, "date": 10},
                {"title": None, "url": "https://d.example/", "text": None, "date": "the other day"},
                found("Good", "https://a.example/leave", "Thirty &amp; <strong>three</strong>\n days", "Sun, 01 Mar 2026 08:00:00 GMT"),
                found("Twice", "https://a.example/leave", "Again."),
            ]  # fmt: skip
            pages = await engine.search("leave", 20)
        assert [(one.title, one.url, one.text) for one in pages] == [
            ("", "https://d.example/", ""),
            ("Good", "https://a.example/leave", "Thirty & three days"),
        ]
        assert [one.published_at for one in pages] == [None, datetime(2026, 3, 1, 8, tzinfo=UTC)]

    async def test_of_results_without_number_the_first_are_looked_at(self) -> None:
        async with self.asking() as (server, engine):
            # Tavily and Brave are told how many; a proxy before them may not heed it.
            server.pages, server.heeds = [found("Script", "javascript:x", "x")] * MOST_ROWS + PAGES, False
            assert await engine.search("leave", 3) == ()
            server.pages = [*PAGES, *[found("Late", "https://late.example/", "x")] * 5]
            assert len(await engine.search("leave", 3)) == 3

    async def test_an_answer_without_end_is_bounded(self) -> None:
        async with self.asking(without_end()) as (_, engine):
            with pytest.raises(SourceBadReply, match="larger than the limit of 4 MB"):
                await engine.search("leave", 3)

    async def test_an_answer_that_drips_is_not_waited_for(self) -> None:
        async with self.asking(without_end(piece=b" ", pause=0.02), within=0.2) as (_, engine):
            with pytest.raises(SourceUnreachable, match="did not answer in time"):
                await engine.search("leave", 3)

    async def test_silence_is_not_waited_for(self) -> None:
        async with self.asking(hanging, within=0.2) as (_, engine):
            with pytest.raises(SourceUnreachable, match="did not answer in time"):
                await engine.search("leave", 3)

    async def test_a_redirect_takes_the_key_and_the_question_nowhere(self) -> None:
        async with EngineServer(style=self.style) as other:
            async with self.asking(refusing(302, {"Location": f"{other.url}/stolen"})) as (_, engine):
                with pytest.raises(SourceBadReply, match="led elsewhere"):
                    await engine.search("leave", 3)
            assert not other.requests

    async def test_nobody_there_is_told(self) -> None:
        async with EngineServer(style=self.style) as server:
            url = server.url
        async with HttpClient(HttpOptions(addresses=None)) as http:
            with pytest.raises(SourceUnreachable):
                await self.engine(http, url).search("leave", 3)


class TestTavily(Conformance):
    style = "tavily"
    key_setting = "TAVILY_API_KEY"
    used_up = (402, 432, 433)

    def engine(self, http: JsonHttp, url: str, key: str = KEY) -> WebSearch:
        return Tavily(http, api_key=key, base_url=url)


class TestBrave(Conformance):
    style = "brave"
    key_setting = "BRAVE_API_KEY"

    def engine(self, http: JsonHttp, url: str, key: str = KEY) -> WebSearch:
        return Brave(http, api_key=key, base_url=url)

    @pytest.mark.parametrize(
        ("remaining", "reset", "wait"),
        [("0, 1000", "1, 1419", 1.0), ("1, 0", "1, 1419", 1419.0), ("0, 0", "1, 1419", 1419.0), ("", "3", 3.0), ("x", "y", 60.0)],
        ids=["second", "month", "both", "unsaid", "rubbish"],
    )  # fmt: skip
    async def test_the_wait_is_that_of_the_window_that_is_used_up(
        self, remaining: str, reset: str, wait: float
    ) -> None:
        trouble = refusing(429, {"X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": reset})
        async with self.asking(trouble) as (_, engine):
            with pytest.raises(SourceRateLimited) as caught:
                await engine.search("leave", 3)
        assert caught.value.retry_after == wait


class TestSearXNG(Conformance):
    style = "searxng"
    key_setting = "search.formats"

    def engine(self, http: JsonHttp, url: str, key: str = KEY) -> WebSearch:
        return SearXNG(http, base_url=url, api_key=key)

    async def test_engines_behind_it_that_do_not_answer_are_no_empty_web(self) -> None:
        said = b'{"results": [], "unresponsive_engines": [["brave", "Suspended: too many requests"]]}'
        async with self.asking(saying(said)) as (_, engine):
            with pytest.raises(SourceError, match="engines that it asks did not answer"):
                await engine.search("leave", 3)

    async def test_it_needs_no_key_and_takes_its_address_with_its_path(self) -> None:
        async with EngineServer(style="searxng", pages=list(PAGES)) as server:
            async with HttpClient(HttpOptions(addresses=None)) as http:
                for url in (server.url, f"{server.url}/", f"{server.url}/search"):
                    assert len(await SearXNG(http, base_url=url).search("leave", 3)) == 3
            assert not any("Authorization" in seen for seen in server.seen)

    async def test_its_limiter_is_told_with_the_file_that_lifts_it(self) -> None:
        async with self.asking(refusing(429)) as (_, engine):
            with pytest.raises(SourceRateLimited) as caught:
                await engine.search("leave", 3)
        assert "limiter.toml" in caught.value.mend


async def test_of_two_limits_that_are_told_at_once_the_longer_holds() -> None:
    class Limited:
        def __init__(self) -> None:
            self.waits = [700.0, 5.0]

        async def json(self, url: str, **how: object) -> JsonReply:
            wait = self.waits.pop(0)
            await asyncio.sleep(0)  # so that both are under way
            raise SourceRateLimited("too often", retry_after=wait)

    now = 1_000.0
    asking = Asking(Limited(), Engine(name="E", auth_mend="m"), clock=lambda: now)
    await asyncio.gather(asking.ask("u"), asking.ask("u"), return_exceptions=True)
    now += 10.0
    with pytest.raises(SourceRateLimited, match="690 s more"):
        await asking.ask("u")
