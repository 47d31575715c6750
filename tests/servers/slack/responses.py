"""Response URLs: five answers within 30 minutes to what somebody typed or pressed."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from tests.servers.faults import Fault
from tests.servers.slack.rules import RESPONSES, Json, Refused, content
from tests.servers.slack.world import Shown, World


@dataclass(kw_only=True)
class Address:
    """A response URL."""

    channel: str
    user: str
    shown: Shown | None
    replaces: bool
    """Whether it came with a press: what one person alone sees is changed "only in response to an interaction with the
    message itself" (https://docs.slack.dev/messaging); a command's address changes nothing, as users were told
    (https://github.com/slackapi/bolt-python/issues/1268, https://github.com/slackapi/bolt-js/issues/2287)."""
    born: float
    used: int = 0


class Responses:
    """All response URLs."""

    def __init__(self, world: World, faulty: Callable[[Fault, web.Request], web.StreamResponse]) -> None:
        self._world = world
        self._faulty = faulty
        self._addresses: dict[str, Address] = {}

    def address(self, channel: str, user: str, shown: Shown | None, *, replaces: bool) -> str:
        """Return a new response URL: of a press, which ``replaces`` what was pressed, or of a command."""
        name = f"R{self._world.number()}"
        self._addresses[name] = Address(
            channel=channel, user=user, shown=shown, replaces=replaces, born=time.monotonic()
        )
        return f"{self._world.url}/response/{name}"

    def expire(self, url: str) -> None:
        """Let a response URL be older than 30 minutes."""
        self._addresses[url.rpartition("/")[2]].born = -self._world.response_seconds

    def show_ack(self, url: str, said: Json) -> None:
        """Show what an acknowledgement says, if it says anything."""
        if not (said.get("text") or said.get("blocks")):
            return
        address = self._addresses[url.rpartition("/")[2]]
        shown = Shown(
            channel=address.channel,
            user=address.user,
            text=said.get("text", ""),
            blocks=said.get("blocks", []),
            url=url,
            acknowledges=True,
        )
        address.shown = shown
        self._world.shown.append(shown)

    async def respond(self, request: web.Request) -> web.StreamResponse:
        """Take a call of a response URL; faults on demand."""
        address = self._addresses[request.match_info["name"]]
        params = await request.json()
        self._world.calls.append((time.monotonic(), "response_url", params))
        fault = self._world.faults.take("response_url")
        if fault is not None and fault.delay:
            await asyncio.sleep(fault.delay)
        if fault is not None and not fault.done and fault.status != 200:
            return self._faulty(fault, request)
        self._world.watch("before", "response_url")
        said = self._take(address, params, str(request.url))
        if said.status == 200:
            self._world.watch("after", "response_url")
        return self._faulty(fault, request) if fault is not None and fault.done else said

    def _take(self, address: Address, params: Json, url: str) -> web.Response:
        """Let an answer stand: five within 30 minutes."""
        if time.monotonic() - address.born > self._world.response_seconds:
            return web.json_response({"ok": False, "error": "expired_url"}, status=404)
        if address.used >= RESPONSES:
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        address.used += 1
        if params.get("delete_original"):
            self._unshow(address)
            return web.Response(text="ok")
        try:
            said = content(params)
        except Refused as refused:
            self._world.refused.append(("response_url", refused.error))
            return web.Response(status=400, text=refused.error)
        if params.get("response_type") == "in_channel":
            message = self._world.said(self._world.channel(address.channel), "", **said)
            message["unfurl"] = (params.get("unfurl_links", True), params.get("unfurl_media", True))
        else:
            if params.get("replace_original"):
                self._unshow(address)
            shown = Shown(channel=address.channel, user=address.user, url=url, **said)
            address.shown = shown
            self._world.shown.append(shown)
        return web.Response(text="ok")

    def _unshow(self, address: Address) -> None:
        if not address.replaces:
            return
        if address.shown is not None and address.shown in self._world.shown:
            self._world.shown.remove(address.shown)
        address.shown = None
