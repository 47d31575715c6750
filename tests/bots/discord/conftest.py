"""A connected bot. The library waits 5 seconds between two sessions, as Discord asks for: not here."""

from collections.abc import AsyncIterator

import pytest

from bots.discord.listening import Listener
from tests.bots.discord.scene import Scene, peopled, serving
from tests.fakes.inbox import Kept


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_wait(*_: object, **__: object) -> None:
        pass

    monkeypatch.setattr(Listener, "before_identify_hook", no_wait)


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    inbox = Kept()
    async with peopled() as server, serving(server, inbox) as platform:
        yield Scene(server=server, platform=platform, inbox=inbox)
