"""The platform in memory does what every platform has to."""

from dataclasses import replace

import pytest

from bots.manner import Streaming
from bots.platform import Attachment, Incoming, Reach, Sent
from tests.bots.platform_conformance import PlatformConformance
from tests.fakes.platform import FakePlatform, Server, asked


class InMemory:
    """A bench without a network."""

    def __init__(self, streaming: Streaming) -> None:
        self.server = Server(fault=self._fault)
        self.platform = FakePlatform(self.server, streaming=streaming, every=0.01)
        self._next = ""

    def _fault(self, name: str, _: int) -> str:
        fault, self._next = self._next, ""
        return fault

    async def ask(self, text: str, reach: Reach = Reach.MENTION) -> Incoming:
        return asked(text, reach=reach)

    async def attach(self, text: str, name: str, media_type: str, content: bytes) -> Incoming:
        self.platform.files["f1"] = content
        file = Attachment(id="f1", name=name, media_type=media_type, size=len(content))
        return replace(asked(text), attachments=(file,))

    async def standing(self, incoming: Incoming) -> list[str]:
        return [one.text for one in self.server.standing(incoming.message)]

    def limit_next(self, seconds: float) -> None:
        self._next = "limited"

    def end_stream(self, sent: Sent) -> bool:
        if self.platform.streaming != "stream":
            return False
        self._next = "ended"
        return True

    async def remove(self, sent: Sent) -> None:
        self.server.messages[sent.id].gone = True


class TestInMemory(PlatformConformance):
    @pytest.fixture(params=["edit", "stream", "draft", "none"])
    def bench(self, request: pytest.FixtureRequest) -> InMemory:
        return InMemory(request.param)
