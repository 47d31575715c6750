"""What the doctor asks of Slack: the tokens, the scopes, and how events come."""

import re
from typing import Any

from bots.requests import Check
from bots.settings import Settings
from bots.slack.calling import Calls, mapped
from bots.slack.manifest import PICTURES, SCOPES
from ragcore.errors import PlatformAuthError, PlatformError, PlatformUnreachable

_TOKEN = "slack token"
_REINSTALL = (
    "paste the output of `citebot slack manifest` under App Manifest at api.slack.com/apps, then reinstall the app"
)


async def check(settings: Settings) -> tuple[Check, ...]:
    """Return the checks; all that the tokens can ask, and nothing is changed there.

    Which events are subscribed to, no bot token can ask.
    """
    slack = settings.slack
    calls = Calls(slack.bot_token.get_secret_value() if slack.bot_token else "", slack.api_url)
    async with calls.connection():
        try:
            async with mapped():
                answer = await calls.client.auth_test()
        except PlatformAuthError as error:
            mend = (
                "copy the Bot User OAuth Token (xoxb-…) from OAuth & Permissions into SLACK_BOT_TOKEN; if it was "
                "revoked, install the app again before"
            )
            return (Check(name=_TOKEN, state="fail", found=str(error), mend=mend),)
        except PlatformError as error:
            mend = "see that this machine reaches api_url under [slack]"
            return (Check(name="slack", state="fail", found=str(error), mend=mend),)
        said: dict[str, Any] = answer.data if isinstance(answer.data, dict) else {}
        standing = f"it is that of {said.get('user')} in {said.get('team')} ({said.get('team_id')})"
        found = [Check(name=_TOKEN, state="ok", found=standing)]
        headers = {str(name).lower(): str(value) for name, value in answer.headers.items()}
        found += _scopes(headers.get("x-oauth-scopes"), pictures=settings.turns.pictures)
        found.append(await _events(calls, settings))
    return tuple(found)


def _scopes(listed: str | None, *, pictures: bool) -> list[Check]:
    """Tell which scopes are missing, where Slack says which there are."""
    if listed is None:
        return []
    needed = [scope for scope in SCOPES if scope != PICTURES or pictures]
    missing = [scope for scope in needed if scope not in re.split(r"[,\s]+", listed)]
    if missing == [PICTURES]:
        told = f"the app lacks {PICTURES}: cited passages are shown without pictures"
        mend = f"{_REINSTALL}, or set pictures = false under [turns]"
        return [Check(name="slack scopes", state="warn", found=told, mend=mend)]
    if missing:
        told = f"the app lacks {', '.join(missing)}"
        return [Check(name="slack scopes", state="fail", found=told, mend=_REINSTALL)]
    return [Check(name="slack scopes", state="ok", found=f"all {len(needed)} are granted")]


async def _events(calls: Calls, settings: Settings) -> Check:
    """Tell whether events can come, by Socket Mode or by HTTP."""
    name, slack = "slack events", settings.slack
    token = slack.app_token.get_secret_value() if slack.app_token else ""
    if token:
        try:
            async with mapped():
                await calls.client.apps_connections_open(app_token=token)
        except PlatformUnreachable as error:
            mend = "see that this machine reaches api_url under [slack]"
            return Check(name=name, state="fail", found=f"Socket Mode: {error}", mend=mend)
        except PlatformError as error:
            told = "Slack refused SLACK_APP_TOKEN" if isinstance(error, PlatformAuthError) else str(error)
            mend = (
                "under Basic Information, App-Level Tokens, make one with the scope connections:write, set it as "
                "SLACK_APP_TOKEN, and turn Socket Mode on"
            )
            return Check(name=name, state="fail", found=f"Socket Mode: {told}", mend=mend)
        return Check(name=name, state="ok", found="by Socket Mode")
    if slack.signing_secret:
        found = f"by HTTP, listened for at {slack.http_host}:{slack.http_port}"
        return Check(name=name, state="ok", found=found)
    mend = "set SLACK_APP_TOKEN (xapp-…) for Socket Mode, or SLACK_SIGNING_SECRET for HTTP"
    return Check(name=name, state="fail", found="there is neither an app token nor a signing secret", mend=mend)
