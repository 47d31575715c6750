"""What a source of Notion remembers from run to run, as the text of a cursor."""

from dataclasses import dataclass, field

from pydantic import TypeAdapter, ValidationError

_FORM = "1"


@dataclass(slots=True, kw_only=True)
class Memory:
    """``basis`` stands for the settings that it was read by.

    ``queried`` is Notion's time at which the rows of each data source were last asked for, by its id. ``asked`` is the
    last of the documents that were asked for one by one, in the order of their ids, as no list had them.
    """

    basis: str
    form: str = _FORM
    queried: dict[str, str] = field(default_factory=dict)
    asked: str = ""

    def to_cursor(self) -> str:
        """Return it as text."""
        return _MEMORY.dump_json(self).decode("utf-8")

    @classmethod
    def from_cursor(cls, cursor: str | None, basis: str) -> "Memory":
        """Return what a cursor holds; nothing when there is none, or it is of other settings or another form."""
        try:
            found = _MEMORY.validate_json(cursor or "")
        except ValidationError:
            return cls(basis=basis)
        return found if (found.form, found.basis) == (_FORM, basis) else cls(basis=basis)


_MEMORY = TypeAdapter(Memory)
