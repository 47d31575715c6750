"""An inbox that keeps what a platform hands over, and gives what a test put into it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from bots.pictures import Picture
from bots.platform import Incoming, Share, View
from bots.votes import AskedPerson, Vote
from bots.words.sentences import language_for
from ragcore.errors import StoreError
from ragcore.types import ConversationKey


@dataclass(kw_only=True)
class Kept:
    """Implements ``Inbox``; nothing is answered."""

    received: list[Incoming] = field(default_factory=list)
    again: list[Incoming] = field(default_factory=list)
    """What came a second time."""
    votes: list[Vote] = field(default_factory=list)
    stopped: list[object] = field(default_factory=list)
    withdrawn: list[object] = field(default_factory=list)
    joins: list[tuple[ConversationKey, str]] = field(default_factory=list)
    seen: list[Mapping[str, Any]] = field(default_factory=list)
    """The raw events."""
    quoted: dict[str, View] = field(default_factory=dict)
    pictured: tuple[Picture, ...] = ()
    pictured_for: list[frozenset[str]] = field(default_factory=list)
    shown_to: list[frozenset[str]] = field(default_factory=list)
    """For whom quotes or an answer to share were asked."""
    sharing: list[tuple[str, bool]] = field(default_factory=list)
    """How sharing an answer ended."""
    for_people: frozenset[str] = frozenset()
    """The turns whose questions may be taken to a person."""
    to_people: list[tuple[str, str]] = field(default_factory=list)
    owners: frozenset[str] = frozenset()
    kept: list[tuple[str, str, str, bool]] = field(default_factory=list)
    """Which replies who wanted kept where, or no longer."""
    bases: tuple[str, ...] = ()
    syncable: dict[str, tuple[str, ...]] = field(default_factory=dict)
    completed_in: list[ConversationKey] = field(default_factory=list)
    completed_for: list[frozenset[str]] = field(default_factory=list)
    greeting: View | None = None
    connections: int = 0
    failing: int = 0
    """How many claims and deletions are refused by the database before one is taken."""
    vote_fails: bool = False
    fixed: str = ""
    """The language that the settings ask for."""
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    _keys: set[str] = field(default_factory=set)

    async def wait(self, count: int = 1, seconds: float = 10.0) -> list[Incoming]:
        """Wait until so many messages were received, and return them."""
        async with asyncio.timeout(seconds):
            while len(self.received) < count:
                self.arrived.clear()
                await self.arrived.wait()
        return self.received

    async def receive(self, incoming: Incoming) -> bool:
        if self.failing:
            self.failing -= 1
            raise StoreError("the database is away")
        keys = {f"{key} {incoming.edited_at or ''}" for key in incoming.keys}
        new = self._keys.isdisjoint(keys)
        self._keys |= keys
        (self.received if new else self.again).append(incoming)
        self.arrived.set()
        return new

    async def connected(self) -> None:
        self.connections += 1

    async def joined(self, conversation: ConversationKey, message: str, at: datetime) -> None:
        self.joins.append((conversation, message))

    async def deleted(self, conversation: ConversationKey, message: str) -> None:
        if self.failing:
            self.failing -= 1
            raise StoreError("the database is away")
        self.withdrawn.append((conversation, message))

    def saw(self, event: Mapping[str, Any]) -> None:
        self.seen.append(event)

    async def withdraw(self, reference: str, by: str) -> bool:
        self.withdrawn.append((reference, by))
        return True

    async def stop(self, reference: str, by: str) -> bool:
        self.stopped.append((reference, by))
        return True

    async def stop_in(self, conversation: ConversationKey, by: str) -> bool:
        self.stopped.append((conversation, by))
        return True

    async def vote(self, vote: Vote) -> None:
        if self.vote_fails:
            raise StoreError("the database is away")
        self.votes.append(vote)

    async def may_ask_person(self, reference: str, by: str) -> bool:
        return reference in self.for_people

    async def ask_person(self, reference: str, by: str) -> AskedPerson:
        self.to_people.append((reference, by))
        return "asked" if reference in self.for_people else "refused"

    async def keep_reply(self, reply: str, by: str, where: str, *, kept: bool) -> bool:
        self.kept.append((reply, by, where, kept))
        return by in self.owners

    async def quotes(self, reference: str, readers: frozenset[str]) -> View | None:
        self.shown_to.append(readers)
        return self.quoted.get(reference)

    async def pictures(self, reference: str, readers: frozenset[str]) -> tuple[Picture, ...]:
        self.pictured_for.append(readers)
        return self.pictured

    async def page(self, reference: str, by: str, number: int, readers: frozenset[str]) -> View | None:
        self.shown_to.append(readers)
        return replace(self.quoted[reference], page=number) if reference in self.quoted else None

    async def share(self, reference: str, by: str, readers: frozenset[str]) -> Share:
        self.shown_to.append(readers)
        view = self.quoted.get(reference)
        return Share(state="now", view=view) if view is not None else Share(state="refused")

    async def shared(self, reference: str, *, lease: float, done: bool) -> None:
        self.sharing.append((reference, done))

    async def knowledge_bases(self, conversation: ConversationKey, readers: frozenset[str]) -> tuple[str, ...]:
        self.completed_in.append(conversation)
        self.completed_for.append(readers)
        return self.bases

    def sources(self, person: str) -> tuple[str, ...]:
        return self.syncable.get(person, ())

    def language(self, told: str, text: str = "") -> str:
        return language_for(text, told, self.fixed)

    async def welcome(self, language: str) -> View:
        assert self.greeting is not None
        return self.greeting
