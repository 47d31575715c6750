"""The version of an issue, pull request or discussion: what a list tells of it, and its newest comment."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """``updated`` and ``comments`` as a list tells them, ``newest`` the time of the newest comment that was read."""

    salt: str
    updated: str
    comments: str
    newest: str = ""

    @classmethod
    def of(cls, *, salt: str, updated: datetime, comments: int | None) -> "Stamp":
        """Return the stamp of an entry of a list; ``comments`` of None: the list doesn't count them."""
        return cls(salt=salt, updated=told(updated), comments="" if comments is None else str(comments))

    @classmethod
    def from_version(cls, version: str) -> "Stamp":
        """Return the stamp that a version is, one of nothing when it is none."""
        parts = [*version.split(" "), "", "", "", ""]
        return cls(salt=parts[0], updated=parts[1], comments=parts[2].removeprefix("-"), newest=parts[3])

    @property
    def version(self) -> str:
        """The stamp as text."""
        return f"{self.salt} {self.updated} {self.comments or '-'} {self.newest}".rstrip()

    def with_newest(self, newest: datetime | None) -> "Stamp":
        """Return it with the time of the newest comment."""
        return replace(self, newest=told(newest) if newest else "")

    def tells_of(self, other: "Stamp") -> bool:
        """Tell whether an entry of a list, which knows no comments' times, is what this was read of."""
        return (self.salt, self.updated, self.comments) == (other.salt, other.updated, other.comments)

    def has(self, comment: datetime) -> bool:
        """Tell whether a comment of this time was read."""
        return bool(self.newest) and self.newest >= told(comment)


def told(moment: datetime) -> str:
    """Return a time as GitHub writes it, in whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
