"""One chat platform kept connected: begun again with patience when it fails, while the others run on."""

import asyncio
import logging
import random
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Any

from bots.platform import Platform
from bots.turn.taking import Tell
from bots.turn.turns import Turns
from bots.words.sentences import word
from ragcore.errors import CitebotError, ConfigError, PlatformAuthError, PlatformError

log = logging.getLogger(__name__)

_SHORTEST, _LONGEST = 1.0, 60.0
"""Seconds between two tries to connect, doubled each time."""
_DOUBLED = 10
"""So often at most: by then each wait is the longest, and an outage of a day has more tries than a float has powers."""
_REFUSED_SHORTEST, _REFUSED_LONGEST = 30.0, 600.0
"""The same where the platform refused us: somebody has to mend that first."""
_STEADY = 120.0
"""Seconds of being connected after which a failure counts as the first."""
_CLOSING = 3.0


class LinkState(StrEnum):
    """Where a connection stands."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    WAITING = "waiting"
    """It failed, and is tried again later."""


class PlatformTurns(Turns[Any]):
    """The turns of one platform, which also tell that it is connected, and what happened there."""

    up: Callable[[], None]
    watch: Callable[[Mapping[str, Any]], None] | None = None
    """Takes raw events."""

    def saw(self, event: Mapping[str, Any]) -> None:
        """Hand it on, if anybody wants it."""
        if self.watch is not None:
            self.watch(event)

    async def connected(self) -> None:
        """Note it, then take up what was left."""
        self.up()
        await super().connected()


class Connection:
    """One platform with its turns.

    Args:
        name: The platform's.
        make: Makes the platform and its turns; PlatformError when the settings for it can't be right.
        tell: Tells the admins elsewhere (the platform that failed, in words).
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], Awaitable[tuple[Platform[Any], PlatformTurns]]],
        *,
        tell: Tell,
        language: str = "en",
    ) -> None:
        """Compose; nothing is begun before ``keep``. Admins are told in the language."""
        self.name = name
        self.state = LinkState.CONNECTING
        self.fault = ""
        self.connected = asyncio.Event()
        self.tried = asyncio.Event()
        """Set once it was connected, or has failed for the first time."""
        self.platform: Platform[Any] | None = None
        self.turns: PlatformTurns | None = None
        self._make = make
        self._tell = tell
        self._language = language
        self._told = ""
        self._since = 0.0

    async def keep(self) -> None:
        """Connect, and again whenever it fails, until cancelled."""
        failures = 0
        while True:
            refused = await self._serve()
            if self.connected.is_set() and time.monotonic() - self._since > _STEADY:
                failures = 0
            self.connected.clear()
            self.state = LinkState.WAITING
            self.tried.set()
            shortest, longest = (_REFUSED_SHORTEST, _REFUSED_LONGEST) if refused else (_SHORTEST, _LONGEST)
            wait = min(longest, shortest * 2 ** min(failures, _DOUBLED))
            failures += 1
            log.warning("%s: %s; trying again in %.0f s", self.name, self.fault, wait)
            if (refused or failures > 3) and self.fault != self._told:
                self._told = self.fault
                await self._tell(self.name, word("platform_down", self._language, name=self.name, why=self.fault))
            await asyncio.sleep(wait * random.uniform(0.8, 1.2))
            self.state = LinkState.CONNECTING

    async def _serve(self) -> bool:
        """Serve until it fails; return whether the platform refused us."""
        try:
            if self.platform is None or self.turns is None:
                self.platform, self.turns = await self._make()
                self.turns.up = self._up
                await self.turns.__aenter__()
            await self.platform.serve(self.turns)
            self.fault = "the connection ended"
        except PlatformAuthError as error:
            self.fault = str(error)
            return True
        except (PlatformError, ConfigError) as error:
            self.fault = str(error)
        except CitebotError as error:
            self.fault = f"{type(error).__name__}: {error}"
        except Exception as error:
            reference = uuid.uuid4().hex[:8]
            log.exception("%s failed, reference %s", self.name, reference)
            self.fault = f"something unexpected went wrong ({type(error).__name__}, reference {reference})"
        return False

    def _up(self) -> None:
        self.state, self.fault, self._since = LinkState.CONNECTED, "", time.monotonic()
        self.connected.set()
        self.tried.set()
        log.info("%s: connected", self.name)
        if self._told:
            self._told = ""
            log.info("%s: works again", self.name)

    async def finish(self, seconds: float) -> None:
        """Take nothing more, and finish what is under way for so long; the rest is handed over."""
        if self.turns is not None:
            await self.turns.close(seconds)
