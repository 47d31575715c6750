"""What Slack refuses of what a call says: its errors, and the limits of messages and views."""

from typing import Any

from tests.servers.slack.blocks import MAX_BLOCKS, MAX_PAYLOAD, MAX_VIEW_BLOCKS, InvalidBlocks, check_blocks, text_of

Json = dict[str, Any]

MAX_UPDATE_TEXT = 4_000
RESPONSES = 5
_HISTORY = {"channel": "channels:history", "group": "groups:history", "im": "im:history", "mpim": "mpim:history"}
_READ = {"channel": "channels:read", "group": "groups:read", "im": "im:read", "mpim": "mpim:read"}
SCOPES_BY_KIND = {
    "conversations.history": _HISTORY,
    "conversations.replies": _HISTORY,
    "conversations.info": _READ,
    "conversations.members": _READ,
}
"""The scope that reading a channel of each kind takes."""
SCOPES = {
    "files.completeUploadExternal": "files:write",
    "files.delete": "files:write",
    "files.getUploadURLExternal": "files:write",
    "usergroups.list": "usergroups:read",
    "users.info": "users:read",
    "users.list": "users:read",
}
SCOPES_BY_TYPE = {"public_channel": "channel", "private_channel": "group", "im": "im", "mpim": "mpim"}
TYPED = frozenset({"conversations.list", "users.conversations"})
TRIGGER_SECONDS = 3.0


class Refused(Exception):
    """A call that Slack does not take."""

    def __init__(self, error: str, *, status: int = 200, wait: float = 0.0, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.wait = wait
        self.more = more


def check_scopes(method: str, params: Json, kind: str, granted: tuple[str, ...]) -> None:
    """Raise Refused for a call without its scope, of reading methods and of uploads; ``kind`` is that of the channel it names."""
    needed = {SCOPES.get(method), SCOPES_BY_KIND.get(method, {}).get(kind)} - {None}
    if method in TYPED:
        types = str(params.get("types") or "public_channel").split(",")
        needed = {_READ[SCOPES_BY_TYPE[one]] for one in types}
    missing = sorted(scope for scope in needed if scope is not None and scope not in granted)
    if missing:
        raise Refused("missing_scope", needed=",".join(missing), provided=",".join(granted))


def content(params: Json, most_text: int | None = None) -> Json:
    """Return the text and blocks of a message, or raise Refused for what can't be one."""
    blocks, text = params.get("blocks") or [], params.get("text") or ""
    if not blocks and not text:
        raise Refused("no_text")
    if most_text is not None and len(text) > most_text:
        raise Refused("msg_too_long")
    check(blocks)
    if sum(map(len, (text_of(blocks),))) > MAX_PAYLOAD:
        raise Refused("msg_blocks_too_long")
    return {"text": text[:40_000], "blocks": blocks}


def check(blocks: list[Json], most: int = MAX_BLOCKS) -> None:
    """Raise Refused for blocks that can't be shown."""
    try:
        check_blocks(blocks, most)
    except InvalidBlocks as error:
        raise Refused("invalid_blocks", response_metadata={"messages": [f"[ERROR] {error}"]}) from error


def check_view(view: Json) -> None:
    """Raise Refused for what can't be a modal."""
    longest = {"private_metadata": 3_000, "callback_id": 255}
    if not 1 <= len(view["title"]["text"]) <= 24 or any(len(view.get(key, "")) > most for key, most in longest.items()):
        raise Refused("invalid_arguments")
    check(view["blocks"], MAX_VIEW_BLOCKS)
