"""Which documents an event of the gateway concerns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.discord import DISCORD, DiscordOptions
from connectors.discord.moments import border_at, day_begins, day_of, moment_of
from tests.connectors.discords import GENERAL, GUILD, Run, a_server, discord_source, post, today
from tests.connectors.helpers import collect
from tests.servers.discord.world import snowflake

OPTIONS = DiscordOptions(token="t", servers=(str(GUILD),), exclude=("66",))


def natives(name: str, options: DiscordOptions = OPTIONS, **told) -> set[str]:
    return set(DISCORD.touched(options, {"t": name, "d": {"guild_id": str(GUILD)} | told}))


def test_a_message_leads_to_its_thread_or_its_day():
    number = str(snowflake())
    told = {"id": number, "channel_id": "70", "author": {"id": "1"}}
    day = f"70/{today()}"
    assert natives("MESSAGE_CREATE", **told) == {"70", day}
    assert natives("MESSAGE_CREATE", **told, channel_type=0) == {day}
    assert natives("MESSAGE_CREATE", **told, channel_type=11) == {"70"}
    assert natives("MESSAGE_UPDATE", **told, channel_type=0, flags=1 << 5) == {day, number}
    assert natives("MESSAGE_DELETE", id=number, channel_id="70") == {"70", day, number}
    assert natives("MESSAGE_DELETE_BULK", ids=[number, str(snowflake())], channel_id="70") == {"70", day}


def test_a_thread_is_its_document():
    for name in ("THREAD_CREATE", "THREAD_UPDATE", "THREAD_DELETE"):
        assert natives(name, id="12", parent_id="70") == {"12"}
        assert natives(name, id="12", parent_id="66") == set()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("MESSAGE_CREATE", {"id": "1", "channel_id": "70", "author": {"bot": True}}),
        ("MESSAGE_CREATE", {"id": "1", "channel_id": "70", "webhook_id": "3", "author": {}}),
        ("MESSAGE_CREATE", {"id": "1", "channel_id": "66"}),
        ("MESSAGE_CREATE", {"id": "1", "channel_id": "70", "guild_id": "8"}),
        ("MESSAGE_CREATE", {"id": "1", "channel_id": "70", "guild_id": None}),
        ("MESSAGE_CREATE", {"id": "1"}),
        ("MESSAGE_CREATE", {"id": "one", "channel_id": "70"}),
        ("MESSAGE_REACTION_ADD", {"message_id": "1", "channel_id": "70"}),
        ("CHANNEL_UPDATE", {"id": "70"}),
    ],
)
def test_what_concerns_no_document_leads_nowhere(name, told):
    assert natives(name, **told) == set()
    assert DISCORD.touched(OPTIONS, {"t": name, "d": None}) == ()
    assert DISCORD.touched(OPTIONS, {}) == ()


def test_the_day_is_that_of_the_zone():
    late = border_at(moment_of(snowflake()).replace(hour=23))
    options = OPTIONS.model_copy(update={"timezone": "Asia/Tokyo"})
    told = {"id": str(late), "channel_id": "70", "channel_type": 0}
    assert natives("MESSAGE_CREATE", **told) != natives("MESSAGE_CREATE", options, **told)


@given(
    name=st.text(max_size=20),
    told=st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["id", "ids", "channel_id", "author", "flags"]), inner, max_size=4)
        ),
        max_leaves=8,
    ),
)
def test_no_event_is_too_odd(name, told):
    for one in (name, "MESSAGE_DELETE", "MESSAGE_UPDATE", "MESSAGE_DELETE_BULK", "THREAD_UPDATE"):
        told = told | {"guild_id": str(GUILD)} if isinstance(told, dict) else told
        assert all(isinstance(native, str) for native in DISCORD.touched(OPTIONS, {"t": one, "d": told}))


@given(st.datetimes(min_value=moment_of(0).replace(tzinfo=None), max_value=moment_of(1 << 63).replace(tzinfo=None)))
def test_a_day_holds_the_ids_from_its_beginning_on(when):
    from datetime import UTC, timedelta
    from zoneinfo import ZoneInfo

    zone = ZoneInfo("America/Sao_Paulo")
    number = border_at(when.replace(tzinfo=UTC))
    day = day_of(number, zone)
    assert number == 0 or day_begins(day, zone) <= number < day_begins(day + timedelta(days=1), zone)
    assert day_of(day_begins(day + timedelta(days=1), zone), zone) == day + timedelta(days=1)


async def test_what_events_name_is_what_a_run_would_find():
    """Every event of a server, told as its gateway tells it, leads to the documents that changed."""
    async with a_server() as server:
        events = []

        async def tell(name, data):
            events.append({"t": name, "d": data})

        server.tell = tell
        run = Run(server)
        thread = post(server, "Valve", "How?")
        message = await server.say(GENERAL, "Hello")
        await run()
        await server.say(thread, "Left.")
        await server.edit(message, "Hello there")
        other = await server.say(GENERAL, "Lunch?")
        await server.delete(other)
        native = {one for event in events for one in DISCORD.touched(OPTIONS, event)}
        documents, failures, _, _ = await collect(discord_source(server).fetch([f"s:{one}" for one in native]))
        assert not failures
        run.known |= {identity: document.version for identity, document in documents.items()}
        assert await run() == [], "a run after it finds nothing left"
        assert sorted(documents) == sorted([f"s:{thread.id}", f"s:{GENERAL}/{today()}"])
