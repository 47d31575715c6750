"""The settings of a source of the type ``feed``."""

import importlib.util
import re
from datetime import timedelta
from typing import Literal

from pydantic import Field, SecretStr, field_validator

from connectors.base import Options, TimeZoneName
from connectors.http import NetworkNames
from connectors.http.urls import normalised

FOREVER, LISTED = "forever", "listed"
_DAYS = re.compile(r"([1-9]\d{0,3})d")


class FeedOptions(Options):
    """The entries of feeds: RSS (0.9 to 2.0), Atom and JSON Feed, told apart by what they hold.

    Each entry is a document, known by its `guid` or `id`, else by its link. Its text is the fullest that the feed gives
    (content, else summary, else the title alone); with `read = "page"` it is the page that the entry links to, read
    once for each state of the entry. A feed's further pages are followed (`rel="next"` and `"prev-archive"` of RFC
    5005, `next_url` of JSON Feed). An unchanged feed costs one short question, where its server tells an ETag or the
    date of the last change.

    A feed shows its newest entries only, so one that it no longer shows is kept, unless `keep` says otherwise:
    `"30d"` deletes an entry once the feed hasn't shown it for 30 days, `"listed"` as soon as a run misses it, within
    the guard that holds for every listing. In Atom a feed can say itself that an entry is deleted (RFC 6721).

    XML that breaks off or isn't well formed is read as far as it can be; what it breaks off in is named. Definitions of
    entities are never followed. Addresses on this machine or in a private network are refused, also behind a redirect
    or a link: an intranet is named in `networks`. A feed that wants a credential gets it by `headers`, or stands with
    it in its address: `urls = ["https://git.example.org/news.atom?token=${FEED_TOKEN}"]`; messages leave out what
    stands behind a `?`. Needs `pip install 'citebot[feed]'`.
    """

    urls: tuple[str, ...] = Field(
        min_length=1, description="addresses of the feeds, such as `https://example.org/feed.xml`"
    )
    read: Literal["entry", "page"] = Field(
        default="entry", description="what is read: the entry's own text, or the page that it links to"
    )
    keep: str = Field(
        default=FOREVER,
        description="how long an entry is kept that the feed no longer shows: `forever`, a number of days such as "
        "`30d`, or `listed` for not at all",
    )
    identify_by: Literal["id", "link"] = Field(
        default="id", description="what tells entries apart: `link` for a feed whose ids come twice or change"
    )
    max_pages: int = Field(default=10, gt=0, le=1_000, description="how many pages of a feed are read at most")
    timezone: TimeZoneName = Field(
        default="UTC", description="the zone of times that tell none, such as `Europe/Berlin`"
    )
    max_megabytes: float = Field(default=20, gt=0, description="larger feeds and pages are reported instead of read")
    robots: bool = Field(default=True, description="whether linked pages are read only where `robots.txt` lets us")
    requests_per_second: float = Field(default=5, gt=0, le=1_000, description="how fast one host is asked")
    networks: NetworkNames = Field(
        default=(), description="networks or addresses that may be reached though they are not public: `10.0.0.0/8`"
    )
    headers: dict[str, SecretStr] = Field(
        default_factory=dict,
        description='headers with a credential, for the hosts in `urls` alone: `{ Authorization = "Bearer ${TOKEN}" }`',
    )
    user_agent: str = Field(default="Citebot", min_length=1, description="how hosts and their `robots.txt` know us")

    @property
    def kept_for(self) -> timedelta | None:
        """How long an entry that has left its feed is kept, None: forever, or no longer than it is listed."""
        days = _DAYS.fullmatch(self.keep)
        return timedelta(days=int(days.group(1))) if days else None

    @field_validator("urls")
    @classmethod
    def _are_addresses(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        if importlib.util.find_spec("feedparser") is None:
            raise ValueError("feeds need feedparser: pip install 'citebot[feed]'")
        for number, url in enumerate(urls, 1):
            if "@" in url.partition("://")[2].partition("/")[0]:
                raise ValueError(f"address {number} holds a name or password; put them into `headers`")
            if not normalised(url):
                raise ValueError(f'address {number} is none such as "https://example.org/feed.xml"')
        return tuple(dict.fromkeys(urls))

    @field_validator("keep")
    @classmethod
    def _is_span(cls, keep: str) -> str:
        if keep not in {FOREVER, LISTED} and not _DAYS.fullmatch(keep):
            raise ValueError('must be "forever", "listed", or a number of days such as "30d"')
        return keep
