"""Who somebody is and where they are, as Slack confirms it now; remembered for five minutes."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from bots.remembered import Remembered
from bots.slack.calling import Calls
from bots.slack.translating import PLATFORM, Self
from ragcore.errors import PlatformError, PlatformRateLimited, PlatformUnreachable

_PAGE = 1_000
_PEOPLE_PAGE = 200
"""As many as Slack recommends."""
_DAY = 86_400
_PEOPLE_PAGES = 10
"""So many pages of people are read in a rush; whoever isn't among them is asked for one by one."""


class People:
    """The people and channels of one workspace."""

    def __init__(self, calls: Calls, channels: Sequence[str]) -> None:
        """``channels`` are the readers (``slack:T0123/C0456``) whose members may read more in private."""
        self._calls = calls
        self._channels = tuple(channels)
        self._users = Remembered(self._user)
        self._crowd = Remembered(self._people_of)
        self._members = Remembered(self._members_of)
        self._places = Remembered(self._place)
        self.bot = Self(team="", user="", bot="")

    def close(self) -> None:
        """Stop asking."""
        for remembered in (self._users, self._crowd, self._members, self._places):
            remembered.close()

    async def readers(self, user: str) -> frozenset[str]:
        """Return what somebody reads as beside themselves: workspace, e-mail address and channels."""
        found: set[str] = set()
        info = await self._known(user)
        if self._is_ours(info):
            if not _is_guest(info):
                found.add(f"{PLATFORM}:{self.bot.team}")
            address = str((info.get("profile") or {}).get("email") or "").lower()
            if address and info.get("is_email_confirmed") is True:
                found.add(f"email:{address}")
        ours = [one for one in self._channels if one.startswith(f"{PLATFORM}:{self.bot.team}/")]
        inside = await asyncio.gather(*(self._is_in(one.rpartition("/")[2], user) for one in ours))
        return frozenset(found | {one for one, there in zip(ours, inside, strict=True) if there})

    async def language(self, user: str) -> str:
        """Return the language of somebody's client, empty when it isn't known."""
        return str((await self._known(user)).get("locale") or "")

    async def zone(self, user: str) -> tuple[str, int | None]:
        """Return the name of the time zone that somebody has set, and its seconds from world time now; "" and None."""
        info = await self._known(user)
        offset = info.get("tz_offset")
        return str(info.get("tz") or ""), offset if isinstance(offset, int) and abs(offset) < _DAY else None

    async def name(self, user: str) -> str:
        """Return what somebody is called, else their id."""
        info = await self._known(user)
        profile = info.get("profile") or {}
        return str(profile.get("display_name") or info.get("real_name") or info.get("name") or user)

    async def is_shared(self, channel: str) -> bool:
        """Tell whether people of no or another workspace may see a channel; not confirmed means that they may."""
        try:
            place = await self._places.get(channel)
        except PlatformError:
            return True
        return any(place.get(name) for name in ("is_ext_shared", "is_pending_ext_shared", "is_org_shared"))

    async def may_read(self, channel: str, user: str) -> bool:
        """Tell whether Slack confirms that somebody may read what was said in a channel; PlatformError if it can't."""
        place = await self._places.get(channel)
        if place.get("is_channel") and not place.get("is_private"):
            info = await self._users.get(user)
            if self._is_ours(info) and not _is_guest(info):
                return True
        return user in await self._members.get(channel)

    def _is_ours(self, info: Mapping[str, Any]) -> bool:
        """Tell whether Slack confirms somebody as one of this workspace, whose admins vouch for them."""
        if not info or info.get("deleted") or info.get("is_bot") or info.get("is_stranger"):
            return False
        teams = (info.get("enterprise_user") or {}).get("teams") or ()
        return info.get("team_id") == self.bot.team or self.bot.team in teams

    async def _known(self, user: str) -> Mapping[str, Any]:
        try:
            return await self._users.get(user)
        except PlatformError:
            return {}

    async def _is_in(self, channel: str, user: str) -> bool:
        try:
            return user in await self._members.get(channel)
        except PlatformError:
            return False

    async def _user(self, user: str) -> Mapping[str, Any]:
        """Ask for one person; for many together in a rush, when they would have to wait for one another."""
        if self._calls.client.delay("users.info") <= 0:
            with suppress(PlatformRateLimited):  # another process asks as well
                return await self._one(user)
        crowd = await self._crowd.get(self.bot.team)
        return crowd[user] if user in crowd else await self._one(user)

    async def _one(self, user: str) -> Mapping[str, Any]:
        said = await self._calls.do(self._calls.client.users_info(user=user, include_locale=True))
        return said.get("user") or {}

    async def _people_of(self, team: str) -> Mapping[str, Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        cursor = ""
        for _ in range(_PEOPLE_PAGES):
            ask = self._calls.client.users_list
            said = await self._calls.do(ask(limit=_PEOPLE_PAGE, cursor=cursor or None, include_locale=True))
            found |= {str(one["id"]): one for one in said.get("members") or ()}
            cursor = str((said.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                break
        return found

    async def _place(self, channel: str) -> Mapping[str, Any]:
        said = await self._calls.do(self._calls.client.conversations_info(channel=channel))
        return said.get("channel") or {}

    async def _members_of(self, channel: str) -> frozenset[str]:
        found: set[str] = set()
        cursor = ""
        while True:
            said = await self._calls.do(
                self._calls.client.conversations_members(channel=channel, limit=_PAGE, cursor=cursor or None)
            )
            found.update(said.get("members") or ())
            following = str((said.get("response_metadata") or {}).get("next_cursor") or "")
            if not following:
                return frozenset(found)
            if following == cursor:
                raise PlatformUnreachable("Slack's list of members doesn't end")
            cursor = following


def _is_guest(info: Mapping[str, Any]) -> bool:
    return bool(info.get("is_restricted") or info.get("is_ultra_restricted"))
