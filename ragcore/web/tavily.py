"""Tavily's search: ``POST /search`` with a Bearer token (docs.tavily.com, API reference, Search; read in 2026-11).

Sent is ``query``, ``max_results`` (0 to 20), ``search_depth`` (``basic`` costs one credit) and ``topic``; returned are
``results`` with ``title``, ``url``, ``content`` (a summary in sentences of the page) and, for news, ``published_date``.
Refusals (help.tavily.com, Errors): 400 a wrong parameter, 401 the key, 429 too often, with ``retry-after`` in seconds
(docs.tavily.com, Rate limits: 100 requests a minute of a development key, 1,000 of a production key), 432 the plan's
limit, 433 that of pay-as-you-go.
"""

from ragcore.web.asking import Asking, Engine, rows_of
from ragcore.web.http import JsonHttp
from ragcore.web.pages import WebPage, page_of, pages_of, searchable

BASE_URL = "https://api.tavily.com"
MOST_RESULTS = 20

_ENGINE = Engine(
    name="Tavily",
    auth_mend="set the right TAVILY_API_KEY, or api_key under [web]",
    used_up=frozenset({402, 432, 433}),
)


class Tavily:
    """Asks Tavily; safe for concurrent calls within one event loop."""

    def __init__(self, http: JsonHttp, *, api_key: str, base_url: str = "") -> None:
        """Keep the key; another ``base_url`` is that of a proxy."""
        self._asking = Asking(http, _ENGINE)
        self._headers = {"Authorization": f"Bearer {api_key}"}
        self._url = f"{(base_url or BASE_URL).rstrip('/')}/search"

    @property
    def name(self) -> str:
        """Return the engine's name."""
        return _ENGINE.name

    async def search(self, query: str, count: int) -> tuple[WebPage, ...]:
        """Return pages; see ``WebSearch.search``."""
        body = {
            "query": searchable(query),
            "max_results": min(count, MOST_RESULTS),
            "search_depth": "basic",
            "topic": "general",
        }
        if not body["query"]:
            return ()
        found = await self._asking.ask(self._url, method="POST", body=body, headers=self._headers)
        rows = rows_of(found, "results", engine=self.name)
        return pages_of((page_of(row, text=("content",), date="published_date") for row in rows), count)
