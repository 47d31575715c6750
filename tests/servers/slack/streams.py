"""``chat.startStream``, ``appendStream`` and ``stopStream``."""

import time

from tests.servers.slack.agents import Agents
from tests.servers.slack.blocks import MAX_BLOCKS, MAX_MARKDOWN, MAX_TASK, STATUSES
from tests.servers.slack.events import Events
from tests.servers.slack.rules import Json, Refused, check
from tests.servers.slack.world import Channel, World

_OWN = ("streaming", "tasks", "plan", "task_display_mode")
"""What of a message its events don't tell."""


class Streams:
    """Takes the calls about messages that grow."""

    def __init__(self, world: World, events: Events, agents: Agents) -> None:
        self._world = world
        self._events = events
        self._agents = agents

    async def start(self, params: Json) -> Json:
        place = self._world.place(params)
        if place.kind == "im" and not params.get("thread_ts"):
            raise Refused("invalid_thread_ts")
        for name in ("recipient_team_id", "recipient_user_id"):
            if not params.get(name):
                raise Refused(f"missing_{name.removesuffix('_id')}_id")
        person = self._world.users.get(params["recipient_user_id"])
        if person is None or person["team_id"] != params["recipient_team_id"]:
            raise Refused("user_not_found")
        if params.get("task_display_mode") not in (None, "timeline", "plan"):
            raise Refused("invalid_arguments")
        text, blocks, tasks, plan = self._streamed(params)
        message = self._world.said(
            place, params.get("thread_ts", ""), text=text, blocks=blocks, streaming=time.monotonic()
        )
        message["tasks"], message["plan"] = tasks, plan
        message["task_display_mode"] = params.get("task_display_mode") or "timeline"
        self._events.tell_message(place, {key: value for key, value in message.items() if key not in _OWN})
        return {"channel": place.id, "ts": message["ts"]}

    async def append(self, params: Json) -> Json:
        place, message = self._stream(params)
        text, blocks, tasks, plan = self._streamed(params)
        if not (text or blocks or tasks or plan):
            raise Refused("no_text")
        if len({*message["tasks"], *tasks}) + len(message["blocks"]) + len(blocks) > MAX_BLOCKS:
            raise Refused("invalid_blocks")
        message["tasks"] |= tasks
        message["plan"] = plan or message["plan"]
        message["text"] += text
        message["blocks"] += blocks
        return {"channel": place.id, "ts": message["ts"]}

    async def stop(self, params: Json) -> Json:
        place, message = self._stream(params)
        text, blocks, tasks, plan = self._streamed(params)
        message["tasks"] |= tasks
        message["plan"] = plan or message["plan"]
        check(params.get("blocks") or [])
        message["text"] += text
        message["blocks"] += [*blocks, *(params.get("blocks") or [])]
        if params.get("metadata"):
            message["metadata"] = params["metadata"]
        if status := params.get("session_status"):
            await self._agents.set_session(
                {"channel_id": place.id, "thread_ts": message["thread_ts"], "status": status}
            )
        del message["streaming"]
        return {"channel": place.id, "ts": message["ts"]}

    def _stream(self, params: Json) -> tuple[Channel, Json]:
        place = self._world.place(params)
        message = self._world.own(place, params, "message_not_owned_by_app")
        if not self._world.is_streaming(message):
            raise Refused("stopped_by_user" if message.get("stopped_by_user") else "message_not_in_streaming_state")
        return place, message

    def _streamed(self, params: Json) -> tuple[str, list[Json], dict[str, Json], str]:
        text, blocks, plan = params.get("markdown_text") or "", [], ""
        tasks: dict[str, Json] = {}
        chunks = params.get("chunks") or []
        if text and chunks:
            raise Refused("markdown_text_conflict")
        for chunk in chunks:
            match chunk.get("type"):
                case "markdown_text":
                    text += chunk["text"]
                case "blocks":
                    blocks += chunk["blocks"]
                case "task_update":
                    tasks[chunk["id"]] = _task(chunk)
                case "plan_update" if 0 < len(chunk.get("title", "")) <= MAX_TASK:
                    plan = chunk["title"]
                case _:
                    raise Refused("invalid_chunks")
        if len(tasks) + len(blocks) > MAX_BLOCKS:
            raise Refused("invalid_blocks")
        if len(text) > MAX_MARKDOWN:
            raise Refused("msg_too_long")
        check(blocks)
        return text, blocks, tasks, plan


def _task(chunk: Json) -> Json:
    """Return a task, or refuse it by what chat.appendStream's page says of its fields."""
    known = {"type", "id", "title", "status", "details", "output", "sources"}
    if not known >= set(chunk) or chunk.get("status") not in STATUSES:
        raise Refused("invalid_chunks")
    for name in ("id", "title", "details", "output"):
        needed = name in ("id", "title")
        if name not in chunk and not needed:
            continue
        if not isinstance(said := chunk.get(name), str) or not needed <= len(said.encode("utf-16-le")) // 2 <= MAX_TASK:
            raise Refused("invalid_chunks")
    if any(not (source.get("url") and source.get("text")) for source in chunk.get("sources") or ()):
        raise Refused("invalid_chunks")
    return {name: value for name, value in chunk.items() if name != "type"}
