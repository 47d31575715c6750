"""Where the documents of a source lie: in folders, in shared drives, or wherever the account sees any."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from connectors.google_drive.faults import FileRefused, Forbidden, ReadersUntold, Unexplained
from connectors.google_drive.options import GoogleDriveOptions
from connectors.google_drive.replies import FOLDER, SHORTCUT, File
from connectors.google_drive.service import Google
from connectors.google_drive.sharing import Sharings
from ragcore.errors import SourceAuthError, SourceError, SourceGone

_UNKNOWN = "untold"
_REFUSED = (SourceGone, SourceAuthError, Unexplained)
"""What one place may meet with while others are read."""


@dataclass(slots=True, kw_only=True)
class Places:
    """The folders that are read, with their stamps, by shared drive ("": in none).

    A shared drive that is read whole has itself as its only folder; without any, all that the account sees is read.
    ``refused`` is what can't be, ``top`` the folder My Drive where all is read.
    """

    roots: dict[str, Mapping[str, str]] = field(default_factory=dict)
    refused: list[SourceError] = field(default_factory=list)
    top: str = ""


async def opened(google: Google, sharings: Sharings, options: GoogleDriveOptions) -> Places:
    """Return where to read; SourceError when nothing can be read at all."""
    if not options.folders and not options.shared_drives:
        return await _everywhere(google, sharings)
    places = Places()
    for drive in options.shared_drives:
        try:
            await google.drive(drive)
            places.roots[drive] = {drive: await _drive_stamp(sharings, drive)}
        except _REFUSED as error:
            places.refused.append(error)
    for identity in options.folders:
        try:
            folder = await _folder(google, identity)
            drive = await _log_of(google, folder.drive_id, places)
            if folder.id == folder.drive_id:
                places.roots[drive] = {folder.id: await _drive_stamp(sharings, folder.id)}
            elif folder.drive_id not in places.roots.get(drive, ()):
                stamps = {**places.roots.get(drive, {}), folder.id: await _stamp(sharings, folder)}
                places.roots[drive] = stamps
        except _REFUSED as error:
            places.refused.append(error)
    if places.refused and not places.roots:
        raise places.refused[0]
    return places


async def _everywhere(google: Google, sharings: Sharings) -> Places:
    places = Places(roots={"": {}}, top=(await google.top()).id)
    for drive in await google.drives():
        try:
            stamp = (await sharings.of_place(drive.id)).stamp
        except ReadersUntold:
            stamp = _UNKNOWN  # nobody named this drive: each of its files tells that it has no readers
        places.roots[drive.id] = {drive.id: stamp}
    return places


async def _folder(google: Google, identity: str) -> File:
    """Return a folder of the settings, or the one that a shortcut leads to."""
    try:
        found = await google.file(identity)
        if found.mime_type == SHORTCUT and found.shortcut_details.target_mime_type == FOLDER:
            found = await google.file(found.shortcut_details.target_id)
    except SourceGone as error:
        mend = "check its id in `folders`, and share it with the account, as an editor"
        raise SourceGone(error.reason.replace("file ", "folder ", 1), mend=mend) from None
    except FileRefused as error:
        raise Unexplained(f"the folder {identity}: {error.reason}", mend=error.mend) from None
    if not found.is_folder:
        raise SourceGone(f'"{found.name}" is no folder', mend="name the folder that it lies in, in `folders`")
    if found.trashed:
        raise SourceGone(
            f'the folder "{found.name}" lies in the trash', mend="bring it back, or take it out of `folders`"
        )
    return found


async def _log_of(google: Google, drive: str, places: Places) -> str:
    """Return the shared drive whose log tells of a folder in it.

    Who is no member of the drive, and may see the folder alone, finds its changes in the account's own log
    (https://developers.google.com/workspace/drive/api/guides/about-changes).
    """
    if not drive or drive in places.roots:
        return drive
    try:
        return (await google.drive(drive)).id
    except (SourceGone, Forbidden):
        return ""


async def _stamp(sharings: Sharings, folder: File) -> str:
    try:
        return (await sharings.of(folder, {})).stamp
    except ReadersUntold as untold:
        raise SourceAuthError(f'the folder "{folder.name}": {untold.reason}', mend=untold.mend) from None


async def _drive_stamp(sharings: Sharings, drive: str) -> str:
    try:
        return (await sharings.of_place(drive)).stamp
    except ReadersUntold as untold:
        raise SourceAuthError(f"the shared drive {drive}: {untold.reason}", mend=untold.mend) from None
