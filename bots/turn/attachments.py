"""Files beside a question: text is read in the parsing worker, what nothing here reads is named."""

import asyncio
import logging
from contextlib import aclosing
from dataclasses import dataclass

from bots.platform import Attachment, Incoming, Platform, R
from bots.rendering.clean import clean_line
from ragcore.errors import ParseError, PlatformError
from ragcore.parsing import ParseOptions
from ragcore.parsing.worker import ParseWorker, Part
from ragcore.types import Message

log = logging.getLogger(__name__)

PARSE_SECONDS = 15.0
FETCH_SECONDS = 15.0
MOST = 5
"""Files read beside one question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """The texts of the files that could be read, and the names of the others."""

    texts: tuple[Message, ...] = ()
    unread: tuple[str, ...] = ()


async def read_attachments(
    platform: Platform[R], incoming: Incoming, worker: ParseWorker, *, most_bytes: int, most_characters: int
) -> Attached:
    """Read what can be read; nothing here fails."""
    texts, unread = [], []
    for attachment in incoming.attachments[:MOST]:
        text = await _read(platform, incoming, attachment, worker, most_bytes, most_characters)
        if text:
            texts.append(Message(role="user", text=f"{clean_line(attachment.name)}:\n\n{text}"))
        else:
            unread.append(clean_line(attachment.name))
    unread += [clean_line(attachment.name) for attachment in incoming.attachments[MOST:]]
    return Attached(texts=tuple(texts), unread=tuple(unread))


async def _read(
    platform: Platform[R],
    incoming: Incoming,
    attachment: Attachment,
    worker: ParseWorker,
    most_bytes: int,
    most_characters: int,
) -> str:
    if attachment.media_type.startswith(("image/", "audio/", "video/")) or attachment.size > most_bytes:
        return ""
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            content = await platform.fetch(incoming, attachment, limit=most_bytes)
        name, media_type = attachment.name, attachment.media_type
        steps = worker.parse(content, name=name, media_type=media_type, options=ParseOptions(), seconds=PARSE_SECONDS)
        text = ""
        async with aclosing(steps) as parts:
            async for part in parts:
                if isinstance(part, Part):
                    text += "".join(f"{section.text}\n\n" for section in part.sections)
                if len(text) > most_characters:
                    break
    except (PlatformError, ParseError, TimeoutError) as error:
        log.info("an attachment was not read: %s: %s", type(error).__name__, error)
        return ""
    return text[:most_characters].strip()
