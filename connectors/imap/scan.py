"""Looks through the folders for what has changed since they were looked through last."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Set
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from connectors.base import Failure, Origin
from connectors.imap.faults import ERRORS
from connectors.imap.folders import chosen
from connectors.imap.heads import HEADERS, Head, head_of
from connectors.imap.index import MISSING, Folder, Index, Mail, unreadable
from connectors.imap.link import Link, Place, Standing, body_of
from connectors.imap.options import ImapOptions
from connectors.imap.structure import Part, attached_to, is_document, parts_of, unhinted
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceRateLimited, SourceUnreachable

PAGE = 200
"""Mails whose headers are asked for together."""
_FIRST_BYTES = 8_192
"""Of an attachment, as it is encoded: more than any format takes to show itself."""
LOOKS = 3
"""How often folders are looked through, and what stands in them is read, while mails are moved about."""
CLOSED_MEND = "let this user read it, or leave it out by `exclude`"
PASSING = (SourceAuthError, SourceRateLimited, SourceUnreachable, SourceBadReply)
"""What concerns the source as a whole, and not one folder."""
ITEMS = ("RFC822.SIZE", "INTERNALDATE", "BODYSTRUCTURE", HEADERS)


_OF_ALL = (SourceAuthError, SourceRateLimited, SourceUnreachable)
"""Faults that don't concern one mail or folder."""


async def scanned(
    link: Link, options: ImapOptions, origin: Origin, index: Index
) -> AsyncGenerator[Failure | None, None]:
    """Bring the index up to what the folders hold; yield folders that can't be read, and None as a sign of life.

    What is known of a folder that can't be read stays. A mail may be moved meanwhile into a folder that was looked at
    before: where one is missed, or a folder was looked at for the first time, it is seen whether any got new mails.
    """
    places = chosen(options, await link.folders())
    order = [place.name for place in places]
    index.is_changed |= not index.folders.keys() <= set(order)
    index.folders = {name: folder for name, folder in index.folders.items() if name in order}
    look = _Look(link=link, options=options, index=index)
    for number in range(LOOKS):
        look.may_have_moved, look.is_first = False, number == 0
        for place in list(places):
            try:
                async with aclosing(look.through(place)) as signs:
                    async for _ in signs:
                        yield None
            except PASSING:
                raise
            except _Refused as error:
                places.remove(place)
                identity, folder = origin.document_id(f"folder {place.path}"), index.folders.get(place.name)
                # Ids don't tell a folder: behind one that was never looked through whole, any document may stand.
                covers = origin.document_id("") if folder is None or folder.standing is None else ""
                yield Failure(id=identity, reason=error.reason, mend=CLOSED_MEND, covers=covers)
            yield None
        if not look.may_have_moved:
            break
    index.folders = {name: index.folders[name] for name in order if name in index.folders}


class _Refused(SourceError):
    """The server doesn't let one folder be opened."""


@dataclass(slots=True, kw_only=True)
class _Look:
    """A look through folders. ``may_have_moved``: mails that are in none of them may have been moved meanwhile."""

    link: Link
    options: ImapOptions
    index: Index
    is_first: bool = True
    may_have_moved: bool = False

    async def through(self, place: Place) -> AsyncGenerator[None, None]:
        """Bring the index up to what a folder holds; None as a sign of life."""
        link, index = self.link, self.index
        folder, since = index.folders.get(place.name), str(self.options.since() or "")
        try:
            standing = await link.standing(place.name)
            if folder is not None and folder.since == since and self._is_seen(folder, standing):
                return
            validity, numbers = await link.numbers(place.name, since=self.options.since())
        except PASSING:
            raise
        except SourceError as error:
            raise _Refused(f'the folder "{place.path}" cannot be opened: {error.reason}') from error
        if folder is None or folder.validity != validity:
            folder = index.folders[place.name] = Folder(validity=validity)
            self.may_have_moved = True
        reached = replace(standing, validity=validity)
        new, gone = sorted(numbers - folder.mails.keys()), folder.mails.keys() - numbers
        if not new and not gone and (folder.standing, folder.since) == (reached, since):
            return
        self.may_have_moved |= bool(gone)
        folder.standing = None
        for first in range(0, len(new), PAGE):
            for mail in await mails_of(link, self.options, place.name, new[first : first + PAGE]):
                folder.mails[mail.uid] = mail
            index.fresh, index.is_changed = index.fresh + len(new[first : first + PAGE]), True
            yield None
        for number in gone:
            del folder.mails[number]
        folder.standing, folder.since, index.is_changed = reached, since, True

    def _is_seen(self, folder: Folder, standing: Standing) -> bool:
        """Tell whether a folder was looked through since it got its last mail, at first since anything happened in it.

        The next number never changes but with a new mail (RFC 3501, section 2.3.1.1).
        """
        seen = folder.standing
        if seen is None or self.is_first:
            return bool(seen == standing and standing.modseq)
        return (seen.validity, seen.next) == (standing.validity, standing.next)


