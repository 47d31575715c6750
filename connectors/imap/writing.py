"""Writes a thread as one document: plain text, a line that tells who wrote when above each mail. Pure.

Valve stuck

Ann Example, 2026-11-22 14:03 UTC, to support@example.org:
(attached: valve.pdf)
How do I open the valve?
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from connectors.base import Origin, Permalink, SourceDocument
from connectors.imap.heads import Head
from connectors.imap.index import Attached, Mail, Thread
from connectors.imap.options import PARTICIPANTS, ImapOptions
from connectors.imap.quotes import own_words
from connectors.imap.structure import Part
from connectors.rows import clean

NO_SUBJECT = "(no subject)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A mail as it was read: its headers, its text as it stands, and the names of what is attached."""

    mail: Mail
    head: Head
    text: str
    attached: Sequence[str] = ()


def link_to(options: ImapOptions, key: str) -> str:
    """Return where a reader finds a mail, "" for nowhere."""
    return options.link.replace("{message_id}", quote(key, safe=""))


def readers_among(options: ImapOptions, heads: Sequence[Head]) -> frozenset[str]:
    """Return who may read what these mails say: those named, and if the settings say so who stands on each of them."""
    named = frozenset(options.readers) - {PARTICIPANTS}
    if PARTICIPANTS not in options.readers or not heads:
        return named
    everywhere = frozenset.intersection(*(head.addresses for head in heads))
    return named | {f"email:{address}" for address in everywhere}


def thread_document(origin: Origin, options: ImapOptions, thread: Thread, letters: Sequence[Letter]) -> SourceDocument:
    """Return the document of a thread; ``letters`` are its mails, oldest first, at least one."""
    first, last = letters[0], letters[-1]
    title = first.head.title or NO_SUBJECT
    lines, links = [title], list[Permalink]()
    here = {letter.mail.key for letter in letters}
    for letter in letters:
        lines.append("")
        if url := link_to(options, letter.head.key):
            links.append(Permalink(line=len(lines) + 1, url=url))
        lines += _lines_of(letter, is_answer=letter.mail.answers in here)
    url = link_to(options, first.head.key)
    if links:
        links.insert(0, Permalink(line=1, url=url))
    return SourceDocument(
        id=origin.document_id(thread.id),
        source=origin.source,
        content=clean("\n".join(lines) + "\n").encode(),
        name="thread.txt" if links else "",
        media_type="text/plain",
        title=clean(title),
        url=url,
        author=clean(first.head.author),
        version=thread.version(options.manner()),
        updated_at=datetime.fromtimestamp(last.mail.at, UTC),
        readers=readers_among(options, [letter.head for letter in letters]),
        metadata={"mails": str(len(letters)), "folder": first.mail.folder},
        permalinks=tuple(links),
    )


def attached_document(
    origin: Origin, options: ImapOptions, one: Attached, head: Head, part: Part, content: bytes
) -> SourceDocument:
    """Return the document of what is attached to a mail."""
    name = clean(part.name) or f"attachment{'.txt' if part.type == 'text/plain' else ''}"
    return SourceDocument(
        id=origin.document_id(one.id),
        source=origin.source,
        content=content,
        name=name,
        media_type=part.type,
        title=name,
        url=link_to(options, head.key),
        author=clean(head.author),
        version=one.version(options.manner()),
        updated_at=datetime.fromtimestamp(one.mail.at, UTC),
        readers=readers_among(options, [head]),
        metadata={"mail": clean(head.subject), "folder": one.mail.folder},
    )


def _lines_of(letter: Letter, *, is_answer: bool) -> list[str]:
    head = letter.head
    receivers = f", to {head.receivers}" if head.receivers else ""
    author = head.author or "somebody"
    text = own_words(letter.text, keeps_quotes=not is_answer or head.is_forward)
    # What is attached stands above the text: below that may stand a mail that it forwards.
    named = [f"(attached: {', '.join(letter.attached)})"] if letter.attached else []
    return [f"{author}, {head.at:%Y-%m-%d %H:%M} UTC{receivers}:", *named, *text.split("\n")]
