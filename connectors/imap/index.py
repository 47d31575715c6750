"""Which mails there are, as a run remembers them for the next, and which threads they make up. Pure."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from connectors.cursors import packed, unpacked
from connectors.imap.link import Standing

MISSING = "0"
"""The section that stands for a mail whose parts the server can't tell."""
KEEP = 1_000
"""Mails that a run may have looked at in vain when it is cut off, at least: their headers are read within seconds."""
_UNREADABLE = "unreadable "
"""How the key of a mail begins that the server fails at; a ``Message-ID`` has no blanks here."""
_LIKE_ATTACHED = re.compile(r"/[0-9.]+\Z")
"""How the id of what is attached ends: with the number of its section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A mail of a folder. ``at`` is in seconds since 1970, ``size`` in bytes.

    ``parts`` are the documents that are attached, each as the number of its section and its size as it is encoded.
    """

    folder: str
    uid: int
    key: str
    root: str
    parent: str
    at: int
    size: int
    parts: tuple[tuple[str, int], ...] = ()

    @property
    def is_unreadable(self) -> bool:
        """Tell whether the server doesn't even give its headers."""
        return self.key.startswith(_UNREADABLE)

    @property
    def answers(self) -> str:
        """Return the key of the mail that this one answers, "" for none."""
        return self.parent or self.root


def unreadable(folder: str, uid: int) -> Mail:
    """Return what stands for a mail that the server fails at."""
    parts = ((MISSING, 0),)
    return Mail(
        folder=folder, uid=uid, key=f"{_UNREADABLE}{folder}/{uid}", root="", parent="", at=0, size=0, parts=parts
    )


