"""Reads mails from the server: of threads their texts, of what is attached its bytes."""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace

import lxml.html

from connectors.base import Failure, Origin, SourceDocument, Tombstone
from connectors.imap.heads import Head
from connectors.imap.index import MISSING, Attached, Index, Mail, Thread
from connectors.imap.link import Link, body_of
from connectors.imap.options import ImapOptions
from connectors.imap.scan import CLOSED_MEND, PASSING, fetched, head_and_parts
from connectors.imap.structure import Part, texts_of
from connectors.imap.writing import Letter, attached_document, thread_document
from ragcore.errors import ParseError, SourceError
from ragcore.parsing.html.cleaning import clean
from ragcore.parsing.html.page import html_tree, write_html
from ragcore.parsing.mail import MAIL_ERRORS, part_text
from ragcore.parsing.outline import SectionWriter

_TOGETHER = 100
"""Mails that are asked for together."""
_QUOTES = "|".join(
    (
        ".//blockquote[@type='cite']",
        ".//*[contains(concat(' ', normalize-space(@class), ' '), ' gmail_quote ')]",
        ".//*[@id='divRplyFwdMsg' or @id='x_divRplyFwdMsg']/following-sibling::*",
        ".//*[@id='divRplyFwdMsg' or @id='x_divRplyFwdMsg']",
        ".//*[contains(@class, 'yahoo_quoted') or contains(@class, 'moz-cite-prefix')]",
    )
)
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

    async def threads(self, threads: Sequence[Thread]) -> AsyncGenerator[SourceDocument | Tombstone | Failure, None]:
        """Yield the documents of these threads; one whose mails are all gone as a Tombstone.

        One that stands in part in a folder which can't be opened fails: what was read of it before stays.
        """
        mails = [mail for thread in threads for mail in thread.mails]
        told = await self._mails(mails, frozenset(mail.key for mail in mails))
        for thread in threads:
            refused = next((self._refused[mail.folder] for mail in thread.mails if mail.folder in self._refused), "")
            if refused:
                yield Failure(id=self.origin.document_id(thread.id), reason=refused, mend=CLOSED_MEND)
                continue
            letters = [told[mail.folder, mail.uid] for mail in thread.mails if (mail.folder, mail.uid) in told]
            letters = [replace(one, mail=mail) for one, mail in zip(letters, _left(thread, told), strict=True)]
            if letters:
                left = Thread(id=thread.id, mails=tuple(letter.mail for letter in letters))
                yield await asyncio.to_thread(thread_document, self.origin, self.options, left, letters)
            else:
                yield Tombstone(id=self.origin.document_id(thread.id))

    async def attached(self, one: Attached) -> SourceDocument | Tombstone | Failure:
        """Return what is attached to a mail, unless it is gone, too large or can't be read."""
        if not await self._is_open(one.mail.folder):
            reason = self._refused[one.mail.folder]
            return Failure(id=self.origin.document_id(one.id), reason=reason, mend=CLOSED_MEND)
        return await self._attached(one)

    async def _attached(self, one: Attached) -> SourceDocument | Tombstone | Failure:
        """Return what is attached to a mail of the open folder."""
        identity, version = self.origin.document_id(one.id), one.version(self.options.manner())
        told = (await fetched(self.link, [one.mail.uid])).get(one.mail.uid)
        read = head_and_parts(told) if told else None
        if told is not None and not told:
            reason = f"the server fails at mail {one.mail.uid} of the folder {one.mail.folder}"
            return Failure(id=identity, reason=reason, mend="open it in a mail program, and delete it", version=version)
        if read is None or (one.section == MISSING and read[1]):  # gone, or mended: then it is looked at anew
            self.index.forget(one.mail)
            return Tombstone(id=identity)
        head, parts = read
        part = next((part for part in parts if part.section == one.section), None)
        if one.section == MISSING or part is None:
            reason = f'the server can\'t tell what the mail "{head.subject}" of {head.at:%Y-%m-%d} consists of'
            return Failure(id=identity, reason=reason, mend="delete the mail, or send it again", version=version)
        if part.weight > self.options.most_bytes:
            what = f'"{part.name}", attached to' if part.is_attached else "the text of"
            size = f"{part.weight / 1e6:,.1f} MB, over the limit of {self.options.max_megabytes:g}"
            reason = f'{what} the mail "{head.subject}" of {head.at:%Y-%m-%d}, has {size}'
            return Failure(id=identity, reason=reason, mend="raise max_megabytes", version=version)
        content = await self._section([one.mail.uid], part.section)
        if one.mail.uid not in content:
            self.index.forget(one.mail)
            return Tombstone(id=identity)
        return attached_document(self.origin, self.options, one, head, part, _bytes(part, content[one.mail.uid]))

    async def _mails(self, mails: Iterable[Mail], here: Set[str]) -> dict[tuple[str, int], Letter]:
        """Return these mails by folder and number, without those that are gone; ``here`` are the keys of all."""
        folders: dict[str, list[Mail]] = {}
        for mail in mails:
            folders.setdefault(mail.folder, []).append(mail)
        found: dict[tuple[str, int], Letter] = {}
        for name, wanted in folders.items():
            if not await self._is_open(name):
                continue
            for first in range(0, len(wanted), _TOGETHER):
                for letter in await self._page(wanted[first : first + _TOGETHER], here):
                    found[letter.mail.folder, letter.mail.uid] = letter
        return found

    async def _page(self, mails: Sequence[Mail], here: Set[str]) -> list[Letter]:
        """Return these mails of the open folder."""
        told = await fetched(self.link, [mail.uid for mail in mails])
        read: dict[int, tuple[Head, list[Part], list[Part]]] = {}
        sections: dict[str, list[int]] = {}
        for mail in mails:
            found = head_and_parts(told.get(mail.uid, {}))
            if found is None:
                continue
            head, parts = found
            texts = [part for part in texts_of(parts) if part.weight <= self.options.most_bytes]
            read[mail.uid] = head, parts, texts
            for part in texts:
                sections.setdefault(part.section, []).append(mail.uid)
        contents = {section: await self._section(numbers, section) for section, numbers in sections.items()}
        left = []
        for mail in mails:
            if mail.uid in read and all(mail.uid in contents[part.section] for part in read[mail.uid][2]):
                left.append(mail)
            else:
                self.index.forget(mail)  # gone since it was listed

        def letter(mail: Mail) -> Letter:
            head, parts, texts = read[mail.uid]
            is_answer = mail.answers in here and not head.is_forward
            text = "\n\n".join(text_of(part, contents[part.section][mail.uid], is_answer=is_answer) for part in texts)
            names = [part.name for part in parts if part.is_attached and part.name]
            return Letter(mail=mail, head=head, text=text, attached=names)

        # A mail written as a page of the web takes long to read.
        return await asyncio.to_thread(lambda: [letter(mail) for mail in left])

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


def _left(thread: Thread, told: dict[tuple[str, int], Letter]) -> list[Mail]:
    return [mail for mail in thread.mails if (mail.folder, mail.uid) in told]


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
