"""A slash command's answer, whatever its address does: one whole answer for its asker, none twice."""

import asyncio
import functools
import pathlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import ClientConnectorError
from aiohttp.client_reqrep import ConnectionKey
from slack_sdk.webhook.async_client import AsyncWebhookClient
from slack_sdk.webhook.webhook_response import WebhookResponse

from bots.rendering.slack import render_slack
from bots.requests import Ask, Event
from tests.bots.slack.whole import (
    CHANNEL,
    OPTIONS,
    QUESTION,
    Whole,
    at_length,
    begun,
    numbered,
    read_alone,
    to_answer,
    to_next,
)
from tests.bots.turn.flows import answer_to, words_for
from tests.fakes.threads import Threads
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.slack.blocks import buttons_of
from tests.servers.slack.rules import RESPONSES

ASKER = "U1"
LONGEST_PART = 11_000
FAULTS = [
    Fault(status=429, wait=1),
    Fault(status=500),
    Fault(status=503, done=True),
    Fault(status=0),
    Fault(status=0, done=True),
    Fault(status=200, delay=1.5),
]


def told(flow: Whole) -> list[str]:
    """Return what the asker alone sees."""
    return [flow.server.plain({"blocks": shown.blocks, "text": shown.text}) for shown in flow.server.shown]


async def asked(flow: Whole) -> str:
    """Type the command, and wait until its turn has begun; returns the address of its answers."""
    url = flow.server.command(CHANNEL, "/ask", QUESTION, user=ASKER)
    await until(flow.turns.running)
    return url


async def ended(flow: Whole) -> None:
    await until(lambda: not flow.turns.running(), seconds=60.0)
    assert flow.server.answers(CHANNEL) == [], "nobody else sees it"


async def test_one_answer_whatever_its_address_does(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Slack doesn't say whether it took the answer, it isn't sent again: its asker can have it shown."""
    monkeypatch.setattr("bots.slack.calling.CALL_SECONDS", 1.0)

    async def answer(number: int, fault: Fault) -> tuple[list[int], bool]:
        folder = tmp_path / str(number)
        folder.mkdir()
        async with begun(folder) as flow:
            flow.server.faults.add("response_url", fault)
            await asked(flow)
            await ended(flow)
            assert flow.server.faults.take("response_url") is None, "the fault came to pass"
            in_doubt = any(map(to_answer, flow.server.answers_alone()))
            return [text.count("has five days.") for text in await read_alone(flow.server)], in_doubt

    found = await asyncio.gather(*(answer(number, fault) for number, fault in enumerate(FAULTS)))
    assert dict(zip(map(str, FAULTS), found, strict=True)) == {
        str(fault): ([3], fault.status != 429) for fault in FAULTS
    }


async def late(request: Ask) -> AsyncIterator[Event]:
    """Answer the first question late, and the second one, which waits for it, later than its asker has patience."""
    await asyncio.sleep(1.8 if "first" in request.question else 1.5)
    yield answer_to(request.question, words_for(request.question))


async def test_a_reason_on_the_way_leaves_no_doubt_about_the_answer(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.bots.slack.whole.OPTIONS", replace(OPTIONS, patience=3.0))
    async with begun(tmp_path, script=late) as flow:
        flow.server.command(CHANNEL, "/ask", "first", user=ASKER)
        await until(flow.turns.running)
        await asked(flow)
        await until(lambda: "only late" in "".join(told(flow)))
        reference = told(flow)[-1].strip("_").rpartition(" ")[2]
        claim = await flow.turns._claims.by_reference(reference)
        assert claim is not None
        assert claim.sends == (), "whoever takes over after a crash sends the answer itself"
        await ended(flow)
        assert [text.count("has five days.") for text in told(flow)][-3:] == [3, 0, 3]
        assert not any(map(to_answer, flow.server.answers_alone()))


async def test_what_never_reached_slack_is_sent_again(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = ClientConnectorError(ConnectionKey("h", 443, True, True, None, None, None), OSError("unreachable"))
    send, tries = AsyncWebhookClient.send, list[object]()

    async def unreachable(self: AsyncWebhookClient, **said: Any) -> WebhookResponse:
        tries.append(said)
        if len(tries) < 3:
            raise refused
        return await send(self, **said)

    monkeypatch.setattr(AsyncWebhookClient, "send", unreachable)
    async with begun(tmp_path) as flow:
        await asked(flow)
        await ended(flow)
        assert len(tries) == 3
        assert not any(map(to_answer, flow.server.answers_alone()))
        assert [text.count("has five days.") for text in await read_alone(flow.server)] == [3]


async def test_an_address_that_expires_in_the_middle_of_an_answer(tmp_path: pathlib.Path) -> None:
    async with begun(tmp_path) as flow:
        flow.server.expire(await asked(flow))
        await ended(flow)
        waiting, answer = told(flow)
        assert waiting.endswith("…")
        assert answer.count("has five days.") == 3


async def test_a_long_answer_is_one_message_with_more_pages_than_its_address_takes_answers(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = Threads()
    monkeypatch.setattr("bots.slack.pressing.render_slack", threads.watched("page", render_slack))
    script = functools.partial(at_length, characters=(RESPONSES + 2) * LONGEST_PART)
    async with begun(tmp_path, script=script) as flow:
        await asked(flow)
        await ended(flow)
        pages = await read_alone(flow.server)
        assert len(pages) == RESPONSES + 2
        assert len(flow.server.answers_alone()) == 1
        sentences = numbered(" ".join(pages))
        assert sentences == list(range(len(sentences)))
        assert threads.in_loop == {"page": {False}}, "nobody else waits for it"


@pytest.mark.parametrize("fault", [Fault(status=429, wait=1), Fault(status=500), Fault(status=0)])
async def test_a_page_that_does_not_go_is_told_and_can_be_turned_to_again(tmp_path: pathlib.Path, fault: Fault) -> None:
    script = functools.partial(at_length, characters=2 * LONGEST_PART)
    async with begun(tmp_path, script=script) as flow:
        await asked(flow)
        await ended(flow)
        (message,) = flow.server.answers_alone()
        following = to_next(message)
        assert following is not None
        flow.server.faults.add("response_url", fault)
        flow.server.press(message, following)
        await until(lambda: len(flow.server.answers_alone()) == 2)
        excuse = flow.server.shown.pop()
        assert "went wrong" in flow.server.plain({"blocks": excuse.blocks})
        sentences = numbered(" ".join(await read_alone(flow.server)))
        assert sentences == list(range(len(sentences)))


async def test_an_answer_that_its_asker_deletes_is_gone(tmp_path: pathlib.Path) -> None:
    async with begun(tmp_path) as flow:
        await asked(flow)
        await ended(flow)
        (message,) = flow.server.answers_alone()
        (value,) = (part["value"] for _, part in buttons_of(message.blocks) if ":delete:" in part["value"])
        flow.server.press(message, value)
        await until(lambda: not flow.server.answers_alone())


async def test_where_the_bot_is_not_in_the_channel_the_rest_comes_directly(tmp_path: pathlib.Path) -> None:
    async with begun(tmp_path) as flow:
        flow.server.channel(CHANNEL).has_bot = False
        flow.server.expire(await asked(flow))
        await ended(flow)
        (answer,) = flow.server.answers(flow.server.direct(ASKER))
        assert flow.server.plain(answer).count("has five days.") == 3
