"""Brave's search: ``GET /res/v1/web/search`` with the key as ``X-Subscription-Token``.

By api-dashboard.search.brave.com (API reference, Web search; read in 2026-11): ``q`` has at most 400 characters and 50
words, ``count`` is 1 to 20. Returned is ``web.results`` with ``title``, ``url``, ``description``, and where the plan
has them ``extra_snippets`` and ``page_age``. A wrong key is told as 422 with the code ``SUBSCRIPTION_TOKEN_INVALID``
(nearai/ironclaw#2780), a wrong parameter as 422 ``VALIDATION``. ``X-RateLimit-Remaining`` and ``X-RateLimit-Reset``
have one number a window, a second's and a month's: ``0, 1000`` and ``1, 1419704``. Requests without ``Cache-Control:
no-cache`` were refused with 422 (openclaw/openclaw#2498). No language is asked for: the codes differ from everybody
else's, and a wrong one is refused.
"""

from collections.abc import Mapping
from urllib.parse import urlencode

from ragcore.models.openai_errors import retry_after
from ragcore.web.asking import Asking, Engine, rows_of
from ragcore.web.http import JsonHttp
from ragcore.web.pages import WebPage, page_of, pages_of, searchable

BASE_URL = "https://api.search.brave.com"
MOST_RESULTS = 20


def _wait(headers: Mapping[str, str]) -> float | None:
    """Return when each window that is used up has room again; the plain header goes before, where there is one."""
    if (told := retry_after(headers)) is not None:
        return told
    resets, left = (_numbers(headers.get(f"X-RateLimit-{name}", "")) for name in ("Reset", "Remaining"))
    used_up = [reset for reset, room in zip(resets, left, strict=False) if room == 0] or resets[:1]
    return float(max(used_up)) if used_up else None


def _numbers(header: str) -> list[int]:
    parts = [part.strip() for part in header.split(",")]
    return [int(part) for part in parts] if all(part.isascii() and part.isdigit() for part in parts) else []


def _is_key_refused(said: object) -> bool:
    error = said.get("error") if isinstance(said, Mapping) else None
    return isinstance(error, Mapping) and error.get("code") == "SUBSCRIPTION_TOKEN_INVALID"


_ENGINE = Engine(
    name="Brave",
    auth_mend="set the right BRAVE_API_KEY, or api_key under [web]",
    wait=_wait,
    is_key_refused=_is_key_refused,
)


class Brave:
    """Asks Brave; safe for concurrent calls within one event loop."""

    def __init__(self, http: JsonHttp, *, api_key: str, base_url: str = "") -> None:
        """Keep the key; another ``base_url`` is that of a proxy."""
        self._asking = Asking(http, _ENGINE)
        self._headers = {"X-Subscription-Token": api_key, "Cache-Control": "no-cache"}
        self._url = f"{(base_url or BASE_URL).rstrip('/')}/res/v1/web/search"

    @property
    def name(self) -> str:
        """Return the engine's name."""
        return _ENGINE.name

    async def search(self, query: str, count: int) -> tuple[WebPage, ...]:
        """Return pages; see ``WebSearch.search``."""
        asked = {"q": searchable(query), "count": str(min(count, MOST_RESULTS))}
        if not asked["q"]:
            return ()
        found = await self._asking.ask(f"{self._url}?{urlencode(asked)}", headers=self._headers)
        if isinstance(found, Mapping) and found.get("type") == "search" and "web" not in found:
            return ()  # so it tells that nothing was found
        rows = rows_of(found, "web", "results", engine=self.name)
        return pages_of((page_of(row, text=("description", "extra_snippets"), date="page_age") for row in rows), count)
