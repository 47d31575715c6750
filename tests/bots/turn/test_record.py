"""What a crash leaves of a message is the whole message."""

import json
from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.platform import Asker, Attachment, Incoming, Reach, Sent
from bots.turn.claims.record import incoming_from_json, incoming_to_json, sent_from_json, sent_to_json, without_words
from bots.whose import Words
from ragcore.types import ConversationKey
from tests.bots.turn.helpers import message

# Any text at all, halves of surrogate pairs and NUL too: what a platform sends is not ours to choose.
WORDS = st.text(st.characters(), max_size=30)
# No zone is finer than seconds, and Python reads none below one.
ZONES = st.integers(-14 * 3600, 14 * 3600).map(lambda seconds: timezone(timedelta(seconds=seconds)))
MOMENTS = st.datetimes(timezones=st.one_of(ZONES, st.none()))
MAPS = st.dictionaries(WORDS, WORDS, max_size=3)
CONVERSATIONS = st.builds(ConversationKey, platform=WORDS, workspace=WORDS, channel=WORDS, thread=WORDS)
ASKERS = st.builds(Asker, id=WORDS, name=WORDS, language=WORDS, workspace=WORDS, is_bot=st.booleans())
FILES = st.builds(Attachment, id=WORDS, name=WORDS, media_type=WORDS, size=st.integers(0, 2**60))
INCOMING = st.builds(
    Incoming,
    keys=st.lists(WORDS, max_size=3).map(tuple),
    conversation=CONVERSATIONS,
    message=WORDS,
    asker=ASKERS,
    text=WORDS,
    reach=st.sampled_from(Reach),
    sent_at=MOMENTS,
    command=st.sampled_from([None, "ask", "research", "summarise", "search", "sources", "reset", "help"]),
    knowledge_bases=st.lists(WORDS, max_size=3).map(tuple),
    edited_at=st.none() | MOMENTS,
    private=st.booleans(),
    seen_by=st.frozensets(WORDS, max_size=3),
    attachments=st.lists(FILES, max_size=2).map(tuple),
    goes_on=WORDS,
    replied_to=WORDS,
    replied_text=WORDS,
    replied_author=WORDS,
    token=WORDS,
    to_others=st.booleans(),
    words=st.sampled_from(Words),
    extra=MAPS,
)


@given(INCOMING)
def test_a_message_comes_back_as_it_was(incoming: Incoming) -> None:
    written = incoming_to_json(incoming)
    assert written.isascii()
    assert "\0" not in written
    back = incoming_from_json(written)
    assert back == incoming
    assert back.sent_at.utcoffset() == incoming.sent_at.utcoffset()


@given(st.builds(Sent, channel=WORDS, id=WORDS, ended=st.booleans(), extra=MAPS))
def test_what_was_sent_comes_back_as_it_was(sent: Sent) -> None:
    assert sent_from_json(sent_to_json(sent)) == sent


def test_nothing_was_sent() -> None:
    assert sent_from_json("") is None


@given(INCOMING)
def test_every_field_is_drawn_and_written(incoming: Incoming) -> None:
    """A field that is added to Incoming fails here until it is written too."""
    assert set(Incoming.__dataclass_fields__) == {
        "keys", "conversation", "message", "asker", "text", "reach", "sent_at", "command", "knowledge_bases",
        "edited_at", "private", "seen_by", "attachments", "goes_on", "replied_to", "replied_text", "replied_author",
        "token", "to_others", "words", "extra",
    }  # fmt: skip


def test_other_versions_are_read() -> None:
    written = json.loads(incoming_to_json(message("a")))
    newer = {**written, "mood": "good", "asker": {**written["asker"], "mood": "good"}}
    assert incoming_from_json(json.dumps(newer)) == message("a")


@pytest.mark.parametrize("written", ["", "{}", "[]", '{"keys": ["a"]}'])
def test_something_else_is_refused(written: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        incoming_from_json(written)


@given(INCOMING)
def test_without_words_nothing_is_left_of_them(incoming: Incoming) -> None:
    bare = without_words(incoming)
    assert (bare.text, bare.asker.name, bare.attachments, bare.knowledge_bases) == ("", "", (), ())
    assert (bare.replied_text, bare.replied_author) == ("", "")
    assert (bare.keys, bare.conversation, bare.message) == (incoming.keys, incoming.conversation, incoming.message)
    assert without_words(bare) == bare
