"""Calls of Slack's Web API, with its errors as ours; whether and when to try again is the sync's to decide.

Limits (https://docs.slack.dev/apis/web-api/rate-limits): ``conversations.history`` and ``.replies`` 50 a minute, which
is 1 a minute and 15 messages for apps that are sold outside of Slack's Marketplace; ``users.list`` 20 a minute. What
was answered is kept until it is let go of: a run that waits for a limit in the middle of something goes on from there.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from pydantic import SecretStr

from connectors.http import HttpClient, HttpOptions
from connectors.http.faults import DEFAULT_WAIT, retry_after
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceRateLimited

_LIMIT = 50_000_000  # bytes of one reply
PAGE = 200
"""As many as Slack recommends (https://docs.slack.dev/apis/web-api/pagination)."""

Json = Mapping[str, Any]

_COPY = "copy the Bot User OAuth Token (xoxb-…) of the app into `token`"
_REINSTALL = "install the app again, and copy its Bot User OAuth Token (xoxb-…) into `token`"
_AUTH = MappingProxyType(
    {
        "not_authed": _COPY,
        "invalid_auth": _COPY,
        "not_allowed_token_type": _COPY,
        "account_inactive": _REINSTALL,
        "token_revoked": _REINSTALL,
        "token_expired": "turn token rotation off for the app, or " + _REINSTALL,
        "access_denied": "ask an admin of the workspace to allow the app",
        "no_permission": "ask an admin of the workspace to allow the app",
        "ekm_access_denied": "ask an admin of the workspace to lift the suspension of its encryption keys",
        "enterprise_is_restricted": "ask an admin of the organisation to allow the app",
        "org_login_required": "wait until the workspace is moved to its organisation",
        "team_access_not_granted": "ask an admin of the organisation to add the app to the workspace",
        "team_access_not_found": "ask an admin of the organisation to add the app to the workspace",
    }
)


class Refused(SourceBadReply):
    """Slack did not do what was asked; ``code`` is its name for why."""

    def __init__(self, message: str, *, code: str, mend: str) -> None:
        """Keep the code."""
        super().__init__(message, mend=mend)
        self.code = code


@dataclass(slots=True)
class Answers:
    """What was answered in a run, by what was asked."""

    kept: dict[str, Json] = field(default_factory=dict)
    calls: int = 0
    """How many calls were made."""

    def forget(self, method: str) -> None:
        """Let go of the answers to a method."""
        for asked in [one for one in self.kept if one.partition("?")[0] == method]:
            del self.kept[asked]


@dataclass(slots=True)
class Api:
    """The methods of the Web API; ``client`` is open."""

    client: HttpClient
    url: str
    answers: Answers

    async def call(self, method: str, **arguments: object) -> Json:
        """Return what a method answers, asking once in a run; arguments of None or "" are left out.

        Raises:
            Refused: Slack says ``ok: false`` for another reason than the credential or its limits.
            SourceError: Another of its kinds.
        """
        given = {name: value for name, value in sorted(arguments.items()) if value not in (None, "")}
        asked = f"{method}?{urlencode(given)}"
        if asked not in self.answers.kept:
            found = await self.client.json(f"{self.url}{asked}", limit=_LIMIT)
            self.answers.calls += 1
            said = found.value if isinstance(found.value, dict) else {}
            if said.get("ok") is not True:
                raise _error(method, said, found.reply.headers)
            self.answers.kept[asked] = said
        return self.answers.kept[asked]

    async def pages(self, method: str, **arguments: object) -> AsyncIterator[Json]:
        """Yield the pages of a list; the last one has no ``next_cursor``."""
        cursor, seen = "", {""}
        while True:
            said = await self.call(method, limit=PAGE, cursor=cursor, **arguments)
            yield said
            cursor = next_cursor(said)
            if not cursor:
                return
            if (
                cursor in seen
            ):  # asked again, it would be answered from what is kept, without an end and without a pause
                raise SourceBadReply(f"Slack's answer to {method} doesn't end", mend="try again later")
            seen.add(cursor)


def next_cursor(said: Json) -> str:
    """Return where the next page begins, "" after the last."""
    return str((said.get("response_metadata") or {}).get("next_cursor") or "")


def http_options(api_url: str, token: SecretStr) -> HttpOptions:
    """Return how the API is asked: whoever runs Citebot named its host, so it may be one of their own network."""
    bearer = SecretStr(f"Bearer {token.get_secret_value()}")
    return HttpOptions(headers={"Authorization": bearer}, trusted=(api_url,), addresses=None)


def _error(method: str, said: Json, headers: Mapping[str, str]) -> SourceError:
    """Return what ``ok: false`` means (https://docs.slack.dev/apis/web-api/#evaluating_responses)."""
    told = str(said.get("error") or "")
    code = told if told.isascii() and told.replace("_", "").isalnum() and len(told) <= 60 else "no reason told"
    if code in {"ratelimited", "rate_limited"}:
        wait = retry_after(headers)
        seconds = DEFAULT_WAIT if wait is None else wait
        return SourceRateLimited(f"Slack asks to wait {seconds:.0f} s with {method}", retry_after=seconds)
    if code == "missing_scope":
        needed = " or ".join(str(said.get("needed") or "").replace(" ", "").split(",")[:5]) or "that it doesn't name"
        mend = f"add the scope {needed} to the app (OAuth & Permissions, Bot Token Scopes), and install it again"
        return SourceAuthError(f"Slack's {method} needs the scope {needed}", mend=mend)
    if code in _AUTH:
        return SourceAuthError(f"Slack refused the token ({code})", mend=_AUTH[code])
    return Refused(f"Slack refused {method} ({code})", code=code, mend="try again later")
