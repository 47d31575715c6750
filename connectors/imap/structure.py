"""What a mail consists of, as the server tells it (BODYSTRUCTURE, RFC 3501): its texts, and what is attached. Pure."""

import email
import email.policy
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from email.header import decode_header, make_header
from email.message import EmailMessage, Message
from email.utils import collapse_rfc2231_value, decode_params
from typing import Any

from connectors.imap.options import ImapOptions
from connectors.patterns import compiled
from connectors.rows import clean
from ragcore.parsing.mail import MAIL_ERRORS, NO_DOCUMENTS, Attachment, why_no_document
from ragcore.parsing.media import hinted
from ragcore.parsing.titles import one_line

_MOST = 1_000
_SHOWN_OR_HEARD = ("image", "audio", "video", "font")
_IN_OFFICE_FILES = (b"[Content_Types].xml", b"_rels/.rels", b"word/", b"xl/", b"ppt/", b"application/epub+zip")
"""What stands at the beginning of zip archives that are documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a mail: its number (``2.1``), its type, and how many bytes it has as it is encoded."""

    section: str
    type: str
    charset: str = ""
    encoding: str = ""
    size: int = 0
    name: str = ""
    is_attached: bool = False

    @property
    def weight(self) -> int:
        """Return about how many bytes it has once decoded."""
        return self.size * 3 // 4 if self.encoding == "base64" else self.size

    def decoded(self, content: bytes) -> EmailMessage:
        """Return what was fetched of this part as a mail's part, which knows how it is encoded."""
        message = EmailMessage(policy=email.policy.default)
        kind = self.type if self.type != "message/rfc822" else "application/octet-stream"
        charset = f'; charset="{self.charset}"' if self.charset else ""
        head = f"Content-Type: {kind}{charset}\r\nContent-Transfer-Encoding: {self.encoding or '7bit'}\r\n\r\n"
        message = email.message_from_bytes(head.encode("ascii", "replace") + content, policy=email.policy.default)
        assert isinstance(message, EmailMessage)
        return message


def parts_of(structure: Any) -> list[Part]:
    """Return the parts that hold something, in order.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: it isn't as the protocol has it.
    """
    return list(_leaves(structure, ""))[:_MOST]


def _leaves(structure: Any, section: str) -> Iterator[Part]:
    if isinstance(structure[0], list):
        for number, part in enumerate(structure[0], 1):
            yield from _leaves(part, f"{section}.{number}" if section else str(number))
        return
    kind = f"{_word(structure[0])}/{_word(structure[1])}"
    parameters = _pairs(structure[2])
    extra = 9 if kind.startswith("text/") else 11 if kind == "message/rfc822" else 8
    told = structure[extra] if len(structure) > extra else None
    disposition, details = "", dict[str, str]()
    if isinstance(told, bytes):  # some servers give the header as it stands
        told = _header(told)
    if isinstance(told, tuple) and told:
        disposition, details = _word(told[0]), _pairs(told[1] if len(told) > 1 else None)
    size = structure[6] if len(structure) > 6 and isinstance(structure[6], int) else 0
    name = _name(details, "filename") or _name(parameters, "name")
    if kind == "message/rfc822" and not name:
        name = f"{_subject(structure) or 'attached mail'}.eml"
    yield Part(
        section=section or "1",
        type=kind,
        charset=parameters.get("charset", ""),
        encoding=_word(structure[5]),
        size=size,
        name=name,
        is_attached=disposition == "attachment" or kind == "message/rfc822" or bool(name),
    )


def _header(told: bytes) -> tuple[bytes, tuple[bytes, ...]]:
    """Return a disposition's header in the form that the protocol has for it."""
    message: Message = Message(policy=email.policy.compat32)
    message["Content-Disposition"] = told.decode("utf-8", "replace").replace("\r", " ").replace("\n", " ")
    pairs = message.get_params([("attachment", "")], header="content-disposition")
    flat = [one for name, value in pairs[1:] for one in (name, collapse_rfc2231_value(value))]
    return pairs[0][0].encode(), tuple(one.encode("utf-8", "replace") for one in flat)


