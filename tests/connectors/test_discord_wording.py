"""What of a message stands in a document: all of it, with names in the place of codes."""

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.discord.payloads import read_message
from connectors.discord.wording import QUOTED, Names, lines_of, quoted, worded
from connectors.discord.writing import write
from tests.servers.discord.world import Channel, message_json, user_json

NAMES = Names(server=7, channels={70: "general"}, roles={5: "Plumbers", 7: "@everyone"}, zone=ZoneInfo("Europe/Berlin"))
CHANNEL = Channel(id=70, guild=7)


def said(text: str, **more):
    return read_message(message_json(CHANNEL, user_json(42), text) | more)


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("<@43>", "@User 43"),
        ("<@!43>", "@User 43"),
        ("<@99>", "<@99>"),
        ("<#70>", "#general"),
        ("<#71>", "https://discord.com/channels/7/71"),
        ("<@&5>", "@Plumbers"),
        ("<@&7>", "@everyone"),
        ("<@&6>", "<@&6>"),
        ("<:valve:123>", ":valve:"),
        ("<a:spin:123>", ":spin:"),
        ("</ask question:123>", "/ask question"),
        ("<t:1763820000:F>", "2025-11-22 15:00"),
        ("<t:99999999999999>", "<t:99999999999999>"),
        ("<id:customize>", "<id:customize>"),
        ("<https://example.org>", "<https://example.org>"),
    ],
)
def test_codes_are_shown_by_name_where_it_is_known(code, shown):
    assert worded(f"a {code} b", {43: "User 43"}, NAMES) == f"a {shown} b"


@pytest.mark.parametrize("literal", ["`<@43>`", "```\n<@43>\n```", "```py\nx = '<#70>'\n```"])
def test_in_code_they_are_meant_as_they_stand(literal):
    assert worded(f"a {literal} b <@43>", {43: "Ann"}, NAMES) == f"a {literal} b @Ann"


SHOWN = {
    "<@43>": "@User 43",
    "<@&5>": "@Plumbers",
    "<#70>": "#general",
    "<:valve:123>": ":valve:",
    "<t:1763820000>": "2025-11-22 15:00",
    "</ask:1>": "/ask",
}
WORDS = st.text(alphabet=st.characters(exclude_characters="\r<`"), max_size=20)


@given(pieces=st.lists(WORDS | st.sampled_from(sorted(SHOWN)), max_size=8))
def test_every_word_stays_and_every_code_is_shown(pieces):
    expected = "".join(SHOWN.get(piece, piece) for piece in pieces).strip("\n")
    assert "\n".join(lines_of(said("".join(pieces)), NAMES)) == (expected if expected.strip() else "")


@given(text=st.text(max_size=200))
def test_what_is_no_code_stays_as_it_is_whatever_markup_it_holds(text):
    markup = text.replace("<", "< ").replace("\r", "\n")
    assert lines_of(said(markup), NAMES) == (markup.strip("\n").split("\n") if markup.strip() else [])


@given(texts=st.lists(st.text(max_size=60), min_size=1, max_size=5))
def test_each_line_belongs_to_the_message_that_holds_it(texts):
    """However odd the messages are, each stands whole under its own heading, and its lines under its own address."""
    messages = [said(text, id=str((number + 1) << 22)) for number, text in enumerate(texts) if text.strip()]
    written = write("Discord, #general", "https://discord.com/channels/7/70", messages, NAMES, bots=False)
    if not messages:
        assert written is None
        return
    lines = written.content.decode().split("\n")
    for message in messages:
        address = f"https://discord.com/channels/7/70/{message.id}"
        (first,) = [one.line for one in written.permalinks if one.url == address]
        own = [line.encode("utf-8", "replace").decode() for line in lines_of(message, NAMES)]
        assert lines[first - 1].startswith("User 42, ")
        assert lines[first : first + len(own)] == own


def test_files_previews_polls_and_what_is_passed_on_are_told():
    embed = {
        "title": "Valve manual",
        "description": "All about valves",
        "provider": {"name": "Wiki"},
        "fields": [{"name": "Size", "value": "3 in"}],
        "footer": {"text": "v2"},
    }
    message = said(
        "See",
        attachments=[{"filename": "valve.pdf", "description": "page 3"}, {"filename": "a.png"}],
        embeds=[embed],
        poll={"question": {"text": "Open?"}, "answers": [{"poll_media": {"text": "Yes"}}]},
        sticker_items=[{"name": "wave"}],
        components=[{"type": 17, "components": [{"type": 10, "content": "A card"}]}],
        message_reference={"type": 1, "message_id": "1", "channel_id": "2"},
        message_snapshots=[{"message": {"content": "Passed on", "attachments": [{"filename": "b.txt"}]}}],
    )
    assert lines_of(message, NAMES) == [
        "See",
        "[file: valve.pdf, page 3]",
        "[file: a.png]",
        "[preview: Wiki · Valve manual]",
        "All about valves",
        "Size: 3 in",
        "v2",
        "[poll: Open?]",
        "- Yes",
        "[sticker: wave]",
        "A card",
        "[forwarded]",
        "> Passed on",
        "> [file: b.txt]",
    ]
    assert message.answers == 0


def test_a_reply_repeats_no_more_than_the_beginning():
    long = quoted(said("valve " * 200), NAMES)
    assert len(long) <= QUOTED + 2
    assert long.endswith("valve …")
    assert quoted(said("a\n\nb"), NAMES) == "a b"


def test_nobody_is_called_like_the_beginning_of_a_web_page():
    author = user_json(42) | {"global_name": "<html>\nAnn"}
    assert read_message(message_json(CHANNEL, author, "Hello")).author == "‹html> Ann"
