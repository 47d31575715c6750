"""How any engine is asked over HTTP: once, within bounds, and never again before the time that it asked to wait.

Whoever asked a question waits meanwhile, so nothing is tried again: a failure is told, and the answer goes on without.
What an engine says with a refusal is not repeated: it may hold the question.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceRateLimited
from ragcore.models.openai_errors import retry_after
from ragcore.web.http import JsonHttp, Reply

LONGEST_REPLY = 4_000_000
"""Bytes of an answer that are read: twenty results with all that engines send take a twentieth of it."""
DEFAULT_WAIT = 60.0
"""Seconds to wait where an engine says that it is asked too often, and not for how long."""
USED_UP_WAIT = 600.0
"""Seconds after which it is asked again once the plan's searches were used up."""
LONGEST_WAIT = 24 * 3600.0
MOST_ROWS = 100
"""Results that are looked at: no engine that is asked for a page of them sends more."""

TOO_OFTEN, REFUSED_KEY = 429, frozenset({401, 403})
_NO_SEARCH = frozenset({404, 405, 410})
_TOLD = frozenset({400, 401, 402, 403, 404, 405, 406, 410, 413, 414, 422, TOO_OFTEN, 432, 433})
"""Statuses that are judged here; the client knows the rest (500 and more: the engine failed)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What is peculiar to an engine.

    ``auth_mend`` says what to do when the key is refused, and names the setting, ``limit_mend`` where it is asked too
    often. ``used_up`` are statuses that say that the plan's searches are used up. ``wait`` reads how long it asks to
    wait, in seconds; None: it doesn't say.
    ``is_key_refused`` tells by the JSON of a refusal that the key was, where the status alone does not.
    """

    name: str
    auth_mend: str
    limit_mend: str = ""
    used_up: frozenset[int] = frozenset({402})
    wait: Callable[[Mapping[str, str]], float | None] = retry_after
    is_key_refused: Callable[[object], bool] = field(default=lambda said: False)


class Asking:
    """Asks one engine; safe for concurrent calls within one event loop."""

    def __init__(self, http: JsonHttp, engine: Engine, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Keep the client; ``clock`` counts seconds."""
        self._http = http
        self._engine = engine
        self._clock = clock
        self._rests_until = 0.0

    async def ask(
        self, url: str, *, method: str = "GET", body: object = None, headers: Mapping[str, str] | None = None
    ) -> object:
        """Return the value of the JSON that is answered.

        Raises:
            SourceError: As ``WebSearch.search`` raises it.
        """
        name = self._engine.name
        left = self._rests_until - self._clock()
        if left > 0.0:
            raise SourceRateLimited(f"{name} asked to wait, {left:.0f} s more", retry_after=left)
        try:
            found = await self._http.json(
                url, method=method, body=body, headers=headers or {}, limit=LONGEST_REPLY, redirects=0, telling=_TOLD
            )
            if found.reply.status >= 400:
                raise self._refusal(found.reply, found.value)
        except SourceRateLimited as error:
            self._rests_until = max(self._rests_until, self._clock() + error.retry_after)
            raise
        if found.value is None:
            raise SourceBadReply(
                f"{name} led elsewhere instead of answering ({found.reply.status})", mend="check base_url under [web]"
            )
        return found.value

    def _refusal(self, reply: Reply, said: object) -> SourceError:
        """Return what a status from 400 on means."""
        engine, status = self._engine, reply.status
        if status == TOO_OFTEN:
            asked = engine.wait(reply.headers)
            seconds = min(max(DEFAULT_WAIT if asked is None else asked, 0.0), LONGEST_WAIT)
            return SourceRateLimited(
                f"{engine.name} was asked too often, and asks to wait {seconds:.0f} s ({status})",
                retry_after=seconds,
                mend=engine.limit_mend,
            )
        if status in engine.used_up:
            return SourceRateLimited(
                f"the searches of the plan at {engine.name} are used up ({status})",
                retry_after=USED_UP_WAIT,
                mend="raise the plan's limit there, or wait until it begins anew",
            )
        if status in REFUSED_KEY or engine.is_key_refused(said):
            return SourceAuthError(f"{engine.name} refused the search ({status})", mend=engine.auth_mend)
        if status in _NO_SEARCH:
            return SourceBadReply(
                f"there is no search of {engine.name} at its address ({status})",
                mend="check provider and base_url under [web]",
            )
        return SourceBadReply(f"{engine.name} refused the search ({status})", mend="check the settings of [web]")


def rows_of(value: object, *path: str, engine: str) -> list[object]:
    """Return the list that stands under these names in an engine's answer, as far as it is looked at.

    Raises:
        SourceBadReply: There is none.
    """
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    if not isinstance(value, list):
        raise SourceBadReply(f"{engine} did not answer as it should", mend="check base_url under [web]")
    return value[:MOST_ROWS]
