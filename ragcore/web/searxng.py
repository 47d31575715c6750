"""SearXNG, a search engine of one's own: ``GET /search?q=...&format=json`` (docs.searxng.org, Search API; 2026-11).

Returned is ``results`` with ``title``, ``url``, ``content`` and ``publishedDate``; how many cannot be asked for. An
instance answers 403 unless ``search.formats`` in its ``settings.yml`` has ``json``, and its limiter 429. It needs no
key; one stands here for a proxy before it, as a Bearer token. A word of a query that begins with ``!`` chooses an
engine, with ``!!`` another site to be led to, with ``:`` a language and with ``<`` a time limit; ``!!`` alone leads to
what is found first (docs.searxng.org, Search syntax): a question asks for none of these.
"""

import re
from collections.abc import Mapping
from urllib.parse import urlencode

from ragcore.errors import SourceError
from ragcore.web.asking import Asking, Engine, rows_of
from ragcore.web.http import JsonHttp
from ragcore.web.pages import WebPage, page_of, pages_of, searchable

_SYNTAX = re.compile(r"(?<!\S)[!:<]+")
_ENGINES_MEND = "see its page of preferences, or the log of the instance, for which engines are blocked"
_ENGINE = Engine(
    name="SearXNG",
    auth_mend="add json to search.formats in its settings.yml, or check base_url and api_key under [web]",
    limit_mend="put the address of this machine under pass_ip in its limiter.toml: it takes programs for robots",
)


class SearXNG:
    """Asks an instance; safe for concurrent calls within one event loop."""

    def __init__(self, http: JsonHttp, *, base_url: str, api_key: str = "") -> None:
        """Keep the instance's address."""
        self._asking = Asking(http, _ENGINE)
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._url = f"{base_url.rstrip('/').removesuffix('/search')}/search"

    @property
    def name(self) -> str:
        """Return the engine's name."""
        return _ENGINE.name

    async def search(self, query: str, count: int) -> tuple[WebPage, ...]:
        """Return pages; see ``WebSearch.search``."""
        asked = {"q": _SYNTAX.sub("", searchable(query)).strip(), "format": "json"}
        if not asked["q"]:
            return ()
        found = await self._asking.ask(f"{self._url}?{urlencode(asked)}", headers=self._headers)
        rows = rows_of(found, "results", engine=self.name)
        if not rows and isinstance(found, Mapping) and found.get("unresponsive_engines"):
            raise SourceError("SearXNG found nothing, for engines that it asks did not answer it", mend=_ENGINES_MEND)
        return pages_of((page_of(row, text=("content",), date="publishedDate") for row in rows), count)
