"""``files.getUploadURLExternal`` and what follows: files that the app uploads, private until they are shared."""

import json
import time
from dataclasses import dataclass

from aiohttp import web

from tests.servers.slack.rules import Json, Refused
from tests.servers.slack.world import World

MAX_ALT_TEXT = 1_000
_IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8")


@dataclass(kw_only=True)
class Upload:
    """A file of the app's own."""

    name: str
    length: int
    alt_text: str
    title: str = ""
    content: bytes | None = None
    ready_at: float | None = None
    """When Slack has looked at it; None before it is told that the upload is complete."""


class Uploads:
    """Takes the calls about them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._held: dict[str, Upload] = world.uploads

    async def address(self, params: Json) -> Json:
        if len(params.get("alt_txt", "")) > MAX_ALT_TEXT:
            raise Refused("alt_txt_too_large")
        if not params.get("filename") or int(params.get("length") or 0) < 1:
            raise Refused("missing_argument")
        name = f"F{self._world.number()}"
        self._held[name] = Upload(
            name=params["filename"], length=int(params["length"]), alt_text=params.get("alt_txt", "")
        )
        return {"upload_url": f"{self._world.url}/upload/{name}", "file_id": name}

    async def take(self, request: web.Request) -> web.StreamResponse:
        if "Authorization" in request.headers:
            return web.Response(status=400, text="the address alone is the permission")
        fault = self._world.faults.take("upload")
        held, content = self._held.get(request.match_info["name"]), await request.read()
        if fault is not None or held is None or len(content) != held.length:
            return web.Response(status=fault.status if fault else 400)
        held.content = content
        return web.Response(text=f"OK - {len(content)}")

    async def complete(self, params: Json) -> Json:
        if params.get("channel_id") or params.get("channels"):
            raise AssertionError("a passage is shared with nobody")
        named = json.loads(params["files"])
        for one in named:
            held = self._held.get(one["id"])
            if held is None or held.content is None:
                raise Refused("file_not_found")
            held.title, held.ready_at = one.get("title", ""), time.monotonic() + self._world.upload_seconds
        return {"files": [{"id": one["id"], "title": one.get("title", ""), "mimetype": ""} for one in named]}

    async def delete(self, params: Json) -> Json:
        if self._held.pop(params.get("file", ""), None) is None:
            raise Refused("file_not_found")
        return {}

    def check(self, blocks: list[Json]) -> None:
        """Raise Refused for a block that shows a file which isn't there, or isn't looked at yet, or is no picture."""
        for number, block in enumerate(blocks):
            if block["type"] != "image" or "slack_file" not in block:
                continue
            held = self._held.get(block["slack_file"].get("id", ""))
            is_ready = held is not None and held.ready_at is not None and time.monotonic() >= held.ready_at
            if held is None or not is_ready or not (held.content or b"").startswith(_IMAGES):
                told = f"[ERROR] invalid slack file [json-pointer:/view/blocks/{number}/slack_file]"
                raise Refused("invalid_blocks", response_metadata={"messages": [told]})
