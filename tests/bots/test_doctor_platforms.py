"""What ``citebot doctor`` finds on each platform, and the mend that it names."""

import pathlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import discord
import pytest

from bots.app.platforms import check_platform
from bots.requests import Check
from bots.settings import load_settings
from bots.slack.manifest import SCOPES
from connectors.registry import options_model
from tests.fakes.ports import free_port
from tests.servers.discord import DiscordServer, discord_server
from tests.servers.faults import Fault
from tests.servers.slack import SlackServer, slack_server
from tests.servers.telegram import TelegramServer, telegram_server


@dataclass(kw_only=True)
class Doctor:
    """Asks one platform under settings that a test changes."""

    file: pathlib.Path
    platform: str
    settings: dict[str, str]
    others: str = ""

    async def checks(self) -> dict[str, Check]:
        """Return what is found, by name."""
        lines = "".join(f'{name} = "{value}"\n' for name, value in self.settings.items() if value)
        self.file.write_text(f"[{self.platform}]\n{lines}{self.others}", encoding="utf-8")
        found = await check_platform(self.platform, load_settings(self.file, source_model=options_model))
        assert all(check.mend for check in found if check.state != "ok"), "whatever is wrong has its mend"
        for name, value in self.settings.items():
            assert not name.endswith(("token", "secret")) or not value or value not in str(found)
        return {check.name: check for check in found}

    async def only(self) -> Check:
        """Return the one thing that is found."""
        (check,) = (await self.checks()).values()
        return check

    def listening(self, channel: str) -> None:
        """Let a channel be answered without a mention."""
        self.others = f'[[channels]]\nid = "{channel}"\nrespond = "all"\n'


def nowhere() -> str:
    """Return an address at which nobody listens."""
    return f"http://127.0.0.1:{free_port()}"


# Slack


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with slack_server() as server:
        server.scopes = SCOPES
        yield server


@pytest.fixture
def at_slack(slack: SlackServer, tmp_path: pathlib.Path) -> Doctor:
    tokens = {"bot_token": slack.bot_token, "app_token": slack.app_token, "api_url": f"{slack.url}/api/"}
    return Doctor(file=tmp_path / "citebot.toml", platform="slack", settings=tokens)


async def test_slack_that_is_well(at_slack: Doctor) -> None:
    found = await at_slack.checks()
    assert {check.state for check in found.values()} == {"ok"}
    assert found.keys() == {"slack token", "slack scopes", "slack events"}
    at_slack.settings |= {"app_token": "", "signing_secret": "a-secret"}
    events = (await at_slack.checks())["slack events"]
    assert (events.state, "by HTTP" in events.found) == ("ok", True)


@pytest.mark.parametrize("error", ["token_revoked", "account_inactive", "invalid_auth"])
async def test_a_bot_token_that_slack_refuses(at_slack: Doctor, slack: SlackServer, error: str) -> None:
    slack.faults.add("auth.test", Fault(status=200, error=error))
    check = await at_slack.only()
    assert (check.name, check.state) == ("slack token", "fail")
    assert error in check.found
    assert "SLACK_BOT_TOKEN" in check.mend
    assert "OAuth & Permissions" in check.mend


@pytest.mark.parametrize("scope", ["chat:write", "files:read", "channels:history"])
async def test_a_scope_that_is_missing(at_slack: Doctor, slack: SlackServer, scope: str) -> None:
    slack.scopes = tuple(one for one in SCOPES if one != scope)
    found = await at_slack.checks()
    assert (found["slack scopes"].state, scope in found["slack scopes"].found) == ("fail", True)
    assert "citebot slack manifest" in found["slack scopes"].mend
    assert "reinstall" in found["slack scopes"].mend
    assert found["slack events"].state == "ok"


async def test_an_app_token_of_another_app(at_slack: Doctor) -> None:
    at_slack.settings["app_token"] = "xapp-of-another-app"
    events = (await at_slack.checks())["slack events"]
    assert events.state == "fail"
    assert "SLACK_APP_TOKEN" in events.found
    assert "SLACK_BOT_TOKEN" not in events.found + events.mend
    assert "connections:write" in events.mend


