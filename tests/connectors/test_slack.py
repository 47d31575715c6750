"""The source type ``slack``: threads that grow, edits, deletions, who may read, names, permalinks, and what a run costs."""

import threading
from datetime import UTC, datetime

import pytest

from connectors.slack.ids import day_id, thread_id
from connectors.slack.messages import Writer
from ragcore.ingest import remove
from ragcore.links import deep_link
from tests.connectors.helpers import collect, run
from tests.connectors.slacks import C, Run, ago, link_at, native, slack, thread, workspace
from tests.fakes.libraries import opened
from tests.servers.faults import Fault

HOUR, DAY = 3_600, 86_400


@pytest.fixture
async def server():
    async with workspace() as slack:
        yield slack


async def test_a_thread_is_one_document_that_grows(server):
    first, identity = thread(server)
    after = Run(server)
    assert await after() == [identity]
    document = after.held[f"s:{identity}"]
    said = f"{datetime.fromtimestamp(float(first['ts']), UTC):%Y-%m-%d %H:%M} UTC"
    assert after.text(identity).startswith(f"**Ann** ({said})\n\nIs the valve open?\n\n**Bob** (")
    assert after.text(identity).rstrip().endswith("Yes.")
    assert (document.title, document.author) == ("#valves: Is the valve open?", "Ann")
    assert await after() == []
    server.say(C, "Since Friday.", thread=first["ts"])
    assert await after() == [identity]
    assert "Since Friday." in after.text(identity)
    assert await after() == []


async def test_what_is_said_outside_of_threads_is_a_document_a_day(server):
    monday = datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp()
    question = server.say(C, "Who has the key?", at=monday)
    answer = server.say(C, "It hangs in room 4.", user="U2", at=monday + 30)
    server.say(C, "The next day.", at=monday + DAY)
    after = Run(server, since="2026-01-01")
    assert await after() == ["C1/2026-03-02", "C1/2026-03-03"]
    held = after.held["s:C1/2026-03-02"]
    text = held.content.decode()
    assert text.index("Who has the key?") < text.index("It hangs in room 4.")
    assert held.title == "#valves, 2026-03-02"
    assert held.updated_at == datetime(2026, 3, 2, 9, 0, 30, tzinfo=UTC).replace(
        microsecond=held.updated_at.microsecond
    )
    assert [link.url for link in held.permalinks] == [
        f"https://local.slack.com/archives/C1/p{one['ts'].replace('.', '')}" for one in (question, answer)
    ]


async def test_a_first_reply_takes_a_message_out_of_its_day_and_the_last_one_deleted_puts_it_back(server):
    first = server.say(C, "Is the valve open?", at=ago(3 * HOUR))
    day, identity = day_id(C, first["ts"]), thread_id(C, first["ts"])
    after = Run(server)
    assert await after() == [day]
    reply = server.say(C, "Yes.", user="U2", thread=first["ts"])
    assert await after() == [identity]
    assert native(after.held) == [identity]
    server.delete(C, reply)
    assert await after() == [day]
    assert native(after.held) == [day]


async def test_edits_and_deletions_are_seen(server):
    first, identity = thread(server, "Is the valve open?", "Yes.", "No.", "Perhaps.")
    alone = server.say(C, "Lunch at 12.", at=ago(5 * DAY))
    day = day_id(C, alone["ts"])
    after = Run(server)
    await after()
    server.edit(C, alone, "Lunch at 13.")
    assert await after() == [day]
    assert "Lunch at 13." in after.text(day)
    server.edit(C, first, "Is the main valve open?")
    assert await after() == [identity]
    assert "Is the main valve open?" in after.text(identity)
    no = next(one for one in server.channels[C].messages.values() if one["text"] == "No.")
    server.delete(C, no)
    assert await after() == [identity]
    assert "No." not in after.text(identity)
    server.delete(C, alone)
    assert await after() == []
    assert native(after.held) == [identity]
    server.delete(C, first)  # its replies stay
    assert await after() == [identity]
    assert "main valve" not in after.text(identity)
    assert "Perhaps." in after.text(identity)


