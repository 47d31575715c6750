"""Threads, posts and days of Discord: what becomes of them, and what a run costs.

Over 400 lines: its cases share one server and its words, and read as one list of what is seen when.
"""

import pytest

from connectors.discord.moments import moment_of
from connectors.discord.wording import link
from ragcore.errors import SourceAuthError, SourceBadReply, SourceGone
from ragcore.links import deep_link
from tests.connectors.discords import (
    DAY,
    GENERAL,
    GUILD,
    HELP,
    Run,
    a_server,
    archive,
    discord_source,
    options,
    post,
    today,
)
from tests.connectors.helpers import collect
from tests.connectors.helpers import run as run_sync
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import opened
from tests.servers.discord.world import BOT, CATEGORY, PRIVATE_THREAD, snowflake, user_json

WEEK = 7 * DAY


@pytest.fixture
async def server():
    async with a_server() as server:
        yield server


async def test_a_post_is_one_document_that_grows(server):
    thread = post(server, "Valve stuck", "How do I open the valve?")
    run = Run(server)
    assert await run() == [str(thread.id)]
    document = run.documents[f"s:{thread.id}"]
    assert (document.title, document.author) == ("Valve stuck", "User 42")
    assert document.url == link(GUILD, thread.id)
    assert document.metadata == {"channel": "#help"}
    await server.say(thread, "Turn it left.", user=43)
    assert await run() == [str(thread.id)]
    assert run.text(thread.id).index("How do I open") < run.text(thread.id).index("Turn it left.")
    assert "User 43, " in run.text(thread.id)
    assert await run() == []
    assert run.held == [str(thread.id)]


async def test_the_tags_of_a_post_are_told_and_a_new_name_is_a_change(server):
    server.state.channels[HELP].tags = {5: "solved", 6: "billing"}
    thread = post(server, "Valve stuck", "How?", age=WEEK)
    run = Run(server)
    await run()
    thread.applied_tags = [5]
    assert await run() == [str(thread.id)]
    assert run.text(thread.id).startswith("Discord, #help; solved\n")
    thread.name = "Valve open"
    assert await run() == [str(thread.id)]
    assert run.documents[f"s:{thread.id}"].title == "Valve open"


async def test_a_thread_begins_with_the_message_that_it_began_from(server):
    first = await server.say(GENERAL, "Who has the key to the pump house?")
    thread = server.thread(int(first["id"]), parent=GENERAL, name="Key")
    reference = {"message_id": first["id"], "channel_id": str(GENERAL)}
    await server.say(thread, "", type=21, referenced_message=first, message_reference=reference)
    await server.say(thread, "Ben has it.", user=43)
    run = Run(server)
    await run()
    document = run.documents[f"s:{thread.id}"]
    assert "Who has the key" in run.text(thread.id)
    assert said_at(document, "Who has the key") == link(GUILD, GENERAL, int(first["id"]))


def said_at(document, words):
    """Return the address of the line that holds these words, the first of them."""
    lines = document.content.decode().split("\n")
    number = next(number for number, line in enumerate(lines, start=1) if words in line)
    return [one.url for one in document.permalinks if one.line <= number][-1]


async def test_each_line_is_linked_by_the_message_that_says_it(server):
    asked = await server.say(GENERAL, "How do I open the valve?\nIt is the red one.")
    between = await server.say(GENERAL, "Lunch?", user=44)
    told = await server.say(GENERAL, "Turn it left.\nThen wait.", user=43, reply_to=asked)
    run = Run(server)
    assert await run() == [f"{GENERAL}/{today()}"]
    document = run.documents[f"s:{GENERAL}/{today()}"]
    text = document.content.decode()
    assert "in reply to User 42:\n> How do I open the valve? It is the red one.\nTurn it left." in text
    for words, message in (
        ("It is the red one.", asked),
        ("Lunch?", between),
        ("> How do I open", asked),
        ("Turn it left.", told),
        ("Then wait.", told),
    ):
        assert said_at(document, words) == link(GUILD, GENERAL, int(message["id"])), words
    assert document.title == f"#general, {today()}"


async def test_a_passage_of_the_index_is_linked_by_its_message(server, tmp_path):
    messages = [await server.say(GENERAL, f"Valve {number} is {'open ' * 40}.") for number in range(30)]
    await server.say(GENERAL, "Shut valve 0, then.", reply_to=messages[0])
    async with opened(tmp_path / "data", HashEmbedder()) as library:
        assert (await run_sync(library, discord_source(server))).is_success
        chunks = await library.registry.chunks_of(await library.registry.document_ids("s"))
        assert len(chunks) > 3
        for number, message in enumerate(messages):
            words = f"Valve {number} is open"
            links = {deep_link(chunk, words) for chunk in chunks if words in chunk.text}
            assert links == {link(GUILD, GENERAL, int(message["id"]))}, "also where a reply repeats it"


