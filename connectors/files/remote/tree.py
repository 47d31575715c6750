"""What listings of folders show, as files of one source: the same rules of names as for a folder of this machine."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from connectors.files.place import Blocked, misnamed, second
from connectors.files.remote.infos import Info
from connectors.files.walk import is_text, native_form
from connectors.patterns import Selection
from ragcore.errors import SourceError

_DEEPEST = 100  # folders within one another: deeper ones are taken for a circle


@dataclass(slots=True, kw_only=True)
class Tree:
    """The files under ``root`` that a selection takes, listing by listing; ``folders`` are yet to be listed."""

    root: str
    selection: Selection
    folders: list[str] = field(default_factory=list)
    _seen: set[str] = field(init=False, default_factory=set)

    def take_single(self, info: Info) -> list[tuple[str, Info] | Blocked]:
        """Return the one file that the source is, with its native id."""
        return self._file(info.name.rstrip("/").rpartition("/")[2], info)

    def take_folder(self, folder: str, infos: Iterable[Info]) -> list[tuple[str, Info] | Blocked]:
        """Return the files that a folder holds, with their native ids, and keep its folders for later."""
        found: list[tuple[str, Info] | Blocked] = []
        for info in sorted(infos, key=lambda info: info.name):
            relative = self.relative(info.name)
            if not relative or info.name.strip("/") == folder.strip("/"):
                continue  # some servers list a folder within itself
            if info.kind == "directory":
                found += self._folder(relative, info.name)
            elif info.kind == "file" and self.selection.takes(native_form(relative)):
                found += self._file(relative, info)
        return found

    def take_all(self, infos: Iterable[Info]) -> list[tuple[str, Info] | Blocked]:
        """Return the files of a listing that shows everything at once, with their native ids."""
        found: list[tuple[str, Info] | Blocked] = []
        for info in infos:
            # A store of objects keeps an empty one, by the name of a folder, for a folder that was made by hand.
            if info.kind != "file" or info.name.endswith("/"):
                continue
            relative = self.relative(info.name)
            if not relative:
                found += self.take_single(info)
            elif info.name.startswith("/"):  # in an archive, where it can't be asked for
                found.append(Blocked(native_id=relative, reason="its name begins with a /", mend="pack it without"))
            elif self.selection.reaches(native_form(relative)):
                found += self._file(relative, info)
        return found

    def relative(self, name: str) -> str:
        """Return a name relative to the root, "" for the root itself; SourceError for what lies elsewhere."""
        root, inner = self.root.strip("/"), name.lstrip("/")
        if not root:
            return inner
        if inner.rstrip("/") == root:
            return ""
        if not inner.startswith(f"{root}/"):
            raise SourceError(
                "its listing names files outside of it", mend="check that `path` is what the server calls it"
            )
        return inner[len(root) + 1 :]

    def _folder(self, relative: str, name: str) -> list[tuple[str, Info] | Blocked]:
        native = native_form(relative.rstrip("/"))
        if not self.selection.enters(native):
            return []
        if not is_text(relative):
            return [misnamed(native, hides=f"{native}/")]
        if native.count("/") >= _DEEPEST:
            reason, mend = f"it lies in more than {_DEEPEST} folders", "exclude it, if a link leads in circles there"
            return [Blocked(native_id=f"{native}/", reason=reason, mend=mend, hides=f"{native}/")]
        self.folders.append(name)
        return []

    def _file(self, relative: str, info: Info) -> list[tuple[str, Info] | Blocked]:
        native = native_form(relative)
        if not is_text(relative):
            return [misnamed(native)]
        if {".", ".."} & set(native.split("/")):
            reason = "its name leads to another folder"
            return [Blocked(native_id=native, reason=reason, mend="store it under a name without . and ..")]
        if native in self._seen:
            return [second(native)]
        self._seen.add(native)
        return [(native, info)]
