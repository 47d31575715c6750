"""Reads mails from the server: of threads their texts, of what is attached its bytes."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence, Set
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import lxml.html

from connectors.base import Failure, Origin, SourceDocument, Tombstone
from connectors.batches import batches
from connectors.imap.heads import Head
from connectors.imap.index import MISSING, Attached, Index, Mail, Thread
from connectors.imap.link import Link, body_of
from connectors.imap.options import PARTICIPANTS, ImapOptions
from connectors.imap.scan import CLOSED_MEND, PASSING, fetched, head_and_parts
from connectors.imap.structure import Part, texts_of
from connectors.imap.writing import Letter, attached_document, readers_among, thread_document
from ragcore.errors import ParseError, SourceError
from ragcore.parsing.html.cleaning import clean
from ragcore.parsing.html.page import html_tree, write_html
from ragcore.parsing.mail import MAIL_ERRORS, part_text
from ragcore.parsing.outline import SectionWriter

_TOGETHER = 100
"""Mails that are asked for together."""
_BYTES_TOGETHER = 4_000_000
"""Bytes of texts, as they are encoded, that are asked for together; what one mail says may be more."""
_QUOTES = "|".join(
    (
        ".//blockquote[@type='cite']",
        ".//*[contains(concat(' ', normalize-space(@class), ' '), ' gmail_quote ')]",
        ".//*[@id='divRplyFwdMsg' or @id='x_divRplyFwdMsg']/following-sibling::*",
        ".//*[@id='divRplyFwdMsg' or @id='x_divRplyFwdMsg']",
        ".//*[contains(@class, 'yahoo_quoted') or contains(@class, 'moz-cite-prefix')]",
    )
)
T = TypeVar("T")
_CHANGED = "the server has numbered a folder anew while it was read"


@dataclass(slots=True)
class Letters:
    """Reads from one connection. What turns out to be gone is taken out of the index."""

    link: Link
    origin: Origin
    options: ImapOptions
    index: Index
    _refused: dict[str, str] = field(init=False, default_factory=dict)
    """Folders that can't be opened any more, and why."""

    async def threads(
        self, threads: Sequence[Thread]
    ) -> AsyncGenerator[list[SourceDocument | Tombstone | Failure], None]:
        """Yield the documents of these threads, few enough at a time to be held; an empty list is a sign of life.

        A thread whose mails are all gone is a Tombstone. One that stands in part in a folder which can't be opened, or
        whose texts are too large together, fails: what was read of it before stays.
        """
        most, opened = self.options.most_bytes, dict[tuple[str, int], _Opened]()
        async with aclosing(self._opened([mail for thread in threads for mail in thread.mails])) as pages:
            async for page in pages:
                opened |= {(one.mail.folder, one.mail.uid): one for one in page}
                yield []

        def size(thread: Thread) -> int:
            return sum(opened[mail.folder, mail.uid].size for mail in thread.mails if (mail.folder, mail.uid) in opened)

        for some in batches(threads, size, most_bytes=_BYTES_TOGETHER):
            mails = {(mail.folder, mail.uid): thread.id for thread in some for mail in thread.mails}
            told, sizes = dict[tuple[str, int], Letter](), Counter[str]()
            for where in mails.keys() & opened.keys():
                if opened[where].weight > most:
                    sizes[mails[where]] = opened[where].weight
            wanted = [opened[where] for where, identity in mails.items() if where in opened and sizes[identity] <= most]
            async with aclosing(self._letters(wanted, frozenset(one.mail.key for one in wanted))) as read:
                async for letters in read:
                    for letter in letters:
                        where = letter.mail.folder, letter.mail.uid
                        sizes[mails[where]] += len(letter.text.encode("utf-8", "replace"))
                        told[where] = letter
                    yield []
                    if all(sizes[thread.id] > most for thread in some):
                        break
            yield [await self._thread(thread, told, sizes[thread.id]) for thread in some]

    async def _thread(
        self, thread: Thread, told: Mapping[tuple[str, int], Letter], size: int
    ) -> SourceDocument | Tombstone | Failure:
        """Return the document of a thread; ``size``: how many bytes its texts have together."""
        identity = self.origin.document_id(thread.id)
        refused = next((self._refused[mail.folder] for mail in thread.mails if mail.folder in self._refused), "")
        if refused:
            return self._failure(identity, refused, CLOSED_MEND)
        if size > self.options.most_bytes:
            reason = f"its mails have more than {self.options.max_megabytes:g} MB of text together"
            version = thread.version(self.options.manner())
            return self._failure(identity, reason, "raise max_megabytes", version)
        letters = [
            replace(told[mail.folder, mail.uid], mail=mail) for mail in thread.mails if (mail.folder, mail.uid) in told
        ]
        if not letters:
            return Tombstone(id=identity)
        left = Thread(id=thread.id, mails=tuple(letter.mail for letter in letters))
        return await asyncio.to_thread(thread_document, self.origin, self.options, left, letters)

    async def attached(self, one: Attached) -> SourceDocument | Tombstone | Failure:
        """Return what is attached to a mail, unless it is gone, too large or can't be read."""
        if not await self._is_open(one.mail.folder):
            reason = self._refused[one.mail.folder]
            return self._failure(self.origin.document_id(one.id), reason, CLOSED_MEND)
        return await self._attached(one)

    async def _attached(self, one: Attached) -> SourceDocument | Tombstone | Failure:
        """Return what is attached to a mail of the open folder."""
        identity, version = self.origin.document_id(one.id), one.version(self.options.manner())
        told = (await fetched(self.link, [one.mail.uid])).get(one.mail.uid)
        read = head_and_parts(told) if told else None
        if told is not None and not told:
            reason = f"the server fails at mail {one.mail.uid} of the folder {one.mail.folder}"
            return self._failure(identity, reason, "open it in a mail program, and delete it", version)
        if read is None or (one.section == MISSING and read[1]):  # gone, or mended: then it is looked at anew
            self.index.forget(one.mail)
            return Tombstone(id=identity)
        head, parts = read
        part = next((part for part in parts if part.section == one.section), None)
        if one.section == MISSING or part is None:
            reason = f'the server can\'t tell what the mail "{head.subject}" of {head.at:%Y-%m-%d} consists of'
            return self._failure(identity, reason, "delete the mail, or send it again", version, head)
        if part.weight > self.options.most_bytes:
            what = f'"{part.name}", attached to' if part.is_attached else "the text of"
            size = f"{part.weight / 1e6:,.1f} MB, over the limit of {self.options.max_megabytes:g}"
            reason = f'{what} the mail "{head.subject}" of {head.at:%Y-%m-%d}, has {size}'
            return self._failure(identity, reason, "raise max_megabytes", version, head)
        content = await self._section([one.mail.uid], part.section)
        if one.mail.uid not in content:
            self.index.forget(one.mail)
            return Tombstone(id=identity)
        return attached_document(self.origin, self.options, one, head, part, _bytes(part, content[one.mail.uid]))

    def _failure(self, identity: str, reason: str, mend: str, version: str = "", *heads: Head) -> Failure:
        """Return why there is no document, with its readers, as far as the settings, or these mails, tell them."""
        is_told = bool(heads) or PARTICIPANTS not in self.options.readers
        readers = readers_among(self.options, heads) if is_told else None
        return Failure(id=identity, reason=reason, mend=mend, version=version, readers=readers)

    async def _opened(self, mails: Iterable[Mail]) -> AsyncGenerator[list["_Opened"], None]:
        """Yield what these mails consist of, a page at a time, without those that are gone."""
        for name, wanted in self._by_folder({mail: mail.folder for mail in mails}):
            if not await self._is_open(name):
                continue
            for first in range(0, len(wanted), _TOGETHER):
                page = wanted[first : first + _TOGETHER]
                told = await fetched(self.link, [mail.uid for mail in page])
                # Headers take a millisecond or more each to read.
                understood = await asyncio.to_thread(_understood, page, told, self.options.most_bytes)
                self._forget(page, understood)
                yield understood

    async def _letters(self, opened: Iterable["_Opened"], here: Set[str]) -> AsyncGenerator[list[Letter], None]:
        """Yield these mails, a page at a time, without those that are gone; ``here`` are the keys of all."""
        for name, wanted in self._by_folder({one: one.mail.folder for one in opened}):
            if not await self._is_open(name):
                continue
            for page in batches(wanted, lambda one: one.size, most_bytes=_BYTES_TOGETHER, most=_TOGETHER):
                yield await self._page(page, here)

    async def _page(self, page: Sequence["_Opened"], here: Set[str]) -> list[Letter]:
        """Return these mails of the open folder."""
        sections: dict[str, list[int]] = {}
        for one in page:
            for part in one.texts:
                sections.setdefault(part.section, []).append(one.mail.uid)
        contents = {section: await self._section(numbers, section) for section, numbers in sections.items()}
        left = [one for one in page if all(one.mail.uid in contents[part.section] for part in one.texts)]
        self._forget([one.mail for one in page], left)

        def letter(one: _Opened) -> Letter:
            is_answer = one.mail.answers in here and not one.head.is_forward
            texts = (text_of(part, contents[part.section][one.mail.uid], is_answer=is_answer) for part in one.texts)
            names = [part.name for part in one.parts if part.is_attached and part.name]
            return Letter(mail=one.mail, head=one.head, text="\n\n".join(texts), attached=names)

        # A mail written as a page of the web takes long to read.
        return await asyncio.to_thread(lambda: [letter(one) for one in left])

    def _forget(self, asked: Iterable[Mail], left: Iterable["_Opened"]) -> None:
        """Take out of the index what is gone since it was listed."""
        there = {one.mail.uid for one in left}
        for mail in asked:
            if mail.uid not in there:
                self.index.forget(mail)

    def _by_folder(self, wanted: Mapping[T, str]) -> list[tuple[str, list[T]]]:
        """Return what is wanted folder by folder, the open one first."""
        folders: dict[str, list[T]] = {}
        for one, name in wanted.items():
            folders.setdefault(name, []).append(one)
        return sorted(folders.items(), key=lambda item: item[0] != self.link.folder)

    async def _is_open(self, name: str) -> bool:
        """Open a folder, as it was when it was looked through; False: the server refuses it."""
        if name in self._refused:
            return False
        if self.link.folder == name:
            return True
        try:
            validity, _ = await self.link.open_folder(name)
        except PASSING:
            raise
        except SourceError as error:
            self._refused[name] = f'the folder "{name}" cannot be opened: {error.reason}'
            return False
        if validity != self.index.folders[name].validity:
            raise SourceError(_CHANGED, mend="try again later")
        return True

    async def _section(self, numbers: Sequence[int], section: str) -> dict[int, bytes]:
        """Return a section of these mails of the open folder, never more of it than may be read."""
        most = self.options.most_bytes * 3 // 2 + 1_000  # Base64 takes four bytes for three, and ends its lines
        told = await self.link.fetch(numbers, [f"BODY.PEEK[{section}]<0.{most}>"])
        found = {number: body_of(one, section) for number, one in told.items()}
        return {number: content for number, content in found.items() if content is not None}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Opened:
    """What a mail consists of; ``texts`` are those of its parts that are read as its text."""

    mail: Mail
    head: Head
    parts: Sequence[Part]
    texts: Sequence[Part]

    @property
    def size(self) -> int:
        """Return how many bytes its texts have as they are encoded."""
        return sum(part.size for part in self.texts)

    @property
    def weight(self) -> int:
        """Return about how many bytes they have once decoded."""
        return sum(part.weight for part in self.texts)