async def test_a_reply_says_whom_it_answers_also_when_that_is_gone_or_a_bot(server):
    asked = await server.say(GENERAL, "How?")
    told = await server.say(GENERAL, "Left.", user=43, reply_to=asked)
    robot = await server.say(GENERAL, "I am sure it is right.", user=BOT, bot=True)
    await server.say(GENERAL, "Are you?", user=44, reply_to=robot)
    await server.delete(asked)
    told["referenced_message"] = None  # as Discord tells it
    run = Run(server)
    await run()
    text = run.text(f"{GENERAL}/{today()}")
    assert "User 43" in text
    assert "in reply to a deleted message:\nLeft." in text
    assert "in reply to citebot:\nAre you?" in text
    assert "I am sure" not in text, "what bots say is left out, quoted too"


async def test_what_bots_say_comes_when_it_is_asked_for(server):
    robot = await server.say(GENERAL, "Build 12 failed.", user=9, bot=True)
    await server.say(GENERAL, "Mine.", reply_to=robot)
    await server.say(GENERAL, "joined", type=7)
    run = Run(server, bots=True)
    await run()
    text = run.text(f"{GENERAL}/{today()}")
    assert "Build 12 failed.\n" in text
    assert "> Build 12 failed.\nMine." in text
    assert "joined" not in text
    assert "Build 12" not in (await run(bots=False) and run.text(f"{GENERAL}/{today()}"))


async def test_edits_and_deletions_are_seen_within_the_look_back(server):
    kept = await server.say(GENERAL, "The valve is red.")
    other = await server.say(GENERAL, "Lunch?")
    old = await server.say(GENERAL, "The pump is blue.", age=WEEK)
    run = Run(server)
    assert len(await run()) == 2
    await server.edit(kept, "The valve is green.")
    await server.edit(old, "The pump is grey.")
    assert await run() == [f"{GENERAL}/{today()}"], "what is older is left to events, and to --full"
    assert "The valve is green." in run.text(f"{GENERAL}/{today()}")
    await server.delete(other)
    assert await run() == [f"{GENERAL}/{today()}"]
    assert "Lunch?" not in run.text(f"{GENERAL}/{today()}")
    await server.delete(kept)
    assert await run() == []
    assert run.held == [f"{GENERAL}/{today(WEEK)}"], "a day that says nothing any more isn't listed"


async def test_an_event_leads_to_what_a_run_does_not_read_again(server):
    old = await server.say(GENERAL, "The pump is blue.", age=WEEK)
    run = Run(server)
    await run()
    await server.edit(old, "The pump is grey.")
    native = f"{GENERAL}/{moment_of(int(old['id'])).date()}"
    documents, _, _, _ = await collect(discord_source(server).fetch([f"s:{native}"]))
    assert "grey" in documents[f"s:{native}"].content.decode()
    await server.delete(old)
    _, _, gone, _ = await collect(discord_source(server).fetch([f"s:{native}"]))
    assert gone == {f"s:{native}"}
    run.known.clear()  # as the sync then has it
    assert await run() == []
    assert run.held == []
    requests = run.requests
    await run()
    assert run.requests == requests - 1, "a day that an event emptied is looked up once"


async def test_a_day_that_only_an_event_led_to_stays(server):
    robot = await server.say(GENERAL, "", age=WEEK)
    await server.say(GENERAL, "Lunch?")
    run = Run(server)
    assert await run() == [f"{GENERAL}/{today()}"]
    await server.edit(robot, "The pump is grey.")
    native = f"{GENERAL}/{moment_of(int(robot['id'])).date()}"
    documents, _, _, _ = await collect(discord_source(server).fetch([f"s:{native}"]))
    run.known |= {identity: document.version for identity, document in documents.items()}
    assert await run() == []
    assert native in run.held


async def test_a_deleted_message_of_an_old_thread_is_seen_by_its_count(server):
    thread = post(server, "Valve stuck", "How?", age=2 * WEEK)
    wrong = await server.say(thread, "Hit it.", age=WEEK)
    archive(thread, age=WEEK)
    run = Run(server)
    await run()
    del thread.messages[int(wrong["id"])]
    assert await run() == [str(thread.id)]
    assert "Hit it." not in run.text(thread.id)


