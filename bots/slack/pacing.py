"""Slack's client: calls that the turn doesn't pace keep to their tiers, and wait rather than be refused.

Slack counts the calls of all processes of a workspace together, and another one's are known here only by a refusal.
Then all calls of the method wait as long as Slack asks for, not only the one that was refused.
"""

from collections.abc import Mapping
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bots.slack.limits import AT_ONCE, method_limits
from bots.turn.replying.pacing import Pacer

LONGEST_WAIT = 60.0
"""Seconds: for longer nobody waits here, and the refusal is told."""
_UNKNOWN_WAIT = 30.0
_LIMITED = frozenset({"ratelimited", "rate_limited"})


class PacedClient(AsyncWebClient):
    """The SDK's client; all of its methods go through ``api_call``."""

    def __init__(self, **options: Any) -> None:
        """Take what the SDK's client takes."""
        super().__init__(**options)
        self._pacer = Pacer()

    async def api_call(self, api_method: str, **given: Any) -> AsyncSlackResponse:
        """Make a call as soon as its method's tier allows, and once more when Slack asks to wait."""
        try:
            return await self._call(api_method, **given)
        except SlackApiError as error:
            wait = asked_to_wait(error)
            if wait is None or wait > LONGEST_WAIT or api_method in AT_ONCE or not method_limits(api_method):
                raise
        return await self._call(api_method, **given)

    async def _call(self, api_method: str, **given: Any) -> AsyncSlackResponse:
        limits = method_limits(api_method)
        with await self._pacer.take(limits):
            try:
                return await super().api_call(api_method, **given)
            except SlackApiError as error:
                if (wait := asked_to_wait(error)) is not None:
                    self._pacer.pause(limits, wait)
                raise

    def delay(self, api_method: str) -> float:
        """Return how many seconds a call of the method would have to wait now."""
        return self._pacer.delay(method_limits(api_method))


def asked_to_wait(error: SlackApiError) -> float | None:
    """Return the seconds that a refusal asks to wait, None when it is another one."""
    response = error.response
    status = int(getattr(response, "status_code", 0) or getattr(response, "status", 0) or 0)
    data = getattr(response, "data", None)
    if not is_limited(str(data.get("error") or "") if isinstance(data, dict) else "", status):
        return None
    return seconds_to_wait(getattr(response, "headers", None) or {})


def is_limited(code: str, status: int) -> bool:
    """Tell whether a refusal, by its error and HTTP status, is that of a limit."""
    return status == 429 or code in _LIMITED


def seconds_to_wait(headers: Mapping[str, str]) -> float:
    """Return what the headers of a refusal ask to wait."""
    try:
        return max(0.0, float(headers.get("Retry-After", _UNKNOWN_WAIT)))
    except ValueError:
        return _UNKNOWN_WAIT
