"""A platform that asks one conversation to wait: the others go on."""

import asyncio
from typing import Any

import pytest

from bots.discord import DiscordPlatform
from bots.platform import Call
from bots.slack import SlackPlatform
from bots.telegram import TelegramPlatform
from bots.turn.replying.pacing import Pacer
from tests.fakes.platform import asked
from tests.fakes.virtual import run

PLATFORMS = [
    TelegramPlatform(token="123456:LOCAL"),
    DiscordPlatform(token="x"),
    SlackPlatform(bot_token="xoxb-1", app_token="xapp-1"),
]


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda one: one.name)
def test_a_long_wait_in_one_channel_keeps_no_other_one_waiting(platform: Any) -> None:
    async def talk() -> None:
        pacer = Pacer()
        here, there = (platform.limits(asked("Why?", channel=channel), Call.SEND) for channel in ("11", "12"))
        pacer.pause(here, 120.0)
        assert pacer.delay(here) == pytest.approx(120.0)
        assert pacer.delay(there) <= 0.0
        await asyncio.sleep(121.0)
        assert pacer.delay(here) <= 0.0

    run(talk())


def test_a_wait_to_begin_a_stream_on_slack_keeps_no_whole_message_waiting() -> None:
    """Another process may have used up the streams of a minute: Slack counts them by workspace."""

    async def talk() -> None:
        slack, pacer = SlackPlatform(bot_token="xoxb-1", app_token="xapp-1"), Pacer()
        begin, send = (slack.limits(asked("Why?"), call) for call in (Call.BEGIN, Call.SEND))
        pacer.pause(begin, 60.0)
        assert pacer.delay(begin) == pytest.approx(60.0)
        assert pacer.delay(send) <= 0.0

    run(talk())
