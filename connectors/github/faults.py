"""What GitHub's refusals mean, beyond their status.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api,
https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
"""

from connectors.http import Reply, json_object, retry_after, shown
from ragcore.errors import SourceAuthError, SourceError, SourceGone, SourceRateLimited

WAIT = 60.0
"""Seconds to wait where GitHub doesn't tell how long: it asks for a minute at least."""
_LIMITS = ("rate limit", "abuse detection")
"""What a refusal says that is only about how much was asked; an older server says the latter."""
_UNREACHABLE = "check its name; to a token that may not read it, and without one, a private repository looks the same"


def explained(reply: Reply) -> SourceError | None:
    """Return what a refusal means; None leaves it to its status."""
    said = message(reply.content)
    if reply.status in {403, 429} and _is_limit(reply, said):
        return limited(reply)
    if reply.status == 401:
        return SourceAuthError("GitHub refused the token (401)", mend="check that it is right and has not expired")
    if reply.status == 403:
        return SourceAuthError(f"GitHub does not let the token read {shown(reply.url)} (403)", mend=_mend(reply))
    if reply.status in {404, 410, 451}:
        why = "is blocked" if reply.status == 451 else "is not there"
        return SourceGone(f"{shown(reply.url)} {why} ({reply.status})", mend=_UNREACHABLE)
    return None


def limited(reply: Reply) -> SourceRateLimited:
    """Return the wait that a limit asks for: told in seconds, or by the moment at which the hour begins anew."""
    wait = retry_after(reply.headers)
    wait = WAIT if wait is None else wait
    mend = "" if reply.headers.get("X-RateLimit-Limit") != "60" else "with a `token` there are 5,000 an hour"
    return SourceRateLimited(f"GitHub asks to wait {wait:.0f} s ({reply.status})", retry_after=wait, mend=mend)


def message(content: bytes) -> str:
    """Return what an error says of itself, "" when that can't be read."""
    return str(json_object(content).get("message", ""))


def _is_limit(reply: Reply, said: str) -> bool:
    is_used_up = reply.headers.get("X-RateLimit-Remaining") == "0"
    return (
        reply.status == 429
        or is_used_up
        or "Retry-After" in reply.headers
        or any(words in said.lower() for words in _LIMITS)
    )


def _mend(reply: Reply) -> str:
    """Return what the token lacks, as far as GitHub tells."""
    if reply.headers.get("X-GitHub-SSO", "").startswith("required"):
        return "authorize it for the organization's single sign-on, in GitHub's settings under Developer settings"
    needed = reply.headers.get("X-Accepted-GitHub-Permissions") or reply.headers.get("X-Accepted-OAuth-Scopes")
    if needed:
        return f"give it what this needs: {needed[:200]}"
    return "give it the right to read contents, issues, pull requests and discussions of the repository"
