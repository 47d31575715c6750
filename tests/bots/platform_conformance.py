"""What every platform has to do, whatever its API: derive a test class, and give it a ``bench``.

class TestSlack(PlatformConformance):
    @pytest.fixture
    async def bench(self) -> AsyncIterator[Bench]: ...
"""

import asyncio
import base64
import functools
import pathlib
from dataclasses import replace
from datetime import timedelta
from typing import Any, Protocol

import pytest

from bots.manner import Manner
from bots.platform import Call, Incoming, Platform, Reach, Sent, View
from bots.rendering.parse import parse_answer
from bots.requests import Ask, Describe
from bots.talk import Span
from bots.turn.options import FileLimits
from ragcore.errors import MessageGone, PlatformError, PlatformRateLimited, StreamEnded
from tests.bots.scene import partial, view
from tests.bots.turn.flows import OPTIONS, SEEN, Model, answering, turning
from tests.fakes.operations import ANSWER
from tests.fakes.waiting import until

KEY = "0123abcda1s1p0"


class Bench(Protocol):
    """One platform against its local server, connected, and what a person sees there."""

    platform: Platform[Any]

    async def ask(self, text: str, reach: Reach = Reach.MENTION) -> Incoming:
        """Return the event of a person's message, as the adapter hands it over."""
        ...

    async def attach(self, text: str, name: str, media_type: str, content: bytes) -> Incoming | None:
        """Return the event of a message with a file beside it; None where nothing can be attached."""
        ...

    async def standing(self, incoming: Incoming) -> list[str]:
        """Return the plain text of our messages that answer it now, in order, drafts aside."""
        ...

    def limit_next(self, seconds: float) -> None:
        """Let the server refuse the next call that shows or sends, asking to wait so long."""
        ...

    def end_stream(self, sent: Sent) -> bool:
        """End a stream behind the adapter's back; False where there are none."""
        ...

    async def remove(self, sent: Sent) -> None:
        """Delete one of our messages, as a moderator does."""
        ...


LONG = "\n\n".join(
    f"Paragraph {number} says that word{number} stands in its place, and nothing else. " * 8 for number in range(60)
)


