"""The headers of a mail: what it is known by, what it answers, and what people read of it. Pure."""

import email
import email.policy
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage, Message
from email.utils import getaddresses

from connectors.rows import clean
from ragcore.mail_lines import mail_date
from ragcore.parsing.mail import MAIL_ERRORS, mail_header

HEADERS = "BODY.PEEK[HEADER.FIELDS (MESSAGE-ID IN-REPLY-TO REFERENCES DATE FROM TO CC SUBJECT)]"
"""What is asked of each mail."""
_LONGEST_ID = 200
_IN_BRACKETS = re.compile(r"<([^<>]+)>")
_PREFIX = re.compile(
    r"^(?:(?:re|aw|antw|sv|vs|ref|rv|odp|回复|答复|fwd?|wg|tr|enc|doorst|转发)\s*(?:\[\d+\]|\(\d+\))?\s*[:：]\s*)+",
    re.I,
)
_FORWARD = re.compile(r"^(?:(?:re|aw|sv)\s*:\s*)*(?:fwd?|wg|tr|rv|enc|doorst|vb|转发)\s*[:：]", re.IGNORECASE)
_SLACK = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What the headers tell. ``key`` is the mail's ``Message-ID``, without brackets, or made of its headers.

    ``root`` and ``parent`` are the first and the last of the mails that it names as those before it, "" for none.
    """

    key: str
    root: str = ""
    parent: str = ""
    subject: str = ""
    author: str = ""
    receivers: str = ""
    at: datetime
    addresses: frozenset[str] = frozenset()

    @property
    def title(self) -> str:
        """Return the subject without what an answer puts before it."""
        return _PREFIX.sub("", self.subject).strip() or self.subject

    @property
    def is_forward(self) -> bool:
        """Tell whether it hands on a mail: then what it repeats is what it says."""
        return _FORWARD.match(self.subject) is not None


def head_of(content: bytes, arrived: datetime | None) -> Head:
    """Return what these headers tell; ``arrived``: when the server got the mail."""
    raw = _ids_of(content)
    try:
        message = email.message_from_bytes(content, policy=email.policy.default)
    except MAIL_ERRORS:
        message = EmailMessage()
    assert isinstance(message, EmailMessage)
    named = raw["message-id"] or [f"without-id-{hashlib.sha256(content).hexdigest()[:24]}"]
    before = raw["references"] or raw["in-reply-to"][:1]
    senders = _addresses(message, "From")
    receivers = [*_addresses(message, "To"), *_addresses(message, "Cc")]
    return Head(
        key=named[0],
        root=before[0] if before else "",
        parent=(raw["in-reply-to"] or before)[-1] if before or raw["in-reply-to"] else "",
        subject=clean(mail_header(message, "Subject")),
        author=_named(senders),
        receivers=_named(receivers),
        at=_moment(mail_header(message, "Date"), arrived),
        addresses=frozenset(address.lower() for _, address in (*senders, *receivers)),
    )


def _ids_of(content: bytes) -> dict[str, list[str]]:
    """Return the ids that the headers name, read as they stand: the strict reading drops what is slightly wrong."""
    found: dict[str, list[str]] = {}
    try:
        message: Message = email.message_from_bytes(content, policy=email.policy.compat32)
    except MAIL_ERRORS:
        message = Message()
    for name in ("message-id", "references", "in-reply-to"):
        value = " ".join(str(one) for one in message.get_all(name, []))
        ids = [_key(one) for one in _IN_BRACKETS.findall(value)]
        if not ids and name == "message-id" and value.strip():
            ids = [_key(value)]
        found[name] = [one for one in ids if one]
    return found


def _key(told: str) -> str:
    key = clean("".join(told.split()).strip("<>"))
    key = "".join(char for char in key if char.isprintable())
    return key if len(key) <= _LONGEST_ID else f"long-id-{hashlib.sha256(key.encode()).hexdigest()[:24]}"


def _addresses(message: EmailMessage, name: str) -> list[tuple[str, str]]:
    value = mail_header(message, name)
    try:
        return [(who, address) for who, address in getaddresses([value]) if "@" in address]
    except MAIL_ERRORS:
        return []


def _named(people: Iterable[tuple[str, str]]) -> str:
    return ", ".join(who.strip() or address for who, address in people)


def _moment(date: str, arrived: datetime | None) -> datetime:
    """Return when a mail was written, in UTC; a date that is none, or is still to come, gives way to the arrival."""
    told = mail_date(date) if date else None
    arrival = arrived.astimezone(UTC) if arrived is not None and arrived.tzinfo else arrived
    arrival = arrival if arrival is None or arrival.tzinfo else arrival.replace(tzinfo=UTC)
    try:
        written = told.astimezone(UTC) if told is not None else None
    except (OverflowError, ValueError):
        written = None
    if written is not None and written.year >= 1970 and (arrival is None or written <= arrival + _SLACK):
        return written.replace(microsecond=0)
    return (arrival or datetime(1970, 1, 1, tzinfo=UTC)).replace(microsecond=0)
