"""The settings of the source type ``files``."""

import re
from typing import Any

from pydantic import Field, field_validator

from connectors.base import Options
from connectors.patterns import Patterns


class FilesOptions(Options):
    """A folder with all that is in it, or a single file: on this machine, on a share that it mounts, or by its URL.

    By URL: `s3://`, `gs://`, `az://`, `sftp://`, `webdav://`, `smb://`, `github://`, `zip://`, and whatever else fsspec
    has a file system for. Each needs an extra, such as `pip install "citebot[s3]"`; the recipes below tell which.
    What has the same ETag, checksum, or size and time as before is not read again, and what was read with the same
    content as before costs no more. A file that was changed less than two minutes ago is read once more at the next
    run, as its time tells too little (not so with ETags and checksums of the content).

    Patterns are compared without regard to case: `*.md` with names at any depth, `docs/*.md` with paths relative to the
    folder, `drafts` means all that is in a folder of that name, `**` any number of folders. Left out without being
    asked: hidden files, what programs leave behind (`~$report.docx`, `*.tmp`, `Thumbs.db`, `node_modules`), and, unless
    `include` names them, pictures, sound, film and fonts. On this machine links are followed to what lies inside the
    folder alone; those on an SFTP server are passed by.

    What is attached to a mail (`.eml`) is a document of its own, where it is in a format that is read and no picture,
    and `exclude` doesn't name it; as is a mail that is attached, with what is attached to that. It goes with its mail.

    A `.jsonl` or `.ndjson` file whose lines have `id` and `text` is a document a line, with `title`, `url`, `author`,
    `updated_at` where they stand; a broken line is told by its number, and the others are taken.
    """

    path: str = Field(
        min_length=1,
        description="the folder, or one file: a path, or a URL such as `s3://bucket/folder`",
    )
    storage_options: dict[str, Any] = Field(
        default_factory=dict,
        repr=False,
        description="for a URL: what its file system takes, such as credentials; see the recipes below",
    )
    include: Patterns = Field(
        default=(),
        description='glob patterns of the files to take, such as `["**/*.md"]`; default: all but pictures and media',
    )
    exclude: Patterns = Field(default=(), description="glob patterns of files and folders to leave out")
    hidden: bool = Field(
        default=False, description="whether files and folders whose name begins with a dot are taken too"
    )
    base_url: str = Field(
        default="",
        description="where a reader finds a file: `{path}` stands for its path; default: a `file://` address, for "
        "WebDAV its `https://` address, for other URLs none",
    )
    max_megabytes: float = Field(default=200, gt=0, description="larger files are reported instead of read")

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        if url and not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", url):
            raise ValueError('must be an address such as "https://wiki.example.org/{path}"')
        return url if not url or "{path}" in url else f"{url.rstrip('/')}/{{path}}"
