"""The kinds of places: which package each needs, and how its file system is opened so that no fault stays unseen.

Everything here blocks; run it in a thread.
"""

import copy
import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from connectors.files.remote.address import Address
from connectors.files.remote.s3 import close_s3, open_s3
from connectors.files.remote.webdav import close_webdav, open_webdav, webdav_url
from ragcore.errors import ConfigError

Opened = tuple[Any, str]
"""A file system of fsspec, and the path in it that the source begins at."""

_CONNECTING = 15  # seconds
_ANSWERING = 60  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """One kind of place.

    ``package`` is what it needs, which the extra ``extra`` brings; ``flat`` says that one listing tells all that is in
    it, ``exact`` that what it tells (an ETag over the content, a checksum) is never the same for two contents,
    ``keeps_folders`` that a folder is there even without files. ``url`` is where a browser finds a file, or "".
    """

    open: Callable[[Address], Opened]
    package: str = "fsspec"
    extra: str = ""
    flat: bool = False
    exact: bool = False
    threads: int = 4
    errors: tuple[str, ...] = ()
    keeps_folders: bool = False
    close: Callable[[Any], None] = field(default=lambda _system: None)
    url: Callable[[Address, str], str] = field(default=lambda _address, _name: "")


def open_place(address: Address) -> Opened:
    """Return the file system of an address; ConfigError when its package is missing or its options are wrong."""
    for name in address.schemes:
        scheme = SCHEMES.get(name, _OTHER)
        if name in {"http", "https"}:
            raise ConfigError(f'{name}:// is no storage; use a source of type "web", or webdav:// for a WebDAV server')
        if name not in SCHEMES and name not in importlib.import_module("fsspec").available_protocols():
            raise ConfigError(f"{name}:// is no kind of place that is known; there are {', '.join(sorted(SCHEMES))}")
        try:
            importlib.import_module(scheme.package)
        except ImportError as error:
            mend = f'install it with `pip install "citebot[{scheme.extra}]"`'
            package = scheme.package.partition(".")[0]
            raise ConfigError(f"{name}:// needs the package {package}, which is not installed; {mend}") from error
    try:
        return scheme_for(address).open(address)
    except ImportError as error:
        raise ConfigError(f"{address.shown()}: a package is missing: {error}") from error
    except TypeError as error:
        keys = ", ".join(sorted(address.options)) or "none"
        raise ConfigError(f"{address.shown()}: its file system does not take these storage_options: {keys}") from error


def scheme_for(address: Address) -> Scheme:
    """Return the kind of place of an address; a place within a file of another is read one call at a time."""
    return SCHEMES.get(address.scheme, _OTHER)


def expected_errors(scheme: Scheme) -> tuple[type[BaseException], ...]:
    """Return the classes of errors that calls to such a place may raise, as far as their packages are loaded."""
    found: list[type[BaseException]] = [OSError, EOFError, ValueError, LookupError, RuntimeError, AssertionError]
    for name in (*_COMMON_ERRORS, *scheme.errors):
        module, _, attribute = name.partition(":")
        if module in sys.modules:
            found.append(getattr(sys.modules[module], attribute))
    return tuple(found)


def _by_fsspec(address: Address) -> Opened:
    """Open what fsspec opens by itself, or what others have registered with it."""
    core = importlib.import_module("fsspec.core")
    options = copy.deepcopy(dict(address.options))  # fsspec writes into nested tables
    system, root = core.url_to_fs(address.url, **options, skip_instance_cache=True)
    return system, str(system._strip_protocol(root))


def _sftp(address: Address) -> Opened:
    module = importlib.import_module("sshfs")
    parts = address.parts
    given = {"port": parts.port, "username": parts.username, "password": parts.password}
    options: dict[str, Any] = {
        # An unknown host is refused, as ssh does; sshfs by itself would take any.
        "known_hosts": (),
        "connect_timeout": _CONNECTING,
        "login_timeout": _ANSWERING,
        "keepalive_interval": _CONNECTING,
        "sftp_client_kwargs": {"path_errors": "surrogateescape"},
        **{key: unquote(value) if isinstance(value, str) else value for key, value in given.items() if value},
        **address.options,
    }
    return module.SSHFileSystem(parts.hostname, **options, skip_instance_cache=True), unquote(parts.path) or "/"


def _close_sftp(system: Any) -> None:
    # Abort, so that a call which hangs ends too: nothing was written that could be lost.
    system.loop.call_soon_threadsafe(system.client.abort)


_COMMON_ERRORS = (
    *("zipfile:BadZipFile", "zlib:error", "aiohttp:ClientError", "fsspec.exceptions:FSTimeoutError"),
    *("xml.etree.ElementTree:ParseError", "httpx:HTTPError", "httpx:InvalidURL"),
)
_OTHER = Scheme(open=_by_fsspec)
_S3 = Scheme(
    open=open_s3,
    package="s3fs",
    extra="s3",
    flat=True,
    exact=True,
    errors=("botocore.exceptions:BotoCoreError", "botocore.exceptions:ClientError"),
    close=close_s3,
)
_GS = Scheme(
    open=_by_fsspec,
    package="gcsfs",
    extra="gcs",
    flat=True,
    exact=True,
    errors=("google.auth.exceptions:GoogleAuthError", "gcsfs.retry:HttpError"),
)
_AZ = Scheme(open=_by_fsspec, package="adlfs", extra="azure", exact=True, errors=("azure.core.exceptions:AzureError",))
_SFTP = Scheme(open=_sftp, package="sshfs", extra="sftp", errors=("asyncssh:Error",), close=_close_sftp)
_WEBDAV = Scheme(
    open=open_webdav,
    package="webdav4.fsspec",
    extra="webdav",
    errors=("webdav4.client:ClientError",),
    close=close_webdav,
    url=webdav_url,
)

SCHEMES: Mapping[str, Scheme] = {
    **dict.fromkeys(("s3", "s3a"), _S3),
    **dict.fromkeys(("gs", "gcs"), _GS),
    **dict.fromkeys(("az", "abfs", "abfss", "adl"), _AZ),
    **dict.fromkeys(("sftp", "ssh"), _SFTP),
    **dict.fromkeys(("webdav", "webdav+http", "webdav+https", "dav"), _WEBDAV),
    "smb": Scheme(
        open=_by_fsspec,
        package="smbprotocol",
        extra="smb",
        errors=("smbprotocol.exceptions:SMBException", "spnego.exceptions:SpnegoError"),
    ),
    "github": Scheme(open=_by_fsspec, package="requests", extra="github", exact=True),
    "zip": Scheme(
        open=_by_fsspec, flat=True, exact=True, threads=1, keeps_folders=True, close=lambda system: system.close()
    ),
    "memory": Scheme(open=_by_fsspec),
}
