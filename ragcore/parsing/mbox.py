"""Mailboxes in mbox form (RFC 4155): where each mail begins, and which mails belong together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import overload

_BEGINS = re.compile(rb"(?:\A\s*|\r?\n\r?\n)(?P<line>From [^\r\n]*\r?\n)(?=[A-Za-z][\w-]*:|>From )")
_BEGINS_LIKE_ONE = re.compile(rb"\s*+From ")
_MASKED = re.compile(rb"^>(?=>*From )", re.MULTILINE)
_ID = re.compile(r"<[^<>\s]{1,500}>")
_NEVER = datetime.min.replace(tzinfo=UTC)


class Mails(Sequence[bytes]):
    """The mails of a mailbox in their order, each cut out when it is asked for: none is held but the mailbox itself."""

    def __init__(self, content: bytes, spans: Sequence[tuple[int, int]]) -> None:
        """Read from ``content``; ``spans`` are where each mail begins and ends."""
        self._content = content
        self._spans = spans

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._spans)

    @overload
    def __getitem__(self, place: int) -> bytes: ...

    @overload
    def __getitem__(self, place: slice) -> "Mails": ...

    def __getitem__(self, place: int | slice) -> "bytes | Mails":
        """Return a mail, with what writers of mailboxes mask put back."""
        if isinstance(place, slice):
            return Mails(self._content, self._spans[place])
        start, end = self._spans[place]
        return _MASKED.sub(b"", self._content[start:end])


def mails_of(content: bytes) -> Mails:
    """Return the mails of a mailbox, as they stand in it; none for what is no mailbox.

    A mail begins at a line ``From ...`` behind an empty one, where a header follows. What writers of mailboxes mask so
    that no other line looks like that (``>From``) is put back.
    """
    if _BEGINS_LIKE_ONE.match(content) is None:
        return Mails(content, ())
    begins = [(match.start(), match.end()) for match in _BEGINS.finditer(content)]
    ends = [*(start for start, _ in begins[1:]), len(content)]
    return Mails(content, [(start, end) for (_, start), end in zip(begins, ends, strict=True)])


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