async def test_a_reply_to_an_old_thread_is_seen_when_the_whole_history_is_due(server):
    first, identity = thread(server, at=ago(100 * DAY))
    old = server.say(C, "An old word.", at=ago(90 * DAY))
    server.say(C, "Something new.", at=ago(HOUR))
    after = Run(server)
    assert len(await after()) == 3
    server.say(C, "Not any more.", user="U2", thread=first["ts"])
    server.edit(C, old, "Another old word.")
    assert await after() == [], "it is older than what each run reads"
    assert len(after.held) == 3, "and is believed to be there"
    assert await after(recheck_hours=1e-9) == sorted([identity, day_id(C, old["ts"])])
    assert "Not any more." in after.text(identity)
    server.delete(C, old)
    await after(recheck_hours=1e-9)
    assert day_id(C, old["ts"]) not in native(after.held)


async def test_an_edited_reply_is_seen_when_the_whole_history_is_due(server):
    _, identity = thread(server)
    after = Run(server)
    await after()
    reply = next(one for one in server.channels[C].messages.values() if one["text"] == "Yes.")
    server.edit(C, reply, "Yes, since Friday.")
    assert await after() == []
    assert await after(recheck_hours=1e-9) == [identity]
    assert "since Friday" in after.text(identity)


@pytest.mark.parametrize("count", [1, 40])
async def test_an_unchanged_run_costs_a_page_a_channel(server, count):
    for number in range(count):
        thread(server, f"Question {number}?", at=ago(2 * DAY) + 600 * number)
        server.say(C, f"Word {number}.", user=f"U{number}", at=ago(DAY) + 60 * number)
    server.channel("C2")
    after = Run(server)
    await after()
    assert await after() == []
    assert sorted(after.calls) == ["auth.test", *["conversations.history"] * 2, "users.conversations"]
    server.say(C, "One more.", user="U1", thread=thread(server, "And?", at=ago(HOUR))[0]["ts"])
    await after()
    assert after.calls.count("conversations.replies") == 1


async def test_a_thread_in_which_nothing_is_kept_is_read_once(server):
    first = server.say(C, f"<@{server.user}> is the valve open?", at=ago(HOUR))
    server.say(C, "It is.", user=server.user, bot_id=server.bot_id, thread=first["ts"])
    after = Run(server)
    assert await after() == []
    assert after.calls.count("conversations.replies") == 1
    assert await after() == []
    assert "conversations.replies" not in after.calls
    server.say(C, "It is not!", user="U2", thread=first["ts"])
    identity = thread_id(C, first["ts"])
    assert await after() == [identity]
    assert "It is not!" in after.text(identity)
    assert "is the valve" not in after.text(identity)


async def test_apps_and_joins_are_left_out(server):
    server.say(C, "<@U1> has joined the channel", subtype="channel_join", at=ago(DAY))
    server.say(C, "", user="", subtype="bot_message", bot_id="B9", username="Alarm", at=ago(2 * DAY),
               attachments=[{"title": "Boiler", "text": "Too *hot*", "fields": [{"title": "Degrees", "value": "120"}]}])  # fmt: skip
    said = server.say(C, "A word.", at=ago(3 * DAY))
    after = Run(server)
    assert await after() == [day_id(C, said["ts"])]
    with_apps = Run(server, bots=True)
    assert len(await with_apps()) == 2
    text = next(one.content.decode() for one in with_apps.documents.values() if one.author == "Alarm")
    assert all(word in text for word in ("Boiler", "Too **hot**", "Degrees: 120"))
    assert not any("joined" in one.content.decode() for one in with_apps.documents.values())


async def test_files_are_named(server):
    files = [{"id": "F1", "title": "Plan &amp; costs", "name": "plan.pdf"}, {"id": "F2", "name": "a.png"}]
    said = server.say(C, "", files=[*files, {"id": "F3", "name": "gone.txt", "mode": "tombstone"}], at=ago(HOUR))
    after = Run(server)
    await after()
    text = after.text(day_id(C, said["ts"]))
    assert "File: Plan & costs (plan.pdf)" in text
    assert "File: a.png" in text
    assert "gone" not in text


