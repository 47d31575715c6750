"""``getUpdates`` and webhooks: what the bot hears of, until it has confirmed it."""

import asyncio
import time

from aiohttp import ClientSession

from tests.servers.telegram.rules import Json, Refused
from tests.servers.telegram.world import World

_MOMENT = 1e-6
"""Seconds that are none: by a loop's own clock less may be left for ever."""


class Updates:
    """The queue of updates."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._updates: list[Json] = []
        self._polling: asyncio.Event | None = None
        self._arrived = asyncio.Event()
        self._sending: set[asyncio.Task[None]] = set()

    def push(self, update: Json) -> int:
        """Queue an update for the bot, and return its id."""
        number = self._world.next_update()
        self.redeliver({"update_id": number, **update})
        return number

    def redeliver(self, update: Json) -> None:
        """Queue an update under its own id (again)."""
        self._updates.append(update)
        self._updates.sort(key=lambda held: held["update_id"])
        self._arrived.set()
        if self._world.webhook is not None:
            task = asyncio.create_task(self._post(update))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def get(self, params: Json) -> object:
        if self._world.webhook is not None:
            raise Refused(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete "
                               "the webhook first")  # fmt: skip
        if self._polling is not None:
            self._polling.set()
        stopped = self._polling = asyncio.Event()
        offset = params.get("offset", 0)
        self._updates = [update for update in self._updates if update["update_id"] >= offset]
        until = self._world.clock() + min(50, params.get("timeout", 0))
        allowed = params.get("allowed_updates")
        while not self._updates and until - self._world.clock() > _MOMENT and not stopped.is_set():
            self._arrived.clear()
            waits = [asyncio.ensure_future(self._arrived.wait()), asyncio.ensure_future(stopped.wait())]
            _, pending = await asyncio.wait(
                waits, timeout=until - self._world.clock(), return_when=asyncio.FIRST_COMPLETED
            )
            for wait in pending:
                wait.cancel()
        if stopped.is_set():
            raise Refused(409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is "
                               "running")  # fmt: skip
        self._polling = None
        ready = self._updates[: params.get("limit", 100)]
        return [u for u in ready if not allowed or any(kind in u for kind in allowed)]

    async def set_webhook(self, params: Json) -> object:
        self._world.webhook = params
        self._updates.clear()
        return True

    async def delete_webhook(self, params: Json) -> object:
        self._world.webhook = None
        if params.get("drop_pending_updates"):
            self._updates.clear()
        return True

    async def webhook_info(self, params: Json) -> object:
        url = self._world.webhook["url"] if self._world.webhook else ""
        told = {"url": url, "has_custom_certificate": False, "pending_update_count": len(self._updates)}
        error = self._world.webhook_error
        return told | ({"last_error_date": int(time.time()), "last_error_message": error} if error else {})

    async def _post(self, update: Json) -> None:
        """Deliver to the webhook, again until it is taken (the real server waits longer in between)."""
        assert self._world.webhook is not None
        headers = {"X-Telegram-Bot-Api-Secret-Token": self._world.webhook.get("secret_token", "")}
        async with ClientSession() as session:
            for pause in (0.05, 0.1, 0.2, 0.4, 0.8, 1.6):
                try:
                    async with session.post(self._world.webhook["url"], json=update, headers=headers) as answer:
                        self._world.webhook_answers.append(answer.status)
                        if 200 <= answer.status < 300:
                            return
                except OSError:
                    self._world.webhook_answers.append(0)
                await asyncio.sleep(pause)

    def close(self) -> None:
        """Give up what is on its way."""
        for task in list(self._sending):
            task.cancel()
