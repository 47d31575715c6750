"""Looks through the folders for what has changed since they were looked through last."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from connectors.base import Failure, Origin
from connectors.imap.faults import ERRORS
from connectors.imap.folders import chosen
from connectors.imap.heads import HEADERS, Head, head_of
from connectors.imap.index import MISSING, Folder, Index, Mail, unreadable
from connectors.imap.link import Link, Place, body_of
from connectors.imap.options import ImapOptions
from connectors.imap.structure import Part, attached_to, parts_of
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceRateLimited, SourceUnreachable

PAGE = 200
"""Mails whose headers are asked for together."""
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

    What is known of a folder that can't be read stays.
    """
    places = chosen(options, await link.folders())
    kept = {place.name for place in places}
    index.is_changed |= not index.folders.keys() <= kept
    index.folders = {name: folder for name, folder in index.folders.items() if name in kept}
    ordered = {}
    for place in places:
        try:
            async with aclosing(_scan(link, options, index, place)) as signs:
                async for _ in signs:
                    yield None
        except PASSING:
            raise
        except _Refused as error:
            identity, folder = origin.document_id(f"folder {place.path}"), index.folders.get(place.name)
            # Ids don't tell a folder: behind one that was never looked through whole, any document may stand.
            covers = origin.document_id("") if folder is None or folder.standing is None else ""
            yield Failure(id=identity, reason=error.reason, mend=CLOSED_MEND, covers=covers)
        if place.name in index.folders:
            ordered[place.name] = index.folders[place.name]
        yield None
    index.folders = ordered


class _Refused(SourceError):
    """The server doesn't let one folder be opened."""


async def _scan(link: Link, options: ImapOptions, index: Index, place: Place) -> AsyncGenerator[None, None]:
    folder, since = index.folders.get(place.name), str(options.since() or "")
    try:
        standing = await link.standing(place.name)
        if folder is not None and folder.standing == standing and folder.since == since and standing.modseq:
            return
        validity, numbers = await link.numbers(place.name, since=options.since())
    except PASSING:
        raise
    except SourceError as error:
        raise _Refused(f'the folder "{place.path}" cannot be opened: {error.reason}') from error
    if folder is None or folder.validity != validity:
        folder = index.folders[place.name] = Folder(validity=validity)
    reached = replace(standing, validity=validity)
    new, gone = sorted(numbers - folder.mails.keys()), folder.mails.keys() - numbers
    if not new and not gone and (folder.standing, folder.since) == (reached, since):
        return
    folder.standing, index.is_changed = None, True
    for first in range(0, len(new), PAGE):
        for mail in await mails_of(link, options, place.name, new[first : first + PAGE]):
            folder.mails[mail.uid] = mail
        yield None
    for number in gone:
        del folder.mails[number]
    folder.standing, folder.since = reached, since


async def mails_of(link: Link, options: ImapOptions, folder: str, numbers: list[int]) -> list[Mail]:
    """Return what is to be remembered of these mails of the open folder; those that are gone are left out."""
    told = await fetched(link, numbers)
    # Headers take a millisecond or more each to read.
    return await asyncio.to_thread(_remembered, told, options, folder)


def _remembered(told: Mapping[int, Mapping[bytes, Any]], options: ImapOptions, folder: str) -> list[Mail]:
    found = []
    for uid, one in told.items():
        read = head_and_parts(one)
        if read is None:
            if not one:
                found.append(unreadable(folder, uid))
            continue
        head, parts = read
        size = one.get(b"RFC822.SIZE", 0)
        attached = [(part.section, part.size) for part in attached_to(parts, options)]
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
