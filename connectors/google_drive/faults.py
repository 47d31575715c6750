"""What Google's refusals, and errors of its client, mean: each is mapped once, here.

https://developers.google.com/workspace/drive/api/guides/handle-errors,
https://developers.google.com/workspace/drive/api/guides/limits

What a refusal says in words is never shown: only its reason, which is one word.
"""

import http.client
import json
import re
import ssl
from collections.abc import Mapping
from typing import Any

from connectors.http import retry_after
from ragcore.errors import (
    SourceAuthError,
    SourceBadReply,
    SourceError,
    SourceGone,
    SourceRateLimited,
    SourceUnreachable,
)

WAIT = 60.0
"""Seconds to wait where Google doesn't say how long: its limits are counted by the minute."""
_DAY = 3600.0
"""Seconds until what is limited by the day is asked for again."""

_LIMITS = {
    "rateLimitExceeded": WAIT,
    "userRateLimitExceeded": WAIT,
    "sharingRateLimitExceeded": WAIT,
    "RATE_LIMIT_EXCEEDED": WAIT,
    "RESOURCE_EXHAUSTED": WAIT,
    "quotaExceeded": _DAY,
    "dailyLimitExceeded": _DAY,
}
_SCOPES = {"insufficientPermissions", "insufficientScopes", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}
_DISABLED = {"accessNotConfigured", "SERVICE_DISABLED"}
_OF_ONE_FILE = {
    "exportSizeLimitExceeded": (
        "Google exports up to 10 MB of a document, and this one has more",
        "split it, or keep it as an Office file or PDF in Drive",
    ),
    "cannotDownloadAbusiveFile": (
        "Google has found it to be malware or spam, and gives it to nobody",
        "look at it in Drive, and remove or exclude it",
    ),
    "cannotDownloadFile": (
        "its owner lets this account not download it",
        "let viewers download it, in Drive's sharing settings, or exclude it",
    ),
    "fileNotDownloadable": ("Google gives no content of it", "exclude it"),
    "fileNotExportable": ("Google can't turn it into an Office file", "exclude it"),
    "downloadQuotaExceeded": ("it was downloaded too often today", "nothing: it is read again later"),
    "insufficientFilePermissions": (
        "the account may not do this with it",
        "give the account more rights, or exclude it",
    ),
    "appNotAuthorizedToFile": ("the account's client may not read it", "give the client the scope drive.readonly"),
    "download_restricted_for_revision": ("the account may not download it as it is", "let it, or exclude the file"),
    "teamDriveMembershipRequired": ("only members of its shared drive may do this", "make the account a member"),
}
_OF_THE_ACCOUNT = {*_OF_ONE_FILE, "forbidden"}
"""Reasons that tell of the account's rights, whatever was asked for."""


class StaleToken(SourceError):
    """Google takes this page token no more: what is there has to be listed anew."""


class Forbidden(SourceAuthError):
    """The account has no right to this, whatever its credential may do."""


class Unexplained(SourceError):
    """Google refuses what isn't of one file, for no reason that its documentation knows: it may pass."""


class FileRefused(SourceBadReply):
    """Google doesn't give this one file."""


class FileForbidden(FileRefused):
    """Google refuses this one file, and doesn't say that this is for the file's sake."""


class ReadersUntold(FileRefused):
    """Google doesn't tell this account who may read the file."""

    def __init__(self) -> None:
        """Tell how the account comes to be told."""
        mend = "make the account an editor of it (in a shared drive a content manager), or name `readers`"
        super().__init__("Drive does not tell this account who may read it", mend=mend)


def expected_errors() -> tuple[type[Exception], ...]:
    """Return what Google's client raises."""
    import google.auth.exceptions
    import googleapiclient.errors
    import httplib2

    return (
        googleapiclient.errors.Error,
        google.auth.exceptions.GoogleAuthError,
        httplib2.HttpLib2Error,
        http.client.HTTPException,
        OSError,
        ValueError,
    )


