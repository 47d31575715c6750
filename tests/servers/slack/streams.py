"""``chat.startStream``, ``appendStream`` and ``stopStream``."""

import time

from tests.servers.slack.agents import Agents
from tests.servers.slack.blocks import MAX_MARKDOWN
from tests.servers.slack.events import Events
from tests.servers.slack.rules import Json, Refused, check
from tests.servers.slack.world import Channel, World


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
        text, blocks = self._streamed(params)
        message = self._world.said(
            place, params.get("thread_ts", ""), text=text, blocks=blocks, streaming=time.monotonic()
        )
        self._events.tell_message(place, {key: value for key, value in message.items() if key != "streaming"})
        return {"channel": place.id, "ts": message["ts"]}

    async def append(self, params: Json) -> Json:
        place, message = self._stream(params)
        text, blocks = self._streamed(params)
        if not text and not blocks:
            raise Refused("no_text")
        message["text"] += text
        message["blocks"] += blocks
        return {"channel": place.id, "ts": message["ts"]}

    async def stop(self, params: Json) -> Json:
        place, message = self._stream(params)
        text, blocks = self._streamed(params)
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

    def _streamed(self, params: Json) -> tuple[str, list[Json]]:
        text, blocks = params.get("markdown_text") or "", []
        chunks = params.get("chunks") or []
        if text and chunks:
            raise Refused("markdown_text_conflict")
        for chunk in chunks:
            match chunk.get("type"):
                case "markdown_text":
                    text += chunk["text"]
                case "blocks":
                    blocks += chunk["blocks"]
                case _:
                    raise Refused("invalid_chunks")
        if len(text) > MAX_MARKDOWN:
            raise Refused("msg_too_long")
        check(blocks)
        return text, blocks
