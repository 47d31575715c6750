"""The chat platforms that the settings name, each made when it has a token; only then is its SDK imported."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from bots.platform import Platform
from bots.requests import Check
from bots.settings import Settings


def with_token(settings: Settings) -> tuple[str, ...]:
    """Return the names of the platforms that have a token."""
    tokens = {
        "slack": settings.slack.bot_token,
        "discord": settings.discord.token,
        "telegram": settings.telegram.bot_token,
    }
    return tuple(name for name, token in tokens.items() if token is not None and token.get_secret_value())


def check_halves(settings: Settings) -> Iterator[Check]:
    """Tell of a platform that has its second token and lacks the one that starts it; nothing when none does."""
    slack = settings.slack
    halves = {"SLACK_APP_TOKEN": slack.app_token, "SLACK_SIGNING_SECRET": slack.signing_secret}
    given = [name for name, secret in halves.items() if _secret(secret)]
    if given and not _secret(slack.bot_token):
        verb = "are" if len(given) > 1 else "is"
        found = f"{' and '.join(given)} {verb} set, SLACK_BOT_TOKEN is not: nobody is answered on Slack"
        mend = "copy the Bot User OAuth Token (xoxb-…) from OAuth & Permissions into SLACK_BOT_TOKEN"
        yield Check(name="slack token", state="fail", found=found, mend=mend)


def open_platform(name: str, settings: Settings) -> Platform[Any]:
    """Make a platform; nothing is connected yet. Imports its SDK, which takes seconds: call it in a thread.

    Raises:
        PlatformAuthError: the token can't be one, or a second one is missing.
    """
    match name:
        case "slack":
            return _slack(settings)
        case "discord":
            return _discord(settings)
        case "telegram":
            return _telegram(settings)
        case _:
            raise ValueError(f"there is no platform {name!r}")


def _slack(settings: Settings) -> Platform[Any]:
    from bots.slack import Commands, Listen, SlackPlatform

    slack = settings.slack
    return SlackPlatform(
        bot_token=_secret(slack.bot_token),
        app_token=_secret(slack.app_token),
        signing_secret=_secret(slack.signing_secret),
        api_url=slack.api_url,
        listen=Listen(host=slack.http_host, port=slack.http_port),
        channels=[one for one in _readers(settings, "slack:") if "/" in one and "@" not in one],
        commands=Commands(ask=slack.ask_command, more=slack.bot_command),
    )


def _discord(settings: Settings) -> Platform[Any]:
    from bots.discord import DiscordPlatform

    discord = settings.discord
    return DiscordPlatform(
        token=_secret(discord.token),
        api_url=discord.api_url,
        message_content=discord.message_content,
        places=_readers(settings, "discord:"),
    )


def _telegram(settings: Settings) -> Platform[Any]:
    from bots.telegram import TelegramPlatform, Webhook

    telegram = settings.telegram
    webhook = None
    if telegram.webhook_url:
        path = urlsplit(telegram.webhook_url).path or "/"
        webhook = Webhook(url=telegram.webhook_url, host=telegram.webhook_host, port=telegram.webhook_port, path=path)
    return TelegramPlatform(
        token=_secret(telegram.bot_token),
        api_url=telegram.api_url,
        webhook=webhook,
        chats=[reader.removeprefix("telegram:") for reader in _readers(settings, "telegram:-")],
    )


async def check_platform(name: str, settings: Settings) -> tuple[Check, ...]:
    """Ask a platform what it thinks of the token, and tell what is missing, with the mend."""
    match name:
        case "slack":
            from bots.slack.checking import check as check_slack

            return await check_slack(settings)
        case "discord":
            from bots.discord.checking import check as check_discord

            return await check_discord(settings)
        case "telegram":
            from bots.telegram.checking import check as check_telegram

            return await check_telegram(settings)
        case _:
            raise ValueError(f"there is no platform {name!r}")


def _readers(settings: Settings, prefix: str) -> tuple[str, ...]:
    """Return the readers of knowledge bases that begin so, each once."""
    named = (reader for base in settings.all_knowledge_bases.values() for reader in base.readers)
    return tuple(dict.fromkeys(reader for reader in named if reader.startswith(prefix)))


def _secret(value: SecretStr | None) -> str:
    return value.get_secret_value() if value else ""