def fault_of(error: Exception, what: str, scopes: tuple[str, ...], *, of_file: bool = False) -> SourceError:
    """Return what an error means.

    Args:
        error: What the client raised.
        what: What was asked for, in words.
        scopes: What the credential is to have, all of them.
        of_file: Whether one file was asked for, so that others may be given though this one is refused.
    """
    import google.auth.exceptions
    import googleapiclient.errors

    if isinstance(error, googleapiclient.errors.HttpError):
        headers = {name.title(): str(value) for name, value in error.resp.items()}
        return refusal(int(error.resp.status), headers, error.content, what, scopes, of_file=of_file)
    if isinstance(error, google.auth.exceptions.RefreshError):
        return _unrefreshed(error, scopes)
    return _unreached(error, what)


def refusal(
    status: int,
    headers: Mapping[str, str],
    content: bytes,
    what: str,
    scopes: tuple[str, ...],
    *,
    of_file: bool = False,
) -> SourceError:
    """Return what an answer from 400 on means; its parts are as ``fault_of`` has them."""
    reasons, place = _reasons(content)
    reason = next(iter(reasons), "")
    told = f"{status}, {reason}" if reason else str(status)
    wait = next((_LIMITS[one] for one in reasons if one in _LIMITS), 0.0)
    if status == 429 or (status in {403, 503} and (wait or "Retry-After" in headers)):
        asked = retry_after(headers)
        seconds = asked if asked is not None else wait or WAIT
        return SourceRateLimited(f"Google asks to wait {seconds:.0f} s ({told})", retry_after=seconds)
    one = next((_OF_ONE_FILE[name] for name in reasons if name in _OF_ONE_FILE), None)
    if of_file and one is not None:
        return FileRefused(f"{one[0]} ({told})", mend=one[1])
    if status == 400 and place == "pageToken":
        return StaleToken(f"Google takes the page token no more ({told})", mend="nothing: it is listed anew")
    if status in {401, 403}:
        return _denied(status, reasons, told, what, scopes, of_file=of_file)
    return _undone(status, told, what)


def _undone(status: int, told: str, what: str) -> SourceError:
    """Return why nothing came of a request that the account might make."""
    if status in {404, 410}:
        mend = "check its id, and share it with the account, as an editor"
        return SourceGone(f"{what} is not there, or the account may not see it ({told})", mend=mend)
    if status >= 500:
        return SourceError(f"Google answered for {what} with a fault of its own ({told})", mend="try again later")
    return SourceBadReply(f"Google refused what was asked for {what} ({told})", mend="check the settings")


def _denied(
    status: int, reasons: list[str], told: str, what: str, scopes: tuple[str, ...], *, of_file: bool
) -> SourceError:
    """Return what was denied: to the credential or the account as a whole, else as ``_forbidden`` has it."""
    if status == 401:
        return SourceAuthError(f"Google refused the credential ({told})", mend="check that it is right and still valid")
    if _SCOPES.intersection(reasons):
        return SourceAuthError(f"the credential lacks a scope ({told})", mend=f"give it {' and '.join(scopes)}")
    if _DISABLED.intersection(reasons):
        which = "the Admin SDK API" if what.startswith("group ") else "the Google Drive API"
        return SourceAuthError(f"{which} is switched off ({told})", mend=f"enable {which} in the credential's project")
    if "domainPolicy" in reasons:
        mend = "let the domain's administrator allow Drive's interface for it"
        return SourceAuthError(f"the domain does not let applications into Drive ({told})", mend=mend)
    return _forbidden(reasons, told, what, of_file=of_file)


