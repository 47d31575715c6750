"""Mails as files (``.eml``): what is attached to one is a document of its own, by ``<path>#<number>``.

How many there are stands in the mail's version, so that a mail that is as it was isn't opened, not even for a listing.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from connectors.base import Failure, Origin, SourceDocument
from connectors.files.place import Found, Place, Unread, Whole
from connectors.patterns import Selection
from connectors.rows import clean
from connectors.threads import in_thread
from ragcore.parsing.mail import Attachment, attachments_of, why_no_document
from ragcore.parsing.media import Media

ENDING = ".eml"
DEPTH = 3
"""How deep mails within mails are followed, as the parser does; what is attached to a deeper one is read with it."""
MOST = 1_000
"""Documents of one mail; what is attached beyond that is named in its mail alone."""
_APART = f"{Media.MAIL}; attachments=apart"


def is_mail_file(file: Found) -> bool:
    """Tell by its name whether a file is a mail."""
    return file.native_id.lower().endswith(ENDING)


@dataclass(slots=True, kw_only=True)
class MailFiles:
    """The mails of a place. ``selection`` says which attachments are left out, as if they lay beside their mail."""

    origin: Origin
    place: Place
    selection: Selection
    limit: int
    _counts: dict[str, tuple[str, int]] = field(init=False, default_factory=dict)
    """Of each mail that this run knows: its file's version, and how many documents are attached to it."""

    def prefix(self, file: Found) -> str:
        """Return how the ids of what is attached to a mail begin."""
        return self.origin.document_id(f"{file.native_id}#")

    def is_known(self, file: Found, known: Mapping[str, str]) -> bool:
        """Tell whether a mail, with all that is attached to it, is known as it is."""
        version = known.get(self.origin.document_id(file.native_id), "")
        own, _, told = version.rpartition("#")
        if not (file.version and own == file.version and told.isdecimal()):
            return False
        count = min(int(told), MOST)
        if any(known.get(f"{self.prefix(file)}{number}") != version for number in range(1, count + 1)):
            return False
        self._counts[file.native_id] = (file.version, count)
        return True

    async def documents(
        self, file: Found, read: SourceDocument | Failure
    ) -> AsyncGenerator[SourceDocument | Failure, None]:
        """Yield a mail that was read, and what is attached to it, each as a document."""
        if isinstance(read, Failure):
            yield replace(read, covers=self.prefix(file))
            return
        attached = await in_thread(partial(self._attached, file, read.content))
        self._counts[file.native_id] = (file.version, len(attached))
        version = f"{read.version}#{len(attached)}" if read.version else ""
        yield replace(read, version=version, media_type=_APART)
        for number, one in enumerate(attached, start=1):
            yield replace(
                read,
                id=f"{self.prefix(file)}{number}",
                version=version,
                content=one.content,
                name=clean(one.name).replace("/", "_"),
                media_type=one.media_type,
                metadata={"mail": read.name},
            )

    async def ids(self, file: Found) -> AsyncGenerator[str | Failure, None]:
        """Yield the ids of a mail and of what is attached to it; it is read where this run doesn't know it as it is."""
        identity = self.origin.document_id(file.native_id)
        version, count = self._counts.get(file.native_id, ("", 0))
        if not version or version != file.version:
            (found,) = await self.place.read([file], limit=self.limit)
            if isinstance(found, Unread):
                if not found.is_gone:
                    yield Failure(id=identity, reason=found.reason, mend=found.mend, covers=self.prefix(file))
                return
            count = await in_thread(partial(self._count, file, found))
        yield identity
        for number in range(1, count + 1):
            yield f"{self.prefix(file)}{number}"

    def _count(self, file: Found, found: Whole) -> int:
        return len(self._attached(file, found.content))

    def _attached(self, file: Found, content: bytes) -> list[Attachment]:
        folder = file.native_id[: file.native_id.rfind("/") + 1]
        return [one for one, _ in zip(self._below(folder, content, 1), range(MOST), strict=False)]

    def _below(self, folder: str, content: bytes, depth: int) -> Iterator[Attachment]:
        """Yield what is attached to a mail in a folder, a forwarded one before what is attached to that."""
        for one in attachments_of(content):
            path = folder + one.name.replace("/", "_")
            if not one.content.strip() or not self.selection.takes(path) or why_no_document(one):
                continue
            is_mail = one.media_type == Media.MAIL
            if is_mail and depth < DEPTH:
                yield replace(one, media_type=_APART)
                yield from self._below(folder, one.content, depth + 1)
            else:
                yield one
