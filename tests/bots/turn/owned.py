"""An uncertain answer on one platform, whose knowledge base somebody looks after."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from bots.platform import Asker, Incoming, Reach
from bots.requests import Ask, Event, Sync
from bots.turn.people.values import Owners, Reply
from ragcore.types import Answer, ConversationKey, Support
from tests.bots.turn.flows import OPTIONS, Flow, Model, flowing, virtual_now
from tests.fakes.operations import CHUNKS
from tests.fakes.platform import Stands, asked

PLACE = "discord:G1/OWN"
ADA = "discord:@A"
OWNED = replace(
    OPTIONS,
    readers_of={"handbook": ("*",)},
    owners={"handbook": Owners(place=PLACE)},
    homes={"handbook": "handbook"},
    kept_in={"handbook": "people-handbook"},
    person_limit=2,
)
UNSURE = "You may carry over some days."


async def unsure(request: Ask) -> AsyncIterator[Event]:
    """Answer what no document supports."""
    yield Answer(question=request.question, raw_text=UNSURE, support=Support.UNSUPPORTED, chunks=CHUNKS)


@dataclass(slots=True)
class Scene:
    """An uncertain answer on one platform, whose knowledge base somebody looks after."""

    flow: Flow

    async def answered(self, message: str = "q1", **more: Any) -> str:
        """Ask, and return the reference of the turn."""
        await self.flow.turns.receive(asked("How many days?", message=message, sent_at=virtual_now(), **more))
        await self.flow.idle()
        (claim,) = await self.flow.claims.by_message(asked("").conversation, message)
        return claim.reference

    async def settled(self) -> None:
        """Give what is wanted the time to stand."""
        await asyncio.sleep(1.0)

    def owners_see(self) -> list[Stands]:
        return [one for one in self.flow.server.messages.values() if one.channel == "OWN" and not one.gone]

    def card(self) -> Stands:
        """Return the newest: where one was in doubt, there may be two."""
        return [one for one in self.owners_see() if "Reply to this message" in one.text][-1]

    def notes(self) -> list[str]:
        return [one.text for one in self.owners_see()[1:]]

    def copies(self, message: str = "q1") -> list[str]:
        return self.flow.texts(message)[1:]

    def said(self, text: str, message: str = "r1", asker: str = "A", **more: Any) -> Incoming:
        """Return what somebody says to the card."""
        here = ConversationKey(platform="discord", workspace="G1", channel="OWN", thread=f"thread {self.card().id}")
        facts: dict[str, Any] = {"conversation": here, "reach": Reach.THREAD, "sent_at": virtual_now()} | more
        return replace(asked(text, message=message), asker=Asker(id=asker, name="Ada"), **facts)

    async def reply(self, text: str = "Five days.", **more: Any) -> Reply:
        """Let an owner reply, and return what is kept of it."""
        assert await self.flow.turns.receive(self.said(text, **more))
        await self.settled()
        return (await self.flow.people.all_replies())[0]

    def syncs(self) -> int:
        return sum(isinstance(request, Sync) for request in self.flow.model.asked)


@asynccontextmanager
async def scene(options: Any = OWNED, script: Any = unsure, **more: Any) -> AsyncIterator[Scene]:
    async with flowing(options=options, model=Model(script), **more) as flow:
        await flow.turns.connected()
        yield Scene(flow)
