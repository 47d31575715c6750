"""A page with its comments, or an attachment, as a document."""

import asyncio
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from connectors.atlassian.markup import paragraph, plain, too_deep
from connectors.atlassian.versions import version_of
from connectors.base import Origin, Permalink, SourceDocument
from connectors.confluence.inline import Place
from connectors.confluence.replies import Content
from connectors.confluence.site import File, Head, Site
from connectors.confluence.storage import accounts, markdown
from ragcore.errors import SourceBadReply

FORM = "1"
"""Raised when documents are written in another way, so that they are read again."""
_LARGE = 100_000  # characters, which take some 100 ms to turn into Markdown

Comments = Sequence[tuple[str, int]]
"""The ids and versions of the comments on a page."""


def native_id(kind: str, native: str) -> str:
    """Return the part of an id that Confluence gives: a page that is moved or renamed keeps it."""
    return f"{kind}/{native}"


def page_version(site: Site, head: Head, readers: frozenset[str] | None, comments: Comments) -> str:
    """Return what stands for all that a page's document tells."""
    return version_of(readers, FORM, site.options.salt(), head.number, head.title, head.url, sorted(set(comments)))


def file_version(site: Site, file: File, readers: frozenset[str] | None) -> str:
    """Return what stands for all that an attachment's document tells."""
    limits = (site.options.max_megabytes,) if file.size and file.size > site.options.limit else ()
    told = (file.number, file.name, file.url, file.holder, limits)
    return version_of(readers, FORM, site.options.salt(), *told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Writes the documents of one site."""

    origin: Origin
    site: Site

    async def page(
        self, head: Head, storage: str, comments: Sequence[Content], *, readers: frozenset[str] | None, version: str
    ) -> SourceDocument:
        """Return a page with the comments on it."""
        mentioned = set[str]().union(*(accounts(text) for text in (storage, *map(_text, comments))))
        authored = {head.author} if self.site.options.is_cloud else set[str]()
        names = await self.site.names(sorted((mentioned | authored) - {""}))
        place = Place(
            base=self.site.base,
            space=head.space,
            page=head.id,
            is_cloud=self.site.options.is_cloud,
            title=head.title,
            names=names,
        )
        size = len(storage) + sum(len(_text(one)) for one in comments)
        try:
            written = (
                await asyncio.to_thread(self._written, head, storage, comments, place)
                if size > _LARGE
                else self._written(head, storage, comments, place)
            )
        except RecursionError:
            raise too_deep() from None
        times = [at for at in (head.at, *map(_at, comments)) if at]
        return SourceDocument(
            id=self.origin.document_id(native_id(head.kind, head.id)),
            source=self.origin.source,
            content=written[0],
            name=f"{head.id}.md",
            media_type="text/markdown",
            title=head.title,
            url=head.url,
            author=names.get(head.author, "") if self.site.options.is_cloud else head.author,
            version=version,
            updated_at=max(times, default=None),
            readers=readers,
            metadata={"space": head.space},
            permalinks=written[1],
        )

    def file(self, file: File, content: bytes, *, readers: frozenset[str] | None, version: str) -> SourceDocument:
        """Return an attachment."""
        return SourceDocument(
            id=self.origin.document_id(native_id("attachment", file.id)),
            source=self.origin.source,
            content=content,
            name=file.name,
            media_type=file.media_type or mimetypes.guess_type(file.name)[0] or "",
            title=file.name,
            url=file.url,
            author=file.author,
            version=version,
            updated_at=file.at,
            readers=readers,
        )

    def _written(
        self, head: Head, storage: str, comments: Sequence[Content], place: Place
    ) -> tuple[bytes, tuple[Permalink, ...]]:
        text = markdown(storage, place)
        lines, links = list(text.lines), [Permalink(line=1, url=head.url)]
        links += (Permalink(line=at + 1, url=f"{head.url}#{fragment}") for at, fragment in text.anchors)
        if not lines:
            lines = paragraph(plain(head.title))  # a page that only holds others below it
        if comments:
            lines += ["", "## Comments", ""]
            links.append(Permalink(line=len(lines) - 1, url=head.url))
        for comment in comments:
            links.append(Permalink(line=len(lines) + 1, url=self._comment_url(head, comment)))
            lines += [_said(comment), "", *markdown(_text(comment), place).lines, ""]
        return "\n".join(lines).encode("utf-8", "replace"), _in_order(links)

    def _comment_url(self, head: Head, comment: Content) -> str:
        told = comment.links.webui
        return f"{self.site.base}{told}" if told else f"{head.url}?focusedCommentId={comment.id}"


def too_large(file: File, limit: int) -> SourceBadReply:
    """Return why an attachment isn't read."""
    return SourceBadReply(
        f"{file.name} has {(file.size or 0) / 1e6:,.0f} MB, more than {limit / 1e6:,.0f}",
        mend="raise `max_megabytes`, or name it in `exclude`",
    )


def _in_order(links: Sequence[Permalink]) -> tuple[Permalink, ...]:
    """Return one link a line, the last one that was given."""
    by_line = {link.line: link for link in links}
    return tuple(by_line[line] for line in sorted(by_line))


def _said(comment: Content) -> str:
    began = comment.history
    author = (began and began.created_by) or (comment.version and comment.version.by)
    at = _at(comment)
    about = comment.extensions.inline.original if comment.extensions.inline else ""
    note = f', on "{plain(about).strip()}"' if about.strip() else ""
    return (
        f"**{plain(author.shown) if author and author.shown else 'somebody'}**{f', {at:%Y-%m-%d}' if at else ''}{note}:"
    )


def _text(comment: Content) -> str:
    return comment.body.storage.value


def _at(comment: Content) -> datetime | None:
    found = (comment.history.created_date if comment.history else None) or (
        comment.version.at if comment.version else None
    )
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found
