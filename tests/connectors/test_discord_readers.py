"""Who may read what was said on Discord, and what becomes of it when that changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.base import Origin
from connectors.discord.permissions import (
    ADMINISTRATOR,
    READS,
    VIEW_CHANNEL,
    Holder,
    Overwrite,
    may_read,
    member_of,
    permissions_in,
)
from connectors.registry import connect
from tests.connectors.discords import DAY, GENERAL, GUILD, HELP, Run, a_server, archive, discord_source, post, today
from tests.connectors.helpers import collect, live, run
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import opened
from tests.servers.discord.world import BOT, HISTORY, VIEW, snowflake

SERVER, WEEK = f"discord:{GUILD}", 7 * DAY
OPEN = {SERVER, f"{SERVER}/{GENERAL}"}
CLOSED = {f"{SERVER}/{GENERAL}"}


@pytest.fixture
async def server():
    async with a_server() as server:
        yield server


def denied(what: int, whom: int = GUILD, *, member: bool = False) -> dict:
    return {"id": str(whom), "type": int(member), "allow": "0", "deny": str(what)}


def allowed(what: int, whom: int, *, member: bool = False) -> dict:
    return {"id": str(whom), "type": int(member), "allow": str(what), "deny": "0"}


async def readers_of_a_word(server, channel=GENERAL):
    await server.say(channel, "A word")
    reading = Run(server)
    await reading()
    return set(reading.documents[f"s:{channel}/{today()}"].readers)


async def test_what_everyone_may_read_is_for_the_server(server):
    assert await readers_of_a_word(server) == OPEN


@pytest.mark.parametrize("what", [VIEW, HISTORY])
async def test_what_not_everyone_may_read_is_for_the_channel(server, what):
    server.state.channels[GENERAL].overwrites = [denied(what), allowed(what, BOT, member=True)]
    assert await readers_of_a_word(server) == CLOSED


async def test_what_everyone_is_denied_on_the_whole_server_a_channel_may_allow(server):
    server.guild(GUILD).everyone = VIEW
    assert await readers_of_a_word(server) == CLOSED
    server.channel(72, guild=GUILD).overwrites = [allowed(HISTORY, GUILD)]
    assert await readers_of_a_word(server, 72) == {SERVER, f"{SERVER}/72"}


async def test_an_age_restricted_channel_is_not_for_everyone(server):
    server.state.channels[GENERAL].nsfw = True
    assert await readers_of_a_word(server) == CLOSED


async def test_threads_are_read_where_their_channel_is_and_private_ones_alone(server):
    public = server.thread(snowflake(), parent=GENERAL, name="Public")
    private = server.thread(snowflake(), parent=GENERAL, private=True, members=(BOT, 42), name="Private")
    for thread in (public, private):
        await server.say(thread, "A word")
    reading = Run(server)
    await reading()
    assert reading.documents[f"s:{public.id}"].readers == OPEN
    assert reading.documents[f"s:{private.id}"].readers == {f"{SERVER}/{private.id}"}


async def test_a_channel_that_is_closed_later_closes_all_that_was_said_in_it(server):
    for age in (0, WEEK, 3 * WEEK):
        await server.say(GENERAL, "A word", age=age)
    thread = server.thread(snowflake(4 * WEEK), parent=GENERAL, name="Old")
    await server.say(thread, "A word", age=3 * WEEK)
    archive(thread, age=2 * WEEK)
    other = post(server, "Other", "A word", age=WEEK)
    reading = Run(server)
    assert len(await reading()) == 5
    assert await reading() == []
    server.state.channels[GENERAL].overwrites = [denied(VIEW), allowed(VIEW, BOT, member=True)]
    assert len(await reading()) == 4
    assert {frozenset(one.readers) for one in reading.documents.values()} == {frozenset(CLOSED)}
    assert f"s:{other.id}" not in reading.documents
    assert await reading() == []
    server.state.channels[GENERAL].overwrites = []
    assert len(await reading()) == 4, "and opened again"


async def test_a_channel_that_is_closed_to_the_bot_is_taken_back_at_once(server, tmp_path):
    days = [(await server.say(GENERAL, "A word", age=age * WEEK), age)[1] for age in range(12)]
    thread = server.thread(snowflake(4 * WEEK), parent=GENERAL, name="Old")
    await server.say(thread, "A word", age=3 * WEEK)
    kept = post(server, "Kept", "A word")
    async with opened(tmp_path / "data", HashEmbedder()) as library:
        report = await run(library, discord_source(server))
        assert (report.added, report.is_success) == (len(days) + 2, True)
        server.state.channels[GENERAL].overwrites = [denied(VIEW)]
        report = await run(library, discord_source(server))
        assert report.deleted == len(days) + 1, "no guard holds back what nobody may be shown"
        assert await live(library) == {str(kept.id)}
        assert [one.reason for one in report.failed] == [
            "the bot may not read #general and its history, so nothing of it is kept"
        ]
        report = await run(library, discord_source(server))
        assert (report.is_success, report.deleted) == (True, 0), "it is told once"
        server.state.channels[GENERAL].overwrites = []
        report = await run(library, discord_source(server))
        assert (report.added, report.is_success) == (len(days) + 1, True)


async def test_however_many_channels_are_closed_what_is_indexed_is_looked_through_once(server):
    class Counted(dict):
        looks = 0

        def items(self):
            self.looks += 1
            return super().items()

    for number in range(20):
        server.channel(100 + number, guild=GUILD).overwrites = [denied(VIEW)]
    known = Counted({f"s:105/{number}": "105.r.l.d" for number in range(3)})
    _, failures, gone, _ = await collect(discord_source(server).changes(None, known))
    assert gone == known.keys()
    assert failures.keys() == {"s:105"}
    assert known.looks == 1


async def test_an_empty_answer_for_want_of_the_history_is_no_deletion_of_a_channel_that_may_be_read(server):
    await server.say(GENERAL, "A word")
    reading = Run(server, channels=("general",))
    await reading()
    server.state.channels[GENERAL].overwrites = [denied(HISTORY)]
    assert await reading() == []
    assert reading.gone == {f"s:{GENERAL}/{today()}"}
    assert "Read Message History" in reading.failures[f"s:{GENERAL}"].mend


async def test_what_fails_stays_under_no_readers_that_may_read_it_no_more(server, tmp_path):
    thread = post(server, "Valve", "A word")
    async with opened(tmp_path / "data", HashEmbedder()) as library:
        await run(library, discord_source(server))
        thread.closed = 50001
        report = await run(library, discord_source(server))
        assert ([one.id for one in report.failed], report.deleted) == ([f"s:{thread.id}"], 0)
        assert await live(library) == {str(thread.id)}
        server.state.channels[HELP].nsfw = True
        report = await run(library, discord_source(server))
        assert ([one.id for one in report.failed], report.deleted) == ([f"s:{thread.id}"], 1)
        assert await live(library) == set()


async def test_the_name_of_a_hidden_channel_is_not_told(server):
    hidden = server.channel(72, guild=GUILD, hidden=True)
    hidden.name = "layoffs"
    await server.say(GENERAL, f"See <#{hidden.id}> and <#{HELP}>")
    reading = Run(server)
    await reading()
    text = reading.text(f"{GENERAL}/{today()}")
    assert "layoffs" not in text
    assert f"See https://discord.com/channels/{GUILD}/72 and #help" in text


async def test_fetching_tells_the_same_as_a_run(server, tmp_path):
    await server.say(GENERAL, "A word")
    thread = post(server, "Valve", "A word")
    private = server.thread(snowflake(), parent=GENERAL, private=True, members=(BOT,), name="Private")
    await server.say(private, "A word")
    reading = Run(server)
    told = [f"s:{native}" for native in await reading()]
    assert len(told) == 3
    fetched, failures, gone, _ = await collect(discord_source(server).fetch([*told, "s:no", "s:70/2026-99-99", "s:70"]))
    assert fetched == reading.documents
    assert not failures
    assert gone == {"s:no", "s:70/2026-99-99", "s:70"}
    assert thread.id
    server.state.channels[GENERAL].overwrites = [denied(VIEW)]
    fetched, _, gone, _ = await collect(discord_source(server).fetch(told))
    assert set(fetched) == {f"s:{thread.id}"}
    assert len(gone) == 2


def test_the_type_is_known_by_its_name_and_keeps_its_token(tmp_path):
    source = connect("discord", Origin(source="s", folder=tmp_path), {"token": "MTAw.secret", "servers": ("7",)})
    assert "secret" not in repr(source)


BITS = st.integers(min_value=0, max_value=(1 << 18) - 1)
OVERWRITES = st.lists(
    st.builds(Overwrite, id=st.sampled_from([1, 2, 3, 9]), is_member=st.booleans(), allow=BITS, deny=BITS),
    max_size=6,
    unique_by=lambda one: (one.id, one.is_member),
)


@given(overwrites=OVERWRITES, base=BITS, role=BITS)
def test_the_nearest_word_counts(overwrites, base, role):
    """Whoever is allowed something by name has it; whoever is denied it by name, and not allowed it, has not."""
    holder = member_of(1, [(1, base), (2, role), (3, ADMINISTRATOR)], frozenset({2}), member=9)
    found = permissions_in(overwrites, holder)
    if holder.base & ADMINISTRATOR:
        assert may_read(found)
        return
    named = [one for one in overwrites if one.is_member and one.id == 9]
    for one in named:
        assert found & one.allow == one.allow
        assert found & one.deny & ~one.allow == 0
    strangers = [
        one for one in overwrites if (one.is_member and one.id != 9) or (not one.is_member and one.id in {3, 9})
    ]
    assert permissions_in([one for one in overwrites if one not in strangers], holder) == found, "others' don't count"


@given(overwrites=OVERWRITES)
def test_without_seeing_the_channel_there_is_nothing_to_read(overwrites):
    holder = Holder(server=1, base=READS & ~VIEW_CHANNEL)
    hidden = [one for one in overwrites if not one.allow & VIEW_CHANNEL]
    assert not may_read(permissions_in(hidden, holder))
