"""Google's own client for one account: its interfaces, and the connections that are lent to threads."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from connectors.google_drive.credentials import account_of, credentials_of
from connectors.google_drive.options import GOOGLE, GoogleDriveOptions

_SILENCE = 60.0  # seconds that one request may be silent


@dataclass(slots=True)
class Session:
    """The client's objects; connections are lent to one thread at a time, as httplib2 wants it."""

    credentials: Any
    drive: Any
    directory: Any
    account: tuple[str, ...]
    """Stands for whose the credential is."""
    is_open: bool = True
    _idle: SimpleQueue[Any] = field(default_factory=SimpleQueue)

    @contextmanager
    def http(self) -> Iterator[Any]:
        """Lend a connection that sends the credential."""
        import google_auth_httplib2
        import httplib2

        try:
            http = self._idle.get_nowait()
        except Empty:
            plain = httplib2.Http(timeout=_SILENCE)
            http = google_auth_httplib2.AuthorizedHttp(self.credentials, http=plain)
        try:
            yield http
        except BaseException:
            http.close()  # it may be half read
            raise
        if self.is_open:
            self._idle.put(http)
        else:
            http.close()

    def close(self) -> None:
        """Close the connections that aren't lent; those that are close when they come back."""
        self.is_open = False
        with suppress(Empty):
            while True:
                self._idle.get_nowait().close()


def opened(options: GoogleDriveOptions, folder: Path) -> Session:
    """Return what asks Google; nothing is connected yet. Blocking, as the interfaces' descriptions are large.

    Raises:
        SourceAuthError: there is no such key.
    """
    import google_auth_httplib2
    import httplib2
    from google.api_core.client_options import ClientOptions
    from googleapiclient import discovery

    credentials = credentials_of(options, folder)
    http = google_auth_httplib2.AuthorizedHttp(credentials, http=httplib2.Http(timeout=_SILENCE))

    def service(name: str, version: str, path: str) -> Any:
        place = None if options.api_url == GOOGLE else f"{options.api_url}/{path}"
        return discovery.build(
            name,
            version,
            http=http,
            client_options=ClientOptions(api_endpoint=place),
            static_discovery=True,
            cache_discovery=False,
        )

    directory = service("admin", "directory_v1", "") if options.expand_groups else None
    return Session(
        credentials=credentials,
        drive=service("drive", "v3", "drive/v3/"),
        directory=directory,
        account=account_of(options, credentials),
    )
