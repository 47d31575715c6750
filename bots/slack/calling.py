"""Every call to Slack, its errors mapped once.

The SDK's own second tries are off: after a lost connection nobody knows whether a message was taken, and the turn
looks before it sends again.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bots.pictures import Picture
from bots.platform import Sent
from bots.refusals import Refusals
from bots.rendering.slack import SlackMessage
from bots.slack.pacing import PacedClient, is_limited, seconds_to_wait
from ragcore.errors import (
    MessageGone,
    PlatformAuthError,
    PlatformError,
    PlatformNotReached,
    PlatformRateLimited,
    PlatformRefused,
    PlatformUnreachable,
    StreamEnded,
)

log = logging.getLogger(__name__)


def discreet(record: logging.LogRecord) -> bool:
    """Take out of a line of the SDK's log what opens a socket for anybody, and leave out what is said of our own doing.

    bolt warns that it takes the token from us and not from the environment, where we have it from.
    """
    told = record.getMessage()
    if told.startswith(("As you gave `client`", "As `installation_store` or `authorize`")):
        return False
    record.msg, record.args = _TICKET.sub(r"\1=…", told), ()
    record.exc_info = record.exc_text = None  # the line names the error; its traceback would tell the address again
    return True


_TICKET = re.compile(r"(ticket|app_id)=[^&\s'\")]+")
SDK_LOG = logging.getLogger("citebot.slack_sdk")
# Below this the SDK would write whole requests to the log, with what people say and addresses that answer for us.
SDK_LOG.setLevel(logging.INFO)
SDK_LOG.addFilter(discreet)

SLACK_URL = "https://slack.com/api/"
METADATA = "citebot_part"
CALL_SECONDS = 30.0
_AUTH = frozenset(
    {
        "account_inactive", "ekm_access_denied", "invalid_auth", "missing_scope", "no_permission", "not_authed",
        "not_allowed_token_type", "org_login_required", "token_expired", "token_revoked",
    }
)  # fmt: skip
_GONE = frozenset(
    {
        "cannot_reply_to_message", "channel_not_found", "exchanged_trigger_id", "expired_trigger_id", "expired_url",
        "file_deleted", "file_not_found", "is_archived", "message_not_found", "not_in_channel", "thread_not_found",
        "trigger_expired", "used_url", "user_not_found", "user_not_in_channel",
    }
)  # fmt: skip
_ENDED = frozenset({"message_not_in_streaming_state", "stopped_by_user"})
_DOWN = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable", "team_added_to_org"})
STREAMING = "streaming_state_conflict"


@asynccontextmanager
async def mapped() -> AsyncGenerator[None]:
    """Let what the SDK raises leave as an error of ours."""
    try:
        yield
    except SlackApiError as error:
        raise _ours(error) from error
    except aiohttp.ClientConnectorError as error:
        raise PlatformNotReached(f"Slack cannot be reached ({type(error).__name__})") from error
    except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
        raise PlatformUnreachable(f"Slack cannot be reached ({type(error).__name__})") from error


def _ours(error: SlackApiError) -> PlatformError:
    response = error.response
    data = response.data if isinstance(response, AsyncSlackResponse) and isinstance(response.data, dict) else {}
    status = int(getattr(response, "status_code", 0) or getattr(response, "status", 0) or 0)
    headers: Mapping[str, str] = getattr(response, "headers", None) or {}
    code = str(data.get("error") or "")
    if code == "missing_scope":
        return PlatformAuthError(f"Slack: the app lacks the scope {data.get('needed')}; see citebot slack manifest")
    return _error(code, status, headers)


def _error(code: str, status: int, headers: Mapping[str, str]) -> PlatformError:
    if is_limited(code, status):
        return PlatformRateLimited("Slack asks to wait", retry_after=seconds_to_wait(headers))
    if code in _AUTH:
        return PlatformAuthError(f"Slack refused the token ({code}); set SLACK_BOT_TOKEN to the app's xoxb-… token")
    if code in _ENDED:
        return StreamEnded(f"Slack: {code}")
    if code in _GONE:
        return MessageGone(f"Slack: {code}")
    if code in _DOWN or status >= 500 or not code:
        return PlatformUnreachable(f"Slack cannot be reached ({code or status})")
    return PlatformRefused(code)


class Calls:
    """The calls of one bot; all raise PlatformError."""

    def __init__(self, token: str, api_url: str) -> None:
        self.refusals = Refusals()
        self.client = PacedClient(
            token=token, base_url=api_url, retry_handlers=[], logger=SDK_LOG, timeout=int(CALL_SECONDS)
        )

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[None]:
        """Keep connections open from call to call."""
        limit, trace = aiohttp.ClientTimeout(total=CALL_SECONDS), self.refusals.trace()
        async with aiohttp.ClientSession(timeout=limit, trace_configs=[trace]) as session:
            self.client.session = session
            try:
                yield
            finally:
                self.client.session = None

    async def do(self, call: Awaitable[AsyncSlackResponse]) -> dict[str, Any]:
        """Make any call and return what Slack says."""
        async with mapped():
            answer = await call
        return answer.data if isinstance(answer.data, dict) else {}

    async def quietly(self, call: Awaitable[AsyncSlackResponse]) -> bool:
        """Do what only shows progress: its failure is nobody's business but the log's. Return whether it went."""
        try:
            await self.do(call)
        except PlatformError as error:
            log.debug("left out: %s", error)
            return False
        return True

    async def post(self, channel: str, message: SlackMessage, *, thread: str = "", key: str = "") -> Sent:
        """Send a message of its own; it can be found by its key."""
        said = await self.do(
            self.client.chat_postMessage(
                channel=channel,
                text=message.text,
                blocks=list(message.blocks),
                thread_ts=thread or None,
                unfurl_links=False,
                unfurl_media=False,
                link_names=False,
                metadata=_metadata(key),
            )
        )
        return Sent(channel=str(said.get("channel") or channel), id=str(said["ts"]))

    async def whisper(
        self, channel: str, user: str, text: str, blocks: Sequence[Mapping[str, Any]], *, thread: str = ""
    ) -> None:
        """Show something in a channel to one person alone."""
        await self.do(
            self.client.chat_postEphemeral(
                channel=channel,
                user=user,
                text=text,
                blocks=[dict(block) for block in blocks],
                thread_ts=thread or None,
                link_names=False,
            )
        )

    async def direct(self, user: str) -> str:
        """Return the channel of direct messages with somebody."""
        opened = await self.do(self.client.conversations_open(users=user))
        return str((opened.get("channel") or {}).get("id") or user)

    async def change(self, sent: Sent, message: SlackMessage, key: str = "") -> None:
        """Rewrite a message; one that still streams is ended first."""
        try:
            await self._update(sent, message, key)
        except PlatformRefused as error:
            if str(error) != STREAMING:
                raise
            await self.stop_stream(sent)
            await self._update(sent, message, key)

    async def _update(self, sent: Sent, message: SlackMessage, key: str) -> None:
        await self.do(
            self.client.chat_update(
                channel=sent.channel,
                ts=sent.id,
                text=message.text,
                blocks=list(message.blocks),
                link_names=False,
                metadata=_metadata(key),
            )
        )

    async def start_stream(
        self,
        channel: str,
        thread: str,
        text: str,
        blocks: Sequence[Mapping[str, Any]],
        *,
        team: str,
        user: str,
        tasks: Sequence[Mapping[str, Any]] = (),
    ) -> Sent:
        """Begin a stream for somebody of a workspace, with blocks and tasks above its words."""
        chunks = [dict(task) for task in tasks]
        if blocks:
            chunks.insert(0, {"type": "blocks", "blocks": [dict(block) for block in blocks]})
        if chunks and text:
            chunks.append({"type": "markdown_text", "text": text})
        said = await self.do(
            self.client.chat_startStream(
                channel=channel,
                thread_ts=thread,
                markdown_text=None if chunks else text or None,
                chunks=chunks or None,
                recipient_team_id=team,
                recipient_user_id=user,
                task_display_mode="plan" if tasks else None,
            )
        )
        return Sent(channel=str(said.get("channel") or channel), id=str(said["ts"]), extra={"stream": "1"})

    async def append(self, sent: Sent, text: str, tasks: Sequence[Mapping[str, Any]] = ()) -> None:
        """Add words to a stream, and tasks, or what has become of them."""
        # Slack takes words and chunks in one call only where the words are a chunk, too.
        chunks = [*(dict(task) for task in tasks), *([{"type": "markdown_text", "text": text}] if text else [])]
        await self.do(
            self.client.chat_appendStream(
                channel=sent.channel,
                ts=sent.id,
                markdown_text=None if tasks else text,
                chunks=chunks if tasks else None,
            )
        )

    async def stop_stream(self, sent: Sent, *, session_status: str | None = None) -> bool:
        """End a stream; return False when it had ended already."""
        try:
            await self.do(self.client.chat_stopStream(channel=sent.channel, ts=sent.id, session_status=session_status))
        except StreamEnded:
            return False
        return True

    async def delete(self, sent: Sent) -> None:
        """Take a message back; nothing happens when it is gone."""
        with suppress(MessageGone):
            await self.do(self.client.chat_delete(channel=sent.channel, ts=sent.id))

    async def respond(
        self, url: str, message: SlackMessage | None = None, *, replace: bool = False, everybody: bool = False
    ) -> None:
        """Answer a command or a button by its address; without a message take back the one that it stands under."""
        webhook = AsyncWebhookClient(url, session=self.client.session, logger=SDK_LOG, retry_handlers=[])
        async with mapped():
            if message is None:
                said = await webhook.send(delete_original=True)
            else:
                said = await webhook.send(
                    text=message.text,
                    blocks=list(message.blocks),
                    response_type="in_channel" if everybody else "ephemeral",
                    replace_original=replace,
                    unfurl_links=False,
                    unfurl_media=False,
                )
        if said.status_code == 404:
            raise MessageGone(f"Slack: {_code(said.body)}")
        if said.status_code != 200:
            raise _error(_code(said.body), said.status_code, said.headers)

    async def download(self, file: str, limit: int) -> bytes:
        """Return a file's content; PlatformRefused when it is larger than ``limit`` bytes."""
        found = (await self.do(self.client.files_info(file=file))).get("file") or {}
        url = str(found.get("url_private_download") or found.get("url_private") or "")
        if not url or int(found.get("size") or 0) > limit:
            raise PlatformRefused(f"the file is larger than {limit} bytes" if url else "the file has no content")
        if not self._is_slacks(url):
            raise PlatformRefused("the file is not kept by Slack")
        session = self.client.session
        if session is None:
            raise PlatformUnreachable("Slack is not connected")
        headers = {"Authorization": f"Bearer {self.client.token}"}
        async with mapped(), session.get(url, headers=headers, allow_redirects=False) as answer:
            if answer.status != 200:
                raise _error("" if answer.status >= 500 else "file_not_found", answer.status, answer.headers)
            content = bytearray()
            async for piece in answer.content.iter_chunked(2**16):
                content += piece
                if len(content) > limit:
                    raise PlatformRefused(f"the file is larger than {limit} bytes")
        return bytes(content)

    async def upload(self, picture: Picture) -> str:
        """Hand a picture to Slack, shared with nobody; return the file's id."""
        name, size = picture.name, len(picture.png)
        given = await self.do(
            self.client.files_getUploadURLExternal(filename=name, length=size, alt_txt=picture.caption)
        )
        url, file = str(given.get("upload_url") or ""), str(given.get("file_id") or "")
        session = self.client.session
        if not self._is_slacks(url):
            raise PlatformRefused("the address for an upload is not Slack's")
        if session is None:
            raise PlatformUnreachable("Slack is not connected")
        async with mapped(), session.post(url, data=picture.png, allow_redirects=False) as answer:
            if answer.status != 200:
                raise _error("" if answer.status >= 500 else "the upload was refused", answer.status, answer.headers)
        await self.do(self.client.files_completeUploadExternal(files=[{"id": file, "title": picture.caption}]))
        return file

    def _is_slacks(self, url: str) -> bool:
        """Tell whether the token may be shown to an address: Slack's own, or where the API is."""
        asked, api = urlsplit(url), urlsplit(self.client.base_url)
        if (asked.scheme, asked.netloc) == (api.scheme, api.netloc):
            return True
        host = asked.hostname or ""
        return asked.scheme == "https" and any(
            host == home or host.endswith(f".{home}") for home in _homes(api.hostname)
        )


def _homes(api: str | None) -> tuple[str, ...]:
    return ("slack-gov.com",) if (api or "").endswith("slack-gov.com") else ("slack.com", "slack-files.com")


def _code(body: str) -> str:
    """Return the error that a response URL tells, as plain text or as JSON."""
    for code in _GONE:
        if code in body:
            return code
    return body.strip()[:80]


def _metadata(key: str) -> dict[str, Any] | None:
    return {"event_type": METADATA, "event_payload": {"key": key}} if key else None


async def settled(*tasks: asyncio.Future[Any] | None) -> None:
    """Wait until tasks of the SDK that were cancelled have ended."""
    await asyncio.gather(*(task for task in tasks if task is not None), return_exceptions=True)
