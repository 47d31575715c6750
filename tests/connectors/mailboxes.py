"""A real mail server for the tests of ``imap`` (pymap, in memory), with a line in front of it that can be disturbed."""

import argparse
import asyncio
import base64
import inspect
import re
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime

from pydantic import SecretStr
from pymap.backend.dict import DictBackend
from pymap.backend.dict.filter import FilterSet
from pymap.backend.dict.mailbox import MailboxData, MailboxSet
from pymap.imap import IMAPService
from pymap.parsing.message import AppendMessage
from pymap.parsing.specials.flag import Flag
from pysasl.hashing import BuiltinHash

from connectors.base import Origin
from connectors.imap import ImapConnector, ImapOptions
from tests.connectors.helpers import collect
from tests.fakes.ports import free_port

USER, PASSWORD = "support@example.org", "s3cret-pass"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)

Answer = Callable[[str], bytes | Awaitable[bytes | None] | None]


def mail(
    text: str = "",
    *,
    subject: str = "Question",
    key: str = "",
    answers: str | None = None,
    references: str | None = None,
    sender: str = "Ann Example <ann@example.org>",
    to: str = "support@example.org",
    at: datetime = START,
    html: str = "",
    attached: tuple[tuple[str, str, bytes], ...] = (),
    cte: str | None = None,
) -> bytes:
    """Return a mail; ``attached`` has name, media type and content of each."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"], message["Date"] = sender, to, subject, format_datetime(at)
    if key:
        message["Message-ID"] = f"<{key}>"
    if answers is not None:
        message["In-Reply-To"] = f"<{answers}>"
        message["References"] = references if references is not None else f"<{answers}>"
    if text or not html:
        message.set_content(text, cte=cte)
        if html:
            message.add_alternative(html, subtype="html")
    else:
        message.set_content(html, subtype="html")
    for name, kind, content in attached:
        main, _, sub = kind.partition("/")
        message.add_attachment(content, maintype=main, subtype=sub, filename=name)
    return message.as_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


class MailServer:
    """One user's mailbox. ``answer`` may answer a command in the server's place, or do something before it does.

    It gets the command without its tag.

    What ``answer`` returns begins with untagged lines, if any; ``%t`` stands for the tag. b"" hangs up.
    """

    def __init__(self) -> None:
        self.port = 0
        self.asked: list[str] = []
        self.answer: Answer = lambda command: None
        self.greeting: bytes = b""
        self.token = ""
        self.boxes: MailboxSet
        self._upstream = free_port()

    @asynccontextmanager
    async def serving(self, ssl_context=None, *, cert: str = "", tls: bool = False):
        """Serve on ``port``; with a context under TLS from the first byte, with ``tls`` after STARTTLS."""
        parser = argparse.ArgumentParser()
        DictBackend.add_subparser("dict", parser.add_subparsers())
        IMAPService.add_arguments(parser)
        arguments = ["--host", "127.0.0.1", "--port", str(self._upstream)]
        arguments += ["--cert", cert, "--key", cert] if tls else ["--no-tls"]
        told = parser.parse_args([*arguments, "dict", "--demo-user", USER, "--demo-password", PASSWORD])
        told.passlib_cfg, told.debug = None, False
        backend, config = await DictBackend.init(told, invalid_user_sleep=0.0, hash_context=BuiltinHash(rounds=1))
        config.apply_context()
        self.boxes = MailboxSet()
        config.set_cache[USER] = (self.boxes, FilterSet())
        async with AsyncExitStack() as stack:
            await backend.start(stack)
            if tls:
                self.port = self._upstream
                await IMAPService(backend, config).start(stack)
                yield self
                return
            await IMAPService(backend, config).start(stack)
            front = await asyncio.start_server(self._front, "127.0.0.1", 0, ssl=ssl_context)
            await stack.enter_async_context(front)
            self.port = front.sockets[0].getsockname()[1]
            yield self

    async def _front(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.greeting:
            writer.write(self.greeting)
            await writer.drain()
            writer.close()
            return
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self._upstream)
        back = asyncio.create_task(_pump(up_reader, writer))
        tag, awaits_token = "", False
        try:
            while line := await reader.readline():
                text = line.decode().strip()
                if awaits_token:
                    awaits_token = False
                    is_right = base64.b64decode(text).decode() == f"user={USER}\x01auth=Bearer {self.token}\x01\x01"
                    line = f"{tag} LOGIN {USER} {PASSWORD if is_right else 'wrong'}\r\n".encode()
                elif " " in text:
                    tag, _, command = text.partition(" ")
                    self.asked.append(command)
                    if command == "AUTHENTICATE XOAUTH2":
                        awaits_token = True
                        writer.write(b"+ \r\n")
                        continue
                    answer = self.answer(command)
                    if inspect.isawaitable(answer):
                        answer = await answer
                    if answer == b"":
                        break
                    if answer is not None:
                        writer.write(answer.replace(b"%t", tag.encode()) + b"\r\n")
                        await writer.drain()
                        continue
                up_writer.write(line)
        except ConnectionError:
            pass
        finally:
            up_writer.close()
            writer.close()
            back.cancel()

    # What a test does to the mailbox.

    async def box(self, folder: str = "INBOX") -> MailboxData:
        """Return a folder, made if it isn't there."""
        if folder != "INBOX" and folder not in self.boxes._set:
            await self.boxes.add_mailbox(folder)
        return await self.boxes.get_mailbox(folder)

    async def put(self, content: bytes, folder: str = "INBOX", *, flags: tuple[str, ...] = ()) -> int:
        """Add a mail, and return its number."""
        box = await self.box(folder)
        arrived = datetime.now(UTC)
        added = await box.append(AppendMessage(content, arrived, frozenset(Flag(flag.encode()) for flag in flags)))
        return added.uid

    async def drop(self, folder: str = "INBOX", *, key: str) -> None:
        """Expunge the mails with this Message-ID."""
        box = await self.box(folder)
        await box.delete([uid for uid in list(box._messages) if self.key_of(box, uid) == key])

    async def move(self, key: str, folder: str, to: str) -> None:
        source, target = await self.box(folder), await self.box(to)
        for uid in [uid for uid in list(source._messages) if self.key_of(source, uid) == key]:
            await source.move(uid, target)

    async def renumber(self, folder: str = "INBOX") -> None:
        """Number a folder anew: other UIDs, and another UIDVALIDITY that says so."""
        box = await self.box(folder)
        held = list(box._messages)
        for uid in held:
            await box.copy(uid, box)
        await box.delete(held)
        box._uid_validity += 1

    def key_of(self, box: MailboxData, uid: int) -> str:
        raw = bytes(box._messages[uid]._content)
        found = re.search(rb"^message-id:\s*<([^>]*)>", raw, re.IGNORECASE | re.MULTILINE)
        return found.group(1).decode() if found else ""

    def options(self, **changed) -> ImapOptions:
        values = {"host": "127.0.0.1", "port": self.port, "user": USER, "readers": ("*",), "security": "none"}
        if "token" not in changed:
            values["password"] = SecretStr(PASSWORD)
        return ImapOptions(**(values | changed))

    def connect(self, origin: Origin, **changed) -> ImapConnector:
        return ImapConnector(origin, self.options(**changed))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def read(server: MailServer, origin: Origin, cursor=None, known=None, **options):
    """Return what a run tells, as ``collect`` does."""
    return await collect(server.connect(origin, **options).changes(cursor, known or {}))


def minutes(count: int) -> timedelta:
    return timedelta(minutes=count)
