"""One address of a site, asked: what stands there now, as a record, and as a document where it is new or changed."""

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from connectors.base import Failure, Origin
from connectors.http import HttpClient, Reply, Validators, fault_of, moment
from connectors.http.documents import media_of, media_type_of, name_of
from connectors.http.robots import Robots
from connectors.http.urls import normalised
from connectors.web.addresses import Scope
from connectors.web.options import WebOptions
from connectors.web.pages import PageFacts, facts_of
from connectors.web.state import Kind, Record
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceGone, SourceRateLimited
from ragcore.parsing.media import Media
from ragcore.types import SourceDocument

_ACCESS = frozenset((401, 403))


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What came of asking one address.

    ``record`` is what stands there, None when nothing does or nobody can tell. ``document`` is there when it isn't
    indexed as it is now. ``error`` says why nobody can tell; ``is_forbidden``: ``robots.txt`` forbids to ask;
    ``asks_password``: it has a field for one.
    """

    url: str
    record: Record | None = None
    document: SourceDocument | None = None
    error: SourceError | None = None
    is_gone: bool = False
    is_forbidden: bool = False
    asks_password: bool = False


@dataclass(slots=True, kw_only=True)
class Site:
    """Asks addresses, by the rules of a source. ``known`` are the versions of the documents that are indexed, by id."""

    origin: Origin
    options: WebOptions
    scope: Scope
    client: HttpClient
    robots: Robots
    known: Mapping[str, str]

    def is_indexed(self, url: str, record: Record) -> bool:
        """Tell whether the index holds what a record tells of."""
        return self.known.get(self.origin.document_id(url)) == record.version

    def is_held(self, url: str, record: Record) -> bool:
        """Tell whether a record is all that is needed of an address that hasn't changed.

        What isn't a document, or is only if its canonical address doesn't hold it, needs not be indexed.
        """
        return record.kind is not Kind.PAGE or bool(record.canonical) or self.is_indexed(url, record)

    def failure(self, url: str, error: SourceError) -> Failure:
        """Return an error that concerns one page as its failure."""
        mend = error.mend or "try again later"
        return Failure(id=self.origin.document_id(url), reason=error.reason, mend=mend)

    async def ask(self, url: str, old: Record | None = None) -> Visit:
        """Ask for an address; only if it has changed, when ``old`` tells what is there and the index holds it.

        Raises:
            SourceRateLimited: The host asks to wait.
            SourceAuthError: It refuses the credential of the settings.
        """
        is_held = old is not None and self.is_held(url, old)
        try:
            if not await self.robots.allows(url):
                return Visit(url=url, is_forbidden=True)
            reply = await self.client.get(
                url,
                limit=int(self.options.max_megabytes * 1_000_000),
                headers=old.validators.headers() if old is not None and is_held else {},
                wanted=lambda head: media_of(head) is not None,
                redirects=0,
                passing=_ACCESS,
                larger="raise `max_megabytes`, or put it into `exclude`",
            )
            return await self._seen(url, reply, old)
        except SourceGone:
            return Visit(url=url, is_gone=True)
        except (SourceRateLimited, SourceAuthError):
            raise
        except SourceError as error:
            return Visit(url=url, error=error)

    async def _seen(self, url: str, reply: Reply, old: Record | None) -> Visit:
        if reply.status in _ACCESS:
            return Visit(url=url, error=self._refusal(reply))
        if reply.status == 304 and old is not None:
            return Visit(url=url, record=old)
        if 300 <= reply.status < 400:
            target = normalised(reply.target, ignored=self.scope.ignored)
            if not target:
                raise SourceBadReply(f"it redirects to nowhere ({reply.status})", mend="mend the site, or leave it out")
            return Visit(url=url, record=Record(kind=Kind.MOVED, links=(target,)))
        media = media_of(reply)
        if media is None:
            return Visit(url=url, record=Record(kind=Kind.OTHER, validators=Validators.of(reply.headers)))
        facts = await asyncio.to_thread(facts_of, reply, media, agent=self.options.user_agent)
        record = self._record(url, reply, facts)
        is_new = record.kind is Kind.PAGE and not self.is_indexed(url, record)
        document = self._document(url, reply, media, record) if is_new else None
        return Visit(url=url, record=record, document=document, asks_password=facts.asks_password)

    def _record(self, url: str, reply: Reply, facts: PageFacts) -> Record:
        validators = Validators.of(reply.headers)
        if facts.moved:
            target = normalised(facts.moved, ignored=self.scope.ignored)
            return Record(kind=Kind.MOVED, validators=validators, links=(target,))
        # Most pages link to the same ones: their addresses are held once.
        links = tuple(dict.fromkeys(sys.intern(link) for link in map(self.scope.page, facts.links) if link))
        canonical = self.scope.page(facts.canonical) if facts.canonical else ""
        return Record(
            kind=Kind.PAGE if facts.is_indexed else Kind.OTHER,
            validators=validators,
            version=facts.version,
            title=facts.title,
            canonical="" if canonical == url else canonical,
            links=links,
        )

    def _document(self, url: str, reply: Reply, media: Media, record: Record) -> SourceDocument:
        return SourceDocument(
            id=self.origin.document_id(url),
            source=self.origin.source,
            content=reply.content,
            name=name_of(url, media),
            media_type=media_type_of(reply, media),
            url=url,
            version=record.version,
            updated_at=moment(reply.headers.get("Last-Modified", "")),
        )

    def _refusal(self, reply: Reply) -> SourceError:
        """Return the refusal of one page; raises what isn't that page's fault."""
        error = fault_of(reply.status, reply.headers, reply.url) or SourceBadReply(f"it was refused ({reply.status})")
        if reply.status == 401 and self.options.headers:
            raise error  # the credential, and not this page, is at fault
        mend = "name a credential that may read it in `headers`, or put it into `exclude`"
        return SourceError(error.reason, mend=mend)
