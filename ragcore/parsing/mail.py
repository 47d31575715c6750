"""Mails: the header lines that people read, the body, and what is attached; mailboxes thread by thread."""

import email
import email.policy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from email.errors import MessageError
from email.message import EmailMessage

from ragcore.errors import ParseError
from ragcore.mail_lines import mail_date, mail_heading, plain_subject
from ragcore.parsing.detect import detect
from ragcore.parsing.encoding import decode
from ragcore.parsing.html.cleaning import clean
from ragcore.parsing.html.page import html_tree, write_html
from ragcore.parsing.mbox import Threaded, mails_of, threads_of
from ragcore.parsing.media import Media, hinted
from ragcore.parsing.options import DEFAULT_OPTIONS, Job, ParseOptions
from ragcore.parsing.outline import SectionWriter
from ragcore.parsing.titles import one_line
from ragcore.types import ParsedDocument, Section

_SHOWN = ("Subject", "From", "To", "Cc", "Date")
_MAX_PARTS = 1_000
NO_DOCUMENTS = frozenset(
    (
        *("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"),
        *("application/pgp-encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime", "application/ms-tnef"),
        *("text/calendar", "application/ics", "text/vcard", "text/x-vcard", "message/delivery-status"),
        *("message/disposition-notification", "text/rfc822-headers", "text/x-amp-html"),
    )
)
"""Types of parts that are no documents, whatever their names."""
_NO_CONTENT = frozenset(one for one in NO_DOCUMENTS if "signature" in one or one.startswith("message/"))
"""Of these, what says nothing that a reader would miss."""
_SIGNATURES = (".p7s", ".sig")
"""Endings of signatures, which some programs attach without a type."""
MAIL_ERRORS = (MessageError, ValueError, LookupError, AttributeError, TypeError, IndexError)
"""What the standard library's mail parser raises on malformed headers and encodings."""
NESTED = "its parts are nested too deep"
"""Why a mail isn't read whose parts stand in so many others (hundreds) that taking it apart runs out of stack."""


