"""Who sees a channel of Discord but not its past gets no summary of it, whatever roles and exceptions there are."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any, cast
from unittest.mock import MagicMock

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.discord.talk import all_read_back
from tests.servers.discord.world import HISTORY, VIEW

GUILD, ROLES, MEMBERS = 1, (11, 12, 13), (21, 22)
Overwrite = tuple[int, int]
"""What is allowed, and what is denied."""


def channel_of(bases: Mapping[int, int], overwrites: Mapping[int, Overwrite]) -> discord.TextChannel:
    """Return a channel of a server whose roles allow so much, with these overwrites by role and member."""
    state = MagicMock(self_id=99)
    roles = [
        {"id": str(one), "name": str(one), "permissions": str(allowed), "position": number, "color": 0, "hoist": False,
         "managed": False, "mentionable": False, "colors": {"primary_color": 0}}
        for number, (one, allowed) in enumerate(bases.items())
    ]  # fmt: skip
    data = {"id": str(GUILD), "name": "G", "roles": roles, "owner_id": "98", "features": [], "emojis": []}
    guild = discord.Guild(data=cast(Any, data), state=state)
    told = [
        {"id": str(one), "type": int(one in MEMBERS), "allow": str(allow), "deny": str(deny)}
        for one, (allow, deny) in overwrites.items()
    ]
    place = {"id": "5", "type": 0, "name": "c", "position": 0, "permission_overwrites": told}
    return discord.TextChannel(state=state, guild=guild, data=cast(Any, place))


def sees_only(channel: discord.TextChannel, member: int, roles: tuple[int, ...]) -> bool:
    """Return whether somebody with these roles sees the channel, and not its past."""
    user = {"id": str(member), "username": "u", "discriminator": "0", "avatar": None}
    data = {"user": user, "roles": list(map(str, roles)), "joined_at": None, "deaf": False, "mute": False, "flags": 0}
    somebody = discord.Member(data=cast(Any, data), guild=channel.guild, state=channel._state)
    allowed = channel.permissions_for(somebody)
    return allowed.view_channel and not allowed.read_message_history


_BITS = st.sampled_from([0, VIEW, HISTORY, VIEW | HISTORY])
_OVERWRITE = st.tuples(_BITS, _BITS).map(lambda pair: (pair[0], pair[1] & ~pair[0]))


@given(
    st.fixed_dictionaries(dict.fromkeys((GUILD, *ROLES), _BITS)),
    st.dictionaries(st.sampled_from((GUILD, *ROLES, *MEMBERS)), _OVERWRITE),
)
def test_where_all_read_back_nobody_sees_a_channel_without_its_past(
    bases: dict[int, int], overwrites: dict[int, Overwrite]
) -> None:
    channel = channel_of(bases, overwrites)
    if not all_read_back(channel):
        return
    for count in range(len(ROLES) + 1):
        for roles in combinations(ROLES, count):
            assert not any(sees_only(channel, member, roles) for member in (*MEMBERS, 23))


BOTH = VIEW | HISTORY


@pytest.mark.parametrize(
    ("everyone", "overwrites", "all_read"),
    [
        (BOTH, {}, True),
        (BOTH, {11: (BOTH, 0)}, True),
        (BOTH, {GUILD: (0, VIEW), 11: (VIEW, 0)}, True),
        (0, {11: (BOTH, 0), 21: (BOTH, 0)}, True),
        (BOTH, {GUILD: (0, BOTH), 11: (BOTH, 0), 12: (0, BOTH)}, True),
        (VIEW, {}, False),
        (BOTH, {11: (0, HISTORY)}, False),
        (0, {11: (VIEW, 0), 12: (BOTH, 0)}, False),
        (BOTH, {21: (0, HISTORY)}, False),
        (0, {21: (VIEW, 0)}, False),
    ],
    ids=str,
)
def test_usual_channels(everyone: int, overwrites: dict[int, Overwrite], all_read: bool) -> None:
    channel = channel_of({GUILD: everyone, 11: 0, 12: 0, 13: 0}, overwrites)
    assert all_read_back(channel) is all_read
