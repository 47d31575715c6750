"""A local server that speaks Google Drive's documented interface, with its tokens and its directory."""

from tests.servers.google_drive.drive import (
    DOC,
    FOLDER,
    SHEET,
    SHORTCUT,
    SLIDES,
    Drive,
    Item,
    anyone,
    domain,
    group,
    user,
)
from tests.servers.google_drive.server import ACCOUNT, GoogleServer, key_of, problem

__all__ = [
    "ACCOUNT", "DOC", "FOLDER", "SHEET", "SHORTCUT", "SLIDES", "Drive", "GoogleServer", "Item", "anyone", "domain", "group",
    "key_of", "problem", "user",
]  # fmt: skip
