"""The settings of the source type ``google_drive``."""

import hashlib
import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, SecretStr, field_validator, model_validator

from connectors.base import Options, Origin, all_settings
from connectors.cursors import basis_of
from connectors.http.urls import server_parts
from connectors.patterns import Patterns
from connectors.readers import Readers, checked_readers

GOOGLE = "https://www.googleapis.com"
TOKENS = "https://oauth2.googleapis.com/token"

_ID = re.compile(r"[A-Za-z0-9_-]{2,}")
_LINK = re.compile(r"https://drive\.google\.com/(?:drive/)?(?:u/\d+/)?(?:folders/|open\?id=)([A-Za-z0-9_-]+).*")
_CIRCLE = re.compile(r"public|link|(?:link:)?[a-z0-9-]+(?:\.[a-z0-9-]+)+|[^@\s]+@[^@\s]+")


class GoogleDriveOptions(Options):
    """Documents of Google Drive: of folders with all that is in them, of shared drives, or of all the account sees.

    Google's own documents are read as the Office files that Google makes of them: Docs as docx, Sheets as xlsx, Slides
    as pptx, up to 10 MB each, which is Google's limit. All other files are read as they are. Forms, drawings, sites,
    maps and scripts have no text that Google gives, and are passed by; so are shortcuts: name the folder that one leads
    to. Patterns of `include` and `exclude` are compared as those of `files` are, with paths below the folder or shared
    drive; Google's own documents end there in `.gdoc`, `.gsheet` and `.gslides`.

    The first sync lists everything; later ones ask for what changed alone. What has the same checksum, or for Google's
    own documents the same time of its last change, with the same name and the same readers, is not read again. What is
    deleted, put into the trash or moved away goes by the next run; a folder or shared drive of the settings that is
    gone, or that the account may no longer see, deletes nothing and is told. Every `recheck_hours` all is listed again,
    in case that Drive kept a change for itself.

    Who may read: the people whom Drive names, by their e-mail addresses, inherited rights among them, and ones that
    end at a given time until then. Groups are nobody unless `expand_groups` has them asked for, or `readers_of` says
    who they are. Files that anyone may find are for everybody, `*`; those for anyone with the link, and for a whole
    domain, are open to nobody by that alone: whoever has no link can't open them in Drive either. `readers_of` says
    otherwise:

    ```toml
    [[sources]]
    name = "drive"
    type = "google_drive"
    service_account = "/etc/citebot/drive.json"
    folders = ["https://drive.google.com/drive/folders/1AbCdEfGhIjKlMnOp"]
    [sources.readers_of]
    "staff@example.org" = ["slack:T0123"]        # a group
    "example.org" = ["slack:T0123"]              # what the domain may find
    "link:example.org" = ["slack:T0123"]         # what those of the domain may open who have the link
    "link" = []                                  # what anyone may open who has the link
    ```

    Drive tells who may read a file only to an account that may share it (an editor; in a shared drive a content
    manager). To any other one the source says so, and reads nothing unless `readers` names who may read all of it.

    Needs `pip install 'citebot[google]'`.
    """

    service_account: SecretStr | None = Field(
        default=None, description="the key of a service account: the path of its JSON file, or that JSON itself"
    )
    subject: str = Field(
        default="",
        description="whom the service account stands in for, by domain-wide delegation: an e-mail address",
    )
    client_id: str = Field(default="", description="without a service account: the OAuth client's id")
    client_secret: SecretStr | None = Field(
        default=None, description="the OAuth client's secret, such as `${DRIVE_CLIENT_SECRET}`"
    )
    refresh_token: SecretStr | None = Field(
        default=None, description="a refresh token of the OAuth client, such as `${DRIVE_REFRESH_TOKEN}`"
    )
    folders: tuple[str, ...] = Field(
        default=(), description="the folders to read, by id or link, each with all the folders in it"
    )
    shared_drives: tuple[str, ...] = Field(
        default=(), description="the shared drives to read, by id or link; without both: all that the account sees"
    )
    include: Patterns = Field(
        default=(), description="glob patterns of the files to take; default: all but pictures and media"
    )
    exclude: Patterns = Field(default=(), description="glob patterns of files and folders to leave out")
    hidden: bool = Field(
        default=False, description="whether files and folders whose name begins with a dot are taken too"
    )
    recheck_hours: float = Field(
        default=24, gt=0, description="hours after which all is listed again, whatever Drive tells of changes"
    )
    max_megabytes: float = Field(default=50, gt=0, description="larger files are reported instead of read")
    readers: Readers = Field(
        default=None, description="who may read these documents, as in a knowledge base; default: as Drive tells"
    )
    readers_of: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="who a group, a domain, `link:DOMAIN`, `link` or `public` is: readers, as in a knowledge base",
    )
    expand_groups: bool = Field(
        default=False,
        description="whether Google is asked for the members of groups; `subject` must be one who may see them",
    )
    api_url: str = Field(default=GOOGLE, description="where Google's interfaces are; another one for a proxy")
    token_url: str = Field(default=TOKENS, description="where a refresh token is turned into an access token")

    @field_validator("folders", "shared_drives")
    @classmethod
    def _are_places(cls, places: tuple[str, ...]) -> tuple[str, ...]:
        found = tuple(_id_of(place.strip()) for place in places)
        if len(set(found)) < len(found):
            raise ValueError("one is named twice")
        return found

    @field_validator("readers_of")
    @classmethod
    def _are_circles(cls, circles: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for name, readers in circles.items():
            if not _CIRCLE.fullmatch(name.lower()):
                told = 'write a group\'s address, "example.org", "link:example.org", "link" or "public"'
                raise ValueError(f'"{name}" is neither a group nor a domain; {told}')
            found[name.lower()] = checked_readers(readers)
        return found

    @field_validator("subject")
    @classmethod
    def _is_address(cls, subject: str) -> str:
        if subject and not re.fullmatch(r"[^@\s]+@[^@\s]+", subject):
            raise ValueError(f'"{subject}" is no e-mail address')
        return subject

    @field_validator("api_url", "token_url")
    @classmethod
    def _is_url(cls, url: str) -> str:
        server_parts(url, example=GOOGLE)
        return url.strip().rstrip("/")

    @model_validator(mode="after")
    def _can_ask(self) -> "GoogleDriveOptions":
        if importlib.util.find_spec("googleapiclient") is None:
            raise ValueError("Google's client is missing: pip install 'citebot[google]'")
        oauth = (self.client_id, _secret(self.client_secret), _secret(self.refresh_token))
        if self.key and any(oauth):
            raise ValueError("give either `service_account`, or `client_id`, `client_secret` and `refresh_token`")
        if not self.key and not all(oauth):
            raise ValueError("needs `service_account`, or `client_id`, `client_secret` and `refresh_token`")
        if self.subject and not self.key:
            raise ValueError("`subject` needs a `service_account`: a refresh token is of one account")
        return self

    @property
    def key(self) -> str:
        """The service account's key, or the path of its file; "" without one."""
        return _secret(self.service_account).strip()

    def basis(self, account: Sequence[str]) -> str:
        """Return what changes when other documents would come; ``account`` stands for whom Google lets in."""
        named = ("folders", "shared_drives", "include", "exclude", "hidden", "readers", "readers_of", "expand_groups")
        # Each account has a log of changes of its own: that of another one tells nothing of what this one sees.
        return basis_of(*account, self.api_url, *(getattr(self, name) for name in named))


def credential(origin: Origin, options: GoogleDriveOptions) -> str:
    """Return a fingerprint of all settings, and of when the key's file was changed."""
    told = all_settings(options)
    if options.key and not options.key.startswith("{"):
        try:
            status = (origin.folder / Path(options.key).expanduser()).stat()
        except (OSError, ValueError, RuntimeError):
            return told
        told = hashlib.sha256(f"{told} {status.st_mtime_ns} {status.st_size}".encode()).hexdigest()
    return told


def _secret(value: SecretStr | None) -> str:
    return value.get_secret_value().strip() if value else ""


def _id_of(place: str) -> str:
    """Return the id in a link, or the id itself; ValueError when there is none."""
    found = _LINK.fullmatch(place)
    if found:
        return found[1]
    if not _ID.fullmatch(place):
        raise ValueError(
            f'"{place}" is no folder; write its id, or its link: https://drive.google.com/drive/folders/...'
        )
    return place
