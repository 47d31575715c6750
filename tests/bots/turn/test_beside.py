"""Text that is slow to read or to write is read and written in a thread, so that nobody else waits for it."""

import threading
from dataclasses import replace
from typing import Any

import pytest

from bots.rendering.parse import parse_answer, parse_partial
from bots.turn import answering, replying
from bots.turn.beside import LONG
from tests.bots.turn.flows import Model, final, flowing
from tests.bots.turn.flows import answering as answering_slowly
from tests.fakes.platform import FakePlatform, asked
from tests.fakes.virtual import run


@pytest.mark.parametrize(("is_long", "paged"), [(False, False), (True, False), (True, True)])
def test_only_what_is_long_is_read_and_written_in_a_thread(
    is_long: bool, paged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "How many days?" + " Or weeks?" * (LONG // 20 if is_long else 1)
    wanted, seen = final(question), dict[str, set[bool]]()

    def watched(name: str, real: Any) -> Any:
        def work(*given: Any, **named: Any) -> Any:
            seen.setdefault(name, set()).add(threading.current_thread() is threading.main_thread())
            return real(*given, **named)

        return work

    monkeypatch.setattr(answering, "parse_answer", watched("read", parse_answer))
    monkeypatch.setattr(replying, "parse_partial", watched("read while it grows", parse_partial))
    manner = FakePlatform.manner
    monkeypatch.setattr(FakePlatform, "manner", lambda self, one: replace(manner(self, one), paged=paged))
    monkeypatch.setattr(FakePlatform, "render", watched("written", FakePlatform.render))
    monkeypatch.setattr(FakePlatform, "render_partial", watched("shown", FakePlatform.render_partial))

    async def talk() -> None:
        async with flowing(model=Model(lambda request: answering_slowly(request, pause=4.0))) as flow:
            flow.platform.longest = 100_000
            await flow.turns.receive(asked(question))
            await flow.idle()
            assert flow.texts("q1") == [wanted]

    run(talk())
    assert seen["read"] == seen["written"] == {not is_long}
    # It begins short and ends long.
    assert seen["read while it grows"] == seen["shown"] == ({True, False} if is_long else {True})