async def test_socket_mode_that_is_off(at_slack: Doctor, slack: SlackServer) -> None:
    slack.faults.add("apps.connections.open", Fault(status=200, error="socket_mode_not_enabled"))
    events = (await at_slack.checks())["slack events"]
    assert (events.state, "turn Socket Mode on" in events.mend) == ("fail", True)


async def test_slack_that_fails_in_the_middle(at_slack: Doctor, slack: SlackServer) -> None:
    slack.faults.add("apps.connections.open", Fault(status=503))
    events = (await at_slack.checks())["slack events"]
    assert (events.state, "api_url" in events.mend) == ("fail", True)


async def test_no_way_for_events_to_come(at_slack: Doctor) -> None:
    at_slack.settings["app_token"] = ""
    events = (await at_slack.checks())["slack events"]
    assert events.state == "fail"
    assert "SLACK_APP_TOKEN" in events.mend
    assert "SLACK_SIGNING_SECRET" in events.mend


# Discord


@pytest.fixture
async def disc() -> AsyncIterator[DiscordServer]:
    async with discord_server() as server:
        server.guild(7)
        yield server


@pytest.fixture
def at_discord(disc: DiscordServer, tmp_path: pathlib.Path) -> Doctor:
    tokens = {"token": disc.token, "api_url": disc.url}
    return Doctor(file=tmp_path / "citebot.toml", platform="discord", settings=tokens)


@pytest.mark.parametrize("flag", ["gateway_message_content", "gateway_message_content_limited"])
async def test_discord_that_is_well(at_discord: Doctor, disc: DiscordServer, flag: str) -> None:
    disc.state.application_flags = getattr(discord.ApplicationFlags, flag).flag
    for wanted in ("auto", "on", "off"):
        at_discord.settings["message_content"] = wanted
        found = await at_discord.checks()
        assert {check.state for check in found.values()} == {"ok"}
        assert ("unless it is asked for" in found["discord message content"].found) == (wanted == "off")
    at_discord.listening("discord:7/8")
    not_asked_for = (await at_discord.checks())["discord message content"]
    assert not_asked_for.state == "warn"
    assert not_asked_for.mend == 'set message_content = "auto" under [discord]'
    assert "oauth2/authorize" in found["discord token"].found


async def test_the_intent_that_is_off(at_discord: Doctor) -> None:
    at_discord.settings["message_content"] = "on"
    insisted = (await at_discord.checks())["discord message content"]
    assert (insisted.state, "Message Content Intent" in insisted.mend) == ("fail", True)
    at_discord.settings["message_content"] = "auto"
    done_without = (await at_discord.checks())["discord message content"]
    assert done_without.state == "ok"
    assert "needs a mention" in done_without.found
    assert "Message Content Intent" in done_without.found
    at_discord.listening("discord:7/8")
    missed = (await at_discord.checks())["discord message content"]
    assert (missed.state, "discord:7/8" in missed.found) == ("warn", True)
    assert "Message Content Intent" in missed.mend


async def test_a_bot_in_no_server(at_discord: Doctor, disc: DiscordServer) -> None:
    disc.state.guilds.clear()
    servers = (await at_discord.checks())["discord servers"]
    assert servers.state == "warn"
    assert "https://discord.com/oauth2/authorize?client_id=100" in servers.mend


async def test_a_token_that_discord_refuses(at_discord: Doctor) -> None:
    at_discord.settings["token"] = "MTAx.wrong.token"
    check = await at_discord.only()
    assert (check.name, check.state) == ("discord token", "fail")
    assert "DISCORD_TOKEN" in check.mend
    assert "Reset Token" in check.mend


# Telegram


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramServer]:
    async with telegram_server() as server:
        yield server


@pytest.fixture
def at_telegram(telegram: TelegramServer, tmp_path: pathlib.Path) -> Doctor:
    tokens = {"bot_token": telegram.token, "api_url": telegram.url}
    return Doctor(file=tmp_path / "citebot.toml", platform="telegram", settings=tokens)