async def mails_of(link: Link, options: ImapOptions, folder: str, numbers: list[int]) -> list[Mail]:
    """Return what is to be remembered of these mails of the open folder; those that are gone are left out."""
    told = await fetched(link, numbers)
    # Headers take a millisecond or more each to read.
    read = await asyncio.to_thread(lambda: {uid: head_and_parts(one) for uid, one in told.items()})
    documents = await _told_by_content(link, options, read)
    return _remembered(told, read, documents, options, folder)


async def _told_by_content(
    link: Link, options: ImapOptions, read: Mapping[int, tuple[Head, list[Part]] | None]
) -> Mapping[int, Set[str]]:
    """Return the sections of each mail that are documents by their first bytes, where nothing else tells."""
    asked: dict[str, dict[int, Part]] = {}
    for uid, one in read.items():
        for part in unhinted(one[1], options) if one else ():
            asked.setdefault(part.section, {})[uid] = part
    found: dict[int, set[str]] = {}
    for section, parts in asked.items():
        try:
            told = await link.fetch(list(parts), [f"BODY.PEEK[{section}]<0.{_FIRST_BYTES}>"])
        except _OF_ALL:
            raise
        except SourceError:  # whoever reads it will be told
            told = {}
        for uid, part in parts.items():
            head = body_of(told[uid], section) if uid in told else None
            if head is None or await asyncio.to_thread(is_document, part, head):
                found.setdefault(uid, set()).add(section)
    return found


def _remembered(
    told: Mapping[int, Mapping[bytes, Any]],
    read: Mapping[int, tuple[Head, list[Part]] | None],
    documents: Mapping[int, Set[str]],
    options: ImapOptions,
    folder: str,
) -> list[Mail]:
    found = []
    for uid, one in told.items():
        understood = read[uid]
        if understood is None:
            if not one:
                found.append(unreadable(folder, uid))
            continue
        head, parts = understood
        size = one.get(b"RFC822.SIZE", 0)
        attached = [(part.section, part.size) for part in attached_to(parts, options, documents.get(uid, frozenset()))]
        mail = Mail(
            folder=folder,
            uid=uid,
            key=head.key,
            root=head.root if head.root != head.key else "",
            parent=head.parent if head.parent not in (head.key, head.root) else "",
            at=int(head.at.timestamp()),
            size=size if isinstance(size, int) else 0,
            parts=tuple(attached) if parts else ((MISSING, 0),),
        )
        found.append(mail)
    return found


async def fetched(link: Link, numbers: list[int]) -> Mapping[int, Mapping[bytes, Any]]:
    """Return headers and structure of these mails of the open folder.

    One that the server fails at, or whose structure can't be understood, must not hide the others: it is asked for
    alone, and without its structure. One that can't be had even so has nothing in what is returned.
    """
    try:
        return await link.fetch(numbers, ITEMS)
    except _OF_ALL:
        raise
    except SourceError:
        if len(numbers) > 1:
            middle = len(numbers) // 2
            return {**await fetched(link, numbers[:middle]), **await fetched(link, numbers[middle:])}
    try:
        return await link.fetch(numbers, [item for item in ITEMS if item != "BODYSTRUCTURE"])
    except _OF_ALL:
        raise
    except SourceError:
        return {numbers[0]: {}}


def head_and_parts(told: Mapping[bytes, Any]) -> tuple[Head, list[Part]] | None:
    """Return what was fetched of a mail; None when the server told nothing of it, as it is gone.

    Without parts: they can't be understood.
    """
    content = body_of(told, "HEADER")
    if content is None:
        return None
    try:
        parts = parts_of(told[b"BODYSTRUCTURE"])
    except ERRORS:
        parts = []
    return head_of(content, told.get(b"INTERNALDATE")), parts
