"""What a source of Jira remembers from run to run, as the text of a cursor."""

import json
from dataclasses import asdict, dataclass


@dataclass(slots=True, kw_only=True)
class State:
    """How far issues are read; ``basis`` stands for the settings that they were read by.

    ``reached`` is the newest time that Jira told. ``whole`` is when, by this machine's clock in seconds since 1970, the
    last reading of all issues began; ``walked`` is how far one that is under way has come, None when none is.
    """

    basis: str
    reached: str | None = None
    whole: float = 0.0
    began: float = 0.0
    walked: str | None = None

    def to_cursor(self) -> str:
        """Return it as text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_cursor(cls, cursor: str | None, basis: str) -> "State":
        """Return what a cursor holds; nothing when there is none, or it is of other settings or another form."""
        try:
            told = json.loads(cursor) if cursor else {}
            found = cls(**told) if isinstance(told, dict) and told else cls(basis=basis)
            ok = isinstance(found.whole, int | float) and isinstance(found.began, int | float)
        except (ValueError, TypeError):
            return cls(basis=basis)
        return found if ok and found.basis == basis else cls(basis=basis)
