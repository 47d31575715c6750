"""What the errors of many clients mean: each is mapped once, here, to what happened and what its owner can do.

The clients' own texts are never shown: they may hold addresses that are signed, and headers with credentials.
"""

import re
import socket
import ssl
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum
from time import time

from connectors.files.place import Unread
from ragcore.errors import SourceAuthError, SourceError, SourceGone, SourceRateLimited

_WAIT = 30.0  # seconds to wait where a place asks for it without saying how long
_MOST_WAIT = 24 * 3600.0


class Kind(Enum):
    """What happened."""

    LOGIN = "it refused the credential"
    NO_LOGIN = "it asks for a credential, and none was found"
    HOST_KEY = "its host key is not the one that is known, or none is known"
    DENIED = "it may not be read with this credential"
    GONE = "it is not there"
    LIMITED = "it asked to wait"
    UNREACHABLE = "it could not be reached"
    CUT = "the connection broke"
    TIMEOUT = "it did not answer in time"
    TLS = "its TLS certificate could not be verified"
    SERVER = "it failed with an error of its own"
    FOREIGN = "it answered with something that is not of this protocol"
    LOCKED = "it is encrypted"
    DAMAGED = "it is damaged"
    FULL = "there is no room for a copy of it on this machine"
    OTHER = "it cannot be read"


_MENDS = {
    Kind.LOGIN: "mend the credential in `storage_options`",
    Kind.NO_LOGIN: "give a credential in `storage_options`; docs/sources.md tells how for each kind of place",
    Kind.HOST_KEY: "check the key, and add it to the file of known hosts",
    Kind.DENIED: "give the credential the right to list and to read it, or exclude it",
    Kind.GONE: "mend `path`, or bring back what belongs there",
    Kind.LIMITED: "nothing: it is read again after that time",
    Kind.UNREACHABLE: "check the address in `path`, and the network",
    Kind.CUT: "nothing, if it passes; else check the network",
    Kind.TIMEOUT: "nothing, if it passes; else check the server and the network",
    Kind.TLS: "mend the certificate, or name the authority that signed it in `storage_options`",
    Kind.SERVER: "nothing, if it passes; else ask who runs it",
    Kind.FOREIGN: "check that `path` is the address of the storage, not of its web page",
    Kind.LOCKED: "store it without a password, or exclude it",
    Kind.DAMAGED: "store it anew, or exclude it",
    Kind.FULL: "make room in the folder for temporary files, or exclude it",
    Kind.OTHER: "check the place, then sync again",
}

_OF_THE_WHOLE = {
    Kind.LOGIN,
    Kind.NO_LOGIN,
    Kind.HOST_KEY,
    Kind.LIMITED,
    Kind.UNREACHABLE,
    Kind.CUT,
    Kind.TIMEOUT,
    Kind.TLS,
}
"""What no other file of the place would fare better with."""