class PlatformConformance:
    """The suite; each test takes a platform whose server is empty."""

    async def test_it_has_a_name_and_manners(self, bench: Bench) -> None:
        incoming = await bench.ask("How many days?")
        assert bench.platform.name == incoming.conversation.platform
        manner = bench.platform.manner(incoming)
        assert isinstance(manner, Manner)
        assert manner.every > 0

    async def test_its_events_are_whole(self, bench: Bench) -> None:
        incoming = await bench.ask("How many days?")
        assert incoming.keys
        assert all(incoming.keys)
        assert incoming.text == "How many days?"
        assert incoming.sent_at.tzinfo is not None
        assert not incoming.asker.is_bot
        assert incoming.private or incoming.seen_by

    async def test_what_was_said_is_read_back_or_told_to_be_hidden_from_bots(self, bench: Bench) -> None:
        first = await bench.ask("The release is blocked.")
        (part,) = bench.platform.render(view("Our own words."))
        await bench.platform.send(first, part, begun=None, key=KEY, number=0)
        second = await bench.ask("It is fixed.")
        asks = await bench.ask("summarise this channel")
        talk = await bench.platform.said(asks, Span(thread=False, since=asks.sent_at - timedelta(hours=1)))
        assert (await bench.platform.zone(asks)).utcoffset(asks.sent_at) is not None
        if talk.heard:
            assert talk.messages == ()
            return
        # What is asked by a command is no message.
        wrote = [one for one in (first, second) if one.reach is not Reach.COMMAND]
        assert [(one.id, one.text) for one in talk.messages] == [(one.message, one.text) for one in wrote]
        assert all(one.sent_at.tzinfo and one.author for one in talk.messages)
        assert [one.url for one in talk.messages] == [bench.platform.permalink(asks, one.id) for one in talk.messages]
        assert len({one.url for one in talk.messages}) == len(wrote)
        assert talk.whole
        few = await bench.platform.said(asks, Span(thread=False, most=1))
        assert [one.id for one in few.messages] == [one.message for one in wrote[-1:]]

    async def test_its_limits_leave_room_for_the_end(self, bench: Bench) -> None:
        incoming = await bench.ask("How many days?")
        for call in Call:
            for limit in bench.platform.limits(incoming, call):
                assert 0 <= limit.kept < limit.calls
                assert limit.seconds > 0
                assert limit.bucket
            assert bench.platform.limits(incoming, call) == bench.platform.limits(incoming, call)

    async def test_rendering_is_pure_and_loses_nothing(self, bench: Bench) -> None:
        for shown in (view("One *word*."), view(LONG), View(document=parse_answer(ANSWER), reference="0123abcd")):
            assert bench.platform.render(shown) == bench.platform.render(shown)
            assert bench.platform.render(shown)
        assert len(bench.platform.render(view("One word."))) == 1
        assert len(bench.platform.render(view(LONG))) > 1
        assert bench.platform.render_partial(partial(LONG)) == bench.platform.render_partial(partial(LONG))

    async def test_one_message_stands_for_one_answer(self, bench: Bench) -> None:
        incoming = await bench.ask("How many days?")
        await bench.platform.status(incoming, "Searching …")
        (part,) = bench.platform.render(view("Five days, and no more."))
        sent = await bench.platform.send(incoming, part, begun=None, key=KEY, number=0)
        (text,) = await bench.standing(incoming)
        assert "Five days, and no more." in text
        again = await bench.platform.send(incoming, part, begun=sent, key=KEY, number=0)
        assert (again.channel, again.id) == (sent.channel, sent.id)
        assert await bench.standing(incoming) == [text]

    async def test_words_grow_into_the_one_final_message(self, bench: Bench) -> None:
        incoming = await bench.ask("How many days?")
        manner = bench.platform.manner(incoming)
        if manner.streaming == "none":
            pytest.skip("nothing grows here")
        begun: Sent | None = None
        for text in ("Five", "Five days", "Five days, and no"):
            begun = await bench.platform.show(
                incoming, bench.platform.render_partial(partial(text)), begun=begun, key=KEY
            )
            await asyncio.sleep(min(0.05, manner.every))
        (part,) = bench.platform.render(view("Five days, and no more."))
        await bench.platform.send(incoming, part, begun=begun, key=KEY, number=0)
        (text,) = await bench.standing(incoming)
        assert "Five days, and no more." in text
        assert text.count("Five days") == 1

    async def test_what_was_written_otherwise_is_replaced(self, bench: Bench) -> None:
        incoming = await bench.ask("How many days?")
        if bench.platform.manner(incoming).streaming == "none":
            pytest.skip("nothing grows here")
        begun = await bench.platform.show(
            incoming, bench.platform.render_partial(partial("Ten weeks")), begun=None, key=KEY
        )
        (part,) = bench.platform.render(view("Five days, and no more."))
        try:
            await bench.platform.send(incoming, part, begun=begun, key=KEY, number=0)
        except StreamEnded:
            ended = Sent(channel=begun.channel, id=begun.id, ended=True, extra=begun.extra)
            await bench.platform.send(incoming, part, begun=ended, key=KEY, number=0)
        (text,) = await bench.standing(incoming)
        assert "Five days, and no more." in text
        assert "Ten weeks" not in text

    async def test_parts_stand_in_order(self, bench: Bench) -> None:
        incoming = await bench.ask("Tell me all.")
        parts = bench.platform.render(view(LONG))[:4]
        for number, part in enumerate(parts):
            await bench.platform.send(incoming, part, begun=None, key=f"0123abcda1s1p{number}", number=number)
        texts = await bench.standing(incoming)
        assert len(texts) == len(parts)
        whole = "".join(texts)
        places = [whole.find(f"word{number} ") for number in range(60) if f"word{number} " in whole]
        assert places == sorted(places)

    async def test_what_was_sent_is_found_by_its_key(self, bench: Bench) -> None:
        incoming = await bench.ask("How many days?")
        assert await bench.platform.find(incoming, KEY) is None
        (part,) = bench.platform.render(view("Five days."))
        sent = await bench.platform.send(incoming, part, begun=None, key=KEY, number=0)
        found = await bench.platform.find(incoming, KEY)
        if bench.platform.manner(incoming).finds_sent:
            assert found is not None
            assert (found.channel, found.id) == (sent.channel, sent.id)
        else:
            assert found is None

    async def test_what_is_withdrawn_is_gone_once(self, bench: Bench) -> None:
        incoming = await bench.ask("How many days?")
        (part,) = bench.platform.render(view("Five days."))
        sent = await bench.platform.send(incoming, part, begun=None, key=KEY, number=0)
        await bench.platform.withdraw(incoming, sent)
        assert await bench.standing(incoming) == []
        await bench.platform.withdraw(incoming, sent)

    async def test_a_message_that_is_gone_is_told(self, bench: Bench) -> None:
        incoming = await bench.ask("How many days?")
        (part,) = bench.platform.render(view("Five days."))
        sent = await bench.platform.send(incoming, part, begun=None, key=KEY, number=0)
        await bench.remove(sent)
        (other,) = bench.platform.render(view("Six days."))
        with pytest.raises(MessageGone):
            await bench.platform.send(incoming, other, begun=sent, key=KEY, number=0)

    async def test_a_limit_is_told_with_its_wait(self, bench: Bench) -> None:
        incoming = await bench.ask("How many days?")
        (part,) = bench.platform.render(view("Five days."))
        bench.limit_next(1.0)
        waits: list[float] = []
        for _ in range(2):
            try:
                await bench.platform.send(incoming, part, begun=None, key=KEY, number=0)
                break
            except PlatformRateLimited as error:
                waits.append(error.retry_after)
        # Without an error its library has waited by itself.
        assert len(await bench.standing(incoming)) == 1
        assert not waits or 0 < waits[0] <= 5

    async def test_a_stream_that_died_is_told_and_goes_on_as_a_message(self, bench: Bench) -> None:
        incoming = await bench.ask("How many days?")
        if bench.platform.manner(incoming).streaming == "none":
            pytest.skip("nothing grows here")
        begun = await bench.platform.show(incoming, bench.platform.render_partial(partial("Five")), begun=None, key=KEY)
        if not bench.end_stream(begun):
            pytest.skip("there are no streams here")
        with pytest.raises(StreamEnded):
            await bench.platform.show(
                incoming, bench.platform.render_partial(partial("Five days")), begun=begun, key=KEY
            )
        begun = Sent(channel=begun.channel, id=begun.id, ended=True, extra=begun.extra)
        begun = await bench.platform.show(
            incoming, bench.platform.render_partial(partial("Five days")), begun=begun, key=KEY
        )
        (part,) = bench.platform.render(view("Five days, and no more."))
        await bench.platform.send(incoming, part, begun=begun, key=KEY, number=0)
        (text,) = await bench.standing(incoming)
        assert "Five days, and no more." in text

    async def test_a_thread_and_the_readers_can_be_asked_for(self, bench: Bench) -> None:
        incoming = await bench.ask("How many days?")
        try:
            assert isinstance(await bench.platform.thread(incoming, limit=5), tuple)
            assert isinstance(await bench.platform.readers(incoming), frozenset)
        except PlatformError as error:
            pytest.fail(f"asking failed: {error}")

    @pytest.mark.parametrize(
        ("name", "media_type", "content"),
        [
            ("notes.md", "text/markdown", b"# Notes\n\nFive days."),
            ("photo.jpg", "image/jpeg", b"\xff\xd8\xff\xe0" + bytes(9)),
        ],
    )
    async def test_a_file_beside_a_message_is_fetched_up_to_a_size(
        self, bench: Bench, name: str, media_type: str, content: bytes
    ) -> None:
        incoming = await bench.attach("What is in it?", name, media_type, content)
        if incoming is None:
            pytest.skip("nothing can be attached here")
        assert incoming.text == "What is in it?"
        (attachment,) = incoming.attachments
        assert (attachment.name, attachment.media_type, attachment.size) == (name, media_type, len(content))
        assert await bench.platform.fetch(incoming, attachment, limit=len(content)) == content
        with pytest.raises(PlatformError):
            await bench.platform.fetch(incoming, attachment, limit=len(content) - 1)

    async def test_an_answer_tells_once_how_many_passages_each_document_gave(
        self, bench: Bench, tmp_path: pathlib.Path
    ) -> None:
        incoming = await bench.ask("How many days?")
        model = Model(functools.partial(answering, pause=0.01))
        async with turning(bench.platform, model, OPTIONS, tmp_path) as turns:
            assert await turns.receive(incoming)
            await until(lambda: not turns.running(), seconds=30.0)
        whole = "".join(await bench.standing(incoming)).replace("\\", "")
        assert whole.count("Passages read: [1] × 1 · Leave × 1 · Leave × 1") == 1

    async def test_a_picture_beside_a_question_is_looked_at(self, bench: Bench, tmp_path: pathlib.Path) -> None:
        content = b"\xff\xd8\xff\xe0" + bytes(9)
        incoming = await bench.attach("What does it mean?", "photo.jpg", "image/jpeg", content)
        if incoming is None:
            pytest.skip("nothing can be attached here")
        model = Model(functools.partial(answering, pause=0.01))
        options = replace(OPTIONS, files=FileLimits(images=True))
        async with turning(bench.platform, model, options, tmp_path) as turns:
            assert await turns.receive(incoming)
            await until(lambda: not turns.running(), seconds=30.0)
        (looked,) = [request for request in model.asked if isinstance(request, Describe)]
        assert base64.b64decode(looked.image.data) == content
        assert (looked.image.media_type, looked.question) == ("image/jpeg", "What does it mean?")
        (asked,) = [request for request in model.asked if isinstance(request, Ask)]
        assert [message.text for message in asked.attached] == [f"photo.jpg:\n\n{SEEN}"]
        (text,) = await bench.standing(incoming)
        assert "five days" in text
