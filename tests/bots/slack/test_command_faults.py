"""A slash command's answer, whatever its address does: one whole answer for its asker, none twice."""

import asyncio
import functools
import pathlib

import pytest

from tests.bots.slack.whole import CHANNEL, QUESTION, Whole, at_length, begun, numbered
from tests.fakes.waiting import until
from tests.servers.faults import Fault
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
    monkeypatch.setattr("bots.slack.calling.CALL_SECONDS", 1.0)

    async def answer(number: int, fault: Fault) -> list[int]:
        folder = tmp_path / str(number)
        folder.mkdir()
        async with begun(folder) as flow:
            flow.server.faults.add("response_url", fault)
            await asked(flow)
            await ended(flow)
            assert flow.server.faults.take("response_url") is None, "the fault came to pass"
            return [text.count("has five days.") for text in told(flow)]

    found = await asyncio.gather(*(answer(number, fault) for number, fault in enumerate(FAULTS)))
    assert dict(zip(map(str, FAULTS), found, strict=True)) == {str(fault): [3] for fault in FAULTS}


async def test_an_address_that_expires_in_the_middle_of_an_answer(tmp_path: pathlib.Path) -> None:
    async with begun(tmp_path) as flow:
        flow.server.expire(await asked(flow))
        await ended(flow)
        waiting, answer = told(flow)
        assert waiting.endswith("…")
        assert answer.count("has five days.") == 3


@pytest.mark.parametrize("fault", [Fault(status=429, wait=1), Fault(status=500), Fault(status=0)])
async def test_a_later_part_that_fails_stands_once_and_in_its_place(tmp_path: pathlib.Path, fault: Fault) -> None:
    script = functools.partial(at_length, characters=3 * LONGEST_PART)
    async with begun(tmp_path, script=script) as flow:
        flow.server.faults.add("response_url", Fault(status=200))
        flow.server.faults.add("response_url", fault)
        await asked(flow)
        await ended(flow)
        parts = told(flow)
        assert len(parts) == 3
        sentences = numbered(" ".join(parts))
        assert sentences == list(range(len(sentences)))


async def test_more_parts_than_an_address_takes(tmp_path: pathlib.Path) -> None:
    script = functools.partial(at_length, characters=(RESPONSES + 2) * LONGEST_PART)
    async with begun(tmp_path, script=script) as flow:
        await asked(flow)
        await ended(flow)
        assert flow.server.count("chat.postEphemeral") == 2
        parts = told(flow)
        assert len(parts) == RESPONSES + 2
        sentences = numbered(" ".join(parts))
        assert sentences == list(range(len(sentences)))


async def test_where_the_bot_is_not_in_the_channel_the_rest_comes_directly(tmp_path: pathlib.Path) -> None:
    async with begun(tmp_path) as flow:
        flow.server.channel(CHANNEL).has_bot = False
        flow.server.expire(await asked(flow))
        await ended(flow)
        (answer,) = flow.server.answers(flow.server.direct(ASKER))
        assert flow.server.plain(answer).count("has five days.") == 3