async def test_archived_threads_are_read_page_by_page_also_when_archived_together(server, monkeypatch):
    monkeypatch.setattr("connectors.discord.api.PAGE", 4)
    posts = [post(server, f"post {number}", f"text {number}", age=WEEK + number) for number in range(11)]
    for number, thread in enumerate(posts):
        archive(thread, age=WEEK)
        if number % 4:  # three in four at the very same moment as the one before
            thread.archived_at = posts[number - 1].archived_at
    run = Run(server)
    assert await run() == sorted(str(thread.id) for thread in posts)
    assert await run() == []
    assert len(run.held) == 11
    posts[3].archived_at = ""
    await server.say(posts[3], "Still so.")
    assert await run() == [str(posts[3].id)], "a reply to an old thread"
    del server.state.channels[posts[5].id]
    await run()
    assert str(posts[5].id) not in run.held


async def test_the_archive_is_walked_no_further_than_the_history(server, monkeypatch):
    monkeypatch.setattr("connectors.discord.api.PAGE", 2)
    for number in range(10):
        archive(post(server, "Post", "Hello", age=number * WEEK), age=number * WEEK)
    run = Run(server, history_days=10)
    assert len(await run()) == 2
    assert server.count("GET /channels/{}/threads/archived/public") == 1 + 2  # of the channel, and of the forum
    assert len(await Run(server)()) == 10


async def test_a_server_that_turns_no_page_holds_nobody_up(server, monkeypatch):
    monkeypatch.setattr("connectors.discord.api.PAGE", 2)
    threads = [post(server, "Post", "Hello", age=WEEK) for _ in range(2)]
    for thread in threads:
        archive(thread, age=WEEK)
        await server.say(thread, "Left.")
    told = {"threads": [thread.as_json(server.state.bot) for thread in threads], "members": [], "has_more": True}

    def edit(route, answer):
        if route.endswith("/archived/public"):
            return told
        return answer[:2] if route.endswith("/messages") else answer

    server.state.edit = edit
    assert len(await Run(server)()) == 2


@pytest.mark.parametrize("is_archived", [True, False])
async def test_a_thread_that_moves_while_threads_are_listed_is_found(server, is_archived):
    thread = post(server, "Valve", "How?")
    archive(thread) if is_archived else None

    def interfere(route, _):
        if route.endswith("/archived/public"):
            thread.archived_at = "" if is_archived else today()

    server.state.interfere = interfere
    run = Run(server)
    assert await run() == [str(thread.id)]


async def test_private_threads_that_the_bot_is_in_are_taken(server):
    joined = server.thread(snowflake(), parent=GENERAL, private=True, members=(BOT, 42), name="Salaries")
    other = server.thread(snowflake(), parent=GENERAL, private=True, members=(42,), name="Gifts")
    old = server.thread(snowflake(), parent=GENERAL, private=True, members=(BOT,), name="Old")
    for thread in (joined, other, old):
        assert thread.type == PRIVATE_THREAD
        await server.say(thread, "Between us.")
    archive(old)
    run = Run(server)
    assert await run() == sorted((str(joined.id), str(old.id)))
    assert await Run(server, private_threads=False)() == []
    server.guild(GUILD).own |= 1 << 34
    assert str(other.id) in await Run(server)()


async def test_an_unchanged_run_costs_a_few_requests_whatever_there_is(server):
    for number in range(150):
        archive(post(server, f"post {number}", f"text {number}", age=WEEK + number), age=WEEK)
    for number in range(30):
        await server.say(GENERAL, f"message {number}", age=WEEK + number * DAY)
    run = Run(server)
    assert len(await run()) == 180
    assert await run() == []
    # The application, the server, the bot's roles, the channels, the active threads twice; the archive of the forum
    # by two pages; the two archives of the channel. No message.
    assert run.requests == 6 + 2 + 2
    assert len(run.held) == 180
    await server.say(GENERAL, "new")
    archive(post(server, "new", "new", age=WEEK))
    assert len(await run()) == 2
    assert run.requests == 10 + 2, "a page of each"


async def test_what_holds_nothing_is_not_read_again_and_again(server):
    robots = [post(server, f"build {number}", "failed", age=WEEK, user=9) for number in range(3)]
    for thread in robots:
        for message in thread.messages.values():
            message["author"] = user_json(9, bot=True)
    run = Run(server)
    assert await run() == []
    assert run.held == []
    first = run.requests
    assert await run() == []
    assert run.requests == first - 3 - 1  # the three, and the channel in which nothing was ever said