def _understood(page: Sequence[Mail], told: Mapping[int, Mapping[bytes, Any]], most: int) -> list[_Opened]:
    opened = []
    for mail in page:
        found = head_and_parts(told.get(mail.uid, {}))
        if found is not None:
            head, parts = found
            texts = [part for part in texts_of(parts) if part.weight <= most]
            opened.append(_Opened(mail=mail, head=head, parts=parts, texts=texts))
    return opened


def _bytes(part: Part, content: bytes) -> bytes:
    if part.type == "message/rfc822":
        return content
    try:
        payload = part.decoded(content).get_payload(decode=True)
    except MAIL_ERRORS:
        return content
    return payload if isinstance(payload, bytes) else content


def text_of(part: Part, content: bytes, *, is_answer: bool) -> str:
    """Return the text of a part of a mail; what is no text in any encoding is told as that.

    ``is_answer``: what it answers stands in the same document, so a page of it may go without what it repeats.
    """
    try:
        text = part_text(part.decoded(content))
        return _words_of_page(text, is_answer=is_answer) if part.type == "text/html" else text
    except (ParseError, *MAIL_ERRORS):
        return "(its text can't be read)"


def _words_of_page(page: str, *, is_answer: bool) -> str:
    """Return the words of a mail in HTML, of an answer without what it repeats, unless that leaves nothing."""
    for drops_quotes in (True, False) if is_answer else (False,):
        tree = html_tree(page)
        if drops_quotes:
            for quoted in tree.xpath(_QUOTES):
                if isinstance(quoted, lxml.html.HtmlElement) and quoted.getparent() is not None:
                    quoted.drop_tree()
        writer = SectionWriter()
        write_html(clean(tree), writer)
        words = "\n\n".join(section.text for section in writer.sections())
        if words.strip():
            return re.sub(r"\n{3,}", "\n\n", words)
    return ""
