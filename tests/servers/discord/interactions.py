"""Interactions: 3 seconds for the first answer, 15 minutes for the token."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.servers.discord.rules import Refused, check_components, check_message, pings, previews
from tests.servers.discord.world import APPLICATION, EPHEMERAL, Channel, Json, message_json, moment, snowflake, spoken

if TYPE_CHECKING:
    from tests.servers.discord import State

Tell = Callable[[str, Json], Awaitable[None]]
MESSAGE, DEFERRED_MESSAGE, DEFERRED_UPDATE, UPDATE, COMPLETIONS = 4, 5, 6, 7, 8


@dataclass(kw_only=True)
class Interaction:
    """One of them: what was asked and how it was answered."""

    data: Json
    channel: Channel
    at: float
    answered: int = 0
    """The type of the first answer; 0 before it."""
    answer: Json | None = None
    waits: bool = False
    """Whether the first answer was put off and is not filled in yet."""
    messages: dict[int, Json] = field(default_factory=dict)
    """All messages of its token, the original first; ephemeral ones stand here alone."""
    completions: list[Json] = field(default_factory=list)
    expired: bool = False


class Interactions:
    """All of them, by token."""

    def __init__(self, state: "State", tell: Tell) -> None:
        self._state = state
        self._tell = tell
        self.seconds = 3.0
        self.token_seconds = 900.0
        self.by_token: dict[str, Interaction] = {}

    def begin(self, data: Json, channel: Channel) -> None:
        self.by_token[data["token"]] = Interaction(data=data, channel=channel, at=time.monotonic())

    def of(self, data: Json) -> Interaction:
        """Return what became of an interaction."""
        return self.by_token[data["token"]]

    def expire(self, data: Json) -> None:
        """Let its 15 minutes be over."""
        self.of(data).expired = True

    async def answer(self, interaction_id: str, token: str, said: Json) -> Json:
        """Take the first answer."""
        one = self.by_token.get(token)
        if one is None or one.data["id"] != interaction_id or time.monotonic() - one.at > self.seconds:
            raise Refused(404, 10062, "Unknown interaction")
        if one.answered:
            raise Refused(400, 40060, "Interaction has already been acknowledged.")
        kind, given = said["type"], said.get("data") or {}
        message: Json | None = None
        if kind == MESSAGE:
            message = await self._post(one, given)
        elif kind == DEFERRED_MESSAGE:
            one.waits = True
            message = await self._post(one, {"content": "…", "flags": given.get("flags", 0)})
        elif kind == DEFERRED_UPDATE:
            # Documented: of a pressed button the original is the message that it stands on.
            one.messages[int(one.data["message"]["id"])] = message_pressed = one.data["message"]
            one.answered, one.answer = kind, message_pressed
            return {"interaction": {"id": interaction_id, "type": one.data["type"]}}
        elif kind == UPDATE:
            await self._update(one, given)
        elif kind == COMPLETIONS:
            one.completions = given.get("choices", [])
            if len(one.completions) > 25:
                raise Refused(400, 50035, "Invalid Form Body")
        one.answered, one.answer = kind, message
        told: Json = {"id": interaction_id, "type": one.data["type"], "response_message_loading": kind == 5}
        if message is None:
            return {"interaction": told}
        told |= {"response_message_id": message["id"], "response_message_ephemeral": bool(message["flags"] & EPHEMERAL)}
        return {"interaction": told, "resource": {"type": kind, "message": message}}

    async def call(self, method: str, token: str, message: str, said: Json) -> Json | None:
        """Take a call on the token's messages: ``@original`` or an id; none for a new one."""
        one = self.by_token.get(token)
        if one is None:
            raise Refused(404, 10015, "Unknown Webhook")
        if one.expired or time.monotonic() - one.at > self.token_seconds:
            raise Refused(401, 50027, "Invalid Webhook Token")
        if not one.answered:
            raise Refused(404, 10015, "Unknown Webhook")
        if not message and one.waits and one.answer is not None:
            # Documented: it is the put-off answer then, seen by whom that was for.
            one.waits = False
            await self._change(one, one.answer, said)
            return one.answer
        if not message:
            return await self._post(one, said)
        known = one.answer if message == "@original" else one.messages.get(int(message))
        if known is None or not _stands(one, known):
            raise Refused(404, 10008, "Unknown Message")
        if method == "DELETE":
            del one.messages[int(known["id"])]
            one.channel.messages.pop(int(known["id"]), None)
            return None
        if method == "PATCH":
            one.waits = one.waits and known is not one.answer
            await self._change(one, known, said)
        return known

    async def _post(self, one: Interaction, said: Json) -> Json:
        check_message(said)
        message = message_json(one.channel, self._state.bot, said.get("content") or "")
        message |= {
            "components": said.get("components") or [],
            "flags": said.get("flags", 0),
            "webhook_id": str(APPLICATION),
            "application_id": str(APPLICATION),
            "attachments": [self._kept(file) for file in said.get("attachments") or []],
        }
        one.messages[int(message["id"])] = message
        self._seen(message, said)
        if not message["flags"] & EPHEMERAL:
            one.channel.messages[int(message["id"])] = message
            await self._tell("MESSAGE_CREATE", message)
        return message

    def _kept(self, file: Json) -> Json:
        """Keep a file; return what is told of it."""
        name, content = f"sent/{snowflake()}/{file['filename']}", file["content"]
        self._state.files[name] = content
        told = {"id": str(snowflake()), "filename": file["filename"], "size": len(content)}
        url = f"{self._state.url.removesuffix('/api/v10')}/files/{name}"
        return {**told, "description": file.get("description"), "url": url, "proxy_url": url}

    async def _change(self, one: Interaction, message: Json, said: Json) -> None:
        check_message(said, edit=True)
        if said.get("content") is not None:
            message |= spoken(said["content"])
        if "components" in said:
            message["components"] = said["components"] or []
        message["edited_timestamp"] = moment()
        self._seen(message, said)
        if not message["flags"] & EPHEMERAL:
            await self._tell("MESSAGE_UPDATE", message)

    async def _update(self, one: Interaction, said: Json) -> None:
        """Change the message that the button stands on."""
        message = one.data["message"]
        check_components(said.get("components") or [])
        one.messages[int(message["id"])] = message
        await self._change(one, message, said)
        one.answer = message

    def _seen(self, message: Json, said: Json) -> None:
        self._state.pings += pings(message, said.get("allowed_mentions"))
        if previews(message):
            self._state.previewed.append(message["id"])


def _stands(one: Interaction, message: Json) -> bool:
    number = int(message["id"])
    return number in one.messages and (bool(message["flags"] & EPHEMERAL) or number in one.channel.messages)
