"""What a source of Notion remembers from run to run, as the text of a cursor."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pydantic import TypeAdapter, ValidationError

_FORM = "1"


@dataclass(slots=True, kw_only=True)
class Memory:
    """``basis`` stands for the settings that it was read by.

    ``queried`` is Notion's time at which the rows of each data source were last asked for, by its id. ``asked`` is the
    last of the documents that were asked for one by one, in the order of their ids, as no list had them. ``owed`` are
    documents that were heard of and not read yet, by what Notion has them by: perhaps no list shows them again.
    ``is_afresh``: no run has looked through all since what is indexed counts as unknown.
    """

    basis: str
    form: str = _FORM
    queried: dict[str, str] = field(default_factory=dict)
    asked: str = ""
    owed: tuple[str, ...] = ()
    is_afresh: bool = False

    def to_cursor(self) -> str:
        """Return it as text."""
        return _MEMORY.dump_json(self).decode("utf-8")

    def owing(self, owed: Iterable[str]) -> str:
        """Return it as text, with these documents still to be read."""
        return replace(self, owed=tuple(sorted(owed))).to_cursor()

    @classmethod
    def from_cursor(cls, cursor: str | None, basis: str) -> "Memory":
        """Return what a cursor holds; nothing when there is none, or it is of other settings or another form."""
        try:
            found = _MEMORY.validate_json(cursor or "")
        except ValidationError:
            return cls(basis=basis, is_afresh=True)
        return found if (found.form, found.basis) == (_FORM, basis) else cls(basis=basis, is_afresh=True)


_MEMORY = TypeAdapter(Memory)