@dataclass(slots=True, kw_only=True)
class Folder:
    """What is known of a folder: how it stood when it was last looked through (None: never whole), and its mails."""

    validity: int
    standing: Standing | None = None
    since: str = ""
    mails: dict[int, Mail] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """Mails that belong together, oldest first; ``id`` is the native one."""

    id: str
    mails: tuple[Mail, ...]

    def version(self, manner: str) -> str:
        """Return what changes with anything that its document tells."""
        textless = [mail.key for mail in self.mails if (MISSING, 0) in mail.parts]
        return _hashed(manner, *((mail.key, mail.at, mail.size) for mail in self.mails), *textless)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """A document that is attached to a mail; ``id`` is the native one."""

    id: str
    mail: Mail
    section: str
    size: int

    def version(self, manner: str) -> str:
        """Return what changes with anything that its document tells."""
        return _hashed(manner, self.mail.key, self.mail.at, self.section, self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The documents of a mailbox, by native id."""

    threads: Mapping[str, Thread]
    attached: Mapping[str, Attached]


@dataclass(slots=True)
class Index:
    """All mails by folder. ``basis`` is the fingerprint of the settings: those of another one remember nothing."""

    basis: str
    folders: dict[str, Folder] = field(default_factory=dict)
    is_changed: bool = field(default=True, compare=False)
    """Whether it holds something else than the cursor that it was made of, or that was made of it last."""
    fresh: int = field(default=0, compare=False)
    """How many mails have been looked at since then."""
    forgotten: int = field(default=0, compare=False)
    """How many mails were gone when they were to be read."""

    @classmethod
    def from_cursor(cls, cursor: str | None, basis: str) -> "Index":
        """Return what a cursor holds; nothing when there is none, or it is another one's. Slow for large mailboxes."""
        try:
            told = json.loads(unpacked(cursor or ""))
            if told["basis"] == basis:
                folders = {name: _folder(name, one) for name, one in told["folders"].items()}
                return cls(basis, folders, is_changed=False)
        except (ValueError, TypeError, KeyError, AttributeError):
            pass
        return cls(basis)

    @property
    def is_worth_keeping(self) -> bool:
        """Tell whether so much is new that a run which is cut off should not look at it again.

        The share of all keeps what that costs in proportion: each time the whole is written.
        """
        return self.fresh >= KEEP and self.fresh * 4 >= sum(len(folder.mails) for folder in self.folders.values())

    def to_cursor(self) -> str:
        """Return it as text. Slow for large mailboxes."""
        self.is_changed, self.fresh = False, 0
        told = {"basis": self.basis, "folders": {name: _told(one) for name, one in self.folders.items()}}
        plain = json.dumps(told, separators=(",", ":"), ensure_ascii=False)
        return packed(plain.encode(), level=6)

    def forget(self, mail: Mail) -> None:
        """Take out a mail that is gone; its folder is looked through again by the next run."""
        folder = self.folders.get(mail.folder)
        if folder is not None and folder.mails.pop(mail.uid, None) is not None:
            folder.standing, self.is_changed = None, True
            self.forgotten += 1

    def contents(self) -> Contents:
        """Return the documents that the mails make up. Slow for large mailboxes."""
        mails = _distinct(mail for folder in self.folders.values() for mail in folder.mails.values())
        groups = _grouped(mail for mail in mails if not mail.is_unreadable)
        threads = {thread.id: thread for thread in map(_thread, groups)}
        attached = {}
        for mail in mails:
            for section, size in mail.parts:
                one = Attached(id=f"{mail.key}/{section}", mail=mail, section=section, size=size)
                attached[one.id] = one
        return Contents(threads=threads, attached=attached)


def _distinct(mails: Iterable[Mail]) -> list[Mail]:
    """Return each mail once, oldest first: copies in several folders are one.

    What has the same id and another date is another mail of a sender that uses ids twice, and gets an id of its own.
    """
    found: dict[str, Mail] = {}
    for mail in sorted(mails, key=lambda mail: mail.at):  # stable: the order of folders decides among copies
        first = found.setdefault(mail.key, mail)
        if first.at != mail.at:
            key = f"{mail.key} {mail.at}"  # no sender can take it: one that is told has no blank
            found.setdefault(key, replace(mail, key=key, root=mail.root or mail.key))
    return list(found.values())


def _grouped(mails: Iterable[Mail]) -> list[list[Mail]]:
    """Return the mails that are linked with one another, in whatever way, in the order that they come in."""
    above: dict[str, str] = {}

    def top(key: str) -> str:
        while (up := above.setdefault(key, key)) != key:
            above[key] = above[up]
            key = up
        return key

    listed = list(mails)
    for mail in listed:
        for other in (mail.root, mail.parent):
            if other:
                above[top(mail.key)] = top(other)
    groups: dict[str, list[Mail]] = {}
    for mail in listed:
        groups.setdefault(top(mail.key), []).append(mail)
    return list(groups.values())


def _thread(mails: list[Mail]) -> Thread:
    """Return a thread, known by the mail that its oldest one names as the first, whether that is there or not."""
    first = mails[0]
    key = first.root or first.parent or first.key
    # Senders choose these, and none may take the id of what is attached to another mail. No key has a blank.
    return Thread(id=f"thread {key}" if _LIKE_ATTACHED.search(key) else key, mails=tuple(mails))


def _hashed(*values: object) -> str:
    return hashlib.sha256(repr(values).encode("utf-8", "replace")).hexdigest()[:24]


def _told(folder: Folder) -> dict[str, Any]:
    standing = folder.standing
    return {
        "validity": folder.validity,
        "standing": [standing.validity, standing.next, standing.count, standing.modseq] if standing else None,
        "since": folder.since,
        "mails": [
            [mail.uid, mail.key, mail.root, mail.parent, mail.at, mail.size, mail.parts]
            for mail in folder.mails.values()
        ],
    }


def _folder(name: str, told: Any) -> Folder:
    standing = None
    if told["standing"]:
        validity, following, count, modseq = map(int, told["standing"])
        standing = Standing(validity=validity, next=following, count=count, modseq=modseq)
    mails = {mail.uid: mail for mail in _mails(name, told["mails"])}
    return Folder(validity=int(told["validity"]), standing=standing, since=str(told["since"]), mails=mails)


def _mails(folder: str, told: Any) -> Iterator[Mail]:
    for uid, key, root, parent, at, size, parts in told:
        yield Mail(
            folder=folder,
            uid=int(uid),
            key=str(key),
            root=str(root),
            parent=str(parent),
            at=int(at),
            size=int(size),
            parts=tuple((str(section), int(length)) for section, length in parts),
        )