def _subject(structure: Any) -> str:
    envelope = structure[7] if len(structure) > 7 else None
    told = getattr(envelope, "subject", None)
    if told is None and isinstance(envelope, tuple) and len(envelope) > 1:
        told = envelope[1]
    return _in_words(told.decode("utf-8", "replace")) if isinstance(told, bytes) else ""


def _pairs(told: Any) -> dict[str, str]:
    if not isinstance(told, tuple):
        return {}
    values = [one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in told]
    return {name.lower(): value for name, value in zip(values[::2], values[1::2], strict=False)}


def _name(parameters: dict[str, str], name: str) -> str:
    """Return a file's name: plain, in pieces or in another encoding (RFC 2231), or as words of a header (RFC 2047)."""
    pieces = [("", ""), *((key, value) for key, value in parameters.items() if key.split("*")[0] == name)]
    try:
        for _, value in decode_params(pieces)[1:]:
            told = value if isinstance(value, tuple) else value.removeprefix('"').removesuffix('"')
            return _in_words(collapse_rfc2231_value(told))
    except MAIL_ERRORS:
        return clean(one_line(parameters.get(name, "")))
    return ""


def _in_words(value: str) -> str:
    try:
        return clean(one_line(str(make_header(decode_header(value)))))
    except MAIL_ERRORS:
        return clean(one_line(value))


def _word(value: Any) -> str:
    return value.decode("ascii", "replace").lower() if isinstance(value, bytes) else ""


def texts_of(parts: Sequence[Part]) -> list[Part]:
    """Return the parts that are the mail's own text: what is plain, else what is HTML."""
    own = [part for part in parts if not part.is_attached and part.size > 0]
    plain = [part for part in own if part.type == "text/plain" and part.size > 2]
    return plain or [part for part in own if part.type == "text/html"]


def unhinted(parts: Sequence[Part], options: ImapOptions) -> list[Part]:
    """Return what is attached whose name and type don't tell whether it can be read: its first bytes do."""
    if not options.attachments or options.attachment_names:
        return []
    there = [part for part in parts if part.is_attached and part.size > 0 and part.weight <= options.most_bytes]
    return [
        part
        for part in there
        if part.type not in NO_DOCUMENTS
        and part.type.partition("/")[0] not in _SHOWN_OR_HEARD
        and hinted(part.name, part.type) is None
    ]


def is_document(part: Part, head: bytes) -> bool:
    """Tell by the first bytes of a part, as it is encoded, whether it is in a format that is read."""
    try:
        content = part.decoded(head).get_payload(decode=True)
    except MAIL_ERRORS:
        return False
    if not isinstance(content, bytes):
        return False
    if content.startswith(b"PK\x03\x04"):  # the list of what a zip archive holds stands at its end
        return any(name in content for name in _IN_OFFICE_FILES)
    cut = content.rfind(b"\n") + 1 if b"\0" not in content else 0  # a character may be cut in two
    return not why_no_document(Attachment(name=part.name, media_type=part.type, content=content[: cut or None]))


def attached_to(parts: Sequence[Part], options: ImapOptions, told: Set[str] = frozenset()) -> list[Part]:
    """Return the parts that are documents of their own: what is attached, and a text that is too large.

    ``told`` are the sections of those that are documents by their first bytes.
    """
    huge = [part for part in texts_of(parts) if part.weight > options.most_bytes]
    if not options.attachments:
        return huge
    wanted = compiled(*options.attachment_names) if options.attachment_names else None
    found = []
    for part in parts:
        if not part.is_attached or part.size == 0:
            continue
        if wanted is not None:
            if wanted.fullmatch(part.name.replace("/", "_")):
                found.append(part)
        elif part.section in told or (part.type not in NO_DOCUMENTS and hinted(part.name, part.type) is not None):
            found.append(part)
    return [*huge, *found]
