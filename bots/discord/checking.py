"""What the doctor asks of Discord: the token, the message content intent, and how the bot is invited."""

import discord
from discord.http import Route

from bots.discord.calling import mapped
from bots.discord.listening import DISCORD_URL
from bots.requests import Check
from bots.settings import Settings
from ragcore.errors import PlatformAuthError, PlatformError

_TOKEN = "discord token"
_INTENT = "discord message content"
_SERVERS = "discord servers"
_LISTENING = frozenset({"all", "questions"})
_PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    read_message_history=True,
    embed_links=True,
)


async def check(settings: Settings) -> tuple[Check, ...]:
    """Return the checks; all that a bot token can ask, and nothing is changed there."""
    given = settings.discord
    if given.api_url.rstrip("/") != DISCORD_URL:
        Route.BASE = given.api_url.rstrip("/")
    # It never opens a gateway; without the guilds intent discord.py warns all the same.
    client = discord.Client(intents=discord.Intents(guilds=True))
    try:
        async with client, mapped():
            await client.login(given.token.get_secret_value() if given.token else "")
            application = await client.application_info()
            name = client.user.name if client.user else "?"
            inside = [guild.id async for guild in client.fetch_guilds(limit=1, with_counts=False)]
    except PlatformAuthError as error:
        mend = "in the Developer Portal open the application, Bot, press Reset Token, and set DISCORD_TOKEN to it"
        return (Check(name=_TOKEN, state="fail", found=str(error), mend=mend),)
    except PlatformError as error:
        mend = "see that this machine reaches api_url under [discord]"
        return (Check(name="discord", state="fail", found=str(error), mend=mend),)
    invitation = discord.utils.oauth_url(
        application.id, permissions=_PERMISSIONS, scopes=("bot", "applications.commands")
    )
    return (
        Check(name=_TOKEN, state="ok", found=f"it is that of {name}; it is invited with {invitation}"),
        _servers(inside, invitation),
        _intent(application.flags, settings),
    )


def _servers(inside: list[int], invitation: str) -> Check:
    """Tell whether the bot is in any server at all."""
    if inside:
        return Check(name=_SERVERS, state="ok", found="it is in one at least")
    mend = f"open {invitation}, choose a server where you may manage it, and authorize the bot"
    return Check(name=_SERVERS, state="warn", found="it is in none: nobody sees it, nor can write to it", mend=mend)


def _intent(flags: discord.ApplicationFlags, settings: Settings) -> Check:
    """Tell whether the bot reads messages that don't mention it, where the settings want that."""
    wanted = settings.discord.message_content
    steps = []
    if not (flags.gateway_message_content or flags.gateway_message_content_limited):
        steps.append('in the Developer Portal open the application, Bot, and switch on "Message Content Intent"')
    if wanted == "off":
        steps.append('set message_content = "auto" under [discord]')
    if not steps:
        return Check(name=_INTENT, state="ok", found="on")
    mend = "; ".join(steps)
    if wanted == "on":
        found = 'off in the portal, but message_content = "on": Discord closes the connection'
        return Check(name=_INTENT, state="fail", found=found, mend=mend)
    listening = [c.id for c in settings.channels if c.id.startswith("discord:") and c.respond in _LISTENING]
    if listening:
        found = f"off: the bot reads mentions and direct messages alone, but {listening[0]} should be answered without"
        return Check(name=_INTENT, state="warn", found=found, mend=mend)
    found = "off: in threads every question needs a mention, unless "
    found += (
        '"Message Content Intent" is switched on (portal, Bot)' if wanted == "auto" else "it is asked for (settings)"
    )
    return Check(name=_INTENT, state="ok", found=found)