async def test_who_may_read_follows_the_privacy_of_the_channel(server):
    server.channel("C2").private = True
    server.channel("C3").shared = True
    for channel in (C, "C2", "C3", "D1", "G1"):
        server.say(channel, "A word.", at=ago(HOUR))
    after = Run(server)
    await after()
    readers = {identity[2:4]: document.readers for identity, document in after.held.items()}
    assert readers == {
        "C1": {"slack:T0001", "slack:T0001/C1"},
        "C2": {"slack:T0001/C2"},
        "C3": {"slack:T0001/C3"},
    }


async def test_a_channel_that_is_made_private_is_closed_at_once(server):
    for number in range(3):
        thread(server, f"Question {number}?", at=ago(300 * DAY) + 2 * DAY * number)
    after = Run(server)
    ids = await after()
    server.channels[C].private = True
    assert await after() == ids, "however old they are"
    assert native(after.gone) == ids, "and they are taken away before they are read again"
    assert {document.readers for document in after.held.values()} == {frozenset({"slack:T0001/C1"})}
    assert await after() == []
    server.channels[C].private = False
    assert await after() == ids
    assert not after.gone
    assert {document.readers for document in after.held.values()} == {frozenset({"slack:T0001", "slack:T0001/C1"})}


async def test_a_closed_channel_leaves_the_index_even_if_it_can_not_be_read_again(server, tmp_path):
    thread(server)
    async with opened(tmp_path) as library:
        assert (await run(library, slack(server))).added == 1
        server.channels[C].private = True
        server.faults.add("conversations.history", Fault(status=500), 100)
        assert not (await run(library, slack(server))).is_success
        assert not await library.registry.document_ids("s")
        server.faults.clear()
        assert (await run(library, slack(server))).added == 1
        (identity,) = await library.registry.document_ids("s")
        assert (await library.registry.document(identity)).readers == {"slack:T0001/C1"}


async def test_people_and_channels_that_are_renamed(server):
    server.channel("C2").name = "pumps"
    _, identity = thread(server, "Ask <@U2> in <#C2|pumps> or <#C2>.")
    after = Run(server)
    await after()
    assert "Ask @Bob in #pumps or #pumps." in after.text(identity)
    server.users["U2"]["profile"]["display_name"] = "Robert"
    assert await after() == [], "names are learnt anew with the whole history"
    assert await after(recheck_hours=1e-9) == [identity]
    assert "Ask @Robert in" in after.text(identity)
    assert "**Robert** (" in after.text(identity)
    server.channels[C].name = "taps"
    assert await after() == [identity]
    assert after.held[f"s:{identity}"].title == "#taps: Ask @Robert in #pumps or #pumps."


async def test_many_people_are_asked_for_together(server):
    for number in range(30):
        server.say(C, f"Word {number}.", user=f"U5{number}", at=ago(HOUR) + number)
    server.page = 12
    after = Run(server)
    await after()
    assert (after.calls.count("users.list"), after.calls.count("users.info")) == (3, 0)
    assert "**name of U529**" in next(iter(after.held.values())).content.decode()


async def test_names_that_are_not_to_be_had(server):
    server.channel("C2").private = True
    server.groups = [{"id": "S1", "handle": "oncall"}]
    said = server.say(C, "<@U404> <#C2> <#C9> <!subteam^S1> <!subteam^S2> <!here>", at=ago(HOUR))
    after = Run(server)
    await after()
    told = "@U404 #private channel #private channel @oncall @S2 @here"
    assert told in after.text(day_id(C, said["ts"])), "what a private channel is called is no matter of others"


async def test_permalinks_cite_the_message(server, tmp_path):
    texts = [f"Valve {number} was seen to by team {number}." + " It is checked in spring." * 12 for number in range(12)]
    first, identity = thread(server, *texts)
    async with opened(tmp_path) as library:
        await run(library, slack(server))
        chunks = await library.registry.chunks_of([f"s:{identity}"])
        assert len(chunks) > 2
        for message in server.channels[C].messages.values():
            passage = message["text"].partition(".")[0]
            place = f"https://local.slack.com/archives/C1/p{message['ts'].replace('.', '')}"
            link = place if message is first else f"{place}?thread_ts={first['ts']}&cid=C1"
            holding = [chunk for chunk in chunks if passage in chunk.text]
            assert holding
            assert {deep_link(chunk, passage) for chunk in holding} == {link}


