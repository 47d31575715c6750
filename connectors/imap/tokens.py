"""Access tokens for a mailbox, asked for anew at each login: they are good for about an hour (OAuth 2, RFC 6749)."""

import json
from typing import Any

import aiohttp

from connectors.http import shown
from connectors.http.faults import fault_of, of_exception
from connectors.imap.options import ImapOptions
from ragcore.errors import SourceAuthError, SourceBadReply

_LIMIT = 1_000_000
"""Bytes of an answer; a token has some thousands."""
_REFUSED = frozenset((400, 401, 403))
"""How a server of tokens refuses (RFC 6749, section 5.2)."""
_MEND = "check `client_id`, `client_secret` and `scope`; a refresh token that has run out wants a new one"


async def access_token(options: ImapOptions) -> str:
    """Return a new access token, by the refresh token if there is one, else by the client's own credential.

    Raises:
        SourceAuthError: it was refused.
        SourceError: the server of tokens can't be reached, or answers something else.
    """
    url, form = options.token_url, {"client_id": options.client_id, "grant_type": "client_credentials"}
    if options.client_secret is not None:
        form["client_secret"] = options.client_secret.get_secret_value()
    if options.refresh_token is not None:
        form |= {"grant_type": "refresh_token", "refresh_token": options.refresh_token.get_secret_value()}
    if options.scope:
        form["scope"] = options.scope
    limit = aiohttp.ClientTimeout(total=options.timeout)
    try:
        async with (
            aiohttp.ClientSession(timeout=limit, trust_env=True) as session,
            session.post(url, data=form, allow_redirects=False) as response,
        ):
            content = await response.content.read(_LIMIT)
            status, headers = response.status, dict(response.headers)
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise of_exception(error, url) from None
    told = _told(content)
    if status in _REFUSED:
        why = str(told.get("error", "")) or str(status)
        raise SourceAuthError(f"{shown(url)} gives no token: {why[:100]}", mend=_MEND)
    fault = fault_of(status, headers, url)
    if fault is not None:
        raise fault
    token = told.get("access_token")
    if not isinstance(token, str) or not token:
        raise SourceBadReply(f"{shown(url)} answered without a token", mend="check `token_url`")
    return token


def _told(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
