"""What a source of Google Drive remembers from run to run, as the text of a cursor."""

from dataclasses import dataclass, field, replace

from pydantic import TypeAdapter

from connectors.cursors import packed, unpacked

_FORM = "1"


@dataclass(slots=True, kw_only=True)
class Folder:
    """A folder; ``stamp`` stands for its place, its name and its readers, on which all depends that lies in it."""

    parent: str
    name: str
    stamp: str


@dataclass(slots=True, kw_only=True)
class CorpusMemory:
    """What is remembered of a shared drive, or of what the account sees besides.

    ``token``: from where on changes are told; "": all has to be listed. ``roots`` are the folders that are read, by
    their stamps, or the shared drive itself. ``documents``: all that there are, with the moment (seconds since 1970)
    at which the first of their readers ends being one, 0 for none. ``listed``: when all was listed.
    """

    token: str = ""
    listed: int = 0
    roots: dict[str, str] = field(default_factory=dict)
    folders: dict[str, Folder] = field(default_factory=dict)
    documents: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Memory:
    """What is remembered of all.

    ``basis`` stands for the settings, ``groups`` for who is in each group, by address.
    """

    basis: str
    form: str = _FORM
    corpora: dict[str, CorpusMemory] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)

    @property
    def documents(self) -> set[str]:
        """All documents that there are."""
        return {identity for corpus in self.corpora.values() for identity in corpus.documents}

    def to_cursor(self) -> str:
        """Return it as text, without what has to be listed again anyway."""
        corpora = {drive: corpus for drive, corpus in self.corpora.items() if corpus.token}
        return packed(_MEMORY.dump_json(replace(self, corpora=corpora)))

    @classmethod
    def from_cursor(cls, cursor: str | None, basis: str) -> "Memory":
        """Return what a cursor holds; nothing when it is of other settings, or of another form."""
        if not cursor:
            return cls(basis=basis)
        try:
            found = _MEMORY.validate_json(unpacked(cursor))
        except ValueError:  # pydantic's is one, too
            return cls(basis=basis)
        return found if (found.form, found.basis) == (_FORM, basis) else cls(basis=basis)


_MEMORY = TypeAdapter(Memory)
