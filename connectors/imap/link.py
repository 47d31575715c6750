"""A connection to a mail server: each command in a thread, every fault as one of our own errors."""

import imaplib
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar

from connectors.imap.faults import ERRORS, fault_of
from connectors.imap.names import is_plain, named
from connectors.imap.options import ImapOptions
from connectors.imap.tokens import access_token
from connectors.threads import Threads
from ragcore.errors import ConfigError, SourceAuthError, SourceBadReply, SourceError, SourceGone, SourceUnreachable

_PATIENCE = 560.0
"""Seconds for one command: less than the silence after which a run gives a source up."""
_CLOSING = 5.0
_WINDOW = 50_000
"""Messages that one SEARCH is asked for: what it finds stands in one line."""
_LONGEST_LINE = 64_000_000
"""Bytes of one line: all that a mail of thousands of parts consists of stands in one. Past its own limit of 1,000,000,
imaplib leaves the rest behind as the answer to whatever is asked next."""
_STATUS = ("MESSAGES", "UIDNEXT", "UIDVALIDITY")

Fetched = Mapping[int, Mapping[bytes, Any]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder: its name, which no other has, its path with ``/`` between the parts, and its attributes."""

    name: str
    path: str
    flags: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a folder stands: what numbers it, the next number, how many mails; ``modseq`` 0: the server has none."""

    validity: int
    next: int
    count: int
    modseq: int = 0


@dataclass(slots=True)
class Link:
    """An open connection. It ends with ``close``."""

    options: ImapOptions
    _client: Any = None
    _threads: Threads = field(default_factory=lambda: Threads(most=1))
    _is_idle: bool = True
    folder: str = ""
    """The folder that is open."""
    _secret: str = field(default="", repr=False)
    """What it logs in with."""
    _written: dict[str, bytes] = field(default_factory=dict)
    """The folders' names as the server writes them, by those that they have here."""

    async def open(self) -> None:
        """Connect and log in."""
        options = self.options
        told = options.password or options.token
        self._secret = told.get_secret_value() if told else await access_token(options)
        await self._do(self._connect)
        await self._do(self._log_in, is_login=True)

    def _connect(self) -> None:
        try:
            from imapclient import IMAPClient, SocketTimeout
        except ModuleNotFoundError as error:
            raise ConfigError("mail needs imapclient: pip install 'citebot[imap]'") from error
        # At its level DEBUG the library tells whole commands, and a login holds the password.
        logging.getLogger("imapclient").setLevel(logging.WARNING)
        options = self.options
        is_tls, context = options.security == "tls", None
        if options.security != "none":
            context = ssl.create_default_context()
        self._client = IMAPClient(
            options.host,
            port=options.number,
            ssl=is_tls,
            ssl_context=context,
            timeout=SocketTimeout(connect=min(30.0, options.timeout), read=options.timeout),
        )
        self._client.normalise_times = False
        self._client._imap.readline = lambda: _line(self._client._imap.file)
        self._client.folder_encode = False  # names are taken as the server writes them
        # The library sends a command in pieces, each of which would wait for the answer to the one before.
        self._client.socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if options.security == "starttls":
            self._client.starttls(context)

    def _log_in(self) -> None:
        user = self.options.user
        if self.options.password is None:
            self._client.oauth2_login(user, self._secret)
        elif (user + self._secret).isascii():
            self._client.login(user, self._secret)
        else:  # LOGIN is for ASCII alone
            self._client.plain_login(user, self._secret)

    async def close(self) -> None:
        """Log out, or only hang up where a command is under way; never fails."""
        client, self._client = self._client, None
        if client is None:
            return
        for work in (client.logout, client.shutdown) if self._is_idle else (client.shutdown,):
            with suppress(*ERRORS):
                await Threads(most=1).call(work, patience=_CLOSING)

    async def folders(self) -> list[Place]:
        """Return the folders that hold mails."""
        found = await self._do(self._client.list_folders)
        places, self._written = [], named(_bytes(name) for _, _, name in found)
        names = {written: name for name, written in self._written.items()}
        for flags, delimiter, written in found:
            known = frozenset(_text(flag).lower() for flag in flags)
            if not known & {"\\noselect", "\\nonexistent"}:
                name = names[_bytes(written)]
                parts = name.split(_text(delimiter)) if delimiter else [name]
                places.append(Place(name=name, path="/".join(parts), flags=known))
        return places

    async def _sent(self, name: str) -> bytes:
        """Return a folder's name as the server wrote it."""
        if not self._written:
            await self.folders()
        written = self._written.get(name)
        if written is None:
            raise SourceGone(f'there is no folder "{name}"', mend="check the folder's name")
        if not is_plain(written):
            raise SourceError("its name has characters that IMAP knows no folders by", mend="rename it")
        return written

    async def standing(self, name: str) -> Standing:
        """Return how a folder stands, without opening it."""
        has_modseq = await self._do(lambda: self._client.has_capability("CONDSTORE"))
        asked = (*_STATUS, "HIGHESTMODSEQ") if has_modseq else _STATUS
        sent = await self._sent(name)
        told = await self._do(lambda: self._client.folder_status(sent, asked))
        return Standing(
            validity=_number(told, b"UIDVALIDITY"),
            next=_number(told, b"UIDNEXT"),
            count=_number(told, b"MESSAGES"),
            modseq=_number(told, b"HIGHESTMODSEQ"),
        )

    async def open_folder(self, name: str) -> tuple[int, int]:
        """Open a folder for reading alone; return what numbers it (UIDVALIDITY), and how many mails it has."""
        self.folder = ""  # one that is refused closes what was open
        sent = await self._sent(name)
        told = await self._do(lambda: self._client.select_folder(sent, readonly=True))
        self.folder = name
        return _number(told, b"UIDVALIDITY"), _number(told, b"EXISTS")

    async def numbers(self, name: str, *, since: date | None) -> tuple[int, set[int]]:
        """Open a folder, and return what numbers it and which mails are to be read.

        Left out are what is marked as deleted, drafts, and what came before ``since``. A listing that is shorter than
        the folder is asked for again, and then refused: what it misses would count as deleted.
        """
        for _ in range(2):
            validity, count = await self.open_folder(name)
            found = set[int]()
            for window in _windows(count):
                found |= set(await self._do(lambda window=window: self._client.search(window)))  # type: ignore[misc]
            if len(found) >= count:
                break
        else:
            said = f"the folder {name} has {count} mails, and the server lists {len(found)} of them"
            raise SourceUnreachable(said, mend="try again later")
        found -= await self._among(found, "OR", "DELETED", "DRAFT")
        if since is not None:
            found &= await self._among(found, "SINCE", since)
        return validity, found

    async def _among(self, numbers: Collection[int], *wanted: str | date) -> set[int]:
        """Return which of these mails of the open folder are as wanted, and maybe others that are."""
        ordered, found = sorted(numbers), set[int]()
        for first in range(0, len(ordered), _WINDOW):
            window = ordered[first : first + _WINDOW]
            within = ("UID", f"{window[0]}:{window[-1]}") if len(ordered) > _WINDOW else ()
            asked = [*within, *wanted]
            found |= set(await self._do(lambda asked=asked: self._client.search(asked)))  # type: ignore[misc]
        return found

    async def fetch(self, numbers: Collection[int], items: Sequence[str]) -> Fetched:
        """Return what the server tells of these mails of the open folder; of those that are gone, nothing."""
        told: Fetched = await self._do(lambda: self._client.fetch(sorted(numbers), items))
        return told

    async def _do(self, work: Callable[[], T], *, is_login: bool = False) -> T:
        """Run one command; the errors of the library as ours."""
        self._is_idle = False
        try:
            result = await self._threads.call(work, patience=_PATIENCE)
        except (SourceError, ConfigError):
            raise
        except ERRORS as error:
            self._is_idle = isinstance(error, imaplib.IMAP4.error) and not isinstance(error, imaplib.IMAP4.abort)
            # Not "from error": a server may quote what it was sent, and a log prints what an error came from.
            fault = fault_of(error, self.options.address, is_login=is_login, hidden=self._secret)
            if isinstance(fault, SourceAuthError) and not is_login and self.options.token_url:
                # The next connection gets a new token.
                fault = SourceUnreachable(fault.reason, mend="try again later")
            raise fault from None
        self._is_idle = True
        return result


@asynccontextmanager
async def linked(options: ImapOptions) -> AsyncIterator[Link]:
    """Open a connection for as long as this lasts.

    Raises:
        SourceError: as ``faults`` tells it.
        ConfigError: the library isn't installed.
    """
    link = Link(options)
    try:
        await link.open()
        yield link
    finally:
        await link.close()


def _windows(count: int) -> list[str]:
    """Return what to search for so that no answer is too long: all, or by the mails' places in the folder."""
    if count <= _WINDOW:
        return ["ALL"]
    return [f"{first}:{min(count, first + _WINDOW - 1)}" for first in range(1, count + 1, _WINDOW)]


def body_of(told: Mapping[bytes, Any], section: str) -> bytes | None:
    """Return a section of a mail from what was fetched; None when the server left it out, as the mail is gone."""
    for name, value in told.items():
        if name.startswith(b"BODY[" + section.encode()):
            return value if isinstance(value, bytes) else b""  # NIL: there is nothing in it
    return None


def _number(told: Mapping[Any, Any], name: bytes) -> int:
    value = told.get(name, 0)
    if not isinstance(value, int):
        raise SourceBadReply(f"the server tells {name.decode()} as something else than a number", mend="report it")
    return value


def _line(file: Any) -> bytes:
    line: bytes = file.readline(_LONGEST_LINE + 1)
    if len(line) > _LONGEST_LINE:
        raise imaplib.IMAP4.abort("a line of its answer has no end")
    return line


def _bytes(name: object) -> bytes:
    return name if isinstance(name, bytes) else str(name).encode()


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
