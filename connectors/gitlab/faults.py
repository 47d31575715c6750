"""What GitLab's refusals mean, beyond their status.

https://docs.gitlab.com/api/rest/troubleshooting/, https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/
"""

from connectors.http import Reply, json_object, moment, retry_after, shown
from ragcore.errors import SourceAuthError, SourceError, SourceGone, SourceRateLimited

WAIT = 60.0
"""Seconds to wait where GitLab doesn't tell how long: its limits are counted by the minute."""
_LONGEST = 24 * 3600.0
_UNREACHABLE = "check its path; to a token that may not read it, and without one, what is private looks the same"


class Forbidden(SourceAuthError):
    """The token is right, and whoever it stands for may not read this."""


def explained(reply: Reply) -> SourceError | None:
    """Return what a refusal means; None leaves it to its status."""
    if reply.status == 429 or (reply.status == 403 and reply.headers.get("RateLimit-Remaining") == "0"):
        wait = _wait(reply)
        return SourceRateLimited(f"GitLab asks to wait {wait:.0f} s ({reply.status})", retry_after=wait)
    said = json_object(reply.content)
    why = _text(said.get("error_description")) or _text(said.get("message")) or _text(said.get("error"))
    if reply.status == 401:
        return SourceAuthError(
            f"GitLab refused the token (401): {why or 'no reason'}",
            mend="check that `token` is right, has not expired and has the scope read_api",
        )
    if reply.status == 403:
        told = f": {why}" if why else ""
        kind = SourceAuthError if said.get("error") == "insufficient_scope" else Forbidden
        return kind(f"GitLab does not let the token read {shown(reply.url)} (403){told}", mend=_mend(said))
    if reply.status in {404, 410}:
        return SourceGone(f"{shown(reply.url)} is not there ({reply.status})", mend=_UNREACHABLE)
    return None


def _wait(reply: Reply) -> float:
    """Return the wait that a limit asks for: told in seconds, or by the moment at which it is counted anew."""
    wait, reset = retry_after(reply.headers), reply.headers.get("RateLimit-Reset", "")
    now = moment(reply.headers.get("Date", ""))
    if wait is None and now is not None and reset.isascii() and reset.isdigit():
        wait = min(max(float(reset) - now.timestamp(), 0.0), _LONGEST)
    return WAIT if wait is None else wait


def _mend(said: dict[str, object]) -> str:
    """Return what the token lacks, as far as GitLab tells."""
    if said.get("error") == "insufficient_scope":
        scopes = _text(said.get("scope")).split()
        needed = "read_api" if "read_api" in scopes or not scopes else scopes[0]
        return f"make a token with the scope {needed}"
    return "give whoever the token stands for the role Reporter in the project, or leave this out of `kinds`"


def _text(value: object) -> str:
    return " ".join(value.split())[:200] if isinstance(value, str) else ""
