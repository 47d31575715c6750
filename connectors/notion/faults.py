"""What Notion's refusals mean, beyond their status: each says so by a ``code``.

https://developers.notion.com/reference/status-codes, https://developers.notion.com/reference/request-limits
"""

from connectors.http import Reply, json_object, retry_after, shown
from connectors.http.faults import DEFAULT_WAIT
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceGone, SourceRateLimited

SHARE = "share it with the integration: in Notion, on the page, ··· and Connections"
_OVERLOADED = 529
"""A status of Notion's own: it asks to wait as with 429."""
_READ = "give the integration the capability to read content, in its settings in Notion"
_READ_COMMENTS = (
    "give the integration the capability to read comments, in its settings in Notion, or leave out `comments`"
)


def explained(reply: Reply) -> SourceError | None:
    """Return what a refusal means; None leaves it to its status."""
    code, said = _said(reply.content)
    where = shown(reply.url)
    if reply.status in {429, _OVERLOADED} or code in {"rate_limited", "service_overload"}:
        wait = retry_after(reply.headers)
        wait = DEFAULT_WAIT if wait is None else wait
        return SourceRateLimited(f"Notion asks to wait {wait:.0f} s ({reply.status})", retry_after=wait)
    if reply.status == 401:
        mend = "check that `token` is the integration's present secret"
        return SourceAuthError("Notion refused the token (401)", mend=mend)
    meaning = _by_code(code, where)
    if meaning is None and reply.status == 400 and said:
        return SourceBadReply(f"Notion refused {where}: {said} (400)", mend="please report it, with this text")
    return meaning


def _by_code(code: str, where: str) -> SourceError | None:
    if code == "restricted_resource":
        mend = _READ_COMMENTS if "/comments" in where else _READ
        return SourceAuthError(f"Notion does not let the integration read {where} (403)", mend=mend)
    if code == "object_not_found":
        return SourceGone(f"{where} is not there, or not shared with the integration (404)", mend=SHARE)
    if code == "conflict_error":
        return SourceError(f"Notion was changing {where} (409)", mend="try again later")
    return None


def _said(content: bytes) -> tuple[str, str]:
    """Return the code and the text of an error, "" where they can't be read."""
    told = json_object(content)
    return str(told.get("code", "")), " ".join(str(told.get("message", "")).split())[:200]
