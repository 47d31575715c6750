"""The source type ``slack``: what Slack refuses, the scopes it wants, its limits, and settings."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from connectors.http import JsonReply, Reply
from connectors.slack import SlackOptions
from connectors.slack.api import Answers, Api
from connectors.slack.ids import _NATIVE as NATIVE
from connectors.slack.ids import Ids, parsed
from ragcore.errors import SourceAuthError, SourceBadReply, SourceRateLimited
from tests.connectors.helpers import collect, run
from tests.connectors.slacks import C, Run, ago, options, slack, thread, workspace
from tests.fakes.libraries import opened
from tests.servers.faults import Fault

HOUR, DAY = 3_600, 86_400
SECRET = "xoxb-local"


@pytest.fixture
async def server():
    async with workspace() as slack:
        yield slack


@pytest.mark.parametrize("error", ["invalid_auth", "token_revoked", "account_inactive", "token_expired"])
async def test_a_token_that_is_refused(server, error):
    server.faults.add("auth.test", Fault(status=200, error=error))
    with pytest.raises(SourceAuthError) as refused:
        await Run(server)()
    assert error in str(refused.value)
    assert "`token`" in refused.value.mend
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("scope", ["channels:read", "groups:read", "channels:history", "groups:history", "users:read"])
async def test_a_scope_that_is_missing_is_named(server, scope):
    server.channel("C2").private = True
    for channel in (C, "C2"):
        thread(server, channel=channel)
    every = ("channels:read", "groups:read", "channels:history", "groups:history", "users:read")
    server.scopes = every
    assert len(await Run(server)()) == 2, "these are all that it takes"
    server.scopes = tuple(one for one in every if one != scope)
    with pytest.raises(SourceAuthError) as refused:
        await Run(server)()
    assert scope in refused.value.mend


async def test_the_limits_of_apps_that_are_sold_are_waited_for_to_the_end(server, tmp_path):
    """15 messages, one call a minute: each further page waits, and the run goes on where it stood."""
    server.page, server.rates.read = 15, 1
    took = set()
    for number in range(50):
        server.say(C, f"Word {number}.", at=datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp() + number)
        took.add(f"Word {number}.")
    thread(server, "Who?", *(f"Reply {number}." for number in range(40)), at=ago(DAY))
    waits = []

    async def wait(seconds):
        waits.append(seconds)
        server.windows.clear()  # a minute has passed

    async with opened(tmp_path) as library:
        report = await run(library, slack(server, since="2026-01-01"), sleep=wait)
        assert report.is_success, report
        assert report.added == 2
        held = await library.registry.chunks_of(await library.registry.document_ids("s"))
        text = "\n".join(chunk.text for chunk in held)
        assert all(word in text for word in took)
        assert "Reply 39." in text
    assert len(waits) >= 5
    assert server.count("conversations.history") <= 8 + len(waits), "no page is asked for twice"


@pytest.mark.parametrize("turns", ["aaaa", "abab"])
async def test_pages_that_lead_in_a_circle_are_an_error(turns):
    """What was answered is kept for the run, so that without this it would go round without a pause."""

    class Circling:
        asked = 0

        async def json(self, url, *, limit):
            self.asked += 1
            told = {"ok": True, "response_metadata": {"next_cursor": turns[self.asked - 1]}}
            return JsonReply(reply=Reply(url=url, status=200, headers={}, content=b""), value=told)

    client = Circling()
    with pytest.raises(SourceBadReply, match="doesn't end"):
        assert [page async for page in Api(client=client, url="http://x/", answers=Answers()).pages("users.list")]
    assert client.asked <= 3


async def test_a_wait_without_progress_is_not_borne_for_ever(server, tmp_path):
    server.say(C, "A word.", at=ago(HOUR))
    server.faults.add("conversations.history", Fault(status=429, wait=5), 100)
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    async with opened(tmp_path) as library:
        report = await run(library, slack(server), sleep=sleep)
    assert not report.is_success
    assert report.retry_after > 0
    assert len(waits) <= 4
    with pytest.raises(SourceRateLimited):
        await Run(server)()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"channels": ("D0123",)}, "direct messages"),
        ({"channels": ("#",)}, "no name"),
        ({"days": 3, "since": "2026-01-01"}, "not both"),
        ({"api_url": "slack.com"}, "no address"),
        ({"days": -1}, "greater than or equal"),
    ],
)
def test_settings_that_are_wrong(wrong, told):
    with pytest.raises(ValidationError, match=told):
        SlackOptions(token=SECRET, **wrong)


def test_how_far_back_is_kept():
    now = datetime.now(UTC)
    assert SlackOptions(token=SECRET, days=0).oldest() == 0
    assert SlackOptions(token=SECRET, since="2026-01-31").oldest() == datetime(2026, 1, 31, tzinfo=UTC).timestamp()
    year = now - timedelta(days=365) - datetime.fromtimestamp(SlackOptions(token=SECRET).oldest(), UTC)
    assert timedelta(minutes=-1) < year < timedelta(days=1)


def test_a_token_stands_nowhere(server):
    assert SECRET not in repr(options(server))
    assert SECRET not in repr(slack(server))


@pytest.mark.parametrize("error", ["not_in_channel", "fatal_error"])
async def test_what_is_fetched_and_refused_fails_under_its_own_id(server, error):
    _, identity = thread(server)
    server.faults.add("conversations.replies", Fault(status=200, error=error))
    documents, failures, gone, _ = await collect(slack(server).fetch([f"s:{identity}"]))
    assert failures.keys() == {f"s:{identity}"}
    assert not documents
    assert not gone


async def test_however_many_channels_there_are_what_is_indexed_is_looked_through_once(server, monkeypatch):
    looks = 0

    class Counted:
        def fullmatch(self, text):
            nonlocal looks
            looks += 1
            return NATIVE.fullmatch(text)

    for number in range(2, 22):
        server.channel(f"C{number}")
    known = {f"s:C1/1700000{number:03}.000100": "v" for number in range(200)}
    monkeypatch.setattr("connectors.slack.ids._NATIVE", Counted())
    connector = slack(server, days=0)
    await collect(connector.changes(None, known))
    assert looks < 2 * len(known)
    assert not {identity async for identity in connector.list_ids()} & known.keys(), "none of it is there any more"


@given(
    st.lists(
        st.builds(
            "{}/{}".format,
            st.sampled_from(["C1", "C2", "D1"]),
            st.sampled_from(["1700000000.000100", "1700000000.000200", "2023-11-14", "2023-11-15", "2023-13-01", ""]),
        )
    ),
    st.sampled_from(["C1", "C2", "C3"]),
    st.floats(1.69e9, 1.71e9),
    st.floats(1.69e9, 1.71e9),
)
def test_ids_are_found_by_channel_and_time(natives, channel, start, end):
    named = {native: parsed(native) for native in natives}
    within = {native for native, one in named.items() if one and one.channel == channel and start <= one.start < end}
    ids = Ids.of(natives)
    assert set(ids) == {native for native, one in named.items() if one}
    assert set(ids.within(channel, start, end)) == within
    ids.discard(*within, "C9/none")
    assert set(ids) == {native for native, one in named.items() if one} - within
