"""Agent sessions: Slack's own Stop button while a reply is written, for apps that are declared as agents."""

import logging
import time
from collections import deque

from bots.platform import Incoming
from bots.rendering.clean import clean_line
from bots.slack.calling import Calls
from ragcore.errors import PlatformAuthError, PlatformError, PlatformRefused
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

MAX_TITLE = 200
_DEAF = "missing_agent_session_stopped_event_subscription"
BEGUN_A_MINUTE = 20
"""Each session that begins may need a second call for its end: together they stay below Slack's 50 a minute."""


class Sessions:
    """Which threads show that the agent is at work."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._agent: bool | None = None
        self._hears = True
        self._open: set[tuple[str, str]] = set()
        self._begun: deque[float] = deque()

    def has_stop(self, incoming: Incoming) -> bool:
        """Tell whether Slack shows its own Stop button in the conversation now."""
        return self._hears and _place(incoming.conversation) in self._open

    def is_open(self, conversation: ConversationKey) -> bool:
        """Tell whether the thread shows that the agent is at work."""
        return _place(conversation) in self._open

    async def begin(self, incoming: Incoming) -> None:
        """Show the Stop button, if this app has one and the limits leave room. Never raises."""
        place, now = _place(incoming.conversation), time.monotonic()
        while self._begun and self._begun[0] < now - 60.0:
            self._begun.popleft()
        if self._agent is False or place in self._open or len(self._begun) >= BEGUN_A_MINUTE:
            return
        self._begun.append(now)
        call = self._calls.client.agents_sessions_setStatus(
            channel_id=place[0],
            thread_ts=place[1],
            status="processing",
            title=clean_line(incoming.text)[:MAX_TITLE] or None,
            initiator_user_id=incoming.asker.id,
        )
        try:
            said = await self._calls.do(call)
        except (PlatformRefused, PlatformAuthError) as error:
            log.info("Slack shows no Stop button of its own (%s); ours is shown instead", error)
            self._agent = False
        except PlatformError as error:
            log.debug("left out: %s", error)
        else:
            self._agent = True
            self._open.add(place)
            if self._hears and _DEAF in str(said.get("warning") or said.get("response_metadata") or ""):
                log.warning(
                    "the app isn't subscribed to agent_session_stopped, so Slack shows no Stop button; "
                    "take the events that citebot slack manifest lists"
                )
                self._hears = False

    def closed(self, conversation: ConversationKey) -> None:
        """Note that Slack knows of the end already."""
        self._open.discard(_place(conversation))

    async def end(self, conversation: ConversationKey, *, anyway: bool = False) -> None:
        """Let the thread show that nothing is under way. Never raises."""
        place = _place(conversation)
        if place in self._open or anyway:
            self._open.discard(place)
            await self._calls.quietly(
                self._calls.client.agents_sessions_setStatus(channel_id=place[0], thread_ts=place[1], status="active")
            )


def _place(conversation: ConversationKey) -> tuple[str, str]:
    return conversation.channel, conversation.thread
