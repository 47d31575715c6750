"""``conversations.*``, ``users.*`` and ``files.info``: what the app reads."""

from typing import Any

from aiohttp import web

from tests.servers.slack.rules import Json, Refused
from tests.servers.slack.world import Channel, World


class Conversations:
    """Takes the calls that only read."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def history(self, params: Json) -> Json:
        place = self._world.place(params)
        said = [m for m in place.messages.values() if m.get("thread_ts", m["ts"]) == m["ts"]]
        newest_first = sorted(said, key=lambda m: float(m["ts"]), reverse=True)
        return _page([_with_replies(m, place) for m in newest_first if _within(m, params)], params)

    async def replies(self, params: Json) -> Json:
        place = self._world.place(params)
        thread = params.get("ts", "")
        if thread not in place.messages:
            raise Refused("thread_not_found")
        said = [m for m in place.messages.values() if m.get("thread_ts") == thread and m["ts"] != thread]
        return _page([place.messages[thread], *(m for m in said if _within(m, params))], params)

    async def info(self, params: Json) -> Json:
        place = self._world.channels.get(params.get("channel", ""))
        if place is None:
            raise Refused("channel_not_found")
        shared = {"is_ext_shared": place.shared, "is_org_shared": place.org_shared}
        return {"channel": {"id": place.id, "is_im": place.kind == "im", **shared}}

    async def members(self, params: Json) -> Json:
        place = self._world.place(params)
        return _listed(sorted(place.members), params)

    async def open(self, params: Json) -> Json:
        if params.get("users") not in self._world.users:
            raise Refused("user_not_found")
        return {"channel": {"id": self._world.direct(params["users"])}}

    async def user(self, params: Json) -> Json:
        if params.get("user") not in self._world.users:
            raise Refused("user_not_found")
        return {"user": self._world.users[params["user"]]}

    async def users(self, params: Json) -> Json:
        if int(params.get("limit") or 0) > 999:
            raise Refused("invalid_limit")
        return _listed(list(self._world.users.values()), params)

    async def file(self, params: Json) -> Json:
        if params.get("file") not in self._world.files:
            raise Refused("file_not_found")
        name = params["file"]
        return {
            "file": {
                "id": name,
                "size": len(self._world.files[name]),
                "url_private_download": f"{self._world.url}/files/{name}",
            }
        }

    async def download(self, request: web.Request) -> web.StreamResponse:
        """Give a file to who has the token."""
        if request.headers.get("Authorization") != f"Bearer {self._world.bot_token}":
            return web.Response(status=302, headers={"Location": "/login"})
        return web.Response(body=self._world.files[request.match_info["name"]])


def _with_replies(message: Json, place: Channel) -> Json:
    """Return the first message of a thread as the history tells it: how many replies there are, and the newest."""
    thread = message["ts"]
    replies = [m["ts"] for m in place.messages.values() if m.get("thread_ts") == thread and m["ts"] != thread]
    return {**message, "reply_count": len(replies), "latest_reply": max(replies)} if replies else message


def _within(message: Json, params: Json) -> bool:
    at = float(message["ts"])
    oldest, latest = params.get("oldest"), params.get("latest")
    return not (oldest and at <= float(oldest)) and not (latest and at >= float(latest))


def _listed(members: list[Any], params: Json) -> Json:
    start, limit = int(params.get("cursor") or 0), int(params.get("limit") or 100)
    following = str(start + limit) if start + limit < len(members) else ""
    return {"members": members[start : start + limit], "response_metadata": {"next_cursor": following}}


def _page(messages: list[Json], params: Json) -> Json:
    start, limit = int(params.get("cursor") or 0), int(params.get("limit") or 100)
    hidden = {"streaming", "unfurl", "stopped_by_user"}
    if str(params.get("include_all_metadata", "")).lower() not in ("1", "true"):
        hidden |= {"metadata"}
    shown = [{k: v for k, v in m.items() if k not in hidden} for m in messages[start : start + limit]]
    following = str(start + limit) if start + limit < len(messages) else ""
    return {"messages": shown, "response_metadata": {"next_cursor": following}}