def parse_mail(job: Job) -> ParsedDocument:
    """Parse a mail, or a mailbox; attachments that can be read become sections of their own under their file name.

    Raises:
        ParseError: It is no mail at all.
    """
    mails = mails_of(job.content)
    if len(mails) > 1:
        return _parse_mailbox(replace(job, is_apart=False), mails)
    read = _read_mail(mails[0] if mails else job.content, job)
    return ParsedDocument(
        title=read.subject,
        media_type=Media.MAIL,
        sections=read.sections,
        warnings=read.warnings,
        author=read.sender,
        updated_at=read.threaded.at,
        has_pictures=read.has_pictures,
        lacks_ocr=read.lacks_ocr,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A mail that was read: what its headers tell, its sections and those of what is attached.

    Not the mail itself, taken apart: that has ten times the size of a short one, and a mailbox holds thousands.
    """

    threaded: Threaded
    subject: str
    sender: str
    date: str
    sections: tuple[Section, ...]
    warnings: tuple[str, ...]
    has_pictures: bool
    lacks_ocr: bool


def _parse_mailbox(job: Job, mails: Sequence[bytes]) -> ParsedDocument:
    """Read the mails of a mailbox: each under its thread's subject and a heading of its own, the threads by age."""
    read: list[_Read] = []
    for done, mail in enumerate(mails):
        job.step(done, len(mails))
        read.append(_read_mail(mail, job))
    sections: list[Section] = []
    for thread in threads_of([one.threaded for one in read]):
        subject = plain_subject(read[thread[0]].subject)
        for number in thread:
            path = tuple(part for part in (subject, mail_heading(read[number].sender, read[number].date)) if part)
            sections += [replace(one, heading_path=(*path, *one.heading_path)) for one in read[number].sections]
    return ParsedDocument(
        title="",
        media_type=Media.MAIL,
        sections=tuple(sections),
        warnings=tuple(dict.fromkeys(warning for one in read for warning in one.warnings)),
        updated_at=max((one.threaded.at for one in read if one.threaded.at is not None), default=None),
        has_pictures=any(one.has_pictures for one in read),
        lacks_ocr=any(one.lacks_ocr for one in read),
    )


def _answered(message: EmailMessage) -> str:
    return f"{mail_header(message, 'References')} {mail_header(message, 'In-Reply-To')}"


def _read_mail(content: bytes, job: Job) -> _Read:
    try:
        return _read_parts(content, job)
    except RecursionError:  # the standard library reads and writes parts within parts by recursion
        raise ParseError(NESTED, mend="save what is forwarded in it as mails of their own") from None


def _read_parts(content: bytes, job: Job) -> _Read:
    try:
        message = email.message_from_bytes(content, policy=email.policy.default)
    except MAIL_ERRORS:
        raise ParseError("it cannot be read as a mail", mend="export it again as eml") from None
    writer = SectionWriter()
    facts = {name: mail_header(message, name) for name in _SHOWN}
    writer.text("\n".join(f"{name}: {value}" for name, value in facts.items() if value))
    attached: list[ParsedDocument] = []
    warnings: list[str] = []
    if job.is_apart:
        parts = list(_attachments(message))
        # Above the body: what stands below that may be a mail that it answers.
        writer.text(_named([_name(part) for part in parts]))
        warnings += [told for part in parts if (told := _why_left_out(part, job.options))]
    else:
        for part in _attachments(message):
            _read_attachment(part, job, attached, warnings)
    _write_body(message, writer)
    message_id, at = mail_header(message, "Message-ID"), mail_date(facts["Date"])
    return _Read(
        threaded=Threaded(message_id=message_id, names=_answered(message), at=at),
        subject=facts["Subject"],
        sender=facts["From"],
        date=facts["Date"],
        sections=(*writer.sections(facts["Subject"]), *(section for one in attached for section in one.sections)),
        warnings=tuple(warnings),
        has_pictures=any(one.has_pictures for one in attached),
        lacks_ocr=any(one.lacks_ocr for one in attached),
    )


def _named(names: Sequence[str]) -> str:
    return f"(attached: {', '.join(names)})" if names else ""


def mail_header(message: EmailMessage, name: str) -> str:
    """Return a header in words, on one line; "" where there is none or it can't be read."""
    try:
        return one_line(str(message.get(name, "")))
    except MAIL_ERRORS:
        return ""


def _write_body(message: EmailMessage, writer: SectionWriter) -> None:
    """Write the plain body, or the HTML one when there is no plain text to speak of."""
    plain = [text for part in _parts(message, "text/plain") if (text := part_text(part)).strip()]
    pages = [text for part in _parts(message, "text/html") if (text := part_text(part)).strip()]
    if plain:
        for text in plain:
            for block in text.replace("\r\n", "\n").strip().split("\n\n"):
                writer.text(block.strip("\n"))
        return
    for page in pages:
        write_html(clean(html_tree(page)), writer, is_mail=True)


def _parts(message: EmailMessage, kind: str) -> Iterator[EmailMessage]:
    for part in _leaves(message):
        if part.get_content_type() == kind and not _is_attachment(part):
            yield part


def _leaves(message: EmailMessage) -> Iterator[EmailMessage]:
    """Yield the parts that hold content, as many as a mail could sensibly have; a forwarded mail counts as one."""
    stack: list[EmailMessage] = [message]
    for _ in range(_MAX_PARTS):
        if not stack:
            return
        part = stack.pop()
        payload = part.get_payload()
        if part.get_content_maintype() == "multipart" and isinstance(payload, list):
            stack.extend(reversed([inner for inner in payload if isinstance(inner, EmailMessage)]))
        else:
            yield part


def _is_attachment(part: EmailMessage) -> bool:
    """Tell what is attached: as it says, a forwarded mail, or a file that is no text and shown within the mail."""
    try:
        if part.get_content_disposition() == "attachment" or part.get_content_type() == "message/rfc822":
            return True
        return part.get_content_maintype() not in {"text", "multipart"} and bool(part.get_filename())
    except MAIL_ERRORS:
        return False


def _name(part: EmailMessage) -> str:
    """Return a file's name as the mail tells it, a forwarded mail's by its subject, on one line."""
    try:
        name = one_line(part.get_filename() or "")
        if not name and part.get_content_type() == "message/rfc822":
            inner = part.get_payload()
            forwarded = inner[0] if isinstance(inner, list) and inner else None
            subject = mail_header(forwarded, "Subject") if isinstance(forwarded, EmailMessage) else ""
            return f"{subject or 'attached mail'}.eml"
    except MAIL_ERRORS:
        return "attachment"
    return name or "attachment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """What is attached to a mail: its name and type as the mail tells them, and its content, decoded."""

    name: str
    media_type: str
    content: bytes


def attachments_of(content: bytes) -> list[Attachment]:
    """Return what is attached to a mail, at most ``_MAX_PARTS``; [] for what is no mail. Blocks for large ones.

    What is nested too deep to be taken out has no content.
    """
    mails = mails_of(content)
    if len(mails) > 1:
        return []  # those of a mailbox are read with their mails
    try:
        message = email.message_from_bytes(mails[0] if mails else content, policy=email.policy.default)
        return [_attachment(part) for part in _attachments(message)]
    except (RecursionError, *MAIL_ERRORS):
        return []


def _attachment(part: EmailMessage) -> Attachment:
    try:
        content = _bytes(part)
    except RecursionError:
        content = b""
    return Attachment(name=_name(part), media_type=part.get_content_type(), content=content)


def why_no_document(one: Attachment, options: ParseOptions = DEFAULT_OPTIONS) -> str:
    """Return why an attachment is no document of its own; "" for one that is.

    Where neither its name nor its type hints at a format, its content tells.
    """
    if one.name.lower().endswith(_SIGNATURES):
        return "it is a signature"
    if one.media_type in NO_DOCUMENTS and not one.media_type.startswith("text/"):
        return f"{one.media_type} is not read"
    if hinted(one.name.replace("/", "_"), one.media_type) is not None:
        return ""
    try:
        media = detect(one.content, name=one.name, media_type=one.media_type, options=options)
    except ParseError as error:
        return error.reason
    return "it is a picture" if media is Media.PICTURE else ""


def _why_left_out(part: EmailMessage, options: ParseOptions) -> str:
    """Return what is to be told of an attachment that is no document; "" for one that is, or is none's content."""
    name, kind = _name(part), part.get_content_type()
    is_shown = part.get_content_maintype() == "image" and part.get_content_disposition() != "attachment"
    if is_shown or kind in _NO_CONTENT or name.lower().endswith(_SIGNATURES):
        return ""
    content = b""
    if kind == Media.MAIL or hinted(name.replace("/", "_"), kind) is None:
        try:
            content = _bytes(part)
        except RecursionError:
            return f"attachment {name}: {NESTED}"
        if not content.strip():
            return ""
    reason = why_no_document(Attachment(name=name, media_type=kind, content=content), options)
    return f"attachment {name}: {reason}" if reason else ""


def part_text(part: EmailMessage) -> str:
    """Return the text of a part, in whatever encoding it is; ParseError when it is no text."""
    payload = _bytes(part)
    try:
        charset = part.get_content_charset() or ""
    except MAIL_ERRORS:
        charset = ""
    return decode(payload, declared=charset).text if payload.strip() else ""


def _bytes(part: EmailMessage) -> bytes:
    try:
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload()
            forwarded = inner[0] if isinstance(inner, list) and inner else None
            return forwarded.as_bytes() if isinstance(forwarded, EmailMessage) else b""
        payload = part.get_payload(decode=True)
    except MAIL_ERRORS:
        return b""
    return payload if isinstance(payload, bytes) else b""


def _attachments(message: EmailMessage) -> Iterator[EmailMessage]:
    for part in _leaves(message):
        if part is not message and _is_attachment(part):
            yield part


def _read_attachment(part: EmailMessage, job: Job, attached: list[ParsedDocument], warnings: list[str]) -> None:
    """Parse one attachment; what cannot be read is a warning, not the end of the mail."""
    name = _name(part)
    if job.parse_inner is None or job.depth >= job.options.max_depth:
        warnings.append(f"attachment {name} left out: nested too deep")
        return
    try:
        parsed = job.parse_inner(
            replace(job, content=_bytes(part), name=name, media_type=part.get_content_type(), depth=job.depth + 1)
        )
    except RecursionError:
        warnings.append(f"attachment {name}: {NESTED}")
        return
    except ParseError as error:
        warnings.append(f"attachment {name}: {error.reason}")
        return
    # The rectangles of an attached PDF lead nowhere: what is fetched to show them is the mail.
    sections = tuple(
        replace(
            section,
            heading_path=(name, *section.heading_path),
            location=replace(section.location, boxes=()),
            lines=(),
        )
        for section in parsed.sections
    )
    attached.append(replace(parsed, sections=sections))
