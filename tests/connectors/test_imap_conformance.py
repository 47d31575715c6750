"""The conformance suite on ``imap``, against a real mail server."""

from typing import ClassVar
from urllib.parse import quote

import pytest

from connectors.base import Origin
from connectors.imap import ImapConnector
from tests.connectors.conformance import Conformance
from tests.connectors.mailboxes import START, MailServer, mail, minutes
from tests.connectors.world import World
from tests.fakes.ports import free_port


class MailWorld(World):
    """Each document is a thread; a change is an answer in it, since a mail never changes."""

    cannot: ClassVar = {
        "spoil": "of a thread whatever can be read is; what fails is a part of it, under its own id: test_imap.py",
        "skew": "numbers tell what is new, not times",
        "restrict": "a mail's addresses never change, and else the settings say who may read",
    }

    def __init__(self, server: MailServer) -> None:
        self.server = server
        self.away = 0
        self.moments = 0
        self.answers: dict[str, list[str]] = {}
        self.hidden: dict = {}

    def connect(self, origin: Origin) -> ImapConnector:
        return self.server.connect(origin, port=self.away or self.server.port)

    def identity(self, name: str) -> str:
        return f"{quote(name, safe='')}@example.org"

    async def add(self, name: str, text: str, age: int = 0) -> None:
        self.moments += 1
        at = START + minutes(self.moments - age)
        await self.server.put(mail(text, subject=name, key=self.identity(name), at=at))
        self.answers[name] = [self.identity(name)]

    async def change(self, name: str, text: str) -> None:
        self.moments += 1
        key = f"answer-{self.moments}@example.org"
        content = mail(
            text, subject=f"Re: {name}", key=key, answers=self.identity(name), at=START + minutes(self.moments)
        )
        await self.server.put(content)
        self.answers[name].append(key)

    async def delete(self, name: str) -> None:
        for key in self.answers.pop(name):
            await self.server.drop(key=key)

    async def rename(self, old: str, new: str) -> None:
        await self.delete(old)
        self.moments += 1
        await self.server.put(
            mail(f"The text of {old[:20]} stands here.", subject=old, key=self.identity(new), at=START + minutes(1))
        )
        self.answers[new] = [self.identity(new)]

    async def late(self, name: str, text: str) -> None:
        await self.add(name, text, age=5)

    async def duplicate(self, name: str) -> None:
        inbox, other = await self.server.box(), await self.server.box("Archive")
        for uid in list(inbox._messages):
            if self.server.key_of(inbox, uid) == self.identity(name):
                await inbox.copy(uid, other)

    async def vanish(self, name: str) -> None:
        def answer(command: str) -> None:
            if "BODY.PEEK[1]" in command:
                box = self.server.boxes._inbox
                for uid in list(box._messages):
                    if self.server.key_of(box, uid) == self.identity(name):
                        del box._messages[uid]

        self.server.answer = answer

    def _at_second_page(self, reply: bytes, *, once: bool = False) -> None:
        pages = 0

        def answer(command: str) -> bytes | None:
            nonlocal pages
            if command.startswith("UID FETCH"):
                pages += 1
                if pages == 2 or (pages > 2 and not once):
                    return reply
            return None

        self.server.answer = answer

    async def break_page(self, status: int = 500) -> None:
        self._at_second_page(b"%t NO [SERVERBUG] Internal error" if status == 500 else b"")

    async def rate_limit(self, seconds: int) -> None:
        wait = f"%t BAD Request is throttled. Suggested Backoff Time: {seconds}000 milliseconds".encode()
        self._at_second_page(wait, once=True)

    async def expire_token(self) -> None:
        self._at_second_page(b"%t NO [EXPIRED] The access token has expired")

    async def truncate(self) -> None:
        box = await self.server.box()
        for uid in list(box._messages)[3:]:
            self.hidden[uid] = box._messages.pop(uid)

    async def break_form(self) -> None:
        self.server.greeting = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\n\r\n<html></html>"

    async def leave(self) -> None:
        self.away = free_port()

    async def mend(self) -> None:
        self.away, self.server.greeting = 0, b""
        self.server.answer = lambda command: None
        box = await self.server.box()
        box._messages.update(self.hidden)
        self.hidden.clear()


class TestImap(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self, monkeypatch):
        monkeypatch.setattr("connectors.imap.scan.PAGE", 5)
        monkeypatch.setattr("connectors.imap.connector.BATCH", 5)
        async with MailServer().serving() as server:
            yield MailWorld(server)
