"""``[web]`` and ``web`` of channels: what may be written, where the web is searched, and what the doctor says of it."""

import json
import pathlib
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from bots.access import audience_of
from bots.app.web import engine_of
from bots.cli.forms import answer_form
from bots.doctor import check_web
from bots.requests import Ask, Check, Diagnose, Recall, Recalled, Sync
from bots.settings import Settings, load_settings
from bots.turn.options import ChannelRule, turn_options
from connectors.http import HttpClient, HttpOptions
from ragcore.errors import ConfigError
from ragcore.on_web import is_web
from ragcore.phrases import phrase
from ragcore.types import ConversationKey
from ragcore.web.brave import Brave
from ragcore.web.pages import WebPage
from ragcore.web.searxng import SearXNG
from ragcore.web.tavily import Tavily
from tests.bots.handbook import SETTINGS, answered, opened, told
from tests.bots.test_cli import Cli, cli, scripted
from tests.bots.turn.flows import OPTIONS, Model, flowing
from tests.fakes.openai_server import OpenAIServer, Reply
from tests.fakes.operations import Scripted
from tests.fakes.platform import asked
from tests.fakes.virtual import run
from tests.fakes.web_engines import EngineServer, found, refusing, saying
from tests.fakes.website import Website

__all__ = ["cli", "scripted"]

BRIDGE = "The bridge over the Firth was opened in 1964, after six years of building."
QUESTION = "When was the bridge over the Firth opened?"
HERE = ConversationKey(platform="slack", workspace="T1", channel="C1", thread="1")
READER = audience_of("slack:T1")


def settings_of(folder: pathlib.Path, text: str) -> Settings:
    (folder / "citebot.toml").write_text(text)
    return load_settings(folder / "citebot.toml")


