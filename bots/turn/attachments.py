"""Files beside a question: text is read in the parsing worker, a picture by a model; what neither reads is named.

A picture becomes words before anything is searched, so that it counts in search, fit, citations and history just as a
text file does. The picture itself goes to that one call and nowhere else.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, Literal

from bots.platform import Attachment, Incoming, Platform, R
from bots.rendering.clean import clean_line
from bots.requests import Describe, Described
from bots.service import Backend
from bots.turn.options import FileLimits
from bots.words.sentences import word
from ragcore.errors import CitebotError, ParseError, PlatformError
from ragcore.images import image_of
from ragcore.parsing import ParseOptions
from ragcore.parsing.worker import ParseWorker, Part
from ragcore.types import Image, Message, Usage

log = logging.getLogger(__name__)

PARSE_SECONDS = 15.0
FETCH_SECONDS = 15.0

Why = Literal["cannot_read", "file_too_large", "file_not_read", "file_left_out"]


class _Unread(Exception):
    """A file is not read; says why."""

    def __init__(self, why: Why) -> None:
        super().__init__(why)
        self.why: Why = why


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """What became of one file: its text, or why there is none."""

    name: str
    text: str = ""
    why: Why = "cannot_read"
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """What became of the files beside a question; ``count`` is how many are read at most."""

    files: tuple[File, ...] = ()
    count: int = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """Return the texts, each under its file's name."""
        return tuple(Message(role="user", text=f"{one.name}:\n\n{one.text}") for one in self.files if one.text)

    @property
    def words(self) -> str:
        """Return the texts alone: what is asked when nothing is written beside the files."""
        return "\n\n".join(one.text for one in self.files if one.text)

    @property
    def usage(self) -> Usage:
        """Return what reading them took."""
        return sum((one.usage for one in self.files), Usage())

    def unread(self, language: str) -> tuple[str, ...]:
        """Return the sentences that name the files that were not read, one a reason."""
        names: dict[Why, list[str]] = {}
        for one in self.files:
            if not one.text:
                names.setdefault(one.why, []).append(one.name)
        return tuple(word(why, language, name=", ".join(those), count=self.count) for why, those in names.items())


class FileReader(Generic[R]):
    """Reads the files beside questions; shared by all turns of a platform."""

    def __init__(self, platform: Platform[R], backend: Backend, limits: FileLimits) -> None:
        """Fetch from ``platform``, and let ``backend`` look at pictures."""
        self._platform = platform
        self._backend = backend
        self._limits = limits
        self._worker = ParseWorker()

    async def close(self) -> None:
        """End the process that reads."""
        await self._worker.close()

    def looks(self, messages: Iterable[Incoming]) -> bool:
        """Return whether a picture is going to be looked at, as far as the platform tells what the files are."""
        kinds = [attachment.media_type for one in messages for attachment in one.attachments]
        return self._limits.images and any(kind.startswith("image/") for kind in kinds[: self._limits.count])

    async def read(self, messages: Iterable[Incoming], question: str) -> Attached:
        """Read what can be read, side by side; nothing here fails."""
        given = [(one, attachment) for one in messages for attachment in one.attachments]
        most = self._limits.count
        files = await asyncio.gather(*(self._file(one, attachment, question) for one, attachment in given[:most]))
        rest = [File(name=clean_line(attachment.name), why="file_left_out") for _, attachment in given[most:]]
        return Attached(files=(*files, *rest), count=most)

    async def _file(self, incoming: Incoming, attachment: Attachment, question: str) -> File:
        name = clean_line(attachment.name)
        try:
            content = await self._fetched(incoming, attachment)
            if (image := image_of(content)) is not None:
                seen = await self._seen(image, question, size=len(content))
                return File(name=name, text=seen.text[: self._limits.characters].strip(), usage=seen.usage)
            return File(name=name, text=await self._parsed(attachment, content))
        except _Unread as unread:
            return File(name=name, why=unread.why)

    async def _fetched(self, incoming: Incoming, attachment: Attachment) -> bytes:
        """Return the content, unless what the platform tells of it is enough to leave it."""
        kind, limits = attachment.media_type.partition("/")[0], self._limits
        if kind in ("audio", "video") or (kind == "image" and not limits.images):
            raise _Unread("cannot_read")
        if attachment.size > (limits.image_bytes if kind == "image" else limits.bytes):
            raise _Unread("file_too_large")
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                return await self._platform.fetch(incoming, attachment, limit=limits.bytes)
        except (PlatformError, TimeoutError) as error:
            log.info("an attachment was not fetched: %s: %s", type(error).__name__, error)
            raise _Unread("file_not_read") from error

    async def _seen(self, image: Image, question: str, *, size: int) -> Described:
        """Return what a picture shows."""
        if not self._limits.images:
            raise _Unread("cannot_read")
        if size > self._limits.image_bytes:
            raise _Unread("file_too_large")
        try:
            request = Describe(image=image, question=question)
            async with aclosing(self._backend.run(request)) as events:  # type: ignore[type-var]
                async for event in events:
                    if isinstance(event, Described):
                        return event
        except CitebotError as error:
            log.warning("a picture was not looked at: %s: %s", type(error).__name__, error)
        raise _Unread("file_not_read")

    async def _parsed(self, attachment: Attachment, content: bytes) -> str:
        steps = self._worker.parse(
            content,
            name=attachment.name,
            media_type=attachment.media_type,
            options=ParseOptions(),
            seconds=PARSE_SECONDS,
        )
        text = ""
        try:
            async with aclosing(steps) as parts:
                async for part in parts:
                    if isinstance(part, Part):
                        text += "".join(f"{section.text}\n\n" for section in part.sections)
                    if len(text) > self._limits.characters:
                        break
        except ParseError as error:
            log.info("an attachment was not read: %s", error)
            raise _Unread("cannot_read") from error
        return text[: self._limits.characters].strip()
