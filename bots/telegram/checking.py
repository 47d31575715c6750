"""What the doctor asks of Telegram: the token, how updates come, and what groups hide from the bot."""

from urllib.parse import urlsplit

from aiogram.methods import GetMe, GetWebhookInfo
from aiogram.types import User, WebhookInfo

from bots.requests import Check
from bots.settings import Settings
from bots.telegram.calling import Calls, open_calls
from ragcore.errors import PlatformAuthError, PlatformError

_TOKEN = "telegram token"
_LISTENING = frozenset({"all", "questions"})


async def check(settings: Settings) -> tuple[Check, ...]:
    """Return the checks; all that a bot token can ask, and nothing is changed there."""
    telegram = settings.telegram
    token = telegram.bot_token.get_secret_value() if telegram.bot_token else ""
    try:
        me, webhook = await _ask(open_calls(token, telegram.api_url))
    except PlatformAuthError as error:
        mend = "in Telegram, send /token to @BotFather, and set TELEGRAM_BOT_TOKEN to what it answers"
        return (Check(name=_TOKEN, state="fail", found=str(error), mend=mend),)
    except PlatformError as error:
        mend = f"see that this machine reaches {urlsplit(telegram.api_url).netloc}"
        return (Check(name="telegram", state="fail", found=str(error), mend=mend),)
    standing = Check(name=_TOKEN, state="ok", found=f"it is that of @{me.username}")
    return (standing, _updates(webhook, wanted=telegram.webhook_url), *_groups(me, settings))


async def _ask(calls: Calls) -> tuple[User, WebhookInfo]:
    try:
        return await calls.do(GetMe()), await calls.do(GetWebhookInfo())
    finally:
        await calls.bot.session.close()


def _updates(webhook: WebhookInfo, *, wanted: str) -> Check:
    """Tell whether updates come in the way that the settings want."""
    name = "telegram updates"
    if not wanted:
        if webhook.url:
            host = urlsplit(webhook.url).hostname
            found = f"they are sent to a webhook at {host}; `citebot run` polls, and removes that webhook at its start"
            mend = "if something else uses this bot, give Citebot a bot of its own (/newbot to @BotFather)"
            return Check(name=name, state="warn", found=found, mend=mend)
        return Check(name=name, state="ok", found=f"polled for; {webhook.pending_update_count} waiting")
    if not wanted.startswith("https://"):
        mend = "put a proxy with TLS before Citebot, and its address into webhook_url under [telegram]"
        return Check(name=name, state="fail", found="Telegram sends updates to https:// addresses only", mend=mend)
    if webhook.url and webhook.last_error_message:
        found = f"Telegram could not deliver to the webhook: {webhook.last_error_message}"
        mend = "see that webhook_url reaches webhook_host and webhook_port under [telegram], with a valid certificate"
        return Check(name=name, state="warn", found=found, mend=mend)
    found = f"by webhook; {webhook.pending_update_count} waiting" if webhook.url else "by webhook, set when run starts"
    return Check(name=name, state="ok", found=found)


def _groups(me: User, settings: Settings) -> tuple[Check, ...]:
    """Tell what groups hide from the bot, where the settings need more."""
    found = []
    listening = [c.id for c in settings.channels if c.id.startswith("telegram:") and c.respond in _LISTENING]
    if me.can_read_all_group_messages:
        found.append(Check(name="telegram privacy mode", state="ok", found="off: the bot reads all group messages"))
    elif listening:
        told = f"on: the bot sees commands, replies and mentions alone, but {listening[0]} should be answered without"
        mend = (
            f"send /setprivacy to @BotFather, choose @{me.username}, press Disable, then remove the bot from the group "
            "and add it again"
        )
        found.append(Check(name="telegram privacy mode", state="warn", found=told, mend=mend))
    else:
        told = "on: in groups the bot sees commands, replies and mentions alone"
        found.append(Check(name="telegram privacy mode", state="ok", found=told))
    if not me.can_join_groups:
        mend = f"if it should, send /setjoingroups to @BotFather, choose @{me.username}, press Enable"
        found.append(Check(name="telegram groups", state="ok", found="the bot can't be added to groups", mend=mend))
    return tuple(found)
