"""Names by id: of people, and of the channels and groups that messages mention."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from connectors.slack.api import Api, Refused
from ragcore.errors import SourceAuthError

_FEW = 10
"""So many people are asked for one by one; for more, the workspace's list is read."""
_PRIVATE = "private channel"
"""What a channel is called that is not open to all who read its mention."""


@dataclass(slots=True)
class Names:
    """``known`` are those that documents are shown with; "" for what has none."""

    known: dict[str, str] = field(default_factory=dict)
    _listed: dict[str, str] = field(default_factory=dict)
    _has_list: bool = False
    _groups: dict[str, str] | None = None

    async def refresh(self, api: Api) -> None:
        """Learn what those that are known are called now."""
        people = [native for native in self.known if _is_person(native)]
        if len(people) > _FEW:
            await self._list(api)
        fresh = {native: self._listed[native] for native in people if native in self._listed}
        for native in people:
            if native not in fresh:
                fresh[native] = await self._person(api, native)
        self.known.clear()
        self.known |= fresh

    async def learn(self, api: Api, ids: Iterable[str]) -> None:
        """Learn what these are called, as far as it isn't known."""
        missing = sorted(set(ids) - self.known.keys())
        people = [native for native in missing if _is_person(native) and native not in self._listed]
        if len(people) > _FEW:
            await self._list(api)
        for native in missing:
            if _is_person(native):
                self.known[native] = self._listed.get(native) or await self._person(api, native)
            elif native[0] in "CG":
                self.known[native] = await self._channel(api, native)
            elif native[0] == "S":
                self.known[native] = await self._group(api, native)

    async def _list(self, api: Api) -> None:
        if self._has_list:
            return
        found: dict[str, str] = {}
        async for page in api.pages("users.list"):
            found |= {str(user["id"]): _called(user) for user in page.get("members") or ()}
        self._listed, self._has_list = found, True
        api.answers.forget("users.list")

    async def _person(self, api: Api, native: str) -> str:
        try:
            return _called((await api.call("users.info", user=native)).get("user") or {})
        except Refused:  # user_not_found, user_not_visible: a stranger of a shared channel
            return ""

    async def _channel(self, api: Api, native: str) -> str:
        try:
            channel = (await api.call("conversations.info", channel=native)).get("channel") or {}
        except Refused:
            return _PRIVATE
        return str(channel.get("name") or "") if channel.get("is_private") is False else _PRIVATE

    async def _group(self, api: Api, native: str) -> str:
        """Return a group's handle, which takes the scope usergroups:read; without it none."""
        if self._groups is None:
            try:
                groups = (await api.call("usergroups.list")).get("usergroups") or ()
            except (Refused, SourceAuthError):
                groups = ()
            self._groups = {str(group.get("id")): str(group.get("handle") or "") for group in groups}
        return self._groups.get(native, "")


def _is_person(native: str) -> bool:
    return native[0] in "UW"


def _called(user: dict[str, Any]) -> str:
    profile = user.get("profile") or {}
    return str(
        profile.get("display_name") or user.get("real_name") or profile.get("real_name") or user.get("name") or ""
    )
