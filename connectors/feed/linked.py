"""The page that an entry links to, read in the place of the entry's own text."""

from dataclasses import dataclass

from yarl import URL

from connectors.http import HttpClient, Reply, fault_of, shown
from connectors.http.documents import media_of, media_type_of, name_of
from connectors.http.robots import Robots
from ragcore.errors import SourceBadReply, SourceError, SourceGone, SourceRateLimited

_ACCESS = frozenset((401, 403))
_MEND = 'put it right, or take the entry\'s own text: read = "entry"'


class PageRefused(SourceError):
    """One linked page can't be read; the others may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """A page's bytes, with a file name and the media type that tell its format, and the address that it stands at."""

    content: bytes
    name: str
    media_type: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedPages:
    """Reads linked pages of at most ``limit`` bytes."""

    client: HttpClient
    robots: Robots
    limit: int

    async def read(self, url: str) -> Linked | None:
        """Return the page at an address, None when there is none.

        Raises:
            PageRefused: It can't be read.
            SourceAuthError: The credential of the settings was refused.
            SourceRateLimited: Its host asks to wait.
        """
        try:
            if not await self.robots.allows(url.partition("#")[0]):
                raise PageRefused("its site's robots.txt forbids to read its page", mend=_MEND)
            reply = await self.client.get(
                url,
                limit=self.limit,
                wanted=lambda head: media_of(head) is not None,
                passing=_ACCESS,
                larger="raise `max_megabytes`",
            )
        except SourceGone:
            return None
        except (SourceRateLimited, PageRefused):
            raise
        except SourceError as error:
            raise PageRefused(f"its page can't be read: {error.reason}", mend=error.mend or _MEND) from error
        if reply.status in _ACCESS:
            raise self._refusal(reply)
        media = media_of(reply)
        if media is None:
            raise PageRefused(f"its page is of a kind that isn't read ({reply.media_type})", mend=_MEND)
        return Linked(
            content=reply.content,
            name=name_of(reply.url, media),
            media_type=media_type_of(reply, media),
            url=reply.url,
        )

    def _refusal(self, reply: Reply) -> SourceError:
        options = self.client.options
        if options.headers and str(URL(reply.url).origin()) in options.trusted:
            error = fault_of(reply.status, reply.headers, reply.url)
            return error or SourceBadReply(f"{shown(reply.url)} refused the credential", mend="check `headers`")
        return PageRefused(f"its page may not be read ({reply.status})", mend=_MEND)
