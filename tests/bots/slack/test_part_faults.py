"""Faults at the later parts of a long answer, and at one that grows by edits since no stream is taken."""

import asyncio
import functools
import pathlib

from tests.bots.slack.whole import CHANNEL, QUESTION, Whole, at_length, begun, numbered
from tests.fakes.waiting import until
from tests.servers.faults import Fault

PARTS = 3
FAULTS = [
    Fault(status=0),
    Fault(status=0, done=True),
    Fault(status=500),
    Fault(status=503, done=True),
    Fault(status=429, wait=1),
]


async def answered(flow: Whole) -> list[str]:
    """Ask, and return what stands in the thread when all is done, part by part."""
    said = flow.server.say(CHANNEL, f"<@{flow.server.user}> {QUESTION}")
    await until(flow.turns.running)
    await until(lambda: not flow.turns.running(), seconds=60.0)
    messages = flow.server.answers(CHANNEL, said["ts"])
    assert not any("streaming" in message for message in messages)
    return [flow.server.plain(message) for message in messages]


async def test_a_later_part_stands_once_and_in_its_place(tmp_path: pathlib.Path) -> None:
    async def parts(number: int, fault: Fault) -> list[int]:
        (tmp_path / str(number)).mkdir()
        script = functools.partial(at_length, characters=PARTS * 11_000)
        async with begun(tmp_path / str(number), script=script) as flow:
            flow.server.faults.add("chat.postMessage", Fault(status=200))
            flow.server.faults.add("chat.postMessage", fault)
            said = await answered(flow)
            assert flow.server.faults.take("chat.postMessage") is None, "the fault came to pass"
            assert len(said) == PARTS
            return numbered(" ".join(said))

    found = await asyncio.gather(*(parts(number, fault) for number, fault in enumerate(FAULTS)))
    for sentences in found:
        assert sentences == list(range(len(sentences)))


async def test_an_answer_that_grows_by_edits_ends_whole(tmp_path: pathlib.Path) -> None:
    async def count(number: int, method: str, fault: Fault) -> int:
        (tmp_path / str(number)).mkdir()
        async with begun(tmp_path / str(number)) as flow:
            flow.server.faults.add("chat.startStream", Fault(status=200, error="channel_type_not_supported"), times=9)
            flow.server.faults.add(method, fault)
            (said,) = await answered(flow)
            assert flow.server.faults.take(method) is None, "the fault came to pass"
            return said.count("has five days.")

    cases = [(method, fault) for method in ("chat.postMessage", "chat.update") for fault in FAULTS]
    found = await asyncio.gather(*(count(number, *case) for number, case in enumerate(cases)))
    assert dict(zip(map(str, cases), found, strict=True)) == {str(case): 3 for case in cases}
