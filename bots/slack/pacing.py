"""Slack's client: calls that the turn doesn't pace keep to their tiers, and wait rather than be refused."""

from typing import Any

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bots.slack.limits import method_limits
from bots.turn.pacing import Pacer


class PacedClient(AsyncWebClient):
    """The SDK's client; all of its methods go through ``api_call``."""

    def __init__(self, **options: Any) -> None:
        """Take what the SDK's client takes."""
        super().__init__(**options)
        self._pacer = Pacer()

    async def api_call(self, api_method: str, **given: Any) -> AsyncSlackResponse:
        """Make a call as soon as its method's tier allows."""
        with await self._pacer.take(method_limits(api_method)):
            return await super().api_call(api_method, **given)

    def delay(self, api_method: str) -> float:
        """Return how many seconds a call of the method would have to wait now."""
        return self._pacer.delay(method_limits(api_method))
