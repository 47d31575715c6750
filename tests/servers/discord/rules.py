"""What Discord refuses of a message and of commands, and how it says so."""

import re
from collections.abc import Mapping
from typing import Any

from bots.rendering.measure import units
from tests.servers.discord.world import SUPPRESS_EMBEDS, Json

MAX_CONTENT = 2000
MAX_NONCE = 25
MAX_FILES, MAX_DESCRIPTION = 10, 1024
MAX_FILE_BYTES, MAX_REQUEST_BYTES = 10 * 2**20, 25 * 2**20
"""Of one file without a boost of the server, and of one call; the latter only users report."""
_NAME = re.compile(r"[-_'a-z0-9\u0400-\uffff]{1,32}")


class Refused(Exception):
    """A call that is not taken: HTTP status, Discord's code, and what is wrong with which field."""

    def __init__(self, status: int, code: int, message: str, errors: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.errors = errors

    def body(self) -> Json:
        return {"code": self.code, "message": str(self), **({"errors": self.errors} if self.errors else {})}


def invalid(field: str, code: str, why: str) -> Refused:
    """Return the refusal of one field of a form."""
    return Refused(400, 50035, "Invalid Form Body", {field: {"_errors": [{"code": code, "message": why}]}})


def check_message(params: Json, *, edit: bool = False) -> None:
    """Raise Refused for what can't be a message."""
    content = params.get("content")
    if content is not None and units(content) > MAX_CONTENT:
        raise invalid("content", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_CONTENT} or fewer in length.")
    empty = not (content or "").strip() and not params.get("embeds") and not params.get("attachments")
    if empty and not (edit and "content" not in params):
        raise Refused(400, 50006, "Cannot send an empty message")
    check_files(params.get("attachments") or [])
    if len(str(params.get("nonce") or "")) > MAX_NONCE:
        raise invalid("nonce", "NONCE_TYPE_TOO_LONG", "Nonce must be 25 characters or shorter.")
    check_components(params.get("components") or [])


def check_files(attachments: list[Json]) -> None:
    """Raise Refused for files that can't be sent: too many, too large, or with too long a description."""
    if len(attachments) > MAX_FILES:
        raise invalid("attachments", "BASE_TYPE_BAD_LENGTH", f"Must be {MAX_FILES} or fewer in length.")
    sizes = [len(one.get("content", b"")) for one in attachments]
    if any(size > MAX_FILE_BYTES for size in sizes) or sum(sizes) > MAX_REQUEST_BYTES:
        raise Refused(413, 40005, "Request entity too large")
    if any(len(one.get("description") or "") > MAX_DESCRIPTION for one in attachments):
        raise invalid("attachments", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_DESCRIPTION} or fewer in length.")


def check_components(rows: list[Json]) -> None:
    """Raise Refused for rows of buttons that can't be shown."""
    if len(rows) > 5:
        raise invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
    seen: set[str] = set()
    for row in rows:
        buttons = row.get("components", [])
        if row.get("type") != 1 or not 1 <= len(buttons) <= 5:
            raise invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
        for button in buttons:
            key = button.get("custom_id", "")
            if not 1 <= len(key) <= 100:
                raise invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
            if key in seen:
                raise invalid(
                    "components", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated"
                )
            seen.add(key)
            if not button.get("label") and not button.get("emoji"):
                raise invalid("components", "BUTTON_COMPONENT_INVALID", "A button must have a label or an emoji")
            if len(button.get("label") or "") > 80:
                raise invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 80 in length.")


def check_commands(commands: list[Json]) -> None:
    """Raise Refused for commands that can't be registered."""
    if len([one for one in commands if one.get("type", 1) == 1]) > 100:
        raise Refused(400, 30032, "Maximum number of application commands reached (100)")
    for one in commands:
        for part in (one, *one.get("options", ())):
            if not _NAME.fullmatch(part["name"]):
                raise invalid("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
            for text in (part["description"], *(part.get("description_localizations") or {}).values()):
                if not 1 <= len(text) <= 100:
                    raise invalid("description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
        required = [bool(option.get("required")) for option in one.get("options", ())]
        if required != sorted(required, reverse=True):
            raise invalid("options", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed "
                          "before non-required options")  # fmt: skip


def pings(message: Json, allowed: Json | None) -> list[str]:
    """Return whom a message really notifies: what it names, as far as the call allows (left out: all of it)."""
    parse = ["everyone", "users", "roles"] if allowed is None else allowed.get("parse", [])
    found = ["everyone"] if message["mention_everyone"] and "everyone" in parse else []
    if "users" in parse:
        found += [one["id"] for one in message["mentions"]]
    if "roles" in parse:
        found += message["mention_roles"]
    if message.get("referenced_message") and (allowed is None or allowed.get("replied_user")):
        found.append(message["referenced_message"]["author"]["id"])
    return found


def previews(message: Json) -> bool:
    """Return whether clients show previews of its links."""
    bare = re.search(r"(?<![<(])https?://\S+|\]\(https?://", message["content"])
    return bool(bare) and not message["flags"] & SUPPRESS_EMBEDS