async def test_without_the_intent_nothing_is_indexed_and_the_mend_is_told(server):
    await server.say(GENERAL, "Hello")
    server.state.application_flags = 1 << 13
    for attempt in (discord_source(server).changes(None, {}), discord_source(server).fetch([f"s:{GENERAL}/{today()}"])):
        with pytest.raises(SourceAuthError, match="Message Content Intent") as refused:
            await collect(attempt)
        assert server.token not in str(refused.value)
    server.state.application_flags = 1 << 18
    assert await Run(server)() == [f"{GENERAL}/{today()}"]


async def test_an_unknown_server_is_told_as_gone(server):
    with pytest.raises(SourceGone, match="no server 8 that the bot is in"):
        await Run(server, servers=("8",))()


async def test_one_channel_that_refuses_hides_no_other(server):
    server.channel(72, guild=GUILD).name = "locked"
    await server.say(GENERAL, "Hello")
    await server.say(72, "Hello, too")
    run = Run(server)
    assert len(await run()) == 2
    server.state.channels[72].closed = 50001
    await server.say(GENERAL, "Hello again")
    assert await run() == [f"{GENERAL}/{today()}"]
    assert {failure.id for failure in run.failures.values()} == {"s:72", "s:72/threads"}
    assert all(failure.mend for failure in run.failures.values())
    assert f"s:72/{today()}".startswith(tuple(one.covers for one in run.failures.values()))


async def test_channels_are_chosen_by_id_by_name_and_by_category(server):
    category = server.channel(80, guild=GUILD)
    category.type, category.name = CATEGORY, "Support"
    server.channel(81, guild=GUILD).category = 80
    for channel in (GENERAL, 81):
        await server.say(channel, "Hello")
    thread = post(server, "Valve", "Hello")
    days = {channel: f"{channel}/{today()}" for channel in (GENERAL, 81)}
    assert await Run(server, channels=("#general",))() == [days[GENERAL]]
    assert await Run(server, channels=("support", str(HELP)))() == sorted((days[81], str(thread.id)))
    assert await Run(server, exclude=("80", "help"))() == [days[GENERAL]]
    run = Run(server, channels=("general", "generall"))
    assert await run() == [days[GENERAL]]
    assert "generall" in next(iter(run.failures))


async def test_history_begins_where_the_settings_say(server):
    for age in (0, 5 * DAY, 50 * DAY):
        await server.say(GENERAL, "Hello", age=age)
        archive(post(server, "Post", "Hello", age=age), age=age)
    assert len(await Run(server, history_days=10)()) == 4
    assert len(await Run(server, history_days=0)()) == 6
    run = Run(server, history_days=10)
    await run()
    assert len(await run(history_days=100)) == 2, "what is taken from now on is read"


async def test_a_thread_that_is_too_long_is_named_and_not_asked_for_again(server):
    thread = post(server, "Megathread", "Go on", age=2 * WEEK)
    for number in range(6):
        await server.say(thread, f"message {number}", age=WEEK + 10 - number)
    run = Run(server, max_messages=5)
    assert await run() == []
    (failure,) = run.failures.values()
    assert "6 messages" in failure.reason
    run.known |= {failure.id: failure.version}  # as the sync has it
    assert await run() == []
    assert not run.failures
    assert await run(max_messages=6) == [str(thread.id)]


async def test_the_days_are_those_of_the_zone(server):
    noon = next(age for age in range(0, 48) if moment_of(snowflake(age * 3600.0)).hour == 20) * 3600.0
    await server.say(GENERAL, "Good morning, Tokyo", age=noon)
    (utc,) = await Run(server)()
    (tokyo,) = await Run(server, timezone="Asia/Tokyo")()
    assert utc < tokyo


async def test_another_form_than_the_documented_one_is_told(server):
    server.state.edit = lambda route, told: {"channels": []} if route.endswith("/channels") else told
    with pytest.raises(SourceBadReply, match="something else than was due"):
        await Run(server)()


@pytest.mark.parametrize(
    "wrong",
    [
        {"servers": ()},
        {"servers": ("valves",)},
        {"timezone": "Mars/Olympus"},
        {"token": "two words"},
        {"api_url": "discord.com"},
        {"channel": ("general",)},
    ],
)
async def test_wrong_settings_are_refused(server, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        options(server, **wrong)
