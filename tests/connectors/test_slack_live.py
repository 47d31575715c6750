"""What an event of Slack touches, and that fetching it brings what a run would; and how Slack's text becomes Markdown."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.markdown import harmless
from connectors.registry import source_type
from connectors.slack import SlackOptions, touched
from connectors.slack.ids import day_id, parsed, thread_id
from connectors.slack.mrkdwn import emoji_in, markdown, mentions, plain
from connectors.slack.state import Memory, State
from ragcore.chunking import ChunkOptions, chunk_sections
from ragcore.parsing import parse
from ragcore.tokens import offline_tokenizer
from tests.connectors.helpers import collect
from tests.connectors.slacks import PLENTY, Run, native, slack
from tests.servers.slack import slack_server

OPTIONS = SlackOptions(token="t")
C = "C1"
TS, LATER = "1772442000.000100", "1772442060.000200"
DAY, THREAD = "C1/2026-03-02", f"C1/{TS}"


def said(**more):
    return {"type": "message", "channel": C, "channel_type": "channel", "user": "U1", "text": "x", "ts": TS, **more}


def changed(now, before):
    event = {"type": "message", "subtype": "message_changed", "channel": C, "ts": LATER}
    return {**event, "message": now, "previous_message": before}


@pytest.mark.parametrize(
    ("event", "found"),
    [
        (said(), [DAY]),
        (said(ts=LATER, thread_ts=TS), [THREAD, DAY]),
        (said(ts=LATER, thread_ts=TS, subtype="thread_broadcast"), [THREAD, DAY]),
        (said(subtype="file_share", text=""), [DAY]),
        (said(channel_type="group"), [DAY]),
        ({"type": "event_callback", "event": said()}, [DAY]),
        (changed(said(text="y"), said()), [DAY]),
        (changed(said(text="y", thread_ts=TS), said(thread_ts=TS)), [THREAD, DAY]),
        (changed(said(subtype="tombstone", thread_ts=TS), said(thread_ts=TS)), [THREAD, DAY]),
        ({**changed({}, said()), "subtype": "message_deleted", "deleted_ts": TS}, [DAY]),
        (
            {**changed({}, said(ts=LATER, thread_ts=TS)), "subtype": "message_deleted", "deleted_ts": LATER},
            [THREAD, DAY],
        ),
        (changed(said(reply_count=3), said()), []),
        (said(channel="D1", channel_type="im"), []),
        (said(channel="G1", channel_type="mpim"), []),
        (said(channel="D1", channel_type=None), []),
        (said(subtype="channel_join"), []),
        (said(bot_id="B1"), []),
        (said(type="app_mention"), []),
        (said(ts="soon"), []),
        ({"type": "channel_rename", "channel": {"id": C, "name": "x"}}, []),
        ({"type": "message", "subtype": "message_deleted", "channel": C}, []),
        ({}, []),
    ],
)
def test_what_an_event_touches(event, found):
    assert source_type("slack").touched is touched
    assert list(touched(OPTIONS, event)) == found


def test_channels_that_are_not_read_are_not_touched():
    def options(**changes):
        return SlackOptions(token="t", **changes)

    assert not touched(options(channels=("C2",)), said())
    assert not touched(options(exclude_channels=(C,)), said())
    assert touched(options(channels=("C2", C)), said())
    assert touched(options(channels=("valves",)), said()), "only a fetch can tell"
    assert touched(options(bots=True), said(bot_id="B1"))


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=20) | st.sampled_from([TS, LATER, C, "message"]),
        lambda inner: st.dictionaries(st.sampled_from(["ts", "thread_ts", "text", "message", "event"]), inner),
        max_leaves=6,
    )
)
def test_whatever_an_event_says_nothing_but_documents_are_touched(value):
    for event in (said(ts=value if isinstance(value, str) else TS), said(text=value), said(thread_ts=str(value))):
        assert all(parsed(one) is not None for one in touched(OPTIONS, event))


async def test_what_events_touch_is_fetched_as_a_run_reads_it():
    async with slack_server(rates=PLENTY) as server:
        events = []
        server.emit = lambda event, **more: events.append(event) or "Ev"
        server._events.emit = server.emit
        after = Run(server)
        held = {}

        async def follow():
            """Fetch what the events touch, and compare with a run from the beginning."""
            ids = dict.fromkeys(f"s:{one}" for event in events for one in touched(OPTIONS, event))
            events.clear()
            documents, failures, gone, _ = await collect(slack(server).fetch(list(ids)))
            assert not failures
            held.update(documents)
            for one in gone:
                held.pop(one, None)
            after.cursor, after.held = None, {}
            await after()
            assert held == after.held

        server.channel("C2").private = True
        first = server.say(C, "Is the valve open?", at=time.time() - 90 * 86_400)
        await follow()
        reply = server.say(C, "It is.", user="U2", thread=first["ts"])
        await follow()
        server.edit(C, reply, "It isn't.")
        await follow()
        other = server.say("C2", "A secret.")
        await follow()
        server.edit("C2", other, "A greater secret.")
        await follow()
        server.delete(C, reply)
        await follow()
        server.delete("C2", other)
        await follow()
        assert native(held) == [day_id(C, first["ts"])]
        last = server.say(C, "After all.", thread=first["ts"])
        server.delete(C, first)
        await follow()
        assert native(held) == [thread_id(C, first["ts"])]
        server.delete(C, last)
        await follow()


WORDS = st.text(alphabet="abcdefgh0123456789", min_size=1, max_size=8)
MARKS = st.sampled_from([*"*_~`#>-=|[]()!:.•\\/ \n", "```", "~~~", "\n\n", "\n# ", "\n---\n", "](", "<!--", "-->", "    ",
                         "<b>", "</b>", "<table>", "<td>", "<div>", "&amp;", "1. ", "- "])  # fmt: skip
TOKENS = st.builds(
    lambda kind, word: {
        "link": f"<https://h/{word}>",
        "label": f"<https://h/{word}|see {word}>",
        "mail": f"<mailto:{word}@h|{word}@h>",
        "person": "<@U1>",
        "other": f"<@U2|{word}>",
        "channel": f"<#C1|{word}>",
        "group": f"<!subteam^S1|@{word}>",
        "date": f"<!date^1^{{date}}|{word}>",
        "here": "<!here>",
    }[kind],
    st.sampled_from(["link", "label", "mail", "person", "other", "channel", "group", "date", "here"]),
    WORDS,
)


def wire(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def letters(text):
    """Return the words of a text as one, for marks may set them apart."""
    return "".join(one for one in text if one.isalnum())


def words_of(text):
    document = parse(text.encode(), name="a.md", media_type="text/markdown")
    return "\n".join(["\n".join((*section.heading_path, section.text)) for section in document.sections])


@given(st.lists(WORDS | MARKS.map(wire) | TOKENS, max_size=25))
def test_no_text_is_lost(parts):
    text = "".join(parts)
    shown = markdown(text, {"U1": "Ann"}, {})
    read = words_of(f"**Ann** (now)\n\n{shown}\n\n**Bob** (then)\n\nLast.\n")
    for part in parts:
        if part.isalnum():
            assert letters(part) in letters(shown)
            assert letters(part) in letters(read)
        elif part.startswith("<https"):
            assert part.partition("|")[0].strip("<>") in shown
    plainly = letters(plain(text, {"U1": "Ann"}))
    assert letters("".join(part for part in parts if part.isalnum())) == "" or plainly
    everything = letters("".join(part for part in parts if part.isalnum()))
    found = iter(letters(read))
    assert all(letter in found for letter in everything), "in their order"
    assert "Last." in read.split("Bob")[-1], "nothing swallows what follows"


@given(st.lists(WORDS | MARKS, max_size=25))
def test_plain_text_stays_what_it_is(parts):
    text = "".join(parts)
    document = parse(f"Begin\n\n{harmless(text)}\n\nEnd\n".encode(), name="a.md", media_type="text/markdown")
    assert not any(section.heading_path for section in document.sections)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("*bold* _it_ ~gone~ `a*b*c`", "**bold** _it_ ~~gone~~ `a*b*c`"),
        ("2*3*4 and * this *", "2*3*4 and * this *"),
        ("*see <https://x.example/a_b*c*|it>*", "**see it (https://x.example/a_b*c*)**"),
        ("<https://x.example?a=1&amp;b=2>", "https://x.example?a=1&b=2"),
        ("<https://x.example|x.example>", "https://x.example"),
        ("<mailto:ann@x.example|ann@x.example>", "ann@x.example"),
        ("<@U1> <@U2|bob> <@U3>", "@Ann @bob @U3"),
        ("<#C1|valves> <#C2>", "#valves #C2"),
        ("<!subteam^S1|@oncall> <!subteam^S2> <!here|here> <!channel>", "@oncall @S2 @here @channel"),
        ("<!date^1392734382^{date}|18 Feb>", "18 Feb"),
        ("a &lt;b&gt; &amp;amp; c", "a &lt;b> &amp; c"),
        ("List&lt;String&gt;", "List<String>"),
        ("# no heading", "\\# no heading"),
        ("Title\n---", "Title\n\\---"),
        ("&gt; quoted\nnot", "> quoted\nnot"),
        ("• one\n    ◦ two", "- one\n    - two"),
        ("see ```x = &lt;a&gt;\n# y``` there", "see \n```\nx = <a>\n# y\n```\n there"),
        ("``` not closed", "\\``` not closed"),
        ("[a](<https://x.example>)", "[a] (https://x.example)"),
        (":tada: :wave::skin-tone-2: :ours: 10:30:45", "🎉 👋🏻 :ours: 10:30:45"),
    ],
)  # fmt: skip
def test_markdown(text, shown):
    emoji = emoji_in([{"elements": [{"type": "emoji", "name": "tada", "unicode": "1f389"},
                                    {"type": "emoji", "name": "wave", "unicode": "1f44b-1f3fb"},
                                    {"type": "emoji", "name": "ours", "unicode": "no"}]}])  # fmt: skip
    assert markdown(text, {"U1": "Ann"}, emoji) == shown


def test_which_names_a_text_wants():
    text = "<@U1> <@U2|bob> <#C1|x> <#C2> <#C3|> <!subteam^S1|@x> <!subteam^S2> <!here> <https://x|@U9>"
    assert list(mentions(text)) == ["U1", "U2", "C2", "C3", "S2"]


def test_a_long_message_is_cut_at_its_lines():
    text = markdown("\n".join(f"Line {number} says something." for number in range(200)), {}, {})
    document = parse(f"**Ann** (now)\n\n{text}\n".encode(), name="a.md", media_type="text/markdown")
    pieces = chunk_sections(document.sections, ChunkOptions(chunk_tokens=64), offline_tokenizer())
    lines = ["**Ann** (now)", "", *text.split("\n")]
    assert all(lines[piece.location.first_line - 1] in piece.text for piece in pieces)


def test_a_cursor_comes_back_as_it_was():
    state = State.from_cursor(None, OPTIONS)
    state.channels[C] = Memory(name="välves", readers=["slack:T"], newest=TS, whole=1.5, empty={TS: "v"})
    state.names["U1"] = "Ann \ud800"
    assert State.from_cursor(state.to_cursor(3), OPTIONS) == state


@pytest.mark.parametrize(
    "cursor", ["", "x", "[]", "{}", '{"form":1}', '{"form":1,"basis":"x","channels":{},"names":{}}']
)
def test_a_cursor_of_another_form_counts_as_none(cursor):
    assert not State.from_cursor(cursor, OPTIONS).channels


@given(st.text(max_size=30))
def test_an_id_is_read_or_refused(text):
    named = parsed(text)
    assert named is None or text.startswith(f"{named.channel}/")


@pytest.mark.parametrize(
    "text", ["C1", "C1/", "D1/2026-03-02", "C1/2026-13-02", "C1/1.5", "c1/2026-03-02", "C1/2026-03-02/x"]
)
def test_what_is_no_id(text):
    assert parsed(text) is None
