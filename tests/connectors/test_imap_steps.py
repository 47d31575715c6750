"""Whatever happens in a mailbox between runs and under them, what is held at the end is what a first run would find."""

import random

import pytest

from connectors.base import Checkpoint, Origin, SourceDocument, Tombstone
from ragcore.errors import SourceError
from tests.connectors.mailboxes import START, MailServer, mail, minutes
from tests.soak import scaled

FOLDERS = ("INBOX", "Sent", "Solved")


class Holding:
    """What an index would hold after each run."""

    def __init__(self, server: MailServer, origin: Origin) -> None:
        self.server, self.origin = server, origin
        self.cursor: str | None = None
        self.held: dict[str, SourceDocument] = {}

    async def run(self) -> int:
        """Follow the mailbox; return how many documents came. A run that breaks off keeps what it had."""
        connector, count = self.server.connect(self.origin), 0
        known = {identity: document.version for identity, document in self.held.items()}
        async for change in connector.changes(self.cursor, known):
            match change:
                case SourceDocument():
                    self.held[change.id] = change
                    count += 1
                case Tombstone():
                    self.held.pop(change.id, None)
                case Checkpoint():
                    self.cursor = change.cursor
        listed = {one async for one in connector.list_ids()}
        async for found in connector.fetch(sorted(listed - self.held.keys())):
            assert isinstance(found, SourceDocument), "it is listed, so it is there"
        self.held = {identity: document for identity, document in self.held.items() if identity in listed}
        assert listed == self.held.keys()
        return count


class Steps:
    """People at work in a mailbox, at random."""

    def __init__(self, server: MailServer, chance: random.Random) -> None:
        self.server, self.chance = server, chance
        self.where: dict[str, str] = {}
        self.before: dict[str, str] = {}
        self.count = 0

    async def write(self) -> None:
        self.count += 1
        key, folder = f"m{self.count}@x", self.chance.choice(FOLDERS)
        answers = self.chance.choice([None, *self.before])
        references = None
        if answers is not None:
            above = [answers]
            while self.before[above[-1]]:
                above.append(self.before[above[-1]])
            references = " ".join(f"<{one}>" for one in reversed(above))
        files = (("list.csv", "text/csv", f"a,{self.count}\n".encode()),) if self.chance.random() < 0.3 else ()
        content = mail(
            f"Text {self.count}.",
            key=key,
            answers=answers,
            references=references,
            attached=files,
            at=START + minutes(self.count),
        )
        await self.server.put(content, folder)
        self.before[key], self.where[key] = answers or "", folder

    async def drop(self) -> None:
        if self.where:
            key = self.chance.choice(list(self.where))
            await self.server.drop(self.where.pop(key), key=key)

    async def move(self) -> None:
        if self.where:
            key, to = self.chance.choice(list(self.where)), self.chance.choice(FOLDERS)
            if to != self.where[key]:
                await self.server.move(key, self.where[key], to)
                self.where[key] = to

    async def renumber(self) -> None:
        await self.server.renumber(self.chance.choice(FOLDERS))

    async def move_meanwhile(self) -> None:
        """Move a mail before one of the next commands."""
        left = self.chance.randrange(24)

        async def answer(command: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                await self.move()

        self.server.answer = answer

    async def disturb(self) -> None:
        """Let one of the next commands fail, once."""
        left = self.chance.randrange(12)
        reply = self.chance.choice([b"", b"%t NO [UNAVAILABLE] later", b"%t NO [LIMIT] too many"])

        def answer(command: str) -> bytes | None:
            nonlocal left
            left -= 1
            return reply if left == 0 else None

        self.server.answer = answer


@pytest.mark.parametrize("seed", range(scaled(1)))
async def test_what_is_held_is_what_a_first_run_finds(seed, tmp_path):
    chance = random.Random(seed)
    origin = Origin(source="s", folder=tmp_path)
    async with MailServer().serving() as server:
        steps, holding = Steps(server, chance), Holding(server, origin)
        for folder in FOLDERS:
            await server.box(folder)
        happens = [steps.write] * 6 + [steps.drop, steps.drop, steps.move, steps.move, steps.renumber]
        happens += [steps.disturb, steps.move_meanwhile]
        for _ in range(6):
            for _ in range(chance.randrange(6)):
                await chance.choice(happens)()
            try:
                await holding.run()
            except SourceError:
                continue  # the next run goes on from the last checkpoint
            texts = b"\n".join(document.content for document in holding.held.values()) + b"\n"
            lacking = [key for key in steps.where if f"Text {key[1:-2]}.\n".encode() not in texts]
            assert not lacking, "what is moved meanwhile is there"
        server.answer = lambda command: None
        await holding.run()
        fresh = Holding(server, origin)
        await fresh.run()
        assert {one: document.version for one, document in holding.held.items()} == {
            one: document.version for one, document in fresh.held.items()
        }
        assert {one: document.content for one, document in holding.held.items()} == {
            one: document.content for one, document in fresh.held.items()
        }
        assert await holding.run() == 0