async def test_a_permalink_stands_at_the_line_where_its_message_begins(server):
    text = "One\u2028two\r\nthree\n\n\n```a\n\nb```\n• x\u000by &amp; ünïcode 文档 👋"
    _, identity = thread(server, text, "Four.\n\nFive.")
    after = Run(server)
    await after()
    document = after.held[f"s:{identity}"]
    lines = document.content.decode().split("\n")
    assert [lines[link.line - 1].partition("**")[2].partition("**")[0] for link in document.permalinks] == [
        "Ann",
        "Bob",
    ]
    assert "thread_ts" in link_at(document, lines.index("Five.") + 1)
    assert "thread_ts" not in link_at(document, lines.index("two") + 1)
    assert "ünïcode 文档 👋" in document.content.decode()


async def test_channels_are_chosen_by_name_and_id(server):
    for channel, name in (("C2", "pumps"), ("C3", "random")):
        server.channel(channel).name = name
    for channel in (C, "C2", "C3"):
        server.say(channel, "A word.", at=ago(HOUR))
    server.channel("C4").has_bot = False
    assert {one[:2] for one in await Run(server)()} == {"C1", "C2", "C3"}
    assert {one[:2] for one in await Run(server, channels=("#Valves", "C3"))()} == {"C1", "C3"}
    assert {one[:2] for one in await Run(server, exclude_channels=("random", C))()} == {"C2"}
    after = Run(server, channels=("valves", "C4"))
    await after()
    assert native(after.failures) == ["C4"]
    assert "invite" in after.failures["s:C4"].mend


async def test_a_channel_that_is_renamed_away_from_the_settings_keeps_its_documents(server):
    thread(server)
    after = Run(server, channels=("valves",))
    await after()
    server.channels[C].name = "taps"
    await after()
    assert native(after.failures) == ["valves"]
    assert len(after.held) == 1
    server.channels[C].name = "valves"
    assert await after() == []
    assert len(after.held) == 1


async def test_a_channel_that_the_bot_leaves_is_forgotten(server):
    thread(server)
    said = server.say("C2", "A word.", at=ago(HOUR))
    after = Run(server)
    await after()
    server.channels[C].has_bot = False
    await after()
    assert native(after.held) == [day_id("C2", said["ts"])]


async def test_one_channel_that_can_not_be_read_hides_no_other(server):
    thread(server)
    server.say("C2", "A word.", at=ago(HOUR))
    after = Run(server)
    await after()
    server.say("C2", "Another word.", at=ago(HOUR))
    server.faults.add("conversations.history", Fault(status=200, error="not_in_channel"))
    assert {one[:2] for one in await after()} == {"C2"}
    assert native(after.failures) == [C]
    assert len(after.held) == 2, "its documents stay"


async def test_what_is_older_than_is_kept_goes(server):
    thread(server, at=ago(20 * DAY))
    _, identity = thread(server, at=ago(2 * DAY))
    assert len(await Run(server)()) == 2
    after = Run(server, days=10)
    assert await after() == [identity]
    documents, _, gone, _ = await collect(
        slack(server, days=10).fetch([f"s:{one}" for one in await Run(server, days=0)()])
    )
    assert (native(documents), len(gone)) == ([identity], 1)
    later = Run(server)
    await later()
    assert await later(days=10) == []
    assert native(later.held) == [identity]


async def test_what_an_index_lacks_and_the_history_shows_comes_again(server, tmp_path):
    _, identity = thread(server)
    async with opened(tmp_path) as library:
        await run(library, slack(server))
        await remove(library, [f"s:{identity}"])
        assert (await run(library, slack(server))).added == 1


async def test_long_days_and_threads_hold_up_nobody(server, monkeypatch):
    threads = set()

    def watched(real):
        def write(*told, **more):
            threads.add(threading.current_thread())
            return real(*told, **more)

        return write

    for name in ("day", "thread"):
        monkeypatch.setattr(Writer, name, watched(getattr(Writer, name)))
    thread(server)
    server.say(C, "Who has the key?", at=ago(DAY))
    after = Run(server)
    assert len(await after()) == 2
    await collect(slack(server).fetch(list(after.held)))
    assert threads
    assert threading.main_thread() not in threads
