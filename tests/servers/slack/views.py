"""``views.*``: modals."""

import time

from tests.servers.slack.rules import TRIGGER_SECONDS, Json, Refused, check_view
from tests.servers.slack.uploads import Uploads
from tests.servers.slack.world import World


class Views:
    """Takes the calls about modals."""

    def __init__(self, world: World, uploads: Uploads) -> None:
        self._world = world
        self._uploads = uploads

    async def open(self, params: Json) -> Json:
        born = self._world.triggers.pop(params.get("trigger_id", ""), None)
        if born is None:
            raise Refused("exchanged_trigger_id")
        if time.monotonic() - born > TRIGGER_SECONDS:
            raise Refused("expired_trigger_id")
        name = f"V{self._world.number()}"
        check_view(params["view"])
        self._uploads.check(params["view"]["blocks"])
        self._world.views[name] = params["view"]
        return {"view": {"id": name}}

    async def update(self, params: Json) -> Json:
        if params.get("view_id") not in self._world.views:
            raise Refused("not_found")
        check_view(params["view"])
        self._uploads.check(params["view"]["blocks"])
        self._world.views[params["view_id"]] = params["view"]
        return {}
