"""What Drive and the directory answer, as far as it is read: each reply is checked once, at this edge.

https://developers.google.com/workspace/drive/api/reference/rest/v3,
https://developers.google.com/workspace/admin/directory/reference/rest/v1/members
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

FOLDER = "application/vnd.google-apps.folder"
SHORTCUT = "application/vnd.google-apps.shortcut"
_OWN = "application/vnd.google-apps."
_OFFICE = "application/vnd.openxmlformats-officedocument."


class Export(BaseModel):
    """What one of Google's own kinds of document is read as; ``suffix`` is what Drive's programs show it with."""

    model_config = ConfigDict(frozen=True)

    suffix: str
    extension: str
    media_type: str


EXPORTS: Mapping[str, Export] = MappingProxyType(
    {
        f"{_OWN}document": Export(suffix=".gdoc", extension=".docx", media_type=f"{_OFFICE}wordprocessingml.document"),
        f"{_OWN}spreadsheet": Export(suffix=".gsheet", extension=".xlsx", media_type=f"{_OFFICE}spreadsheetml.sheet"),
        f"{_OWN}presentation": Export(
            suffix=".gslides", extension=".pptx", media_type=f"{_OFFICE}presentationml.presentation"
        ),
    }
)

PERMISSION_FIELDS = "id,type,emailAddress,domain,allowFileDiscovery,expirationTime,deleted,view"
FILE_FIELDS = (
    "id,name,mimeType,parents,trashed,driveId,size,md5Checksum,headRevisionId,modifiedTime,webViewLink,"
    "owners(displayName),lastModifyingUser(displayName),hasAugmentedPermissions,inheritedPermissionsDisabled,"
    f"capabilities(canDownload),shortcutDetails(targetId,targetMimeType),permissions({PERMISSION_FIELDS})"
)


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, validate_by_name=True)


class User(_Reply):
    """Somebody, by the name that Drive shows."""

    display_name: str = ""


class Permission(_Reply):
    """Who may do something with a file; ``view`` is of those that don't open it as it is."""

    id: str = ""
    type: str
    email_address: str = ""
    domain: str = ""
    allow_file_discovery: bool = False
    expiration_time: datetime | None = None
    deleted: bool = False
    view: str = ""


class _Capabilities(_Reply):
    can_download: bool = True


class Shortcut(_Reply):
    """What a shortcut leads to."""

    target_id: str = ""
    target_mime_type: str = ""


class File(_Reply):
    """A file or folder; ``permissions`` is None where Drive doesn't tell this account, and for shared drives."""

    id: str
    name: str
    mime_type: str
    parents: tuple[str, ...] = ()
    trashed: bool = False
    drive_id: str = ""
    size: int | None = None
    md5_checksum: str = ""
    head_revision_id: str = ""
    modified_time: datetime | None = None
    web_view_link: str = ""
    owners: tuple[User, ...] = ()
    last_modifying_user: User = User()
    has_augmented_permissions: bool | None = None
    inherited_permissions_disabled: bool = False
    capabilities: _Capabilities = _Capabilities()
    shortcut_details: Shortcut = Shortcut()
    permissions: tuple[Permission, ...] | None = None

    @property
    def parent(self) -> str:
        """The folder that it lies in, "" for none that the account sees."""
        return self.parents[0] if self.parents else ""

    @property
    def is_folder(self) -> bool:
        """Whether files may lie in it."""
        return self.mime_type == FOLDER

    @property
    def is_document(self) -> bool:
        """Whether it has a content that Google gives."""
        return self.mime_type in EXPORTS or not self.mime_type.startswith(_OWN)

    @property
    def is_media(self) -> bool:
        """Whether it is a picture, sound, film or font, whatever it is called: such names often have no ending."""
        return self.mime_type.startswith(("image/", "audio/", "video/", "font/"))

    @property
    def shown_name(self) -> str:
        """The name that patterns are compared with; a ``/`` in it is no folder's end."""
        export = EXPORTS.get(self.mime_type)
        return self.name.replace("/", "_") + (export.suffix if export else "")

    @property
    def content_stamp(self) -> str:
        """What changes with the content."""
        modified = self.modified_time.isoformat() if self.modified_time else ""
        return self.md5_checksum or self.head_revision_id or modified


class FilePage(_Reply):
    """A page of files; ``incomplete_search``: Drive couldn't look everywhere."""

    kind: Literal["drive#fileList"]
    files: tuple[File, ...] = ()
    next_page_token: str = ""
    incomplete_search: bool = False


class Change(_Reply):
    """What became of a file, or of a shared drive, which has no ``file_id``."""

    file_id: str = ""
    removed: bool = False
    file: File | None = None


class ChangePage(_Reply):
    """A page of changes; the last one has ``new_start_page_token``."""

    kind: Literal["drive#changeList"]
    changes: tuple[Change, ...] = ()
    next_page_token: str = ""
    new_start_page_token: str = ""


class StartToken(_Reply):
    """Where the changes from now on begin."""

    start_page_token: str = Field(min_length=1)


class PermissionPage(_Reply):
    """A page of who may read a file."""

    kind: Literal["drive#permissionList"]
    permissions: tuple[Permission, ...] = ()
    next_page_token: str = ""


class SharedDrive(_Reply):
    """A shared drive."""

    id: str
    name: str = ""


class DrivePage(_Reply):
    """A page of shared drives."""

    kind: Literal["drive#driveList"]
    drives: tuple[SharedDrive, ...] = ()
    next_page_token: str = ""


class Member(_Reply):
    """Who is in a group; only a ``USER`` is a person."""

    email: str = ""
    type: str = ""
    status: str = ""


class MemberPage(_Reply):
    """A page of a group's members; an empty group has no list."""

    kind: Literal["admin#directory#members"]
    members: tuple[Member, ...] = ()
    next_page_token: str = ""