_BY_CODE = {
    **dict.fromkeys(
        ("InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired",
         "RequestTimeTooSkewed", "AuthorizationHeaderMalformed", "InvalidSecurity", "AuthenticationFailed",
         "ExpiredTokenException", "UnrecognizedClientException"), Kind.LOGIN),
    **dict.fromkeys(("AccessDenied", "AllAccessDisabled", "AuthorizationFailure", "InvalidObjectState"), Kind.DENIED),
    **dict.fromkeys(("SlowDown", "Throttling", "TooManyRequests", "RequestLimitExceeded", "ServerBusy"), Kind.LIMITED),
    **dict.fromkeys(("NoSuchBucket", "NoSuchKey", "ContainerNotFound", "BlobNotFound"), Kind.GONE),
}  # fmt: skip
_BY_NAME = {
    **dict.fromkeys(("NoCredentialsError", "DefaultCredentialsError", "CredentialRetrievalError"), Kind.NO_LOGIN),
    **dict.fromkeys(
        ("PartialCredentialsError", "RefreshError", "ClientAuthenticationError", "PermissionDenied", "LogonFailure",
         "KeyImportError", "KeyEncryptionError", "SMBAuthenticationError", "TokenRetrievalError"), Kind.LOGIN),
    "HostKeyNotVerifiable": Kind.HOST_KEY,
    **dict.fromkeys(("SFTPPermissionDenied", "AccessDenied", "ForbiddenOperation"), Kind.DENIED),
    **dict.fromkeys(("SFTPNoSuchFile", "SFTPNoSuchPath", "ResourceNotFound", "ResourceNotFoundError"), Kind.GONE),
    **dict.fromkeys(
        ("EndpointConnectionError", "ConnectError", "ServiceRequestError", "UnsupportedProtocol"), Kind.UNREACHABLE),
    **dict.fromkeys(
        ("ConnectionClosedError", "ReadError", "WriteError", "RemoteProtocolError", "ClientPayloadError",
         "ConnectionLost", "SFTPConnectionLost", "SFTPNoConnection", "SFTPEOFError", "DisconnectError",
         "ServerDisconnectedError", "IncompleteReadError", "ResponseStreamingError", "ServiceResponseError"), Kind.CUT),
    **dict.fromkeys(
        ("ConnectTimeoutError", "ReadTimeoutError", "ConnectTimeout", "ReadTimeout", "PoolTimeout", "WriteTimeout",
         "FSTimeoutError"), Kind.TIMEOUT),
    **dict.fromkeys(("SSLError", "ClientConnectorCertificateError"), Kind.TLS),
    **dict.fromkeys(("ParseError", "ResponseParserError", "ProtocolNotSupported", "DecodingError"), Kind.FOREIGN),
    **dict.fromkeys(("BadZipFile", "LargeZipFile"), Kind.DAMAGED),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What an error means. ``detail`` is a code that may be shown, ``wait`` in seconds."""

    kind: Kind
    detail: str = ""
    wait: float = _WAIT

    @property
    def is_of_the_whole(self) -> bool:
        """Tell whether the place is at fault, and not the one file."""
        return self.kind in _OF_THE_WHOLE

    def as_error(self, place: str) -> SourceError:
        """Return the error that the whole place can't be read."""
        told, mend = f"{place}: {self.told()}", _MENDS[self.kind]
        if self.kind is Kind.LIMITED:
            return SourceRateLimited(told, retry_after=self.wait, mend=mend)
        if self.kind in {Kind.LOGIN, Kind.NO_LOGIN, Kind.HOST_KEY, Kind.DENIED}:
            return SourceAuthError(told, mend=mend)
        return SourceGone(told, mend=mend) if self.kind is Kind.GONE else SourceError(told, mend=mend)

    def as_unread(self) -> Unread:
        """Return why one file wasn't read."""
        return Unread(reason=self.told(), mend=_MENDS[self.kind], is_gone=self.kind is Kind.GONE)

    def told(self) -> str:
        """Return what happened, in words."""
        return f"{self.kind.value} ({self.detail})" if self.detail else self.kind.value

    @property
    def mend(self) -> str:
        """Return what its owner can do."""
        return _MENDS[self.kind]


def fault_of(error: BaseException) -> Fault:
    """Return what an error means, by it and by those that led to it."""
    chain = list(_chain(error))
    code = next(filter(None, map(_code, chain)), "")
    status = next(filter(None, map(_status, chain)), 0)
    detail = code or (f"HTTP {status}" if status else "")
    kind = _BY_CODE.get(code) or _by_status(status, chain)
    if kind is None and any(isinstance(one, ssl.SSLCertVerificationError) for one in chain):
        kind = Kind.TLS  # some clients tell of it as of a host that is out of reach
    if kind is None:
        # A client's own class, however deep, tells more than the one of Python's that it was turned into.
        kind = next(filter(None, (*map(_by_name, chain), *map(_by_class, chain))), Kind.OTHER)
        detail = detail or _system_detail(chain) or (type(error).__name__ if kind is Kind.OTHER else "")
    return Fault(kind=kind, detail=detail, wait=_wait(chain))


def _by_status(status: int, chain: list[BaseException]) -> Kind | None:
    if status == 401:
        return Kind.LOGIN
    if status == 403:
        return Kind.LIMITED if any(_headers(one).get("x-ratelimit-remaining") == "0" for one in chain) else Kind.DENIED
    if status in {404, 410}:
        return Kind.GONE
    if status == 429 or (status == 503 and any("retry-after" in _headers(one) for one in chain)):
        return Kind.LIMITED
    if status >= 500:
        return Kind.SERVER
    return None


def _by_name(error: BaseException) -> Kind | None:
    return next((_BY_NAME[cls.__name__] for cls in type(error).__mro__ if cls.__name__ in _BY_NAME), None)


def _by_class(error: BaseException) -> Kind | None:
    if isinstance(error, RuntimeError) and "encrypted" in str(error):
        return Kind.LOCKED
    if isinstance(error, zlib.error):
        return Kind.DAMAGED
    kinds: tuple[tuple[type[BaseException], Kind], ...] = (
        (ssl.SSLError, Kind.TLS),
        (FileNotFoundError, Kind.GONE),
        (NotADirectoryError, Kind.GONE),
        (IsADirectoryError, Kind.GONE),
        (PermissionError, Kind.DENIED),
        (socket.gaierror, Kind.UNREACHABLE),
        (ConnectionRefusedError, Kind.UNREACHABLE),
        (ConnectionError, Kind.CUT),
        (TimeoutError, Kind.TIMEOUT),
        (EOFError, Kind.CUT),
    )
    found = next((kind for cls, kind in kinds if isinstance(error, cls)), None)
    if found is None and isinstance(error, OSError) and error.errno in {28, 122}:  # ENOSPC, EDQUOT
        return Kind.FULL
    return found


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that led to it; the clients often wrap what tells most."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _code(error: BaseException) -> str:
    """Return the code that a storage service gives with an error, in S3's and Azure's clients."""
    told = getattr(error, "response", None)
    code = told.get("Error", {}).get("Code") if isinstance(told, dict) else getattr(error, "error_code", None)
    code = str(getattr(code, "value", code) or "")
    return code if re.fullmatch(r"[A-Za-z]{3,60}", code) else ""


def _status(error: BaseException) -> int:
    """Return the HTTP status that an error carries, wherever its client keeps it, or 0."""
    told = getattr(error, "response", None)
    if isinstance(told, dict):
        found = told.get("ResponseMetadata", {}).get("HTTPStatusCode")
    else:
        places = ((told, "status_code"), (told, "status"), (error, "status_code"), (error, "status"), (error, "code"))
        found = next((value for holder, name in places if (value := getattr(holder, name, None)) is not None), None)
    is_status = isinstance(found, int) and 400 <= found < 600
    return int(found) if is_status else 0


def _headers(error: BaseException) -> dict[str, str]:
    """Return the headers of the answer that an error carries, their names in lower case."""
    told = getattr(error, "response", None)
    if isinstance(told, dict):
        headers = told.get("ResponseMetadata", {}).get("HTTPHeaders") or {}
    else:
        headers = getattr(told, "headers", None) or getattr(error, "headers", None) or {}
    return {str(key).lower(): str(value) for key, value in headers.items()} if isinstance(headers, Mapping) else {}


def _wait(chain: list[BaseException]) -> float:
    for error in chain:
        headers = _headers(error)
        told = headers.get("retry-after", "")
        if told.isdigit():
            return min(float(told), _MOST_WAIT)
        try:
            if told:
                return min(max(0.0, parsedate_to_datetime(told).timestamp() - time()), _MOST_WAIT)
            if headers.get("x-ratelimit-remaining") == "0":
                return min(max(0.0, float(headers.get("x-ratelimit-reset", "")) - time()), _MOST_WAIT)
        except ValueError:
            continue
    return _WAIT


def _system_detail(chain: list[BaseException]) -> str:
    """Return what the system says of an error, where that is a fixed text of its own."""
    return next((one.strerror for one in chain if _is_plain(one) and isinstance(one, OSError) and one.strerror), "")


def _is_plain(error: BaseException) -> bool:
    return isinstance(error, OSError) and type(error).__module__ in {"builtins", "socket"} and error.errno is not None
