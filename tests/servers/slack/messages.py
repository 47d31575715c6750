"""``chat.*``: messages, and what one person alone sees."""

from tests.servers.slack.events import Events
from tests.servers.slack.rules import MAX_UPDATE_TEXT, Json, Refused, content
from tests.servers.slack.world import Shown, World


class Messages:
    """Takes the calls about whole messages."""

    def __init__(self, world: World, events: Events) -> None:
        self._world = world
        self._events = events

    async def post(self, params: Json) -> Json:
        place = self._world.place(params)
        self._world.pace(f"post {place.id}", *self._world.rates.channel)
        message = self._world.said(place, params.get("thread_ts", ""), **content(params))
        message["unfurl"] = (params.get("unfurl_links", True), params.get("unfurl_media", True))
        if params.get("metadata"):
            message["metadata"] = params["metadata"]
        self._events.tell_message(place, message)
        return {"channel": place.id, "ts": message["ts"], "message": message}

    async def update(self, params: Json) -> Json:
        place = self._world.place(params)
        message = self._world.own(place, params, "cant_update_message")
        if self._world.is_streaming(message):
            raise Refused("streaming_state_conflict")
        before = dict(message)
        message |= content(params, MAX_UPDATE_TEXT)
        message["edited"] = {"user": self._world.user, "ts": self._world.ts()}
        if params.get("metadata"):
            message["metadata"] = params["metadata"]
        self._events.changed(place, message, before)
        return {"channel": place.id, "ts": message["ts"]}

    async def delete(self, params: Json) -> Json:
        place = self._world.place(params)
        message = self._world.own(place, params, "cant_delete_message")
        del place.messages[message["ts"]]
        return {"channel": place.id, "ts": message["ts"]}

    async def whisper(self, params: Json) -> Json:
        place = self._world.place(params)
        if params.get("user") not in place.members:
            raise Refused("user_not_in_channel")
        said = content(params)
        self._world.shown.append(
            Shown(channel=place.id, user=params["user"], thread=params.get("thread_ts", ""), **said)
        )
        return {"message_ts": self._world.ts()}