def _forbidden(reasons: list[str], told: str, what: str, *, of_file: bool) -> SourceError:
    """Return what a refusal means that says nothing of the credential: for no known reason, it pauses no source."""
    if of_file:
        mend = "give the account the right to read it, or exclude it"
        return FileForbidden(f"Google does not give it to this account ({told})", mend=mend)
    if _OF_THE_ACCOUNT.intersection(reasons):
        return Forbidden(f"the account may not read {what} ({told})", mend="give it the right to, or leave it out")
    mend = "try again later; if it stays, see what the account and its project may do, and what `api_url` leads to"
    return Unexplained(f"Google refuses {what} and does not say why ({told})", mend=mend)


def _unrefreshed(error: Any, scopes: tuple[str, ...]) -> SourceError:
    """Return why no access token was to be had."""
    said = " ".join(map(str, error.args))
    found = re.search(r"\b(invalid_grant|invalid_client|unauthorized_client|access_denied|invalid_scope)\b", said)
    if found is None and error.retryable:
        return SourceError("Google gave no access token, by a fault of its own", mend="try again later")
    mends = {
        "invalid_grant": "make a new refresh token, or check the key, `subject` and this machine's clock: one was "
        "revoked, has expired, or is of nobody",
        "invalid_client": "check `client_id` and `client_secret`",
        "unauthorized_client": f"let the domain's administrator delegate {' and '.join(scopes)} to the service account",
        "access_denied": f"let the domain's administrator delegate {' and '.join(scopes)} to the service account",
        "invalid_scope": f"let the domain's administrator delegate {' and '.join(scopes)} to the service account",
    }
    if found is None:
        return SourceBadReply("what gives access tokens did not answer as Google does", mend="check `token_url`")
    return SourceAuthError(f"Google refused the credential ({found[1]})", mend=mends[found[1]])


def _unreached(error: Exception, what: str) -> SourceError:
    """Return why nothing that could be used came back."""
    import google.auth.exceptions
    import httplib2

    inner = next((one for one in error.args if isinstance(one, Exception)), None) or error.__cause__
    if isinstance(error, google.auth.exceptions.TransportError) and isinstance(inner, Exception):
        return _unreached(inner, what)
    if isinstance(error, ssl.SSLCertVerificationError):
        mend = "renew it, or name the file of your own authority's certificates in HTTPLIB2_CA_CERTS"
        return SourceUnreachable(f"the certificate of Google's host is not trusted: {error.verify_message}", mend=mend)
    if isinstance(error, httplib2.RedirectLimit):
        return SourceBadReply(f"what was asked for {what} redirects in a circle", mend="check `api_url`")
    where = "check the network, and `api_url`"
    told: tuple[tuple[tuple[type[Exception], ...], str, str], ...] = (
        ((httplib2.ServerNotFoundError,), "Google's host name is not known", where),
        ((ssl.SSLError,), "Google's host does not speak TLS as it should", where),
        ((TimeoutError,), f"Google did not answer for {what} in time", "try again later"),
        (
            (ConnectionRefusedError,),
            "Google cannot be reached: the connection was refused",
            where,
        ),
        (
            (OSError, http.client.HTTPException, httplib2.HttpLib2Error, google.auth.exceptions.TransportError),
            "the connection to Google broke off",
            "try again later, or check the network",
        ),
    )
    for kinds, reason, mend in told:
        if isinstance(error, kinds):
            return SourceUnreachable(reason, mend=mend)
    return SourceBadReply(f"Google did not answer for {what} in its own form", mend="check `api_url` and `token_url`")


def _reasons(content: bytes) -> tuple[list[str], str]:
    """Return the reasons that a refusal gives, in one word each, and the parameter that it is about."""
    try:
        error = json.loads(content)["error"]
        several = [*error.get("errors", ()), *error.get("details", ()), {"reason": error.get("status", "")}]
        told = [str(one.get("reason", "")) for one in several]
        place = next((str(one["location"]) for one in several if one.get("location")), "")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return [], ""
    return [reason for reason in told if re.fullmatch(r"[A-Za-z_]{3,60}", reason)], place