async def test_telegram_that_is_well(at_telegram: Doctor, telegram: TelegramServer) -> None:
    found = await at_telegram.checks()
    assert {check.state for check in found.values()} == {"ok"}
    assert "polled for" in found["telegram updates"].found
    assert "@citebot_bot" in found["telegram token"].found
    at_telegram.settings["webhook_url"] = "https://bot.example/telegram"
    assert "set when run starts" in (await at_telegram.checks())["telegram updates"].found
    telegram.webhook = {"url": "https://bot.example/telegram"}
    assert (await at_telegram.checks())["telegram updates"].state == "ok"


async def test_privacy_mode(at_telegram: Doctor, telegram: TelegramServer) -> None:
    on = (await at_telegram.checks())["telegram privacy mode"]
    assert (on.state, "mentions alone" in on.found) == ("ok", True)
    at_telegram.listening("telegram:-1001")
    missed = (await at_telegram.checks())["telegram privacy mode"]
    assert (missed.state, "telegram:-1001" in missed.found) == ("warn", True)
    assert "/setprivacy" in missed.mend
    assert "add it again" in missed.mend
    telegram.bot["can_read_all_group_messages"] = True
    assert (await at_telegram.checks())["telegram privacy mode"].state == "ok"


async def test_a_bot_that_no_group_may_add(at_telegram: Doctor, telegram: TelegramServer) -> None:
    telegram.bot["can_join_groups"] = False
    assert "can't be added" in (await at_telegram.checks())["telegram groups"].found


async def test_a_webhook_that_is_left_while_updates_are_polled_for(
    at_telegram: Doctor, telegram: TelegramServer
) -> None:
    telegram.webhook = {"url": "https://other.example/hook"}
    updates = (await at_telegram.checks())["telegram updates"]
    assert updates.state == "warn"
    assert "other.example" in updates.found
    assert "/newbot" in updates.mend
    assert telegram.webhook, "looking changes nothing"


async def test_webhooks_that_get_nothing(at_telegram: Doctor, telegram: TelegramServer) -> None:
    at_telegram.settings["webhook_url"] = "http://bot.example/telegram"
    plain = (await at_telegram.checks())["telegram updates"]
    assert (plain.state, "TLS" in plain.mend) == ("fail", True)
    at_telegram.settings["webhook_url"] = "https://bot.example/telegram"
    telegram.webhook = {"url": "https://bot.example/telegram"}
    telegram.webhook_error = "Connection refused"
    unreached = (await at_telegram.checks())["telegram updates"]
    assert (unreached.state, "Connection refused" in unreached.found) == ("warn", True)
    assert "webhook_port" in unreached.mend


@pytest.mark.parametrize("token", ["654321:REVOKED", "nonsense"])
async def test_a_token_that_telegram_refuses(at_telegram: Doctor, token: str) -> None:
    at_telegram.settings["bot_token"] = token
    check = await at_telegram.only()
    assert (check.name, check.state) == ("telegram token", "fail")
    assert "TELEGRAM_BOT_TOKEN" in check.mend
    assert "@BotFather" in check.mend


# All three


@pytest.mark.parametrize("platform", ["slack", "discord", "telegram"])
async def test_a_platform_that_is_away(tmp_path: pathlib.Path, platform: str) -> None:
    tokens = {
        "slack": {"bot_token": "xoxb-local", "app_token": "xapp-local", "api_url": f"{nowhere()}/api/"},
        "discord": {"token": "MTAw.local.token", "api_url": f"{nowhere()}/api/v10"},
        "telegram": {"bot_token": "123456:LOCAL", "api_url": nowhere()},
    }
    check = await Doctor(file=tmp_path / "citebot.toml", platform=platform, settings=tokens[platform]).only()
    assert (check.name, check.state) == (platform, "fail")
    assert "cannot be reached" in check.found
    assert "this machine reaches" in check.mend
