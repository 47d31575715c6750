"""Mailboxes in mbox form (RFC 4155): where each mail begins, and which mails belong together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

_BEGINS = re.compile(rb"(?:\A\s*|\r?\n\r?\n)(?P<line>From [^\r\n]*\r?\n)(?=[A-Za-z][\w-]*:|>From )")
_MASKED = re.compile(rb"^>(?=>*From )", re.MULTILINE)
_ID = re.compile(r"<[^<>\s]{1,500}>")
_NEVER = datetime.min.replace(tzinfo=UTC)


def mails_of(content: bytes) -> list[bytes]:
    """Return the mails of a mailbox, as they stand in it; [] for what is none.

    A mail begins at a line ``From ...`` behind an empty one, where a header follows. What writers of mailboxes mask so
    that no other line looks like that (``>From``) is put back.
    """
    if not content.lstrip().startswith(b"From "):
        return []
    found = list(_BEGINS.finditer(content))
    ends = [*(match.start() for match in found[1:]), len(content)]
    return [_MASKED.sub(b"", content[match.end() : end]) for match, end in zip(found, ends, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Threaded:
    """What tells where a mail belongs: its id, the ids that its headers name, and when it was sent."""

    message_id: str
    names: str
    at: datetime | None


def threads_of(mails: Sequence[Threaded]) -> list[list[int]]:
    """Return the threads, oldest first, each as the numbers of its mails, oldest first.

    Mails belong together that name one another, or the same third. One without a date keeps its place behind the one
    before it in the mailbox.
    """
    above: dict[str, str] = {}

    def root(name: str) -> str:
        path = []
        while above.setdefault(name, name) != name:
            path.append(name)
            name = above[name]
        above.update(dict.fromkeys(path, name))
        return name

    own: list[str] = []
    times: list[datetime] = []
    for number, mail in enumerate(mails):
        ids = _ID.findall(mail.message_id)
        name = ids[0] if ids else f"#{number}"
        own.append(name)
        times.append(mail.at or (times[-1] if times else _NEVER))
        for other in _ID.findall(mail.names):
            above[root(other)] = root(name)
    threads: dict[str, list[int]] = {}
    for number in sorted(range(len(mails)), key=lambda number: (times[number], number)):
        threads.setdefault(root(own[number]), []).append(number)
    return list(threads.values())
