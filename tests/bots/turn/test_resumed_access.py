"""An answer that was written before a crash: access to what it rests on is checked anew before it is sent."""

import asyncio
import pathlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from bots.platform import Reach, Sent
from bots.requests import Event, Recall, Recalled, Request
from tests.bots.turn.flows import Model, final, flowing
from tests.fakes.platform import FakePlatform, Part, Server, asked
from tests.fakes.virtual import run

ALONE = frozenset({"*", "discord:@U1"})


class Guarded(Model):
    """Remembers as the real one does, which counts what those who ask may not read, be it cited or not."""

    withheld = 0

    async def run(self, request: Request) -> AsyncIterator[Event]:
        async for event in super().run(request):
            if isinstance(request, Recall) and isinstance(event, Recalled):
                left_out = self.withheld if request.audience is not None else 0
                yield replace(event, withheld=left_out)
            else:
                yield event


@pytest.mark.parametrize("withheld", [0, 1])
def test_what_was_written_before_a_crash_is_sent_only_to_who_may_read_it_now(
    withheld: int, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pressed: list[tuple[str, ...]] = []
    real = FakePlatform.send

    async def send(self: FakePlatform, incoming: Any, part: Part, **named: Any) -> Sent:
        pressed.append(part.buttons)
        return await real(self, incoming, part, **named)

    monkeypatch.setattr(FakePlatform, "send", send)
    question = asked("How many days?", reach=Reach.COMMAND, command="ask", private=True, seen_by=ALONE, asker="U1")

    async def talk() -> None:
        model, where = Guarded(), tmp_path / "claims.sqlite"
        async with flowing(where, model=model, server=Server(fault=lambda name, _: "hangs")) as flow:
            await flow.turns.receive(question)
            await asyncio.sleep(5)
        model.withheld = withheld
        async with flowing(where, model=model) as flow:
            await flow.turns.connected()
            await flow.idle()
            assert flow.texts("q1") == [final("How many days?")]
            assert len(model.questions) == 1 + withheld
        (told,) = {request.audience for request in model.asked if isinstance(request, Recall)}
        assert told is not None
        assert told >= {"*"}
        assert ("share" in pressed[0], "share" in pressed[-1]) == (True, bool(withheld))

    run(talk())
