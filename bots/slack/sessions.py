"""Agent sessions: Slack's own Stop button while a reply is written, for apps that are declared as agents."""

import asyncio
import logging
import time
from collections import deque
from typing import Any

from bots.platform import Incoming
from bots.rendering.clean import clean_line
from bots.slack.calling import Calls, settled
from bots.slack.limits import MINUTE, SESSION_STATUS
from ragcore.errors import PlatformAuthError, PlatformError, PlatformRateLimited, PlatformRefused
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

MAX_TITLE = 200
_DEAF = "missing_agent_session_stopped_event_subscription"
_ENDS = 5
"""How often the end of a session is tried again."""
A_MINUTE = 45
"""Calls in any minute, of the 50 that Slack takes; the rest are left to those who press Stop."""


class Sessions:
    """Which threads show that the agent is at work."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._agent: bool | None = None
        self._hears = True
        self._open: set[tuple[str, str]] = set()
        self._called: deque[float] = deque()
        self._under_way = 0
        self._closing: set[asyncio.Task[None]] = set()

    def has_stop(self, incoming: Incoming) -> bool:
        """Tell whether Slack shows its own Stop button in the conversation now."""
        return self._hears and self._agent is True and self.is_open(incoming.conversation)

    def is_open(self, conversation: ConversationKey) -> bool:
        """Tell whether the thread shows that the agent is at work."""
        return _place(conversation) in self._open

    async def begin(self, incoming: Incoming) -> None:
        """Show the Stop button, if this app has one and the limits leave room. Never raises."""
        place = _place(incoming.conversation)
        if self._agent is False or place in self._open or not self._has_room():
            return
        self._open.add(place)  # before the call, which may be given up and arrive all the same
        title = clean_line(incoming.text)[:MAX_TITLE] or None
        try:
            said = await self._set(place, "processing", title=title, initiator_user_id=incoming.asker.id)
        except (PlatformRefused, PlatformAuthError) as error:
            log.info("Slack shows no Stop button of its own (%s); ours is shown instead", error)
            self._agent = False
            self._open.discard(place)
        except PlatformError as error:
            log.debug("left out: %s", error)
            self._open.discard(place)
        else:
            self._agent = True
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
        if place not in self._open and not anyway:
            return
        self._open.discard(place)
        if self._calls.client.delay(SESSION_STATUS) > 0 or not await self._close(place):
            task = asyncio.create_task(self._close_later(place))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _close_later(self, place: tuple[str, str]) -> None:
        """End a session for which other processes left no room: else its Stop button would stay."""
        for _ in range(_ENDS):
            await asyncio.sleep(self._calls.client.delay(SESSION_STATUS))
            if place in self._open or await self._close(place):
                return

    async def _close(self, place: tuple[str, str]) -> bool:
        """Return False when Slack asks to wait."""
        try:
            await self._set(place, "active")
        except PlatformRateLimited:
            return False
        except PlatformError as error:
            log.debug("left out: %s", error)
        return True

    async def close(self) -> None:
        """End no more sessions."""
        for task in (closing := list(self._closing)):
            task.cancel()
        await settled(*closing)

    async def _set(self, place: tuple[str, str], status: str, **more: Any) -> dict[str, Any]:
        self._under_way += 1
        try:
            ask = self._calls.client.agents_sessions_setStatus
            return await self._calls.do(ask(channel_id=place[0], thread_ts=place[1], status=status, **more))
        finally:
            self._under_way -= 1
            self._called.append(time.monotonic())

    def _has_room(self) -> bool:
        """Tell whether a session may begin so that its end, and those of all that are open, have room as well."""
        while self._called and self._called[0] < time.monotonic() - MINUTE:
            self._called.popleft()
        if self._calls.client.delay(SESSION_STATUS) > 0:
            return False
        return len(self._called) + self._under_way + len(self._open) + 2 <= A_MINUTE


def _place(conversation: ConversationKey) -> tuple[str, str]:
    return conversation.channel, conversation.thread
