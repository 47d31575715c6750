"""What went wrong with a mail server, as one of our own errors. Servers tell in a code (RFC 5530), else in words."""

import imaplib
import os
import re
import socket
import ssl
from collections.abc import Mapping
from types import MappingProxyType

from ragcore.errors import (
    SourceAuthError,
    SourceBadReply,
    SourceError,
    SourceGone,
    SourceRateLimited,
    SourceUnreachable,
)

DEFAULT_WAIT = 60.0
"""Seconds to wait when a server says that it is asked too often, and not for how long."""
_LONGEST = 200

_CREDENTIAL = "check user and password; where the provider wants it, make a password for apps, or use a token"
_CODES: Mapping[str, tuple[type[SourceError], str]] = MappingProxyType(
    {
        "AUTHENTICATIONFAILED": (SourceAuthError, _CREDENTIAL),
        "AUTHORIZATIONFAILED": (SourceAuthError, "let this user read the mailbox"),
        "EXPIRED": (SourceAuthError, "renew the password or token"),
        "PRIVACYREQUIRED": (SourceAuthError, 'set `security` to "tls" or "starttls"'),
        "CONTACTADMIN": (SourceAuthError, "ask whoever runs the mail server"),
        "WEBALERT": (SourceAuthError, "log in by the web once, and allow the access that it asks about"),
        "NOPERM": (SourceGone, "let this user read the folder, or leave it out by `exclude`"),
        "NONEXISTENT": (SourceGone, "check the folder's name"),
        "UNAVAILABLE": (SourceUnreachable, "try again later"),
        "SERVERBUG": (SourceUnreachable, "try again later"),
        "INUSE": (SourceUnreachable, "try again later"),
        "CORRUPTION": (SourceUnreachable, "ask whoever runs the mail server"),
    }
)
_CODE = re.compile(r"\[([A-Z-]+)[ \]]")
_TOO_OFTEN = re.compile(r"\[(?:LIMIT|OVERQUOTA)\]|too many|throttl|rate.?limit|bandwidth limit", re.IGNORECASE)
_BACK_OFF = re.compile(r"Backoff Time: (\d+) milliseconds", re.IGNORECASE)
"""So Exchange Online tells how long to wait."""
_EXPIRED = re.compile(r"token.?expired|session expired|AccessTokenExpired", re.IGNORECASE)

ERRORS = (
    *(OSError, imaplib.IMAP4.error, EOFError, ValueError, LookupError, AttributeError, TypeError, AssertionError),
    RecursionError,
)
"""What the libraries raise: also what their parsers make of an answer that isn't IMAP, or of parts nested too deep."""


def fault_of(error: BaseException, where: str, *, is_login: bool = False, hidden: str = "") -> SourceError:
    """Return the fault that an error of the IMAP library, or of the connection below it, means.

    Args:
        error: One of ``ERRORS``.
        where: The server, as it is named to people.
        is_login: Whether it was a login that failed: what is refused then is the credential.
        hidden: The secret, which is left out of what the server is quoted with.
    """
    if isinstance(error, imaplib.IMAP4.error):
        return _of_answer(error, where, is_login=is_login, hidden=hidden)
    return _of_connection(error, where) if isinstance(error, OSError) else _no_imap(where)


def _of_connection(error: OSError, where: str) -> SourceUnreachable:
    if isinstance(error, ssl.SSLCertVerificationError):
        mend = "renew the certificate, or name the file of your own authority's certificates in SSL_CERT_FILE"
        return SourceUnreachable(f"the certificate of {where} is not trusted: {error.verify_message}", mend=mend)
    if isinstance(error, ssl.SSLError):
        return SourceUnreachable(f"{where} does not speak TLS as it should", mend="check `port` and `security`")
    if isinstance(error, TimeoutError):
        return SourceUnreachable(f"{where} did not answer in time", mend="try again later, or raise `timeout`")
    if isinstance(error, socket.gaierror):
        return SourceUnreachable(f"the host name of {where} is not known", mend="check `host`")
    why = f": {os.strerror(error.errno)}" if error.errno else ""
    return SourceUnreachable(f"{where} cannot be reached{why}", mend="check `host` and `port`")


def _of_answer(error: imaplib.IMAP4.error, where: str, *, is_login: bool, hidden: str) -> SourceError:
    text = " ".join(str(error).split())
    said = (text.replace(hidden, "***") if hidden else text)[:_LONGEST]
    if _TOO_OFTEN.search(text):
        told = _BACK_OFF.search(text)
        seconds = int(told.group(1)) / 1_000 if told else DEFAULT_WAIT
        return SourceRateLimited(f"{where} asks to wait: {said}", retry_after=seconds)
    code = _CODE.search(text)
    if code and code.group(1) in _CODES:
        kind, mend = _CODES[code.group(1)]
        return kind(f"{where}: {said}", mend=mend)
    return _of_words(error, text, where, said, is_login=is_login)


def _of_words(error: imaplib.IMAP4.error, text: str, where: str, said: str, *, is_login: bool) -> SourceError:
    """Return the fault that an answer without a known code means."""
    name, mend = type(error).__name__, "try again later"
    kind: type[SourceError] = SourceError
    reason = f"{where} refused: {said}"
    if _EXPIRED.search(text):
        kind, mend = SourceAuthError, "renew the password or token"
    elif "unexpected response" in text or name == "ProtocolError":
        return _no_imap(where)
    elif isinstance(error, imaplib.IMAP4.abort) or "socket error" in text:
        kind, reason = SourceUnreachable, f"the connection to {where} broke off: {said}"
    elif is_login:
        kind, reason, mend = SourceAuthError, f"{where} refused the login: {said}", _CREDENTIAL
    elif name == "CapabilityError":
        kind, reason, mend = SourceBadReply, f"{where}: {said}", "set `security` to what the server offers"
    elif " BAD " in text:
        kind, reason, mend = SourceBadReply, f"{where} did not understand: {said}", "please report it"
    return kind(reason, mend=mend)


def _no_imap(where: str) -> SourceBadReply:
    return SourceBadReply(f"{where} answered with something that is not IMAP", mend="check `host` and `port`")