def test_no_table_no_web(tmp_path: pathlib.Path, no_settings: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-1")
    settings = settings_of(tmp_path, "[knowledge_bases.a]\n")
    assert settings.web is None
    assert not settings.searches_web()
    assert not turn_options(settings).web


def test_the_key_comes_from_its_usual_name(
    tmp_path: pathlib.Path, no_settings: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-1")
    monkeypatch.setenv("BRAVE_API_KEY", "brave-1")
    for provider, key in (("tavily", "tvly-1"), ("brave", "brave-1")):
        web = settings_of(tmp_path, f'[web]\nprovider = "{provider}"\n').web
        assert web is not None
        assert web.api_key is not None
        assert web.api_key.get_secret_value() == key
        assert key not in repr(web)
    web = settings_of(tmp_path, '[web]\nprovider = "brave"\napi_key = "mine"\n').web
    assert web is not None
    assert web.api_key is not None
    assert web.api_key.get_secret_value() == "mine"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('provider = "tavily"', "set TAVILY_API_KEY"),
        ('provider = "brave"', "set BRAVE_API_KEY"),
        ('provider = "searxng"', "base_url is missing"),
        ('provider = "google"', "provider"),
        ("results = 3", "provider"),
        ('provider = "searxng"\nbase_url = "localhost:8080"', "base_url"),
        ('provider = "searxng"\nbase_url = "http://x"\nresults = 0', "results"),
        ('provider = "searxng"\nbase_url = "http://x"\nseconds = 0', "seconds"),
        ('provider = "searxng"\nbase_url = "http://x"\nnetworks = ["here"]', "networks"),
        ('provider = "searxng"\nbase_url = "http://x"\nresult = 3', "results"),
        ('provider = "tavily"\napi_key = "secret\\nkey"', "api_key must be one word"),
        ('provider = "tavily"\napi_key = "secret key"', "api_key must be one word"),
        ('provider = "brave"\napi_key = "secret-schlüssel"', "api_key must be one word"),
    ],
)
def test_what_can_not_work_is_refused_with_its_name(
    tmp_path: pathlib.Path, no_settings: None, text: str, said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        settings_of(tmp_path, f"[web]\n{text}\n")
    assert "secret" not in str(caught.value)


def test_nothing_is_called_as_the_web_is(tmp_path: pathlib.Path, no_settings: None) -> None:
    for text in ('[knowledge_bases.":web"]\n', '[[sources]]\nname = ":web"\ntype = "files"\npath = "."\n'):
        with pytest.raises(ConfigError, match='must not begin with ":"'):
            settings_of(tmp_path, text)


def test_channels_are_off_until_one_is_set(tmp_path: pathlib.Path, no_settings: None) -> None:
    web = '[web]\nprovider = "searxng"\nbase_url = "http://localhost:8080"\n'
    channels = '[[channels]]\nid = "slack:T1/C1"\nweb = true\n[[channels]]\nid = "slack:T1/C2"\nweb = false\n'
    for everywhere in (False, True):
        settings = settings_of(tmp_path, f"{web}everywhere = {json.dumps(everywhere)}\n{channels}")
        options = turn_options(settings)
        for channel, wanted in (("C1", True), ("C2", False), ("C3", everywhere)):
            assert options.web_in(replace(HERE, channel=channel)) is wanted
            assert settings.searches_web(f"slack:T1/{channel}") is wanted
        assert settings.searches_web()
    with pytest.raises(ConfigError, match=r"web: needs the table \[web\]"):
        settings_of(tmp_path, channels)


def test_a_channel_s_questions_say_whether_the_web_is_theirs() -> None:
    async def talk() -> None:
        options = replace(OPTIONS, channels={"discord:G1/C1": ChannelRule(web=True)})
        async with flowing(options=options, model=Model()) as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.turns.receive(asked("How many hours?", message="q3", channel="C2"))
            await flow.idle()
            assert sorted(one.web for one in flow.model.asked if isinstance(one, Ask)) == [False, True]

    run(talk())


def test_the_terminal_searches_it_as_that_reader_would(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def webs() -> list[bool]:
        return [one.web for one in scripted.asked if isinstance(one, Ask)]

    assert cli("ask", "carry over?").code == 0
    assert webs() == [False]
    monkeypatch.setenv("CITEBOT_WEB__PROVIDER", "searxng")
    monkeypatch.setenv("CITEBOT_WEB__BASE_URL", "http://127.0.0.1:1")
    assert cli("ask", "carry over?").code == 0
    assert cli("ask", "carry over?", "--as", "slack:T1/C1").code == 0
    assert webs() == [False, True, False]
    assert cli("ask", "carry over?", "--filter", "team = sales").code == 0
    assert webs()[-1] is False


async def test_each_engine_is_made_of_its_settings(
    tmp_path: pathlib.Path, no_settings: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-1")
    monkeypatch.setenv("BRAVE_API_KEY", "brave-1")
    async with HttpClient(HttpOptions()) as http:
        for provider, kind in (("tavily", Tavily), ("brave", Brave), ("searxng", SearXNG)):
            web = settings_of(tmp_path, f'[web]\nprovider = "{provider}"\nbase_url = "http://x.example"\n').web
            assert web is not None
            assert isinstance(engine_of(web, http), kind)


@pytest.fixture
async def engine() -> AsyncIterator[EngineServer]:
    async with EngineServer(style="searxng", pages=[found("Sky", "http://127.0.0.1:1/", "It is blue.")]) as server:
        yield server


async def test_the_doctor_asks_it_once(tmp_path: pathlib.Path, no_settings: None, engine: EngineServer) -> None:
    web = f'[web]\nprovider = "searxng"\nbase_url = "{engine.url}"\n'
    settings = settings_of(tmp_path, web)
    async with HttpClient(HttpOptions(addresses=None)) as http:

        async def checked(path: str = "") -> Check:
            return await check_web(SearXNG(http, base_url=f"{engine.url}{path}"), settings)

        well = await checked()
        away = await checked("/elsewhere")
        engine.trouble = saying(b"<html>Log in</html>", "text/html")
        page = await checked()
        engine.trouble = None
        engine.pages = []
        empty = await checked()
        engine.trouble = refusing(403)
        refused = await checked()
    assert (well.state, well.found) == ("ok", "SearXNG answers, and is asked in the terminal alone")
    assert (away.found, "base_url" in away.mend) == ("there is no search of SearXNG at its address (404)", True)
    assert ("web page where JSON was due" in page.found, "base_url" in page.mend) == (True, True)
    assert (empty.state, empty.found) == ("warn", "SearXNG answers, and finds nothing")
    assert refused.state == "fail"
    assert "search.formats" in refused.mend
    assert "search.formats" not in refused.found
    assert len(engine.asked) == 2


@pytest.mark.parametrize(
    ("everywhere", "channels", "said"),
    [
        (False, (True, False, None), "in the terminal and in 1 channel"),
        (True, (True, None), "everywhere"),
        (True, (False, False), "everywhere but in 2 channels"),
    ],
)
async def test_the_doctor_tells_where_it_is_asked(
    tmp_path: pathlib.Path, no_settings: None, everywhere: bool, channels: tuple[bool | None, ...], said: str
) -> None:
    class Answering:
        name = "Engine"

        async def search(self, query: str, count: int) -> tuple[WebPage, ...]:
            return (WebPage(title="Sky", url="https://a.example/", text="Blue."),)

    text = f'[web]\nprovider = "searxng"\nbase_url = "http://x"\neverywhere = {json.dumps(everywhere)}\n'
    for number, web in enumerate(channels):
        text += f'[[channels]]\nid = "slack:T1/C{number}"\n' + (f"web = {json.dumps(web)}\n" if web is not None else "")
    check = await check_web(Answering(), settings_of(tmp_path, text))
    assert check.found == f"Engine answers, and is asked {said}"


async def test_an_answer_rests_on_the_web_where_it_may(
    home: pathlib.Path, engine: EngineServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolved = socket.getaddrinfo

    def getaddrinfo(host: str, *how: Any, **named: Any) -> Any:
        if host == "firth.example":
            raise socket.gaierror("nobody is asked for it")
        return resolved(host, *how, **named)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    engine.pages = [found("Bridges", "http://firth.example/opened", BRIDGE)]
    (home / "citebot.toml").write_text(
        f'{SETTINGS}[web]\nprovider = "searxng"\nbase_url = "{engine.url}"\nseconds = 30\n'
    )
    async with opened(home) as (operations, _):
        closed = await answered(operations, Ask(question=QUESTION, audience=READER))
        assert closed.abstained
        assert engine.asked == []
        answer = await answered(operations, Ask(question=QUESTION, audience=READER, web=True))
        assert engine.asked == [QUESTION]
        # So is a research, which asks the web for the parts of the question too.
        alone = await answered(operations, Ask(question=QUESTION, audience=READER, research=True))
        assert not any(is_web(one.chunk.document_id) for one in alone.chunks)
        assert engine.asked == [QUESTION]
        asked = Ask(question=QUESTION, audience=READER, research=True, web=True)
        researched = await answered(operations, asked)
        assert {citation.url for citation in researched.citations} == {"http://firth.example/opened"}
        # What leans on what was said goes there with what the same person typed before, and nothing of anybody else.
        mine, other = (replace(asked, conversation=HERE, web=False, research=False, typed_by=one) for one in "ab")
        for number, request in enumerate((replace(mine, question=f"{QUESTION} Why?"), replace(other, question="Who?"))):
            await answered(operations, replace(request, reference=f"0a1b2c3{number}"))
        for number, research in enumerate((False, True)):
            again = replace(mine, question="And closed?", research=research, reference=f"0a1b2c4{number}", web=True)
            await answered(operations, replace(again, why=True))
            assert engine.asked[-1] == f"And closed? {QUESTION} Why?"
    assert engine.asked.count(QUESTION) == 2
    (form,) = answer_form(answer)["citations"]  # type: ignore[misc]
    assert (form["url"], form["web"]) == ("http://firth.example/opened", True)
    assert BRIDGE[:-1] in answer.raw_text


@pytest.mark.soak
async def test_what_was_read_on_the_web_is_remembered_and_its_failure_told(
    home: pathlib.Path, engine: EngineServer
) -> None:
    async with Website() as site, OpenAIServer(default=Reply(text=f"{BRIDGE[:-1]} [ID:0].")) as server:
        site.page("/firth", f"<html><head><title>Bridges</title></head><body><p>{BRIDGE}</p></body></html>")
        engine.pages = [found("Bridges", site.url("/firth"), "A bridge.")]
        (home / "citebot.toml").write_text(
            f'{SETTINGS}[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n'
            f'[web]\nprovider = "searxng"\nbase_url = "{engine.url}"\nnetworks = ["127.0.0.1"]\nseconds = 30\n'
        )
        async with opened(home) as (operations, _):
            await told(operations, Sync())
            closed = await answered(operations, Ask(question=QUESTION, audience=READER))
            assert closed.abstained
            assert engine.asked == []
            request = Ask(question=QUESTION, audience=READER, web=True, conversation=HERE, reference="0a1b2c3d")
            answer = await answered(operations, request)
            assert engine.asked == [QUESTION]
            (citation,) = answer.citations
            assert is_web(citation.document_id)
            assert citation.url.startswith(f"{site.url('/firth')}#:~:text=")
            (form,) = answer_form(answer)["citations"]  # type: ignore[misc]
            assert form["web"] is True
            # What stands on the web is open to everybody: the turn is recalled, and its quotes are shown.
            await answered(operations, replace(request, question=f"{QUESTION} Again?", reference="0a1b2c3e"))
            assert any(BRIDGE[:-1] in text for text in server.requests[-1].texts[1:-1])
            (recalled,) = await told(operations, Recall(reference="0a1b2c3d", audience=READER))
            assert isinstance(recalled, Recalled)
            assert [is_web(one.document_id) for one in recalled.citations] == [True]
            assert recalled.withheld == 0
            engine.trouble = refusing(429, {"Retry-After": "60"})
            limited = await answered(operations, Ask(question="Who built it?", audience=READER, web=True))
            assert phrase("web_unavailable") in limited.notes
            checks = {one.name: one for one in await told(operations, Diagnose()) if isinstance(one, Check)}
            assert checks["web"].state == "fail"
