"""``conversations.*``, ``users.*`` and ``files.info``: what the app reads."""

from collections.abc import Sequence
from typing import Any

from aiohttp import web

from tests.servers.slack.rules import SCOPES_BY_TYPE, Json, Refused
from tests.servers.slack.world import Channel, World


class Conversations:
    """Takes the calls that only read."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def history(self, params: Json) -> Json:
        place = self._world.place(params)
        said = [m for m in place.messages.values() if _is_in_channel(m)]
        newest_first = sorted(said, key=lambda m: float(m["ts"]), reverse=True)
        shown = [m for m in newest_first if _within(m, params)]
        shown += [m for m in shown if m["ts"] in self._world.twice]
        told = [_with_replies(m, place) for m in shown]
        if params.get("oldest") and not params.get("latest"):
            # Then the pages begin at the oldest message (https://github.com/slackhq/slack-api-docs/issues/4).
            page = self._page(told[::-1], params)
            return {**page, "messages": page["messages"][::-1]}
        return self._page(told, params)

    async def replies(self, params: Json) -> Json:
        place = self._world.place(params)
        asked = params.get("ts", "")
        thread = place.messages[asked].get("thread_ts", asked) if asked in place.messages else asked
        if thread in self._world.vanishing:
            for ts in [m["ts"] for m in place.messages.values() if m.get("thread_ts", m["ts"]) == thread]:
                del place.messages[ts]
        if thread not in place.messages:
            raise Refused("thread_not_found")
        if thread in self._world.spoiled:
            raise Refused("internal_error")
        said = [m for m in place.messages.values() if m.get("thread_ts") == thread and m["ts"] != thread]
        shown = [m for m in said if _within(m, params)]
        return self._page([_with_replies(place.messages[thread], place), *shown], params)

    async def info(self, params: Json) -> Json:
        place = self._world.channels.get(params.get("channel", ""))
        if place is None or (place.private and not place.has_bot):
            raise Refused("channel_not_found")
        return {"channel": place.told}

    async def list(self, params: Json) -> Json:
        return self._channels([one for one in self._world.channels.values() if one.has_bot or not one.private], params)

    async def mine(self, params: Json) -> Json:
        return self._channels([one for one in self._world.channels.values() if one.has_bot], params)

    def _channels(self, places: Sequence[Channel], params: Json) -> Json:
        kinds = {SCOPES_BY_TYPE[one] for one in str(params.get("types") or "public_channel").split(",")}
        left_out = str(params.get("exclude_archived", "")).lower() in ("1", "true")
        shown = [one.told for one in places if one.kind in kinds and not (left_out and one.archived)]
        return self._listed(shown, params, "channels")

    async def groups(self, params: Json) -> Json:
        return {"usergroups": self._world.groups}

    async def members(self, params: Json) -> Json:
        place = self._world.place(params)
        return self._listed(sorted(place.members), params)

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
        return self._listed(list(self._world.users.values()), params)

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

    def _page(self, messages: Sequence[Json], params: Json) -> Json:
        page = self._listed([_shown(message, params) for message in messages], params, "messages")
        return {**page, "has_more": bool(page["response_metadata"]["next_cursor"])}

    def _listed(self, items: Sequence[Any], params: Json, name: str = "members") -> Json:
        """Return a page; fewer than ``limit`` may come, and 1,000 are the most that may be asked for."""
        asked = int(params.get("limit") or 100)
        if not 1 <= asked <= 1_000:
            raise Refused("invalid_limit")
        cursor = str(params.get("cursor") or "0")
        if not cursor.isdigit() or int(cursor) > len(items):
            raise Refused("invalid_cursor")
        start, limit = int(cursor), min(asked, self._world.page)
        if self._world.cut:
            return {name: items[:3], "response_metadata": {"next_cursor": ""}}
        following = str(start + limit) if start + limit < len(items) else ""
        return {name: items[start : start + limit], "response_metadata": {"next_cursor": following}}

    async def download(self, request: web.Request) -> web.StreamResponse:
        """Give a file to who has the token."""
        if request.headers.get("Authorization") != f"Bearer {self._world.bot_token}":
            return web.Response(status=302, headers={"Location": "/login"})
        return web.Response(body=self._world.files[request.match_info["name"]])


def _is_in_channel(message: Json) -> bool:
    """Tell whether the history shows a message: what isn't a reply, and replies that were sent to the channel, too."""
    is_reply = message.get("thread_ts", message["ts"]) != message["ts"]
    return not is_reply or message.get("subtype") == "thread_broadcast"


def _with_replies(message: Json, place: Channel) -> Json:
    """Return the first message of a thread as the history tells it: how many replies there are, and the newest."""
    thread = message["ts"]
    replies = [m for m in place.messages.values() if m.get("thread_ts") == thread and m["ts"] != thread]
    if not replies:
        return message
    people = list(dict.fromkeys(m["user"] for m in replies if m.get("user")))
    counts = {"reply_count": len(replies), "reply_users_count": len(people), "reply_users": people[:5]}
    return {**message, "thread_ts": thread, "latest_reply": max(m["ts"] for m in replies), **counts}


def _within(message: Json, params: Json) -> bool:
    at = float(message["ts"])
    oldest, latest = params.get("oldest"), params.get("latest")
    if str(params.get("inclusive", "")).lower() in ("1", "true") and message["ts"] in (oldest, latest):
        return True
    return not (oldest and at <= float(oldest)) and not (latest and at >= float(latest))


def _shown(message: Json, params: Json) -> Json:
    hidden = {"streaming", "unfurl", "stopped_by_user"}
    if str(params.get("include_all_metadata", "")).lower() not in ("1", "true"):
        hidden |= {"metadata"}
    return {name: value for name, value in message.items() if name not in hidden}
