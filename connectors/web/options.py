"""The settings of a source of the type ``web``."""

from pydantic import Field, SecretStr, field_validator, model_validator

from connectors.base import Options
from connectors.cursors import basis_of
from connectors.http import NetworkNames
from connectors.http.urls import normalised
from connectors.patterns import Patterns

_TRACKING = ("utm_*", "gclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "sessionid", "sid", "phpsessid")


class WebOptions(Options):
    """The pages of a site: those that its links lead to from `start_urls`, and those that its `sitemaps` name.

    Taken are web pages and the documents among them (PDF, Word, Excel, PowerPoint, EPUB, Markdown, plain text, CSV) at
    or below the folder of a start address (`https://example.org/docs/` takes what is in `/docs/`, and
    `https://example.org/docs/index.html`, too), or on the host of a sitemap; `include` names others. Patterns are
    compared with paths on these hosts (`/docs/**`, `*.pdf`), as those of `files`, or with host and path
    (`docs.example.org/guide/**`). Links are followed from the start addresses on, `max_depth` of them deep; a sitemap's
    pages are taken alone. What follows a `#` is no address of its own, and `/guide` and `/guide/` are one page.

    The site's wishes are kept: `robots.txt` with its delay, `noindex`, `nofollow`, and the canonical address where a
    page of the same title stands there. Where the site tells an ETag or the date of the last change, an unchanged
    page costs one short question; in any case only a page whose text, headings, anchors or links have changed counts as
    changed. A page that answers 404 or 410, that nothing leads to any more, or that leads elsewhere is deleted; one
    that fails in another way (5xx, 401, 403, no answer) is named and stays.

    Addresses on this machine or in a private network are refused, also behind a redirect or a name that changes its
    address: an intranet is named in `networks`. Proxies that the environment names are not used. A site that wants a
    credential gets it by `headers`, from the environment: `Authorization = "Bearer ${WIKI_TOKEN}"`, or
    `"Basic ${WIKI_BASIC}"` (of `name:password` in Base64), or the `Cookie` of somebody who is logged in. Pages that
    only a script writes hold no text, and are named as empty.
    """

    start_urls: tuple[str, ...] = Field(
        default=(), description="where the links begin, such as `https://example.org/docs/`"
    )
    sitemaps: tuple[str, ...] = Field(
        default=(),
        description="addresses of sitemaps: XML, packed (`.gz`) or not, an index of others, a text file, or a "
        "`robots.txt` that names them",
    )
    trust_lastmod: bool = Field(
        default=False,
        description="whether a page isn't even asked for while its sitemap tells the same date of change (`lastmod`)",
    )
    include: Patterns = Field(
        default=(), description="patterns of the pages to take; default: below the start addresses"
    )
    exclude: Patterns = Field(default=(), description="patterns of the pages to leave out")
    max_depth: int = Field(default=10, ge=0, le=1_000, description="how many links deep pages are taken")
    max_pages: int = Field(
        default=10_000,
        gt=0,
        le=1_000_000,
        description="how many addresses are asked at most; a run that meets more tells it",
    )
    max_megabytes: float = Field(
        default=50, gt=0, description="larger pages and documents are reported instead of read"
    )
    ignore_query: Patterns = Field(
        default=_TRACKING,
        description="patterns of the parameters after `?` that make no other page; `*` means all",
    )
    robots: bool = Field(default=True, description="whether `robots.txt` is kept; false only for a site of your own")
    requests_per_second: float = Field(default=5, gt=0, le=1_000, description="how fast one host is asked")
    connections: int = Field(default=4, gt=0, le=64, description="how many requests may be under way at once")
    networks: NetworkNames = Field(
        default=(), description="networks or addresses that may be reached though they are not public: `10.0.0.0/8`"
    )
    headers: dict[str, SecretStr] = Field(
        default_factory=dict,
        description="headers with a credential, for the hosts named above alone: "
        '`{ Authorization = "Bearer ${TOKEN}" }`',
    )
    user_agent: str = Field(default="Citebot", min_length=1, description="how the site and its `robots.txt` know us")

    @field_validator("start_urls", "sitemaps")
    @classmethod
    def _are_addresses(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        for url in urls:
            if "@" in url.partition("://")[2].partition("/")[0]:
                raise ValueError("an address holds a name or password; put them into `headers`")
            if not normalised(url):
                raise ValueError(f'"{url}" is no address such as "https://example.org/docs/"')
        return urls

    @model_validator(mode="after")
    def _begins_somewhere(self) -> "WebOptions":
        if not self.start_urls and not self.sitemaps:
            raise ValueError("name `start_urls` or `sitemaps`")
        return self

    def basis(self) -> str:
        """Return what changes when another crawl would be made: what one remembers is then of no use."""
        return basis_of(
            self.start_urls,
            self.sitemaps,
            self.include,
            self.exclude,
            self.max_depth,
            self.ignore_query,
            self.robots,
        )
