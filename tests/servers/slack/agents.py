"""``assistant.threads.*`` and ``agents.sessions.*``: what stands beside an answer while it is made."""

from tests.servers.slack.rules import Json, Refused
from tests.servers.slack.world import World


class Agents:
    """Takes the calls about statuses, sessions and suggested prompts."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def set_status(self, params: Json) -> Json:
        place = self._world.place(params, "channel_id")
        if params.get("thread_ts") not in place.messages:
            raise Refused("invalid_thread_ts")
        self._world.statuses.append((place.id, params["thread_ts"], params["status"]))
        return {}

    async def set_session(self, params: Json) -> Json:
        if not self._world.agent:
            raise Refused("not_an_agent")
        place = self._world.place(params, "channel_id")
        if params.get("status") not in ("active", "processing", "suspended", "closed"):
            raise Refused("invalid_status")
        if len(params.get("title") or "") > 200:
            raise Refused("invalid_title")
        self._world.sessions[place.id, params["thread_ts"]] = params["status"]
        deaf = {} if self._world.subscribed else {"warning": "missing_agent_session_stopped_event_subscription"}
        return {"status": params["status"], **deaf}

    async def suggest(self, params: Json) -> Json:
        self._world.place(params, "channel_id")
        if not 1 <= len(params.get("prompts") or []) <= 4:
            raise Refused("invalid_prompts")
        self._world.prompts.append(params)
        return {}
