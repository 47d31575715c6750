"""What a message says, as lines of text that a reader of Discord would recognise. Pure.

Nothing of what somebody wrote is lost: codes that name a person, a role, a channel, an emoji or a time are replaced by
what Discord shows in their place, where that is known, and everything else stays as it is, with its markup.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from connectors.discord.payloads import Said

QUOTED = 200
"""So many characters of what a reply answers are repeated."""
_UTC = ZoneInfo("UTC")
_LITERAL = re.compile(r"(```.*?```|(?<!`)`[^`\n]+`(?!`))", re.DOTALL)
_CODES = re.compile(
    r"<(?:@!?(?P<user>\d{1,20})|@&(?P<role>\d{1,20})|#(?P<channel>\d{1,20})|a?(?P<emoji>:\w{1,64}:)\d{1,20}"
    r"|(?P<command>/[^<>:\n]{1,110}):\d{1,20}|t:(?P<time>-?\d{1,14})(?::[tTdDfFsSR])?)>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What the codes of a server stand for, and in whose time moments are written."""

    server: int
    channels: Mapping[int, str] = field(default_factory=dict)
    roles: Mapping[int, str] = field(default_factory=dict)
    zone: ZoneInfo = _UTC


def lines_of(said: Said, names: Names) -> list[str]:
    """Return the lines of a message, none when it says nothing: its words, then what stands beside them."""
    lines = _own_lines(said, names)
    for passed_on in said.forwarded:
        inner = _own_lines(passed_on, names)
        lines += ["[forwarded]", *(f"> {line}" for line in inner)] if inner else []
    return lines


def quoted(said: Said, names: Names) -> str:
    """Return the beginning of what a message says, in one line, as a reply repeats it."""
    words = " ".join(" ".join(lines_of(said, names)).split())
    if len(words) <= QUOTED:
        return words
    return f"{words[:QUOTED].rsplit(' ', 1)[0] or words[:QUOTED]} …"


def _own_lines(said: Said, names: Names) -> list[str]:
    words = said.content.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    lines = worded(words, said.names, names).split("\n") if words.strip() else []
    for file in said.files:
        lines.append(f"[file: {file.name}{f', {file.about}' if file.about else ''}]")
    for line in said.extra:
        lines += worded(line, said.names, names).replace("\r", "\n").strip("\n").split("\n")
    return lines


def worded(text: str, people: Mapping[int, str], names: Names) -> str:
    """Return a text with names in the place of codes, those in code spans and fences aside: there they are meant."""

    def shown(code: re.Match[str]) -> str:
        return _shown(code, people, names) or code[0]

    parts = _LITERAL.split(text)
    return "".join(part if number % 2 else _CODES.sub(shown, part) for number, part in enumerate(parts))


def _shown(code: re.Match[str], people: Mapping[int, str], names: Names) -> str:
    """Return what Discord shows in the place of a code, "" when nobody knows."""
    if code["user"]:
        name = people.get(int(code["user"]), "")
        return f"@{name}" if name else ""
    if code["role"]:
        role = names.roles.get(int(code["role"]), "")
        return f"@{role.removeprefix('@')}" if role else ""
    if code["channel"]:
        # A thread has no name that is known for good: the link leads to it.
        channel = names.channels.get(int(code["channel"]), "")
        return f"#{channel}" if channel else link(names.server, int(code["channel"]))
    if code["time"]:
        return _time(int(code["time"]), names.zone)
    return code["emoji"] or code["command"] or ""


def _time(unix: int, zone: ZoneInfo) -> str:
    try:
        return shown_time(datetime.fromtimestamp(unix, UTC), zone)
    except (ValueError, OverflowError, OSError):
        return ""


def shown_time(moment: datetime, zone: ZoneInfo) -> str:
    """Return a moment to the minute, in a zone."""
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"


def link(server: int, channel: int, message: int = 0) -> str:
    """Return the address of a channel, a thread or a message, as Copy Link gives it."""
    place = f"https://discord.com/channels/{server}/{channel}"
    return f"{place}/{message}" if message else place


def heading(said: Said, answers: str, names: Names, moment: datetime) -> str:
    """Return the line above a message: who wrote it, when, and whom it answers."""
    return f"{said.author}, {shown_time(moment, names.zone)}{f', {answers}' if answers else ''}:"
